// The columns of ncu's CSV, found by name: their positions differ between versions, pages, options and what saved the
// file again.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace roofline {

enum class NcuForm : std::uint8_t {
  wide,    ///< --page raw: a row a launch, units in the row after the header
  detail,  ///< --page details: a row a metric
  summary  ///< --print-summary: a row a metric, of several launches
};

/// A header and the layout of the rows after it.
struct NcuTable {
  NcuForm form = NcuForm::wide;
  char separator = ',';
  bool quoted = true;              ///< the fields have quotes, as ncu writes them
  std::vector<std::string> names;  ///< without the unit that the user interface appends: "dram__bytes.sum [Mbyte]"
  std::vector<std::string> units;  ///< those units
  std::map<std::string, std::size_t, std::less<>> columns;

  const std::string& field(const std::vector<std::string>& fields, std::string_view column) const;
  bool has(std::string_view column) const { return columns.contains(column); }
};

/// The table that begins with this line; std::nullopt for any other line.
std::optional<NcuTable> ncu_table(std::string_view line);

/// The fields of a record; quoted ones may hold separators, doubled quotes and line ends.
std::vector<std::string> csv_fields(std::string_view record, char separator);

/// "12", and "12.0" of a program that read the column as real numbers.
bool is_ncu_launch_id(std::string_view text);

/// The whole number that a field begins with; 0: none.
std::uint32_t ncu_whole(std::string_view text);

/// "(32768, 1, 1)", in old versions "32768,1,1"; zeros without a number: not known.
std::array<std::uint32_t, 3> ncu_extents(std::string_view text);

/// NVTX ranges, outermost first: `561  "<default domain>:step:none:none:none:none:none:none"  "…"`: domain, name, and
/// six attributes.
std::vector<std::string> ncu_ranges(std::string_view text);

}  // namespace roofline
