// Nested messages of a protocol buffer, read from a file without keeping them.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>

#include "import/byte_source.hpp"

namespace roofline {

class ProtobufStream {
 public:
  explicit ProtobufStream(ByteSource& source) : source_(source) {}

  struct Field {
    std::uint32_t number = 0;
    bool has_bytes = false;
    std::uint64_t value = 0;  ///< of a varint, or the bits of a fixed number
    std::uint64_t end = 0;    ///< of what has a length: the offset behind it
  };

  static constexpr std::uint64_t kFileEnd = std::numeric_limits<std::uint64_t>::max();

  /// The next field of a message that ends at `end`; std::nullopt at its end. Throws UsageError if it is damaged.
  std::optional<Field> next(std::uint64_t end);
  /// What a field with a length has. Throws UsageError above 64 MB.
  std::string bytes(const Field& field);
  void pass_over(const Field& field);

 private:
  std::uint64_t varint(std::uint64_t end);
  std::uint64_t fixed(std::uint64_t end, unsigned size);
  unsigned char byte(std::uint64_t end);

  ByteSource& source_;
};

}  // namespace roofline
