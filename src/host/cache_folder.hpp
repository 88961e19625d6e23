// The cache folder, for data that can be recreated.
#pragma once

#include <filesystem>

namespace roofline {

/// $XDG_CACHE_HOME/roofline (else ~/.cache/roofline). Throws UsageError where neither is set: what is kept there is
/// named by `what` ("calibrations"), and `hint` says what to do without it.
std::filesystem::path cache_folder(const char* what, const char* hint);

}  // namespace roofline
