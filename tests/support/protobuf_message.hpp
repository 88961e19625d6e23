// Messages of protocol buffers, and the reports of Nsight Compute that consist of them.
#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

namespace roofline {

/// A message, field by field.
class ProtobufMessage {
 public:
  ProtobufMessage& number(unsigned field, std::uint64_t value) {
    varint(field << 3U);
    varint(value);
    return *this;
  }
  ProtobufMessage& text(unsigned field, std::string_view value) {
    varint(field << 3U | 2U);
    varint(value.size());
    bytes_ += value;
    return *this;
  }
  ProtobufMessage& real(unsigned field, double value) {
    varint(field << 3U | 1U);
    char bytes[sizeof value];
    std::memcpy(bytes, &value, sizeof value);
    bytes_.append(bytes, sizeof value);
    return *this;
  }
  const std::string& bytes() const { return bytes_; }
  /// With its length before it.
  std::string framed() const { return length_of(bytes_.size()) + bytes_; }
  static std::string length_of(std::size_t length) {
    std::string text;
    for (unsigned shift = 0; shift < 32; shift += 8) text += static_cast<char>(length >> shift & 0xffU);
    return text;
  }

 private:
  void varint(std::uint64_t value) {
    for (; value >= 0x80; value >>= 7U) bytes_ += static_cast<char>(value | 0x80U);
    bytes_ += static_cast<char>(value);
  }
  std::string bytes_;
};

/// What each report of Nsight Compute begins with.
inline std::string ncu_report_begin() { return std::string("NVR\0", 4) + ProtobufMessage().number(1, 7).framed(); }

}  // namespace roofline
