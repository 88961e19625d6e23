#include "import/json_stream.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <string_view>
#include <system_error>

namespace roofline {

namespace {

/// The number that a token writes and JSON can't: NaN, inf, -Infinity, 1e999. Nothing of any other token.
std::optional<double> not_finite(std::string_view token) {
  const bool negative = token.starts_with('-');
  if (negative || token.starts_with('+')) token.remove_prefix(1);
  double value = 0;
  const auto [end, error] = std::from_chars(token.data(), token.data() + token.size(), value);
  if (end != token.data() + token.size()) return std::nullopt;
  const bool is_tiny = token.starts_with('0') || token.find('-') != std::string_view::npos;
  if (error == std::errc::result_out_of_range && !is_tiny) value = std::numeric_limits<double>::infinity();
  if (std::isfinite(value)) return std::nullopt;
  return negative ? -value : value;
}

bool is_space(int byte) { return byte == ' ' || byte == '\t' || byte == '\r' || byte == '\n'; }

bool in_scalar(int byte) {
  return (byte >= '0' && byte <= '9') || (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') || byte == '-' ||
         byte == '+' || byte == '.';
}

/// False at the end of the file.
bool starts_document(ByteSource& source) {
  while (is_space(source.peek())) source.skip();
  const int byte = source.peek();
  if (byte >= 0 && byte != '{' && byte != '[') source.fail("invalid JSON: text behind its end");
  return byte >= 0;
}

[[noreturn]] void fail_second(const ByteSource& source) {
  source.fail("another JSON document begins here; one is expected",
              fmt::format("write a file for each, and import them: jq -c . {} | split -l 1 - part-", source.name()));
}

}  // namespace

/// A file's bytes as the parser wants them: numbers that JSON can't write come as null, with their value beside.
class JsonBytes {
 public:
  using iterator_category = std::input_iterator_tag;
  using value_type = char;
  using difference_type = std::ptrdiff_t;
  using pointer = const char*;
  using reference = char;

  JsonBytes() = default;
  explicit JsonBytes(JsonEvents& events) : events_(&events) { read_scalar(); }

  char operator*() const {
    return next_ < scalar_.size() ? scalar_[next_] : static_cast<char>(events_->source_->peek());
  }
  JsonBytes& operator++() {
    if (next_ < scalar_.size()) {
      if (++next_ == scalar_.size() && scalar_ == ",") read_scalar();
      return *this;
    }
    ByteSource& source = *events_->source_;
    const int byte = source.peek();
    source.skip();
    if (in_string_) {
      in_string_ = byte != '"' || escaped_;
      escaped_ = byte == '\\' && !escaped_;
    } else {
      in_string_ = byte == '"';
      if (byte == '[' && open_ == 0) is_array_ = events_->may_stay_open();
      open_ += byte == '{' || byte == '[' ? 1 : byte == '}' || byte == ']' ? -1 : 0;
    }
    if (in_string_ || open_ <= 0) return *this;
    if (!is_array_ || open_ > 1 || byte == '[' || !end_open_array()) read_scalar();
    return *this;
  }
  bool operator==(const JsonBytes& other) const { return at_end() == other.at_end(); }
  bool operator!=(const JsonBytes& other) const { return !(*this == other); }

 private:
  /// Reads the number or word at this place, as far as one that JSON can't write is long.
  void read_scalar() {
    constexpr std::size_t kLongest = 400;  // digits of a number beyond a double's range
    ByteSource& source = *events_->source_;
    scalar_.clear();
    next_ = 0;
    bool has_letters = false;
    for (int byte = source.peek(); in_scalar(byte) && scalar_.size() < kLongest; byte = source.peek()) {
      has_letters |= byte >= 'A';
      scalar_ += static_cast<char>(byte);
      source.skip();
    }
    constexpr std::size_t kInRange = 300;  // so many digits are in a double's range
    if (!has_letters && scalar_.size() < kInRange) return;
    const std::optional<double> number = not_finite(scalar_);
    if (!number) return;
    events_->not_finite_ = number;
    scalar_ = "null";
  }

  /// Behind an entry of the outermost array: at the end of the file the array ends, also behind a comma. Otherwise
  /// false.
  bool end_open_array() {
    ByteSource& source = *events_->source_;
    scalar_.clear();
    next_ = 0;
    const bool comma = source.peek() == ',';
    if (comma) {
      source.skip();
      while (is_space(source.peek())) source.skip();
      scalar_ = ",";
    }
    if (source.peek() >= 0) return comma;
    scalar_ = "]";
    open_ = 0;
    events_->stayed_open_ = true;
    return true;
  }

  /// The parser keeps a token whole: one that never ends would fill the memory.
  bool at_end() const {
    constexpr std::uint64_t kLongestToken = std::uint64_t{1} << 24;
    if (events_ == nullptr) return true;
    ByteSource& source = *events_->source_;
    if (source.offset() > events_->token_begin_ + kLongestToken) source.fail("a token of more than 16 MB");
    return next_ >= scalar_.size() && source.peek() < 0;
  }

  JsonEvents* events_ = nullptr;
  std::string scalar_;  ///< read ahead
  std::size_t next_ = 0;
  bool in_string_ = false, escaped_ = false;
  bool is_array_ = false;  ///< the outermost one is an array, whose end may be missing
  int open_ = 0;           ///< arrays and objects: what follows the outermost one is not read
};

std::optional<std::int64_t> thousandths_of(std::string_view decimal) {
  constexpr std::size_t kMostDigits = 16;  // before the point
  constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max() / 1000 - 1;
  const bool negative = decimal.starts_with('-');
  if (negative) decimal.remove_prefix(1);
  const std::size_t point = std::min(decimal.find('.'), decimal.size());
  if (point == 0 || point > kMostDigits || decimal.find_first_not_of("0123456789.") != std::string_view::npos)
    return {};
  const std::string_view fraction = decimal.substr(std::min(point + 1, decimal.size()));
  if (fraction.find('.') != std::string_view::npos) return {};
  std::int64_t value = 0;
  for (const char digit : decimal.substr(0, point)) value = value * 10 + (digit - '0');
  if (value > kMost) return {};
  for (std::size_t i = 0; i < 3; ++i) value = value * 10 + (i < fraction.size() ? fraction[i] - '0' : 0);
  if (fraction.size() > 3 && fraction[3] >= '5') ++value;
  return negative ? -value : value;
}

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

void read_json(ByteSource& source, JsonEvents& events, JsonDocuments documents) {
  events.source_ = &source;
  constexpr bool kWhole = false;  // more may follow
  for (bool first = true; first || starts_document(source); first = false) {
    if (!first && documents == JsonDocuments::one) fail_second(source);
    events.token_begin_ = source.offset();
    nlohmann::json::sax_parse(JsonBytes(events), JsonBytes(), &events, nlohmann::json::input_format_t::json, kWhole);
  }
}

}  // namespace roofline
