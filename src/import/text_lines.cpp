#include "import/text_lines.hpp"

#include <utility>

namespace roofline {
namespace {

constexpr std::string_view kMark = "\xef\xbb\xbf";

}  // namespace

TextEncoding encoding_of(std::string_view beginning) {
  if (beginning.size() < 2) return TextEncoding::utf8;
  if (const TextEncoding marked = marked_encoding_of(beginning); marked != TextEncoding::utf8) return marked;
  if (beginning[0] != '\0' && beginning[1] == '\0') return TextEncoding::utf16_little;
  return beginning[0] == '\0' && beginning[1] != '\0' ? TextEncoding::utf16_big : TextEncoding::utf8;
}

std::string utf8_beginning(std::string_view beginning) {
  const TextEncoding encoding = encoding_of(beginning);
  if (encoding == TextEncoding::utf8) return std::string(beginning);
  std::string text;
  Utf16Decoder decoder(text);
  for (std::size_t i = 0; i + 1 < beginning.size(); i += 2) decoder.take(utf16_unit(beginning.data() + i, encoding));
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
    const std::uint32_t unit = utf16_unit(bytes, encoding_);
    ended_ = unit == '\n';
    if (!ended_) decoder.take(unit);
    if (text.size() > kLongest) source_.fail("a line of more than 16 MB");
  }
  decoder.finish();
  return any;
}

}  // namespace roofline
