#include "import/ncu_table.hpp"

#include <algorithm>
#include <charconv>

namespace roofline {
namespace {

std::string without_blanks(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  return std::string(text);
}

std::optional<NcuTable> table_of(std::string_view line, char separator) {
  NcuTable table;
  table.separator = separator;
  table.quoted = line.starts_with('"');
  for (const std::string& field : csv_fields(line, separator)) {
    std::string name = without_blanks(field), unit;
    if (const std::size_t open = name.rfind(" ["); open != std::string::npos && name.ends_with(']')) {
      unit = name.substr(open + 2, name.size() - open - 3);
      name.resize(open);
    }
    if (name == "Function Name") name = "Kernel Name";
    table.columns.try_emplace(name, table.names.size());
    table.names.push_back(std::move(name));
    table.units.push_back(std::move(unit));
  }
  const bool named = table.has("Metric Name");
  if (named && table.has("Average") && table.has("Invocations")) {
    table.form = NcuForm::summary;
    return table;
  }
  if (!table.has("ID") || !table.has("Kernel Name")) return std::nullopt;
  if (named && table.has("Metric Value")) {
    table.form = NcuForm::detail;
    return table;
  }
  const bool metrics = std::any_of(table.names.begin(), table.names.end(),
                                   [](const std::string& name) { return name.find("__") != std::string::npos; });
  return metrics ? std::optional(std::move(table)) : std::nullopt;
}

}  // namespace

const std::string& NcuTable::field(const std::vector<std::string>& fields, std::string_view column) const {
  static const std::string nothing;
  const auto found = columns.find(column);
  return found == columns.end() || found->second >= fields.size() ? nothing : fields[found->second];
}

std::optional<NcuTable> ncu_table(std::string_view line) {
  const bool maybe = line.find("Kernel Name") != std::string_view::npos ||
                     line.find("Function Name") != std::string_view::npos ||
                     line.find("Invocations") != std::string_view::npos;
  if (!maybe) return std::nullopt;
  for (const char separator : {',', ';', '\t'}) {
    if (auto table = table_of(line, separator)) return table;
  }
  return std::nullopt;
}

std::vector<std::string> csv_fields(std::string_view record, char separator) {
  std::vector<std::string> fields(1);
  bool quoted = false;
  for (std::size_t i = 0; i < record.size(); ++i) {
    const char character = record[i];
    if (character == '"') {
      const bool doubled = quoted && i + 1 < record.size() && record[i + 1] == '"';
      if (doubled) fields.back() += '"';
      if (doubled) ++i;
      if (!doubled) quoted = !quoted;
    } else if (character == separator && !quoted) {
      fields.emplace_back();
    } else {
      fields.back() += character;
    }
  }
  return fields;
}

std::uint32_t ncu_whole(std::string_view text) {
  std::uint32_t value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

bool is_ncu_launch_id(std::string_view text) {
  if (text.ends_with(".0")) text.remove_suffix(2);
  return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
}

std::array<std::uint32_t, 3> ncu_extents(std::string_view text) {
  if (text.find_first_of("0123456789") == std::string_view::npos) return {};
  std::array<std::uint32_t, 3> result = {1, 1, 1};
  std::size_t at = 0;
  for (std::uint32_t& extent : result) {
    at = text.find_first_of("0123456789", at);
    if (at == std::string_view::npos) break;
    const auto [end, error] = std::from_chars(text.data() + at, text.data() + text.size(), extent);
    at = static_cast<std::size_t>(end - text.data());
    if (error != std::errc()) extent = 0xffffffffU;
  }
  return result;
}

std::vector<std::string> ncu_ranges(std::string_view text) {
  std::vector<std::string> ranges;
  for (std::size_t open = text.find('"'); open != std::string_view::npos; open = text.find('"', open)) {
    const std::size_t close = text.find('"', open + 1);
    if (close == std::string_view::npos) break;
    std::string_view range = text.substr(open + 1, close - open - 1);
    open = close + 1;
    range.remove_prefix(std::min(range.size(), range.find(':') == std::string_view::npos ? 0 : range.find(':') + 1));
    for (int attribute = 0; attribute < 6; ++attribute) range = range.substr(0, range.rfind(':'));
    if (!range.empty()) ranges.emplace_back(range);
  }
  return ranges;
}

}  // namespace roofline
