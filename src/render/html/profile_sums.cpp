// Sums of a profile that are plain tables: lines of the program, copies, calls.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <string_view>
#include <vector>

#include "render/html/escape.hpp"
#include "render/html/profile_sections.hpp"
#include "report/profile_findings.hpp"
#include "text/format.hpp"
#include "text/text.hpp"

namespace roofline {
namespace {

constexpr std::size_t kMostRows = 60;  // nobody reads more

std::string number_cell(const std::string& value) { return "<td class=\"n\">" + value; }

struct SumColumn {
  const char* title;
  bool share = false;  ///< drawn as a bar
};

/// A section of one table, whose first column is text and whose others are numbers.
std::string section(const char* id, const char* title, const char* lead, const char* caption,
                    const std::vector<SumColumn>& columns, const std::string& rows) {
  std::string head;
  for (std::size_t i = 0; i < columns.size(); ++i) {
    head += fmt::format("<th scope=\"col\"{}>{}",
                        i == 0             ? ""
                        : columns[i].share ? " class=\"share\""
                                           : " class=\"n\"",
                        columns[i].title);
  }
  return fmt::format(
      "<section id=\"{0}\" aria-labelledby=\"{0}-h\">\n<h2 id=\"{0}-h\">{1}</h2>\n{2}<div class=\"scroll\"><table "
      "class=\"sums {0}\"><caption "
      "class=\"unseen\">{3}</caption><thead><tr>{4}</tr></thead><tbody>\n{5}</tbody></table></div>\n"
      "</section>\n",
      id, title, *lead == '\0' ? "" : fmt::format("<p class=\"lead\">{}</p>\n", lead), caption, head, rows);
}

std::string share_cell(double share) { return "<td class=\"share\">" + html_share(share); }

double share_of(double seconds, double all) { return all > 0 ? seconds / all : std::nan(""); }

std::string backward_text(double backward, double total) {
  return backward > 0 && total > 0 ? percent(backward / total) : kAbsent;
}

std::string line_row(const LineSum& line, double all) {
  const std::string file = line.file.substr(line.file.find_last_of('/') + 1);
  const std::string place = fmt::format("{}:{}", file, line.number);
  return fmt::format("<tr><th scope=\"row\" title=\"{}\">{}<small>{}</small>{}{}{}{}\n",
                     escape_html(shorten(clean_line(line.file), 400)), html_name(place, 60),
                     html_name(line.function, 60), number_cell(duration(line.total_s)),
                     share_cell(share_of(line.total_s, all)), number_cell(backward_text(line.backward_s, line.total_s)),
                     number_cell(count(line.launches)));
}

std::string rest_row(const std::string& name, double seconds, double all) {
  return fmt::format("<tr><th scope=\"row\">{}{}{}{}{}\n", name, number_cell(duration(seconds)),
                     share_cell(share_of(seconds, all)), number_cell(kAbsent), number_cell(kAbsent));
}

std::string copy_row(const CopySum& copy) {
  const double rate_now = copy.total_s > 0 ? copy.bytes / copy.total_s : std::nan("");
  const double fraction = fraction_of_roof(copy);
  return fmt::format("<tr><th scope=\"row\">{}{}{}{}{}{}{}\n", html_name(to_string(copy.path), 60),
                     number_cell(count(copy.copies)), number_cell(si(copy.bytes, "B")),
                     number_cell(duration(copy.total_s)), number_cell(rate(rate_now, CeilingKind::bandwidth)),
                     number_cell(copy.roof.empty() ? "none measured"
                                                   : fmt::format("{}<small>{}</small>",
                                                                 rate(copy.roof_bytes_per_s, CeilingKind::bandwidth),
                                                                 html_name(copy.roof, 30))),
                     std::isfinite(fraction) ? share_cell(fraction) : number_cell(kAbsent));
}

}  // namespace

std::string html_lines(const Report& report) {
  const Profile& profile = *report.profile;
  if (profile.lines.empty()) return {};
  std::vector<LineSum> lines = profile.lines;
  std::stable_sort(lines.begin(), lines.end(),
                   [](const LineSum& a, const LineSum& b) { return a.total_s > b.total_s; });
  std::string rows;
  double more = 0;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (i < kMostRows) {
      rows += line_row(lines[i], profile.kernel_s);
    } else {
      more += lines[i].total_s;
    }
  }
  if (lines.size() > kMostRows) {
    rows += rest_row(fmt::format("{} more lines", lines.size() - kMostRows), more, profile.kernel_s);
  }
  if (profile.without_line_s > 0) rows += rest_row("no line known", profile.without_line_s, profile.kernel_s);
  return section("lines", "By line",
                 "Time of the kernels that a line launches; what autograd launches for it is part of it, and its share "
                 "stands beside it.",
                 "Lines of the program by the time of the kernels that they launch",
                 {{"Line"}, {"Kernels"}, {"Share", true}, {"Of it backward"}, {"Launches"}}, rows);
}

std::string html_copies(const Report& report) {
  if (report.profile->copies.empty()) return {};
  std::string rows;
  for (const CopySum& copy : report.profile->copies) rows += copy_row(copy);
  return section("copies", "Copies", "", "Copies and memsets, with the roof that they are held against",
                 {{"Direction"}, {"Copies"}, {"Bytes"}, {"Time"}, {"Rate"}, {"Roof"}, {"% of roof", true}}, rows);
}

std::string html_calls(const Report& report) {
  std::vector<CallSum> calls = report.profile->calls;
  if (calls.empty()) return {};
  std::stable_sort(calls.begin(), calls.end(),
                   [](const CallSum& a, const CallSum& b) { return a.total_s > b.total_s; });
  std::string rows;
  for (std::size_t i = 0; i < std::min(calls.size(), kMostRows); ++i) {
    rows += fmt::format("<tr><th scope=\"row\">{}{}{}{}{}\n", html_name(calls[i].name, 60),
                        number_cell(count(calls[i].calls)), number_cell(duration(calls[i].total_s)),
                        number_cell(duration(calls[i].median_s)), number_cell(duration(calls[i].max_s)));
  }
  if (calls.size() > kMostRows) {
    std::int64_t more = 0;
    double more_s = 0;
    for (std::size_t i = kMostRows; i < calls.size(); ++i) {
      more += calls[i].calls;
      more_s += calls[i].total_s;
    }
    rows += fmt::format("<tr><th scope=\"row\">{} more functions{}{}{}{}\n", calls.size() - kMostRows,
                        number_cell(count(more)), number_cell(duration(more_s)), number_cell(kAbsent),
                        number_cell(kAbsent));
  }
  return section("calls", "By call", "The host&#39;s time inside of calls of CUDA, over all threads.",
                 "Calls of CUDA by the host's time in them", {{"Call"}, {"Calls"}, {"Total"}, {"Median"}, {"Longest"}},
                 rows);
}

}  // namespace roofline
