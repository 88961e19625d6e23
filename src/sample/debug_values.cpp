#include "sample/debug_values.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace roofline {
namespace {

constexpr std::uint64_t kMostDebugBytes = std::uint64_t{1} << 30U;
constexpr std::uint16_t kImplicitConstant = 0x21;

std::uint64_t read_offset(ByteCursor& cursor, bool wide) {
  return wide ? cursor.number<std::uint64_t>() : cursor.number<std::uint32_t>();
}

std::string_view text_in(std::string_view section, std::uint64_t offset) {
  return offset < section.size() ? ByteCursor(section, offset).text() : std::string_view();
}

std::string_view indexed_text(std::uint64_t index, const DebugUnit& unit, const DebugSections& sections) {
  const std::uint64_t size = unit.wide ? 8 : 4;
  if (index > sections.text_offsets.size() || unit.text_offsets > sections.text_offsets.size()) return {};
  ByteCursor cursor(sections.text_offsets, unit.text_offsets + index * size);
  const std::uint64_t offset = read_offset(cursor, unit.wide);
  return cursor.good() ? text_in(sections.texts, offset) : std::string_view();
}

/// DW_RLE_… of DWARF 5.
std::vector<DebugRange> read_range_list(std::uint64_t offset, const DebugUnit& unit, const DebugSections& sections) {
  constexpr std::size_t kMostRanges = 1 << 16;
  std::vector<DebugRange> ranges;
  ByteCursor cursor(sections.range_lists, std::min<std::uint64_t>(offset, sections.range_lists.size()));
  std::uint64_t base = unit.low;
  const auto indexed = [&](std::uint64_t index) { return indexed_address(index, unit, sections); };
  while (!cursor.at_end() && ranges.size() < kMostRanges) {
    std::uint64_t first = 0;
    switch (cursor.byte()) {
      case 1:
        base = indexed(cursor.unsigned_leb());
        break;
      case 2:
        first = indexed(cursor.unsigned_leb());
        ranges.push_back({first, indexed(cursor.unsigned_leb())});
        break;
      case 3:
        first = indexed(cursor.unsigned_leb());
        ranges.push_back({first, first + cursor.unsigned_leb()});
        break;
      case 4:
        first = cursor.unsigned_leb();
        ranges.push_back({base + first, base + cursor.unsigned_leb()});
        break;
      case 5:
        base = cursor.number<std::uint64_t>();
        break;
      case 6:
        first = cursor.number<std::uint64_t>();
        ranges.push_back({first, cursor.number<std::uint64_t>()});
        break;
      case 7:
        first = cursor.number<std::uint64_t>();
        ranges.push_back({first, first + cursor.unsigned_leb()});
        break;
      default:
        return ranges;
    }
  }
  return ranges;
}

/// Pairs of addresses, of DWARF 4 and before.
std::vector<DebugRange> read_pairs(std::uint64_t offset, const DebugUnit& unit, const DebugSections& sections) {
  constexpr std::size_t kMostRanges = 1 << 16;
  std::vector<DebugRange> ranges;
  ByteCursor cursor(sections.ranges, std::min<std::uint64_t>(offset, sections.ranges.size()));
  std::uint64_t base = unit.low;
  while (!cursor.at_end() && ranges.size() < kMostRanges) {
    const auto start = cursor.number<std::uint64_t>(), end = cursor.number<std::uint64_t>();
    if (start == 0 && end == 0) break;
    if (start == ~std::uint64_t{0}) {
      base = end;
    } else {
      ranges.push_back({base + start, base + end});
    }
  }
  return ranges;
}

enum class Encoding : std::uint8_t {
  fixed,  ///< `size` bytes
  offset,
  unsigned_leb,
  signed_leb,
  counted,      ///< a length of `size` bytes, and that many bytes
  leb_counted,  ///< a length, and that many bytes
  constant,     ///< in the abbreviation
  text
};
enum class Meaning : std::uint8_t {
  skipped,
  number,
  address,
  address_index,
  text,
  text_offset,
  line_text_offset,
  text_index,
  entry,
  entry_of_unit,
  range_index
};
/// DW_FORM_…
struct Form {
  std::uint16_t form;
  Encoding encoding;
  Meaning meaning;
  int size = 0;
};
constexpr auto kForms = std::to_array<Form>({
    {0x01, Encoding::fixed, Meaning::address, 8},            // addr
    {0x03, Encoding::counted, Meaning::skipped, 2},          // block2
    {0x04, Encoding::counted, Meaning::skipped, 4},          // block4
    {0x05, Encoding::fixed, Meaning::number, 2},             // data2
    {0x06, Encoding::fixed, Meaning::number, 4},             // data4
    {0x07, Encoding::fixed, Meaning::number, 8},             // data8
    {0x08, Encoding::text, Meaning::text},                   // string
    {0x09, Encoding::leb_counted, Meaning::skipped},         // block
    {0x0a, Encoding::counted, Meaning::skipped, 1},          // block1
    {0x0b, Encoding::fixed, Meaning::number, 1},             // data1
    {0x0c, Encoding::fixed, Meaning::number, 1},             // flag
    {0x0d, Encoding::signed_leb, Meaning::number},           // sdata
    {0x0e, Encoding::offset, Meaning::text_offset},          // strp
    {0x0f, Encoding::unsigned_leb, Meaning::number},         // udata
    {0x10, Encoding::offset, Meaning::entry},                // ref_addr
    {0x11, Encoding::fixed, Meaning::entry_of_unit, 1},      // ref1
    {0x12, Encoding::fixed, Meaning::entry_of_unit, 2},      // ref2
    {0x13, Encoding::fixed, Meaning::entry_of_unit, 4},      // ref4
    {0x14, Encoding::fixed, Meaning::entry_of_unit, 8},      // ref8
    {0x15, Encoding::unsigned_leb, Meaning::entry_of_unit},  // ref_udata
    {0x17, Encoding::offset, Meaning::number},               // sec_offset
    {0x18, Encoding::leb_counted, Meaning::skipped},         // exprloc
    {0x19, Encoding::constant, Meaning::number},             // flag_present
    {0x1a, Encoding::unsigned_leb, Meaning::text_index},     // strx
    {0x1b, Encoding::unsigned_leb, Meaning::address_index},  // addrx
    {0x1c, Encoding::fixed, Meaning::skipped, 4},            // ref_sup4
    {0x1d, Encoding::offset, Meaning::skipped},              // strp_sup
    {0x1e, Encoding::fixed, Meaning::skipped, 16},           // data16
    {0x1f, Encoding::offset, Meaning::line_text_offset},     // line_strp
    {0x20, Encoding::fixed, Meaning::skipped, 8},            // ref_sig8
    {0x21, Encoding::constant, Meaning::number},             // implicit_const
    {0x22, Encoding::unsigned_leb, Meaning::skipped},        // loclistx
    {0x23, Encoding::unsigned_leb, Meaning::range_index},    // rnglistx
    {0x24, Encoding::fixed, Meaning::skipped, 8},            // ref_sup8
    {0x25, Encoding::fixed, Meaning::text_index, 1},         // strx1
    {0x26, Encoding::fixed, Meaning::text_index, 2},         // strx2
    {0x27, Encoding::fixed, Meaning::text_index, 3},         // strx3
    {0x28, Encoding::fixed, Meaning::text_index, 4},         // strx4
    {0x29, Encoding::fixed, Meaning::address_index, 1},      // addrx1
    {0x2a, Encoding::fixed, Meaning::address_index, 2},      // addrx2
    {0x2b, Encoding::fixed, Meaning::address_index, 3},      // addrx3
    {0x2c, Encoding::fixed, Meaning::address_index, 4},      // addrx4
    {0x1f20, Encoding::offset, Meaning::skipped},            // GNU_ref_alt
    {0x1f21, Encoding::offset, Meaning::skipped},            // GNU_strp_alt
});

/// DW_AT_…, in the order of DebugAttribute.
constexpr auto kAttributes =
    std::to_array<std::uint64_t>({0x01, 0x03, 0x10, 0x11, 0x12, 0x31, 0x47, 0x55, 0x58, 0x59, 0x6e, 0x72, 0x73, 0x74});
static_assert(kAttributes.size() == kDebugAttributes);

DebugAttribute attribute_of(std::uint64_t number) {
  return static_cast<DebugAttribute>(std::ranges::find(kAttributes, number) - kAttributes.begin());
}

/// Little-endian; of more than 8 bytes nothing but their place is read.
std::uint64_t read_fixed(ByteCursor& cursor, int size) {
  constexpr int kBits = 8, kMost = 8;
  std::uint64_t number = 0;
  for (int i = 0; i < size; ++i) {
    const std::uint64_t byte = cursor.byte();
    if (i < kMost) number |= byte << static_cast<unsigned>(kBits * i);
  }
  return number;
}

std::uint64_t read_number(ByteCursor& cursor, const Form& form, const DebugAbbreviation::Column& column,
                          const DebugUnit& unit) {
  switch (form.encoding) {
    case Encoding::fixed:
      return read_fixed(cursor, form.size);
    case Encoding::offset:
      // References to entries had the size of an address at first.
      return read_offset(cursor, unit.wide || (form.meaning == Meaning::entry && unit.version == 2));
    case Encoding::unsigned_leb:
      return cursor.unsigned_leb();
    case Encoding::signed_leb:
      return static_cast<std::uint64_t>(cursor.signed_leb());
    case Encoding::counted:
      cursor.skip(read_fixed(cursor, form.size));
      return 0;
    case Encoding::leb_counted:
      cursor.skip(cursor.unsigned_leb());
      return 0;
    case Encoding::constant:
      return static_cast<std::uint64_t>(column.constant);
    case Encoding::text:
      break;
  }
  return 0;
}

}  // namespace

