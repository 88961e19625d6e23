// What makes a page smaller.
#pragma once

#include <string>
#include <string_view>

namespace roofline {

/// RFC 1950, what a browser's DecompressionStream calls "deflate".
std::string compressed(std::string_view bytes);

}  // namespace roofline
