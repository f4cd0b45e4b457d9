// What an import says about other executions in the folder that was opened.
#ifndef STEPSCOPE_ANALYSES_COMMON_EXECUTIONS_H_
#define STEPSCOPE_ANALYSES_COMMON_EXECUTIONS_H_

#include <string>

#include "store/store_reader.h"

namespace stepscope {

// "3 executions in this folder; this is the newest, ..."; "" when there is one only.
std::string executions_line(const StoreReader& store);

}  // namespace stepscope

#endif  // STEPSCOPE_ANALYSES_COMMON_EXECUTIONS_H_