DebugSections::DebugSections(const ElfFile& elf)
    : info(elf.section(".debug_info", kMostDebugBytes)),
      abbreviations(elf.section(".debug_abbrev", kMostDebugBytes)),
      texts(elf.section(".debug_str", kMostDebugBytes)),
      line_texts(elf.section(".debug_line_str", kMostDebugBytes)),
      text_offsets(elf.section(".debug_str_offsets", kMostDebugBytes)),
      addresses(elf.section(".debug_addr", kMostDebugBytes)),
      ranges(elf.section(".debug_ranges", kMostDebugBytes)),
      range_lists(elf.section(".debug_rnglists", kMostDebugBytes)) {}

DebugAbbreviations read_abbreviations(std::string_view section, std::uint64_t offset) {
  DebugAbbreviations table;
  ByteCursor cursor(section, std::min<std::uint64_t>(offset, section.size()));
  for (std::uint64_t code = cursor.unsigned_leb(); code != 0 && cursor.good(); code = cursor.unsigned_leb()) {
    DebugAbbreviation abbreviation;
    abbreviation.tag = cursor.unsigned_leb();
    abbreviation.children = cursor.byte() != 0;
    while (cursor.good()) {
      const std::uint64_t attribute = cursor.unsigned_leb(), form = cursor.unsigned_leb();
      if (attribute == 0 && form == 0) break;
      DebugAbbreviation::Column column;
      column.attribute = attribute_of(attribute);
      column.constant = form == kImplicitConstant ? cursor.signed_leb() : 1;
      const auto known = std::ranges::find(kForms, form, &Form::form);
      abbreviation.readable &= known != kForms.end();
      column.form = static_cast<std::uint8_t>(known - kForms.begin());
      abbreviation.columns.push_back(column);
    }
    table[code] = std::move(abbreviation);
  }
  return table;
}

