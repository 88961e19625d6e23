// A program or library on disk: load addresses, symbols, sections. Its bytes are not trusted.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "host/descriptor.hpp"
#include "sample/code_image.hpp"

namespace roofline {

struct ElfSymbol {
  std::uint64_t address = 0, size = 0;
  std::string name;  ///< as in the file
};

/// A function's symbol; the name is valid while it is visited.
struct ElfFunction {
  std::uint64_t address = 0, size = 0;
  std::string_view name;
};

class ElfFile final : public CodeImage {
 public:
  /// std::nullopt if it is not a 64-bit ELF file of this machine's byte order.
  static std::optional<ElfFile> open(const std::string& path);

  /// The address that a byte of the file is linked at; std::nullopt if no segment loads it.
  std::optional<std::uint64_t> address_of_offset(std::uint64_t offset) const;
  bool read_address(std::uint64_t address, void* to, std::size_t size) const override;
  std::optional<std::uint64_t> unwind_table() const override;

  /// The functions that hold these linked addresses (sorted); without a name where no symbol does. From .symtab if the
  /// file has it, else from .dynsym.
  std::vector<ElfSymbol> functions_at(const std::vector<std::uint64_t>& addresses) const;
  /// Calls `visit` for each named function, in the order of one table. No calls if it has more than `most` bytes of
  /// symbols or of names.
  void visit_functions(std::uint64_t most, const std::function<void(const ElfFunction&)>& visit) const;
  /// The linked address of an exported symbol, or also of one that is not.
  std::optional<std::uint64_t> address_of(std::string_view symbol, bool exported_only) const;
  /// Content of a section; empty if it is absent, compressed or larger than `most` bytes.
  std::string section(std::string_view name, std::uint64_t most) const;
  bool has_section(std::string_view name) const;
  std::string build_id() const;  ///< in hexadecimal digits; empty: none

 private:
  struct Segment {
    std::uint32_t type = 0;
    std::uint64_t offset = 0, address = 0, file_size = 0;
  };
  struct Section {
    std::string name;
    std::uint32_t type = 0, link = 0;
    std::uint64_t flags = 0, offset = 0, size = 0;
  };
  bool read(std::uint64_t offset, void* to, std::size_t size) const;
  std::string bytes_of(const Section& section, std::uint64_t most) const;
  const Section* find_section(std::uint32_t type) const;
  bool read_headers();
  template <typename Visit>
  void visit_symbols(const Section& table, std::uint64_t most, const Visit& visit) const;

  Descriptor file_;
  std::uint64_t size_ = 0;
  std::vector<Segment> segments_;
  std::vector<Section> sections_;
};

/// The content of the note NT_GNU_BUILD_ID among these, in hexadecimal digits; empty if there is none.
std::string build_id_of(std::string_view notes);

}  // namespace roofline
