// The wire format of protocol buffers, read field by field.
#pragma once

#include <cstdint>
#include <cstring>
#include <functional>
#include <optional>
#include <string_view>

namespace roofline {

/// A field of a message, undecoded.
struct ProtobufField {
  std::uint32_t number = 0;
  std::uint64_t value = 0;      ///< of a varint, or the bits of a fixed number
  std::string_view bytes = {};  ///< of what has a length: a text, a message
  bool has_bytes = false;
  bool is_wide = false;  ///< of a fixed number: 64 bits
};

/// Iterates over the fields of one message. Invalid input ends it, and at() is its position.
class ProtobufReader {
 public:
  explicit ProtobufReader(std::string_view message) : message_(message) {}

  /// The next field; std::nullopt at the end, or if the message is damaged.
  std::optional<ProtobufField> next() {
    if (at_ >= message_.size() || broken_) return std::nullopt;
    ProtobufField field;
    const std::uint64_t key = varint();
    field.number = static_cast<std::uint32_t>(key >> 3U);
    switch (broken_ ? 8 : key & 7U) {
      case 0:
        field.value = varint();
        break;
      case 1:
        field.value = fixed<std::uint64_t>();
        field.is_wide = true;
        break;
      case 2: {
        const std::uint64_t length = varint();
        if (broken_ || length > message_.size() - at_) {
          broken_ = true;
          break;
        }
        field.bytes = message_.substr(at_, length);
        field.has_bytes = true;
        at_ += length;
        break;
      }
      case 5:
        field.value = fixed<std::uint32_t>();
        break;
      default:
        broken_ = true;
    }
    if (broken_ || field.number == 0) {
      broken_ = true;
      return std::nullopt;
    }
    return field;
  }

  bool broken() const { return broken_; }
  std::size_t at() const { return at_; }

 private:
  std::uint64_t varint() {
    std::uint64_t value = 0;
    for (unsigned shift = 0; shift < 64 && at_ < message_.size(); shift += 7) {
      const auto byte = static_cast<unsigned char>(message_[at_++]);
      value |= static_cast<std::uint64_t>(byte & 0x7fU) << shift;
      if (byte < 0x80) return value;
    }
    broken_ = true;
    return 0;
  }

  template <typename Number>
  std::uint64_t fixed() {
    Number number = 0;
    if (message_.size() - at_ < sizeof number) {
      broken_ = true;
      return 0;
    }
    std::memcpy(&number, message_.data() + at_, sizeof number);
    at_ += sizeof number;
    return number;
  }

  std::string_view message_;
  std::size_t at_ = 0;
  bool broken_ = false;
};

}  // namespace roofline
