// JSON read as a stream of events, in memory that does not grow with the file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "import/byte_source.hpp"

namespace roofline {

/// A number as text: times in ns since 1970 exceed the precision of a double.
struct JsonNumber {
  double value = 0;          ///< NaN and infinity, too, as Python and C++ write them: NaN, -Infinity, inf, 1e999
  std::int64_t integer = 0;  ///< where it is one
  bool is_integer = false;
  std::optional<std::int64_t> thousandths = {};  ///< of a plain decimal, rounded from its text: not in a double's steps
};

/// "1700000000123456.789" in thousandths; std::nullopt for other notations and values out of range.
std::optional<std::int64_t> thousandths_of(std::string_view decimal);

/// `several`: one after another, as programs write them that append to a file.
enum class JsonDocuments : std::uint8_t { one, several };

/// Events of nlohmann's parser, with limits on token size and nesting. Readers override on_key(), on_text(),
/// on_number() and on_null() for values, open() and close() for arrays and objects.
class JsonEvents {
 public:
  virtual ~JsonEvents() = default;

  // What nlohmann calls.
  bool null() {
    if (const std::optional<double> value = std::exchange(not_finite_, std::nullopt)) return number({*value, 0, false});
    return passed([this] { on_null(); });
  }
  bool boolean(bool value) { return number({value ? 1.0 : 0.0, value ? 1 : 0, true}); }
  bool number_integer(std::int64_t value) {
    constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max() / 1000;
    const bool fits = value <= kMost && value >= -kMost;
    return number({static_cast<double>(value), value, true, fits ? std::optional(value * 1000) : std::nullopt});
  }
  bool number_unsigned(std::uint64_t value) {
    const bool fits = value <= static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
    if (fits) return number_integer(static_cast<std::int64_t>(value));
    return number({static_cast<double>(value), 0, false});
  }
  bool number_float(double value, const std::string& text) { return number({value, 0, false, thousandths_of(text)}); }
  bool string(std::string& text) {
    return passed([&] { on_text(text); });
  }
  bool binary(nlohmann::json::binary_t&) { return false; }
  bool key(std::string& name) {
    return passed([&] { on_key(name); });
  }
  bool start_object(std::size_t) { return opened(true); }
  bool start_array(std::size_t) { return opened(false); }
  bool end_object() { return closed(true); }
  bool end_array() { return closed(false); }
  bool parse_error(std::size_t, const std::string&, const nlohmann::json::exception& error);

 protected:
  virtual void on_null() {}
  virtual void on_number(const JsonNumber& value) = 0;
  virtual void on_text(std::string& text) = 0;
  virtual void on_key(std::string& name) = 0;
  virtual void open(bool object) = 0;   ///< depth() is that of what is inside
  virtual void close(bool object) = 0;  ///< depth() is that of what is around
  /// Whether the end of the outermost array may be missing, as Chrome's format of traces permits.
  virtual bool may_stay_open() const { return false; }
  int depth() const { return depth_; }
  bool stayed_open() const { return stayed_open_; }
  const ByteSource& source() const { return *source_; }

 private:
  friend void read_json(ByteSource& source, JsonEvents& events, JsonDocuments documents);
  friend class JsonBytes;

  template <typename Do>
  bool passed(Do&& what) {
    token_begin_ = source_->offset();
    what();
    return true;
  }
  bool number(const JsonNumber& value) {
    return passed([&] { on_number(value); });
  }
  bool opened(bool object);
  bool closed(bool object);

  ByteSource* source_ = nullptr;
  std::uint64_t token_begin_ = 0;  ///< at most
  int depth_ = 0;
  bool stayed_open_ = false;
  std::optional<double> not_finite_;  ///< the number that the parser was given a null for
};

/// Reads all of it. Throws UsageError with the byte at which it is no JSON, or too much of it, or at which a second
/// document begins where only one is read.
void read_json(ByteSource& source, JsonEvents& events, JsonDocuments documents = JsonDocuments::one);

}  // namespace roofline
