// The values of .debug_info: abbreviations, and attributes by their forms (DWARF 2 to 5). Nothing in it is trusted.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "sample/bytes.hpp"
#include "sample/elf_file.hpp"

namespace roofline {

/// Sections of debug information; empty if the file has none.
struct DebugSections {
  explicit DebugSections(const ElfFile& elf);

  std::string info, abbreviations, texts, line_texts, text_offsets, addresses, ranges, range_lists;
};

/// The attributes that are read.
enum class DebugAttribute : std::uint8_t {
  sibling,
  name,
  line_table,
  low,
  high,
  origin,
  specification,
  ranges,
  call_file,
  call_line,
  linkage_name,
  text_offsets_base,
  addresses_base,
  range_lists_base,
  other
};
inline constexpr std::size_t kDebugAttributes = static_cast<std::size_t>(DebugAttribute::other);

struct DebugAbbreviation {
  struct Column {
    DebugAttribute attribute = DebugAttribute::other;
    std::uint8_t form = 0;      ///< how its values are written: an index into the forms that are known
    std::int64_t constant = 0;  ///< of a form without bytes
  };
  std::uint64_t tag = 0;
  bool children = false;
  bool readable = true;  ///< all of its forms are known
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
  // Values of the first entry.
  std::uint64_t text_offsets = 0, addresses = 0, range_lists = 0, line_table = 0, low = 0;
};
std::vector<DebugUnit> read_units(std::string_view info);

struct DebugValue {
  enum class Kind : std::uint8_t { none, number, address, address_index, text, entry, range_index };
  Kind kind = Kind::none;
  std::uint64_t number = 0;  ///< `entry`: its offset in .debug_info
  std::string_view text;
};

/// Reads one value, and moves past it. `none` for forms that are not needed.
DebugValue read_value(ByteCursor& cursor, const DebugAbbreviation::Column& column, const DebugUnit& unit,
                      const DebugSections& sections);

/// A range of addresses, without its end.
struct DebugRange {
  std::uint64_t start = 0, end = 0;
};
/// The ranges of an entry whose DW_AT_ranges has this value.
std::vector<DebugRange> read_ranges(const DebugValue& value, const DebugUnit& unit, const DebugSections& sections);

/// An entry of .debug_addr; 0 if there is none.
std::uint64_t indexed_address(std::uint64_t index, const DebugUnit& unit, const DebugSections& sections);

}  // namespace roofline
