#include "text/line_reader.hpp"

#include <utility>

namespace roofline {

void LineReader::add(std::string_view bytes) {
  while (!bytes.empty()) {
    const std::size_t end = bytes.find('\n');
    const std::string_view piece = bytes.substr(0, end);
    if (line_.too_long || line_.text.size() + piece.size() > most_) {
      line_ = {.too_long = true};
    } else {
      line_.text += piece;
    }
    if (end == std::string_view::npos) return;
    if (line_.text.ends_with('\r')) line_.text.pop_back();
    whole_.push_back(std::exchange(line_, {}));
    bytes.remove_prefix(end + 1);
  }
}

std::optional<LineReader::Line> LineReader::next() {
  if (whole_.empty()) return std::nullopt;
  Line line = std::move(whole_.front());
  whole_.pop_front();
  return line;
}

}  // namespace roofline
