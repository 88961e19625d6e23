// What makes a page smaller: zlib's format for its data, and WOFF, which is the same around a font's tables.
#pragma once

#include <string>
#include <string_view>

namespace roofline {

/// RFC 1950, what a browser's DecompressionStream calls "deflate".
std::string compressed(std::string_view bytes);

/// An OpenType font as WOFF 1.0, its tables compressed.
std::string woff(std::string_view font);

}  // namespace roofline
