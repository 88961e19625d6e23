#include "sample/inline_frames.hpp"

#include <algorithm>
#include <array>
#include <optional>

#include "sample/debug_values.hpp"
#include "sample/line_table.hpp"

namespace roofline {
namespace {

constexpr std::uint64_t kSubprogram = 0x2e, kInlinedSubroutine = 0x1d;

/// The values of one entry that are read.
struct DebugEntry {
  std::uint64_t tag = 0;
  bool children = false;
  std::array<DebugValue, kDebugAttributes> values;

  const DebugValue& value(DebugAttribute attribute) const { return values[static_cast<std::size_t>(attribute)]; }
  std::uint64_t number(DebugAttribute attribute) const { return value(attribute).number; }
};

class DebugReader {
 public:
  DebugReader(const ElfFile& elf, const std::vector<std::uint64_t>& addresses)
      : sections_(elf), files_(elf), addresses_(addresses), functions_(addresses.size()) {}

  std::vector<std::vector<InlinedFunction>> run() {
    units_ = read_units(sections_.info);
    for (DebugUnit& unit : units_) read_unit(unit);
    for (std::vector<InlinedFunction>& of : functions_) std::ranges::reverse(of);
    return std::move(functions_);
  }

 private:
  const DebugAbbreviations& abbreviations_of(const DebugUnit& unit) {
    const auto [found, is_new] = abbreviations_.try_emplace(unit.abbreviations);
    if (is_new) found->second = read_abbreviations(sections_.abbreviations, unit.abbreviations);
    return found->second;
  }

  /// Nothing: it ends a list of children, or it can't be read.
  std::optional<DebugEntry> read_entry(ByteCursor& cursor, const DebugUnit& unit) {
    const std::uint64_t code = cursor.unsigned_leb();
    if (code == 0) return std::nullopt;
    const DebugAbbreviations& table = abbreviations_of(unit);
    const auto found = table.find(code);
    if (found == table.end() || !found->second.readable) {
      cursor.skip(cursor.left() + 1);  // what follows can't be found
      return std::nullopt;
    }
    DebugEntry entry;
    entry.tag = found->second.tag;
    entry.children = found->second.children;
    for (const DebugAbbreviation::Column& column : found->second.columns) {
      const DebugValue value = read_value(cursor, column, unit, sections_);
      if (column.attribute == DebugAttribute::other || value.kind == DebugValue::Kind::none) continue;
      entry.values[static_cast<std::size_t>(column.attribute)] = value;
    }
    return cursor.good() ? std::optional(entry) : std::nullopt;
  }

  std::uint64_t address_of(const DebugValue& value, const DebugUnit& unit) const {
    const bool indexed = value.kind == DebugValue::Kind::address_index;
    return indexed ? indexed_address(value.number, unit, sections_) : value.number;
  }

  std::vector<DebugRange> ranges_of(const DebugEntry& entry, const DebugUnit& unit) const {
    const DebugValue ranges = entry.value(DebugAttribute::ranges);
    if (ranges.kind != DebugValue::Kind::none) return read_ranges(ranges, unit, sections_);
    const DebugValue low = entry.value(DebugAttribute::low), high = entry.value(DebugAttribute::high);
    if (low.kind == DebugValue::Kind::none || high.kind == DebugValue::Kind::none) return {};
    const std::uint64_t start = address_of(low, unit);
    return {{start, high.kind == DebugValue::Kind::number ? start + high.number : address_of(high, unit)}};
  }

  /// True if one of the addresses is in a range.
  bool holds_address(const std::vector<DebugRange>& ranges) const {
    return std::ranges::any_of(ranges, [this](const DebugRange& range) {
      const auto first = std::ranges::lower_bound(addresses_, range.start);
      return first != addresses_.end() && *first < range.end;
    });
  }

