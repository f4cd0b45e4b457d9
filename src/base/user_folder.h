// Where files of this user go that have no place of their own.
#ifndef STEPSCOPE_BASE_USER_FOLDER_H_
#define STEPSCOPE_BASE_USER_FOLDER_H_

#include <string>

namespace stepscope {

// `preferred`, made if need be. Where that cannot be written ("" cannot), temporary_user_folder(),
// made with mode 0700; "" when that is not this user's own: others may write beside it.
std::string writable_user_folder(const std::string& preferred);

// XDG_CACHE_HOME/stepscope or HOME/.cache/stepscope; "" when neither is set.
std::string cache_folder();

// "/tmp/stepscope-1000", in TMPDIR where that is set.
std::string temporary_user_folder();

}  // namespace stepscope

#endif  // STEPSCOPE_BASE_USER_FOLDER_H_
