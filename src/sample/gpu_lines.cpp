#include "sample/gpu_lines.hpp"

#include <elf.h>

#include <algorithm>
#include <cstring>

#include "host/elf_image.hpp"
#include "sample/line_table.hpp"

namespace roofline {
namespace {

constexpr std::size_t kInstructionBytes = 16;

/// A function's place in a section.
struct Place {
  std::size_t section = 0;
  std::uint64_t begin = 0;
  std::span<const std::byte> code;
};

/// All sections of a cubin begin at address zero; this keeps those of their lines apart.
std::uint64_t base_of(std::uint64_t section) {
  constexpr unsigned kBits = 40;
  return (section + 1) << kBits;
}

std::string text_of(const std::optional<ElfSection>& section) {
  if (!section) return {};
  return {reinterpret_cast<const char*>(section->content.data()), section->content.size()};
}

/// A kernel's symbol and a device function's are in the table; the section's name is a kernel's too.
std::optional<Place> find_function(const ElfImage& image, std::string_view symbol) {
  constexpr std::string_view kPrefix = ".text.";
  for (std::size_t i = 0; i < image.section_count(); ++i) {
    const auto section = image.section(i);
    if (!section || section->type != SHT_PROGBITS || !section->name.starts_with(kPrefix)) continue;
    if (section->name.substr(kPrefix.size()) == symbol) return Place{i, 0, section->content};
  }
  const auto table = image.section(".symtab");
  const auto names = table ? image.section(std::size_t{table->link}) : std::nullopt;
  if (!names) return std::nullopt;
  for (std::size_t i = 0; i < table->content.size() / sizeof(Elf64_Sym); ++i) {
    const Elf64_Sym entry = *elf_record<Elf64_Sym>(table->content, i);
    if (ELF64_ST_TYPE(entry.st_info) != STT_FUNC || elf_text(names->content, entry.st_name) != symbol) continue;
    const auto section = image.section(std::size_t{entry.st_shndx});
    if (!section || section->type != SHT_PROGBITS || !section->name.starts_with(kPrefix)) continue;
    if (entry.st_value > section->content.size()) continue;
    const auto code = section->content.subspan(entry.st_value);
    return Place{entry.st_shndx, entry.st_value, code.first(std::min<std::uint64_t>(entry.st_size, code.size()))};
  }
  return std::nullopt;
}

/// Writes the address of each sequence of lines where the linker would: the relocated symbol's.
void relocate(const ElfImage& image, const ElfSection& relocations, std::string& lines) {
  const auto symbols = image.section(std::size_t{relocations.link});
  if (!symbols) return;
  const bool with_addend = relocations.type == SHT_RELA;
  const std::size_t size = with_addend ? sizeof(Elf64_Rela) : sizeof(Elf64_Rel);
  for (std::size_t i = 0; i < relocations.content.size() / size; ++i) {
    // Elf64_Rela begins with the fields of Elf64_Rel.
    const auto relocation = *elf_record<Elf64_Rel>(relocations.content.subspan(i * size), 0);
    const auto symbol = elf_record<Elf64_Sym>(symbols->content, ELF64_R_SYM(relocation.r_info));
    std::uint64_t address = 0;
    if (!symbol || relocation.r_offset > lines.size() || lines.size() - relocation.r_offset < sizeof address) continue;
    char* const field = lines.data() + relocation.r_offset;
    if (with_addend) {
      const auto whole = *elf_record<Elf64_Rela>(relocations.content, i);
      address = static_cast<std::uint64_t>(whole.r_addend);
    } else {
      std::memcpy(&address, field, sizeof address);
    }
    address += base_of(symbol->st_shndx) + symbol->st_value;
    std::memcpy(field, &address, sizeof address);
  }
}

LineSections line_sections(const ElfImage& image) {
  LineSections sections;
  sections.lines = text_of(image.section(".debug_line"));
  sections.line_texts = text_of(image.section(".debug_line_str"));
  sections.texts = text_of(image.section(".debug_str"));
  for (const std::string_view name : {".rela.debug_line", ".rel.debug_line"}) {
    const auto relocations = image.section(name);
    if (relocations && (relocations->type == SHT_RELA || relocations->type == SHT_REL)) {
      relocate(image, *relocations, sections.lines);
    }
  }
  return sections;
}

}  // namespace

std::optional<GpuFunction> read_gpu_function(std::span<const std::byte> cubin, std::string_view symbol) {
  const auto image = ElfImage::at_start_of(cubin, kMachineCuda);
  const auto place = image ? find_function(*image, symbol) : std::nullopt;
  if (!place) return std::nullopt;
  GpuFunction function;
  function.symbol = symbol;
  function.architecture = cuda_architecture(image->header());
  function.code.assign(place->code.begin(), place->code.end());
  function.lines.resize(function.code.size() / kInstructionBytes);

  const std::uint64_t begin = base_of(place->section) + place->begin;
  CodeLines code = code_lines(line_sections(*image), begin, begin + function.code.size());
  for (std::size_t i = 0; i < function.lines.size(); ++i) {
    const std::uint64_t address = begin + i * kInstructionBytes;
    const auto after = std::ranges::upper_bound(code.rows, address, {}, &CodeLines::Row::begin);
    if (after == code.rows.begin() || std::prev(after)->end <= address) continue;
    const CodeLines::Row& row = *std::prev(after);
    function.lines[i] = {.file = static_cast<int>(row.file),
                         .line = row.line,
                         .callee = row.callee ? static_cast<int>(*row.callee) : -1};
  }
  function.files = std::move(code.files);
  function.callees = std::move(code.callees);
  return function;
}

}  // namespace roofline
