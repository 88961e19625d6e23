// What to do about the reason for which a compiler did not vectorise a loop.
#pragma once

#include <string_view>

namespace roofline {

/// By GCC's and Clang's words; empty: the reason says nothing more than that it failed.
std::string_view action_for_remark(std::string_view remark);

}  // namespace roofline
