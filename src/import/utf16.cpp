#include "import/utf16.hpp"

#include "text/text.hpp"

namespace roofline {
namespace {

constexpr std::uint32_t kReplacement = 0xfffd;

}  // namespace

TextEncoding marked_encoding_of(std::string_view beginning) {
  if (beginning.starts_with("\xff\xfe")) return TextEncoding::utf16_little;
  if (beginning.starts_with("\xfe\xff")) return TextEncoding::utf16_big;
  return TextEncoding::utf8;
}

std::uint32_t utf16_unit(const char* bytes, TextEncoding encoding) {
  const std::uint32_t first = static_cast<unsigned char>(bytes[0]), second = static_cast<unsigned char>(bytes[1]);
  return encoding == TextEncoding::utf16_little ? first | second << 8U : first << 8U | second;
}

void Utf16Decoder::take(std::uint32_t unit) {
  if (high_ != 0 && unit >= 0xdc00 && unit < 0xe000) {
    append_utf8(text_, 0x10000U + ((high_ - 0xd800U) << 10U) + (unit - 0xdc00U));
    high_ = 0;
    return;
  }
  finish();
  if (unit >= 0xd800 && unit < 0xdc00) {
    high_ = unit;
  } else {
    append_utf8(text_, unit >= 0xdc00 && unit < 0xe000 ? kReplacement : unit);
  }
}

void Utf16Decoder::finish() {
  if (high_ != 0) append_utf8(text_, kReplacement);
  high_ = 0;
}

}  // namespace roofline
