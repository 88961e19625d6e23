#include "import/json_stream.hpp"

#include <fmt/format.h>

namespace roofline {

/// A file's bytes as the parser wants them.
class JsonBytes {
 public:
  using iterator_category = std::input_iterator_tag;
  using value_type = char;
  using difference_type = std::ptrdiff_t;
  using pointer = const char*;
  using reference = char;

  JsonBytes() = default;
  explicit JsonBytes(JsonEvents& events) : events_(&events) {}

  char operator*() const { return static_cast<char>(events_->source_->peek()); }
  JsonBytes& operator++() {
    events_->source_->skip();
    return *this;
  }
  bool operator==(const JsonBytes& other) const { return at_end() == other.at_end(); }
  bool operator!=(const JsonBytes& other) const { return !(*this == other); }

 private:
  /// The parser keeps a token whole: one that never ends would fill the memory.
  bool at_end() const {
    constexpr std::uint64_t kLongestToken = std::uint64_t{1} << 24;
    if (events_ == nullptr) return true;
    const ByteSource& source = *events_->source_;
    if (source.offset() > events_->token_begin_ + kLongestToken) source.fail("a token of more than 16 MB");
    return events_->source_->peek() < 0;
  }

  JsonEvents* events_ = nullptr;
};

bool JsonEvents::parse_error(std::size_t, const std::string&, const nlohmann::json::exception& error) {
  std::string what = error.what();
  // "[json.exception.parse_error.101] parse error at line 1, column 2: syntax error while …"
  const std::size_t colon = what.find(": ");
  what = colon == std::string::npos ? what : what.substr(colon + 2);
  constexpr std::size_t kLongest = 160;
  if (what.size() > kLongest) what = what.substr(0, kLongest) + "…";
  source_->fail("invalid JSON: " + what);
}

bool JsonEvents::opened(bool object) {
  constexpr int kDeepest = 512;
  return passed([&] {
    if (++depth_ > kDeepest) source_->fail(fmt::format("nested deeper than {} levels", kDeepest));
    open(object);
  });
}

bool JsonEvents::closed(bool object) {
  return passed([&] {
    --depth_;
    close(object);
  });
}

void read_json(ByteSource& source, JsonEvents& events) {
  events.source_ = &source;
  events.token_begin_ = source.offset();
  nlohmann::json::sax_parse(JsonBytes(events), JsonBytes(), &events);
}

}  // namespace roofline
