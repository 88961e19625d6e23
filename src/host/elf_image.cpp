#include "host/elf_image.hpp"

#include <algorithm>

namespace roofline {

std::optional<ElfImage> ElfImage::at_start_of(std::span<const std::byte> bytes, std::uint16_t machine) {
  const auto header = elf_record<Elf64_Ehdr>(bytes, 0);
  if (!header || std::memcmp(static_cast<const void*>(header->e_ident), ELFMAG, SELFMAG) != 0) return std::nullopt;
  if (header->e_ident[EI_CLASS] != ELFCLASS64 || header->e_machine != machine) return std::nullopt;
  ElfImage image;
  image.header_ = *header;
  image.bytes_ = bytes;
  if (header->e_shentsize != sizeof(Elf64_Shdr) || header->e_shoff > bytes.size()) return image;
  image.headers_ = bytes.subspan(header->e_shoff);
  // The first header has the numbers that are too large for the image's.
  const Elf64_Shdr first = elf_record<Elf64_Shdr>(image.headers_, 0).value_or(Elf64_Shdr{});
  const std::uint64_t count = header->e_shnum != 0 ? header->e_shnum : first.sh_size;
  image.sections_ = std::min<std::uint64_t>(count, image.headers_.size() / sizeof(Elf64_Shdr));
  const std::uint64_t names = header->e_shstrndx != SHN_XINDEX ? header->e_shstrndx : first.sh_link;
  if (const auto section = elf_record<Elf64_Shdr>(image.headers_, names)) {
    image.names_ = image.content_of(*section).value_or(std::span<const std::byte>());
  }
  return image;
}

std::optional<std::span<const std::byte>> ElfImage::content_of(const Elf64_Shdr& section) const {
  if (section.sh_type == SHT_NOBITS) return std::span<const std::byte>();
  if (section.sh_offset > bytes_.size() || bytes_.size() - section.sh_offset < section.sh_size) return std::nullopt;
  return bytes_.subspan(section.sh_offset, section.sh_size);
}

std::optional<ElfSection> ElfImage::section(std::size_t index) const {
  if (index >= sections_) return std::nullopt;
  const auto header = elf_record<Elf64_Shdr>(headers_, index);
  const auto content = header ? content_of(*header) : std::nullopt;
  if (!content) return std::nullopt;
  return ElfSection{elf_text(names_, header->sh_name), header->sh_type, header->sh_link, header->sh_info, *content};
}

std::optional<ElfSection> ElfImage::section(std::string_view name) const {
  for (std::size_t i = 0; i < sections_; ++i) {
    const auto found = section(i);
    if (found && found->name == name) return found;
  }
  return std::nullopt;
}

std::string_view elf_text(std::span<const std::byte> bytes, std::uint64_t offset) {
  if (offset >= bytes.size()) return {};
  const char* const begin = reinterpret_cast<const char*>(bytes.data()) + offset;
  return {begin, strnlen(begin, bytes.size() - offset)};
}

int cuda_architecture(const Elf64_Ehdr& header) {
  return static_cast<int>(header.e_ident[EI_ABIVERSION] >= 8 ? header.e_flags >> 8 & 0xFF : header.e_flags & 0xFF);
}

}  // namespace roofline
