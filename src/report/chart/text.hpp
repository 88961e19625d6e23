// Text from outside (names of kernels and devices) made fit for a picture: valid UTF-8 without control
// characters, shortened in the middle, escaped for XML.
#pragma once

#include <string>
#include <string_view>

namespace roofline {

/// Decodes UTF-8; every byte that is not part of a valid sequence becomes U+FFFD.
std::u32string decode_utf8(std::string_view text);
std::string encode_utf8(std::u32string_view text);

/// Whitespace becomes one space, other control characters U+FFFD; direction overrides are left out, for
/// they would reorder what stands beside them.
std::string clean_text(std::string_view text);

/// At most `limit` characters: the middle of what is longer gives way to an ellipsis, for names of
/// kernels differ at both ends.
std::string shorten_middle(std::string_view text, std::size_t limit);

/// Cleaned, and escaped for XML text and for attributes in double quotes.
std::string xml_escape(std::string_view text);

}  // namespace roofline
