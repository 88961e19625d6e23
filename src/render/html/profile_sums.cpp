// Sums of a profile that are plain tables: lines of the program, copies, calls.
#include <fmt/format.h>

#include <string>
#include <vector>

#include "render/html/profile_sections.hpp"
#include "render/profile_columns.hpp"

namespace roofline {
namespace {

constexpr std::size_t kMostSums = 60;  // the rest is summed up in one row

template <class Row>
std::string section(const char* id, const std::string& title, const std::string& lead, const std::string& caption,
                    std::span<const Column<Row, Profile>> columns, const Profile& profile,
                    const std::vector<Row>& rows) {
  return fmt::format("<section id=\"{0}\" aria-labelledby=\"{0}-h\">\n<h2 id=\"{0}-h\">{1}</h2>\n{2}{3}</section>\n",
                     id, title, lead.empty() ? "" : "<p class=\"lead\">" + lead + "</p>\n",
                     html_table(fmt::format("sums {}", id), caption, columns, profile, rows));
}

}  // namespace

std::string html_lines(const Report& report) {
  const Profile& profile = *report.profile;
  if (profile.lines.empty()) return {};
  std::vector<LineRow> rows = line_rows(profile, profile.lines.size());
  const auto add = [&](const std::string& name, double seconds) {
    rows.push_back(
        {.line = {.file = {}, .function = {}, .total_s = seconds}, .all_s = profile.kernel_s, .instead = name});
  };
  if (rows.size() > kMostSums) {
    const std::size_t more = rows.size() - kMostSums;
    double more_s = 0;
    for (std::size_t i = kMostSums; i < rows.size(); ++i) more_s += rows[i].line.total_s;
    rows.resize(kMostSums);
    add(fmt::format("{} more lines", more), more_s);
  }
  if (profile.without_line_s > 0) add("unknown line", profile.without_line_s);
  return section("lines", "By line",
                 "Kernel time by launching line. It includes backward kernels that autograd launches for the line.",
                 "Lines of the program by kernel time", line_columns(), profile, rows);
}

std::string html_copies(const Report& report) {
  const Profile& profile = *report.profile;
  if (profile.copies.empty()) return {};
  return section("copies", "Copies", "", "Copies and memsets with their roofs", copy_columns(), profile,
                 profile.copies);
}

std::string html_calls(const Report& report) {
  const Profile& profile = *report.profile;
  if (profile.calls.empty()) return {};
  std::vector<CallRow> rows = call_rows(profile, profile.calls.size());
  if (rows.size() > kMostSums) {
    CallRow rest{.call = {.name = fmt::format("{} more functions", rows.size() - kMostSums)}, .several = true};
    for (std::size_t i = kMostSums; i < rows.size(); ++i) {
      rest.call.calls += rows[i].call.calls;
      rest.call.total_s += rows[i].call.total_s;
    }
    rows.resize(kMostSums);
    rows.push_back(rest);
  }
  const std::string_view runtime = runtime_name(profile);
  return section("calls", fmt::format("By {} call", runtime),
                 fmt::format("Host time in {} calls, summed over all threads.", runtime),
                 fmt::format("{} calls by host time", runtime), call_columns(), profile, rows);
}

}  // namespace roofline