std::vector<DebugUnit> read_units(std::string_view info) {
  constexpr std::uint32_t kWide = 0xffffffff;
  constexpr std::uint8_t kCompile = 1, kPartial = 3;
  std::vector<DebugUnit> units;
  ByteCursor cursor(info);
  while (!cursor.at_end()) {
    DebugUnit unit;
    unit.start = cursor.at();
    std::uint64_t size = cursor.number<std::uint32_t>();
    unit.wide = size == kWide;
    if (unit.wide) size = cursor.number<std::uint64_t>();
    if (!cursor.good() || size > cursor.left()) break;
    unit.end = cursor.at() + size;
    unit.version = cursor.number<std::uint16_t>();
    const std::uint8_t type = unit.version >= 5 ? cursor.byte() : kCompile;
    if (unit.version >= 5) cursor.byte();  // size of an address
    unit.abbreviations = read_offset(cursor, unit.wide);
    if (unit.version < 5) cursor.byte();
    unit.first = cursor.at();
    if (!cursor.good() || unit.end < unit.first) break;
    const bool readable = unit.version >= 2 && unit.version <= 5 && (type == kCompile || type == kPartial);
    if (readable) units.push_back(unit);
    cursor.skip(unit.end - unit.first);
  }
  return units;
}

std::uint64_t indexed_address(std::uint64_t index, const DebugUnit& unit, const DebugSections& sections) {
  if (index > sections.addresses.size() || unit.addresses > sections.addresses.size()) return 0;
  ByteCursor cursor(sections.addresses, unit.addresses + index * sizeof(std::uint64_t));
  return cursor.number<std::uint64_t>();
}

DebugValue read_value(ByteCursor& cursor, const DebugAbbreviation::Column& column, const DebugUnit& unit,
                      const DebugSections& sections) {
  using Kind = DebugValue::Kind;
  const Form& form = kForms[column.form];
  if (form.meaning == Meaning::text) return {Kind::text, 0, cursor.text()};
  const std::uint64_t number = read_number(cursor, form, column, unit);
  switch (form.meaning) {
    case Meaning::number:
      return {Kind::number, number, {}};
    case Meaning::address:
      return {Kind::address, number, {}};
    case Meaning::address_index:
      return {Kind::address_index, number, {}};
    case Meaning::text_offset:
      return {Kind::text, 0, text_in(sections.texts, number)};
    case Meaning::line_text_offset:
      return {Kind::text, 0, text_in(sections.line_texts, number)};
    case Meaning::text_index:
      return {Kind::text, 0, indexed_text(number, unit, sections)};
    case Meaning::entry:
      return {Kind::entry, number, {}};
    case Meaning::entry_of_unit:
      return {Kind::entry, unit.start + number, {}};
    case Meaning::range_index:
      return {Kind::range_index, number, {}};
    case Meaning::skipped:
    case Meaning::text:
      break;
  }
  return {};
}

std::vector<DebugRange> read_ranges(const DebugValue& value, const DebugUnit& unit, const DebugSections& sections) {
  if (value.kind == DebugValue::Kind::number) {
    return unit.version >= 5 ? read_range_list(value.number, unit, sections) : read_pairs(value.number, unit, sections);
  }
  if (value.kind != DebugValue::Kind::range_index) return {};
  const std::uint64_t size = unit.wide ? 8 : 4;
  if (value.number > sections.range_lists.size() || unit.range_lists > sections.range_lists.size()) return {};
  ByteCursor cursor(sections.range_lists, unit.range_lists + value.number * size);
  return read_range_list(unit.range_lists + read_offset(cursor, unit.wide), unit, sections);
}

}  // namespace roofline
