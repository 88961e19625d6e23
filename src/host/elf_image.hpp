// An ELF image in memory, such as a CUDA device image ("cubin"): sections and symbols. Nothing in it is trusted.
#pragma once

#include <elf.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <string_view>

namespace roofline {

struct ElfSection {
  std::string_view name;
  std::uint32_t type = 0, link = 0, info = 0;
  std::span<const std::byte> content;  ///< empty where the section has no bytes in the image
};

/// Points into the bytes that it was made of.
class ElfImage {
 public:
  /// std::nullopt unless a 64-bit image for that machine (`EM_…`) begins there. Trailing bytes are allowed.
  static std::optional<ElfImage> at_start_of(std::span<const std::byte> bytes, std::uint16_t machine);

  std::size_t section_count() const { return sections_; }
  /// std::nullopt if it does not lie within the image.
  std::optional<ElfSection> section(std::size_t index) const;
  std::optional<ElfSection> section(std::string_view name) const;
  const Elf64_Ehdr& header() const { return header_; }

 private:
  std::optional<std::span<const std::byte>> content_of(const Elf64_Shdr& section) const;

  std::span<const std::byte> headers_;  ///< section headers
  std::span<const std::byte> bytes_, names_;
  std::size_t sections_ = 0;
  Elf64_Ehdr header_ = {};
};

/// The record at an index of an array; std::nullopt past the end.
template <typename Record>
std::optional<Record> elf_record(std::span<const std::byte> bytes, std::uint64_t index) {
  if (index >= bytes.size() / sizeof(Record)) return std::nullopt;
  Record record;
  std::memcpy(&record, bytes.data() + index * sizeof record, sizeof record);
  return record;
}
/// The text up to a zero byte or the end; empty past the end.
std::string_view elf_text(std::span<const std::byte> bytes, std::uint64_t offset);

/// The machine of CUDA's images, and the architecture of one: 90 for sm_90 and sm_90a, which it does not distinguish.
inline constexpr std::uint16_t kMachineCuda = 190;
/// CUDA 13 (ABI 8) moved the architecture one byte up and put flags of its own into the lowest.
int cuda_architecture(const Elf64_Ehdr& header);

}  // namespace roofline
