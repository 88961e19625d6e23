// The values of .debug_info: abbreviations, and attributes by their forms (DWARF 2 to 5). Nothing in it is trusted.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "sample/bytes.hpp"
#include "sample/elf_file.hpp"

namespace roofline {

/// Sections of debug information; empty where the file has none.
struct DebugSections {
  explicit DebugSections(const ElfFile& elf);

  std::string info, abbreviations, texts, line_texts, text_offsets, addresses, ranges, range_lists;
};

/// Of the attributes that are read (DW_AT_…).
enum class DebugAttribute : std::uint16_t {
  sibling = 0x01,
  name = 0x03,
  line_table = 0x10,
  low = 0x11,
  high = 0x12,
  origin = 0x31,
  specification = 0x47,
  ranges = 0x55,
  call_file = 0x58,
  call_line = 0x59,
  linkage_name = 0x6e,
  text_offsets_base = 0x72,
  addresses_base = 0x73,
  range_lists_base = 0x74
};

struct DebugAbbreviation {
  struct Column {
    std::uint16_t attribute = 0, form = 0;
    std::int64_t constant = 0;  ///< of a form without bytes
  };
  std::uint64_t tag = 0;
  bool children = false;
  std::vector<Column> columns;
};
using DebugAbbreviations = std::unordered_map<std::uint64_t, DebugAbbreviation>;

/// The table at an offset of .debug_abbrev.
DebugAbbreviations read_abbreviations(std::string_view section, std::uint64_t offset);

/// A unit of .debug_info, by offsets in the section.
struct DebugUnit {
  std::uint64_t start = 0, first = 0, end = 0;  ///< of the unit, of its first entry
  std::uint64_t abbreviations = 0;
  int version = 0;
  bool wide = false;  ///< offsets have 8 bytes
  // Of its first entry.
  std::uint64_t text_offsets = 0, addresses = 0, range_lists = 0, line_table = 0, low = 0;
};
std::vector<DebugUnit> read_units(std::string_view info);

struct DebugValue {
  enum class Kind : std::uint8_t { none, number, address, address_index, text, entry, range_index };
  Kind kind = Kind::none;
  std::uint64_t number = 0;  ///< `entry`: its offset in .debug_info
  std::string_view text;
};

/// Reads one value, and moves past it. `none` for forms that are not needed. False: the form is not known, so nothing
/// after it can be read.
bool read_value(ByteCursor& cursor, const DebugAbbreviation::Column& column, const DebugUnit& unit,
                const DebugSections& sections, DebugValue& value);

/// A range of addresses, without its end.
struct DebugRange {
  std::uint64_t start = 0, end = 0;
};
/// The ranges of an entry whose DW_AT_ranges has this value.
std::vector<DebugRange> read_ranges(const DebugValue& value, const DebugUnit& unit, const DebugSections& sections);

/// An entry of .debug_addr; 0 where there is none.
std::uint64_t indexed_address(std::uint64_t index, const DebugUnit& unit, const DebugSections& sections);

}  // namespace roofline
