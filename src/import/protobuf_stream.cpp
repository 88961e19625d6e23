#include "import/protobuf_stream.hpp"

#include <algorithm>

namespace roofline {

unsigned char ProtobufStream::byte(std::uint64_t end) {
  if (source_.offset() >= end) source_.fail("a message ends inside a field");
  const int next = source_.peek();
  if (next < 0) source_.fail("the file ends inside a message");
  source_.skip();
  return static_cast<unsigned char>(next);
}

std::uint64_t ProtobufStream::varint(std::uint64_t end) {
  std::uint64_t value = 0;
  for (unsigned shift = 0; shift < 64; shift += 7) {
    const unsigned char part = byte(end);
    value |= static_cast<std::uint64_t>(part & 0x7fU) << shift;
    if (part < 0x80) return value;
  }
  source_.fail("a number of more than 64 bits");
}

std::uint64_t ProtobufStream::fixed(std::uint64_t end, unsigned size) {
  std::uint64_t value = 0;
  for (unsigned i = 0; i < size; ++i) value |= static_cast<std::uint64_t>(byte(end)) << (8 * i);
  return value;
}

std::optional<ProtobufStream::Field> ProtobufStream::next(std::uint64_t end) {
  if (source_.offset() >= end) return std::nullopt;
  if (source_.peek() < 0) {
    if (end == kFileEnd) return std::nullopt;
    source_.fail("the file ends inside a message");
  }
  const std::uint64_t key = varint(end);
  Field field;
  field.number = static_cast<std::uint32_t>(key >> 3U);
  if (field.number == 0) source_.fail("a field without a number");
  switch (key & 7U) {
    case 0:
      field.value = varint(end);
      break;
    case 1:
      field.value = fixed(end, 8);
      break;
    case 2: {
      const std::uint64_t length = varint(end), begin = source_.offset();
      if (length > end - begin) source_.fail("a field that is longer than its message");
      field.has_bytes = true;
      field.end = begin + length;
      break;
    }
    case 5:
      field.value = fixed(end, 4);
      break;
    default:
      source_.fail("a field of an unknown type");
  }
  return field;
}

std::string ProtobufStream::bytes(const Field& field) {
  constexpr std::uint64_t kMost = std::uint64_t{1} << 26, kPiece = std::uint64_t{1} << 20;
  if (!field.has_bytes) source_.fail("a number in the place of a message");
  std::uint64_t left = field.end - source_.offset();
  if (left > kMost) source_.fail("a message of more than 64 MB");
  std::string text;
  while (left > 0) {
    const std::size_t piece = std::min(left, kPiece), before = text.size();
    text.resize(before + piece);
    if (source_.read(text.data() + before, piece) != piece) source_.fail("the file ends inside a message");
    left -= piece;
  }
  return text;
}

void ProtobufStream::pass_over(const Field& field) {
  if (!field.has_bytes) return;
  const std::uint64_t size = field.end - source_.offset();
  if (source_.pass_over(size) != size) source_.fail("the file ends inside a message");
}

}  // namespace roofline
