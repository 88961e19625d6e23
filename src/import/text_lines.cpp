#include "import/text_lines.hpp"

#include <utility>

namespace roofline {
namespace {

constexpr std::string_view kMark = "\xef\xbb\xbf";
constexpr std::uint32_t kReplacement = 0xfffd;

void append_utf8(std::string& text, std::uint32_t code) {
  const auto tail = [&](unsigned shift) { text += static_cast<char>(0x80U | (code >> shift & 0x3fU)); };
  if (code < 0x80) {
    text += static_cast<char>(code);
  } else if (code < 0x800) {
    text += static_cast<char>(0xc0U | code >> 6U);
    tail(0);
  } else if (code < 0x10000) {
    text += static_cast<char>(0xe0U | code >> 12U);
    tail(6);
    tail(0);
  } else {
    text += static_cast<char>(0xf0U | code >> 18U);
    tail(12);
    tail(6);
    tail(0);
  }
}

/// Puts the units of UTF-16 together; a surrogate without its other half becomes U+FFFD.
class Utf16Decoder {
 public:
  explicit Utf16Decoder(std::string& text) : text_(text) {}

  void take(std::uint32_t unit) {
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

  void finish() {
    if (high_ != 0) append_utf8(text_, kReplacement);
    high_ = 0;
  }

 private:
  std::string& text_;
  std::uint32_t high_ = 0;
};

std::uint32_t unit_of(const char* bytes, TextEncoding encoding) {
  const std::uint32_t first = static_cast<unsigned char>(bytes[0]), second = static_cast<unsigned char>(bytes[1]);
  return encoding == TextEncoding::utf16_little ? first | second << 8U : first << 8U | second;
}

}  // namespace

TextEncoding encoding_of(std::string_view beginning) {
  if (beginning.size() < 2) return TextEncoding::utf8;
  if (beginning.starts_with("\xff\xfe")) return TextEncoding::utf16_little;
  if (beginning.starts_with("\xfe\xff")) return TextEncoding::utf16_big;
  if (beginning[0] != '\0' && beginning[1] == '\0') return TextEncoding::utf16_little;
  return beginning[0] == '\0' && beginning[1] != '\0' ? TextEncoding::utf16_big : TextEncoding::utf8;
}

std::string utf8_beginning(std::string_view beginning) {
  const TextEncoding encoding = encoding_of(beginning);
  if (encoding == TextEncoding::utf8) return std::string(beginning);
  std::string text;
  Utf16Decoder decoder(text);
  for (std::size_t i = 0; i + 1 < beginning.size(); i += 2) decoder.take(unit_of(beginning.data() + i, encoding));
  decoder.finish();
  return text;
}

bool TextLines::next(std::string& text) {
  if (!started_) {
    started_ = true;
    char bytes[2];
    kept_.assign(bytes, source_.read(bytes, sizeof bytes));
    encoding_ = encoding_of(kept_);
  }
  const bool ended = ended_;
  const bool any = encoding_ == TextEncoding::utf8 ? next_utf8(text) : next_utf16(text);
  if (!any) ended_ = ended;  // of the last line, not of the end of the file
  if (!any) return false;
  ++number_;
  if (text.starts_with(kMark)) text.erase(0, kMark.size());
  if (!text.empty() && text.back() == '\r') text.pop_back();
  return true;
}

bool TextLines::next_utf8(std::string& text) {
  const std::string kept = std::exchange(kept_, {});
  if (const std::size_t end = kept.find('\n'); end != std::string::npos) {
    kept_ = kept.substr(end + 1);
    text = kept.substr(0, end);
    ended_ = true;
    return true;
  }
  const bool more = source_.line(text);
  ended_ = source_.line_ended();
  text.insert(0, kept);
  return more || !kept.empty();
}

bool TextLines::next_utf16(std::string& text) {
  constexpr std::size_t kLongest = std::size_t{1} << 24;
  text.clear();
  Utf16Decoder decoder(text);
  bool any = false;
  ended_ = false;
  while (!ended_) {
    char bytes[2];
    const std::string kept = std::exchange(kept_, {});
    if (kept.size() == 2) {
      kept.copy(bytes, 2);
    } else if (source_.read(bytes, 2) != 2) {
      break;
    }
    any = true;
    const std::uint32_t unit = unit_of(bytes, encoding_);
    ended_ = unit == '\n';
    if (!ended_) decoder.take(unit);
    if (text.size() > kLongest) source_.fail("a line of more than 16 MB");
  }
  decoder.finish();
  return any;
}

}  // namespace roofline