  void read_unit(DebugUnit& unit) {
    const std::string_view bytes = std::string_view(sections_.info).substr(0, unit.end);
    ByteCursor cursor(bytes, unit.first);
    const std::optional<DebugEntry> about = read_entry(cursor, unit);
    if (!about) return;
    unit.text_offsets = about->number(DebugAttribute::text_offsets_base);
    unit.addresses = about->number(DebugAttribute::addresses_base);
    unit.range_lists = about->number(DebugAttribute::range_lists_base);
    unit.line_table = about->number(DebugAttribute::line_table);
    unit.low = address_of(about->value(DebugAttribute::low), unit);
    const std::vector<DebugRange> ranges = ranges_of(*about, unit);
    if (!ranges.empty() && !holds_address(ranges)) return;
    while (!cursor.at_end()) {
      const std::optional<DebugEntry> entry = read_entry(cursor, unit);
      if (entry) take(*entry, unit, cursor);
    }
  }

  /// Entries come with the outer ones first.
  void take(const DebugEntry& entry, const DebugUnit& unit, ByteCursor& cursor) {
    if (entry.tag != kSubprogram && entry.tag != kInlinedSubroutine) return;
    const std::vector<DebugRange> ranges = ranges_of(entry, unit);
    if (holds_address(ranges)) return add(entry, unit, ranges);
    const DebugValue sibling = entry.value(DebugAttribute::sibling);
    if (!entry.children || sibling.kind != DebugValue::Kind::entry || sibling.number < cursor.at()) return;
    cursor.skip(sibling.number - cursor.at());
  }

  void add(const DebugEntry& entry, const DebugUnit& unit, const std::vector<DebugRange>& ranges) {
    InlinedFunction function;
    function.function = name_of(entry, 0);
    if (entry.tag == kInlinedSubroutine) {
      function.call_file = files_.name(unit.line_table, entry.number(DebugAttribute::call_file));
      function.call_line = static_cast<int>(entry.number(DebugAttribute::call_line) & 0x7fffffffU);
    }
    for (const DebugRange& range : ranges) {
      const auto first = std::ranges::lower_bound(addresses_, range.start);
      for (auto at = first; at != addresses_.end() && *at < range.end; ++at) {
        std::vector<InlinedFunction>& of = functions_[static_cast<std::size_t>(at - addresses_.begin())];
        if (entry.tag == kSubprogram) of.clear();
        of.push_back(function);
      }
    }
  }

  /// The symbol of an entry or of what it refers to; without one its name.
  std::string name_of(const DebugEntry& entry, int depth) {
    const std::string_view symbol = entry.value(DebugAttribute::linkage_name).text;
    if (!symbol.empty()) return std::string(symbol);
    for (const DebugAttribute reference : {DebugAttribute::origin, DebugAttribute::specification}) {
      if (std::string found = name_of(entry.value(reference), depth); !found.empty()) return found;
    }
    return std::string(entry.value(DebugAttribute::name).text);
  }

  std::string name_of(const DebugValue& reference, int depth) {
    constexpr int kDeepest = 4;
    if (reference.kind != DebugValue::Kind::entry || depth >= kDeepest) return {};
    const auto after = std::ranges::upper_bound(units_, reference.number, {}, &DebugUnit::start);
    if (after == units_.begin()) return {};
    const DebugUnit& unit = *std::prev(after);
    if (reference.number < unit.first || reference.number >= unit.end) return {};
    ByteCursor cursor(std::string_view(sections_.info).substr(0, unit.end), reference.number);
    const std::optional<DebugEntry> entry = read_entry(cursor, unit);
    return entry ? name_of(*entry, depth + 1) : std::string();
  }

  DebugSections sections_;
  LineFileNames files_;
  const std::vector<std::uint64_t>& addresses_;
  std::vector<std::vector<InlinedFunction>> functions_;
  std::vector<DebugUnit> units_;
  std::unordered_map<std::uint64_t, DebugAbbreviations> abbreviations_;
};

}  // namespace

std::vector<std::vector<InlinedFunction>> inlined_functions(const ElfFile& elf,
                                                            const std::vector<std::uint64_t>& addresses) {
  return DebugReader(elf, addresses).run();
}

}  // namespace roofline
