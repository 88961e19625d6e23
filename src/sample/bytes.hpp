// Reads numbers and texts from untrusted bytes: every read is checked against their end.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace roofline {

/// A position in bytes. A read past their end gives 0, and good() is false from then on.
class ByteCursor {
 public:
  explicit ByteCursor(std::string_view bytes, std::size_t at = 0) : bytes_(bytes), at_(at) {
    if (at_ > bytes_.size()) good_ = false;
  }

  bool good() const { return good_; }
  bool at_end() const { return !good_ || at_ == bytes_.size(); }
  std::size_t at() const { return at_; }
  std::size_t left() const { return good_ ? bytes_.size() - at_ : 0; }

  template <typename Number>
  Number number() {
    Number value = {};
    if (take(sizeof value)) std::memcpy(&value, bytes_.data() + at_ - sizeof value, sizeof value);
    return value;
  }
  std::uint8_t byte() { return number<std::uint8_t>(); }
  std::string_view bytes(std::size_t size) { return take(size) ? bytes_.substr(at_ - size, size) : std::string_view(); }
  void skip(std::uint64_t size) { take(size); }

  std::uint64_t unsigned_leb() {
    constexpr unsigned kPart = 7, kMost = 64;
    std::uint64_t value = 0;
    for (unsigned shift = 0; good_; shift += kPart) {
      const std::uint8_t part = byte();
      if (shift < kMost) value |= static_cast<std::uint64_t>(part & 0x7fU) << shift;
      if ((part & 0x80U) == 0) break;
    }
    return value;
  }
  std::int64_t signed_leb() {
    constexpr unsigned kPart = 7, kMost = 64;
    std::uint64_t value = 0;
    for (unsigned shift = 0; good_;) {
      const std::uint8_t part = byte();
      if (shift < kMost) value |= static_cast<std::uint64_t>(part & 0x7fU) << shift;
      shift += kPart;
      if ((part & 0x80U) != 0) continue;
      if (shift < kMost && (part & 0x40U) != 0) value |= ~std::uint64_t{0} << shift;
      break;
    }
    return static_cast<std::int64_t>(value);
  }
  /// The text up to a zero byte, and moves past that byte.
  std::string_view text() {
    const std::size_t end = good_ ? bytes_.find('\0', at_) : std::string_view::npos;
    if (end == std::string_view::npos) {
      good_ = false;
      return {};
    }
    const std::string_view text = bytes_.substr(at_, end - at_);
    at_ = end + 1;
    return text;
  }

 private:
  bool take(std::uint64_t size) {
    if (!good_ || size > bytes_.size() - at_) {
      good_ = false;
      return false;
    }
    at_ += size;
    return true;
  }

  std::string_view bytes_;
  std::size_t at_ = 0;
  bool good_ = true;
};

}  // namespace roofline
