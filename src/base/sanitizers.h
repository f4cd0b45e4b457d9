// Which sanitizer this was compiled for. g++ and clang say so differently.
#ifndef STEPSCOPE_BASE_SANITIZERS_H_
#define STEPSCOPE_BASE_SANITIZERS_H_

#ifndef __has_feature
#define __has_feature(name) 0
#endif

namespace stepscope {

#if defined(__SANITIZE_ADDRESS__) || __has_feature(address_sanitizer)
inline constexpr bool kAddressSanitizer = true;
#else
inline constexpr bool kAddressSanitizer = false;
#endif

#if defined(__SANITIZE_THREAD__) || __has_feature(thread_sanitizer)
inline constexpr bool kThreadSanitizer = true;
#else
inline constexpr bool kThreadSanitizer = false;
#endif

}  // namespace stepscope

#endif  // STEPSCOPE_BASE_SANITIZERS_H_
