#include "sample/elf_file.hpp"

#include <elf.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <string_view>

#include "sample/bytes.hpp"

namespace roofline {
namespace {

constexpr std::uint64_t kMostSymbolBytes = std::uint64_t{1} << 30;
constexpr std::uint64_t kMostNameBytes = 1 << 20;
constexpr std::size_t kMostHeaders = 4096;

template <typename Record>
Record record_at(std::string_view bytes, std::size_t index) {
  Record record;
  std::memcpy(&record, bytes.data() + index * sizeof record, sizeof record);
  return record;
}

std::string_view text_at(std::string_view texts, std::size_t at) {
  if (at >= texts.size()) return {};
  const std::string_view rest = texts.substr(at);
  return rest.substr(0, rest.find('\0'));
}

std::string hexadecimal(std::string_view bytes) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string text;
  for (const char byte : bytes) {
    const auto value = static_cast<unsigned char>(byte);
    text += kDigits[value >> 4U];
    text += kDigits[value & 0xfU];
  }
  return text;
}

}  // namespace

std::optional<ElfFile> ElfFile::open(const std::string& path) {
  ElfFile elf;
  elf.file_ = Descriptor(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  struct stat status = {};
  if (elf.file_.get() < 0 || ::fstat(elf.file_.get(), &status) != 0 || !S_ISREG(status.st_mode)) return std::nullopt;
  elf.size_ = static_cast<std::uint64_t>(status.st_size);
  if (!elf.read_headers()) return std::nullopt;
  return elf;
}

bool ElfFile::read(std::uint64_t offset, void* to, std::size_t size) const {
  if (offset > size_ || size > size_ - offset) return false;
  return ::pread(file_.get(), to, size, static_cast<off_t>(offset)) == static_cast<ssize_t>(size);
}

bool ElfFile::read_headers() {
  Elf64_Ehdr header = {};
  constexpr auto kOrder = std::endian::native == std::endian::little ? ELFDATA2LSB : ELFDATA2MSB;
  if (!read(0, &header, sizeof header) || std::memcmp(static_cast<const void*>(header.e_ident), ELFMAG, SELFMAG) != 0 ||
      header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_ident[EI_DATA] != kOrder) {
    return false;
  }
  for (std::size_t i = 0; i < std::min<std::size_t>(header.e_phnum, kMostHeaders); ++i) {
    Elf64_Phdr segment = {};
    if (!read(header.e_phoff + i * sizeof segment, &segment, sizeof segment)) break;
    segments_.push_back({segment.p_type, segment.p_offset, segment.p_vaddr, segment.p_filesz});
  }
  std::vector<Elf64_Shdr> sections;
  for (std::size_t i = 0; i < std::min<std::size_t>(header.e_shnum, kMostHeaders) && header.e_shoff != 0; ++i) {
    Elf64_Shdr section = {};
    if (!read(header.e_shoff + i * sizeof section, &section, sizeof section)) break;
    sections.push_back(section);
  }
  std::string names;
  if (header.e_shstrndx < sections.size()) {
    const Elf64_Shdr& texts = sections[header.e_shstrndx];
    names = bytes_of({{}, texts.sh_type, 0, 0, texts.sh_offset, texts.sh_size}, kMostNameBytes);
  }
  for (const Elf64_Shdr& section : sections) {
    sections_.push_back({std::string(text_at(names, section.sh_name)), section.sh_type, section.sh_link,
                         section.sh_flags, section.sh_offset, section.sh_size});
  }
  return true;
}

std::string ElfFile::bytes_of(const Section& section, std::uint64_t most) const {
  if (section.type == SHT_NOBITS || section.size > most || section.size > size_) return {};
  std::string bytes(section.size, '\0');
  return read(section.offset, bytes.data(), bytes.size()) ? bytes : std::string();
}

const ElfFile::Section* ElfFile::find_section(std::uint32_t type) const {
  const auto found = std::ranges::find_if(sections_, [type](const Section& s) { return s.type == type && s.size > 0; });
  return found == sections_.end() ? nullptr : &*found;
}

std::string ElfFile::section(std::string_view name, std::uint64_t most) const {
  const auto found = std::ranges::find(sections_, name, &Section::name);
  if (found == sections_.end() || (found->flags & SHF_COMPRESSED) != 0) return {};
  return bytes_of(*found, most);
}

std::optional<std::uint64_t> ElfFile::address_of_offset(std::uint64_t offset) const {
  for (const Segment& segment : segments_) {
    if (segment.type != PT_LOAD || offset < segment.offset || offset - segment.offset >= segment.file_size) continue;
    return offset - segment.offset + segment.address;
  }
  return std::nullopt;
}

bool ElfFile::read_address(std::uint64_t address, void* to, std::size_t size) const {
  for (const Segment& segment : segments_) {
    if (segment.type != PT_LOAD || address < segment.address) continue;
    const std::uint64_t within = address - segment.address;
    if (within >= segment.file_size || size > segment.file_size - within) continue;
    return read(segment.offset + within, to, size);
  }
  return false;
}

std::optional<std::uint64_t> ElfFile::unwind_table() const {
  const auto found = std::ranges::find(segments_, std::uint32_t{PT_GNU_EH_FRAME}, &Segment::type);
  return found == segments_.end() ? std::nullopt : std::optional(found->address);
}

template <typename Visit>
void ElfFile::visit_symbols(const Section& table, std::uint64_t most, const Visit& visit) const {
  if (table.link >= sections_.size()) return;
  const std::string symbols = bytes_of(table, most);
  const std::string names = bytes_of(sections_[table.link], most);
  for (std::size_t i = 0; i < symbols.size() / sizeof(Elf64_Sym); ++i) {
    const auto symbol = record_at<Elf64_Sym>(symbols, i);
    if (symbol.st_shndx == SHN_UNDEF || symbol.st_value == 0) continue;
    if (!visit(symbol, text_at(names, symbol.st_name))) return;
  }
}

void ElfFile::visit_functions(std::uint64_t most, const std::function<void(const ElfFunction&)>& visit) const {
  const Section* table = find_section(SHT_SYMTAB);
  if (table == nullptr) table = find_section(SHT_DYNSYM);
  if (table == nullptr) return;
  visit_symbols(*table, most, [&](const Elf64_Sym& symbol, std::string_view name) {
    const unsigned type = ELF64_ST_TYPE(symbol.st_info);
    const bool function = (type == STT_FUNC || type == STT_GNU_IFUNC) && !name.empty();
    if (function) visit({symbol.st_value, symbol.st_size, name});
    return true;
  });
}

std::vector<ElfSymbol> ElfFile::functions_at(const std::vector<std::uint64_t>& addresses) const {
  std::vector<ElfSymbol> functions(addresses.size());
  // A large library has millions of symbols, of which few are looked up: search the addresses for each symbol.
  visit_functions(kMostSymbolBytes, [&](const ElfFunction& symbol) {
    const auto first = std::ranges::lower_bound(addresses, symbol.address);
    for (auto at = first; at != addresses.end() && *at - symbol.address < symbol.size; ++at) {
      ElfSymbol& function = functions[static_cast<std::size_t>(at - addresses.begin())];
      if (function.address <= symbol.address) function = {symbol.address, symbol.size, std::string(symbol.name)};
    }
  });
  return functions;
}

bool ElfFile::has_section(std::string_view name) const {
  return std::ranges::find(sections_, name, &Section::name) != sections_.end();
}

std::optional<std::uint64_t> ElfFile::address_of(std::string_view name, bool exported_only) const {
  std::optional<std::uint64_t> address;
  for (const std::uint32_t type : {std::uint32_t{SHT_DYNSYM}, std::uint32_t{SHT_SYMTAB}}) {
    const Section* table = type == SHT_SYMTAB && exported_only ? nullptr : find_section(type);
    if (table == nullptr || address) continue;
    visit_symbols(*table, kMostSymbolBytes, [&](const Elf64_Sym& symbol, std::string_view own) {
      if (own == name) address = symbol.st_value;
      return !address;
    });
  }
  return address;
}

std::string ElfFile::build_id() const {
  constexpr std::uint64_t kMostNotes = 4096;
  return build_id_of(section(".note.gnu.build-id", kMostNotes));
}

std::string build_id_of(std::string_view notes) {
  constexpr std::uint64_t kMostId = 64, kAlignment = 4;
  const auto aligned = [](std::uint64_t size) { return (size + kAlignment - 1) / kAlignment * kAlignment; };
  ByteCursor cursor(notes);
  while (!cursor.at_end()) {
    const auto name_size = cursor.number<std::uint32_t>(), size = cursor.number<std::uint32_t>();
    const auto type = cursor.number<std::uint32_t>();
    const std::string_view name = cursor.bytes(aligned(name_size));
    const std::string_view content = cursor.bytes(aligned(size));
    if (!cursor.good()) break;
    if (type == NT_GNU_BUILD_ID && name.starts_with("GNU") && size <= kMostId) {
      return hexadecimal(content.substr(0, size));
    }
  }
  return {};
}

}  // namespace roofline
