// Lines of a stream that comes in pieces, each of bounded length.
#pragma once

#include <cstddef>
#include <deque>
#include <optional>
#include <string>
#include <string_view>

namespace roofline {

class LineReader {
 public:
  struct Line {
    std::string text = {};  ///< without its end ("\n" or "\r\n")
    bool too_long = false;  ///< it was discarded
  };

  /// A line has at most that many bytes.
  explicit LineReader(std::size_t most) : most_(most) {}

  void add(std::string_view bytes);
  /// The next whole line.
  std::optional<Line> next();

 private:
  std::size_t most_;
  Line line_;
  std::deque<Line> whole_;
};

}  // namespace roofline
