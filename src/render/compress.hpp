// Compression of embedded data.
#pragma once

#include <string>
#include <string_view>

namespace roofline {

/// zlib format (RFC 1950), which DecompressionStream calls "deflate".
std::string compressed(std::string_view bytes);

}  // namespace roofline
