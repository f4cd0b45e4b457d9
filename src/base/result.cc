#include "base/result.h"

#include <cerrno>
#include <cstring>

namespace stepscope {

std::string_view error_code_name(ErrorCode code) {
  switch (code) {
    case ErrorCode::kNotFound:
      return "not_found";
    case ErrorCode::kNotRecognised:
      return "not_recognised";
    case ErrorCode::kBadInput:
      return "bad_input";
    case ErrorCode::kPermission:
      return "permission";
    case ErrorCode::kNoSpace:
      return "no_space";
    case ErrorCode::kLimit:
      return "limit";
    case ErrorCode::kChanged:
      return "changed";
    case ErrorCode::kCancelled:
      return "cancelled";
    case ErrorCode::kUnsupported:
      return "unsupported";
    case ErrorCode::kIo:
      return "io";
  }
  return "io";
}

std::string Error::message() const {
  std::string text = what;
  if (!where.empty()) text += (text.empty() ? "" : ": ") + where;
  if (!why.empty()) text += (text.empty() ? "" : ": ") + why;
  if (!remedy.empty()) text += " (" + remedy + ")";
  return text;
}

Error system_error(std::string what, const std::string& path, int error_number) {
  Error error{ErrorCode::kIo, std::move(what), path, std::strerror(error_number), ""};
  switch (error_number) {
    case ENOENT:
    case ENOTDIR:
      error.code = ErrorCode::kNotFound;
      error.remedy = "check the path";
      break;
    case EACCES:
    case EPERM:
    case EROFS:
      error.code = ErrorCode::kPermission;
      error.remedy = "check owner and mode of the file and its folder";
      break;
    case ENOSPC:
    case EDQUOT:
      error.code = ErrorCode::kNoSpace;
      error.remedy = "free some space, or write to another disk";
      break;
    case EFBIG:
      error.code = ErrorCode::kNoSpace;
      error.remedy = "raise the limit of ulimit -f, or write to another disk";
      break;
    default:
      break;
  }
  return error;
}

}  // namespace stepscope
