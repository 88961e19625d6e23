// UTF-16 as UTF-8: what PowerShell's redirection writes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace roofline {

enum class TextEncoding : std::uint8_t { utf8, utf16_little, utf16_big };

/// By the byte order mark alone: binary files have none.
TextEncoding marked_encoding_of(std::string_view beginning);

/// The unit of two bytes.
std::uint32_t utf16_unit(const char* bytes, TextEncoding encoding);

/// Puts the units of UTF-16 together; a surrogate without its other half becomes U+FFFD.
class Utf16Decoder {
 public:
  explicit Utf16Decoder(std::string& text) : text_(text) {}

  void take(std::uint32_t unit);
  /// At the end: a first half without its second one.
  void finish();

 private:
  std::string& text_;
  std::uint32_t high_ = 0;
};

}  // namespace roofline
