#include "import/likwid_records.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "import/other_tools.hpp"
#include "model/error.hpp"
#include "text/parts.hpp"
#include "text/text.hpp"

namespace roofline {
namespace {

constexpr const char* kHint = "likwid-perfctr -O, with the same options, writes CSV, which is imported too";

bool is_border(std::string_view line) {
  return line.size() > 2 && line.front() == '+' && line.back() == '+' &&
         line.find_first_not_of("+-") == std::string_view::npos;
}

/// "| a | b |" as "a", "b"; empty if it is no line of a table.
std::vector<std::string> cells_of(std::string_view line) {
  std::vector<std::string> cells;
  if (line.size() < 2 || line.front() != '|' || line.back() != '|') return cells;
  for (std::size_t at = 1; at < line.size();) {
    const std::size_t end = line.find('|', at);
    cells.emplace_back(trimmed(line.substr(at, end - at)));
    at = end + 1;
  }
  return cells;
}

/// The header of likwid's tables names threads, of tables of sums the sum; tables of the program do not.
bool is_header(const std::vector<std::string>& cells) {
  if (cells.size() < 2 || (cells[0] != "Event" && cells[0] != "Metric" && cells[0] != "Region Info")) return false;
  const std::size_t value = cells[0] == "Event" ? 2 : 1;
  if (value >= cells.size()) return false;
  return cells[value] == "Sum" || starts_with_any(cells[value], {"HWThread ", "Core ", "core "});
}

}  // namespace

bool LikwidText::next(std::vector<std::string>& fields) {
  std::string line;
  while (ready_.empty()) {
    if (!lines_.next(line)) {
      if (in_table_ && has_border_) fail("the file ends inside a table: it is truncated");
      return false;
    }
    take(trimmed(line));
  }
  fields = std::move(ready_.front());
  ready_.pop_front();
  return true;
}

void LikwidText::fail(const std::string& what) const {
  throw UsageError(fmt::format("{}: line {}: {}", name_, lines_.number(), what), kHint);
}

void LikwidText::take(std::string_view line) {
  constexpr std::string_view kCpu = "CPU name:";
  if (line.starts_with(kCpu)) {
    region_.clear();
    group_.clear();
    in_table_ = false;
    ready_.push_back({"STRUCT", "Info", "1"});
    ready_.push_back({std::string(kCpu), std::string(trimmed(line.substr(kCpu.size())))});
  } else if (is_border(line)) {
    take_border();
  } else if (std::vector<std::string> cells = cells_of(line); !cells.empty()) {
    take_cells(std::move(cells));
  } else {
    take_group(line);
  }
}

/// "Group 1: MEM_DP" or "Region NAME, Group 1: MEM_DP". A region's name may have a comma.
void LikwidText::take_group(std::string_view line) {
  constexpr std::string_view kRegion = "Region ", kGroup = "Group ", kBetween = ", Group ";
  std::string_view rest = line, region;
  if (line.starts_with(kRegion)) {
    const std::size_t between = line.rfind(kBetween);
    if (between == std::string_view::npos) return;
    region = line.substr(0, between);
    rest = line.substr(between + 2);
  }
  const std::size_t colon = rest.find(": ");
  if (!rest.starts_with(kGroup) || colon == std::string_view::npos) return;
  const std::string_view number = rest.substr(kGroup.size(), colon - kGroup.size());
  if (number.empty() || !std::all_of(number.begin(), number.end(), is_digit)) return;
  region_ = region;
  number_ = rest.substr(0, colon);
  group_ = trimmed(rest.substr(colon + 2));
  in_table_ = false;
}

void LikwidText::take_border() {
  if (has_border_) in_table_ = false;
  has_border_ = in_table_;
}

void LikwidText::take_cells(std::vector<std::string> cells) {
  if (is_header(cells)) {
    const bool sums = std::find(cells.begin(), cells.end(), "Sum") != cells.end();
    std::vector<std::string> table = {"TABLE"};
    if (!region_.empty()) table.push_back(region_);
    table.push_back(number_ + (cells[0] == "Metric" ? " Metric" : " Raw") + (sums ? " STAT" : ""));
    table.push_back(group_);
    table.emplace_back("0");  // the border below the table tells its end
    in_table_ = !group_.empty();
    has_border_ = false;
    if (in_table_) ready_.push_back(std::move(table));
  }
  if (in_table_) ready_.push_back(std::move(cells));
}

bool looks_like_likwid_text(std::string_view beginning) {
  // likwid 4 prints the CPU before its CSV, too.
  if (contains_any(beginning, {"STRUCT,Info,"}) || !contains_any(beginning, {"CPU name:"})) return false;
  const bool tables = contains_any(beginning, {"| Counter |"}) && contains_any(beginning, {"HWThread", "Core "});
  return tables || contains_any(beginning, {"CPU clock:\t"});
}

}  // namespace roofline
