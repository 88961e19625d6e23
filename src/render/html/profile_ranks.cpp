// The ranks of a job: what a step is on each of them, and the collectives between them.
#include <fmt/format.h>

#include <string>

#include "render/html/escape.hpp"
#include "render/html/profile_sections.hpp"
#include "render/rank_columns.hpp"
#include "report/rank_findings.hpp"

namespace roofline {

std::string html_ranks(const Report& report) {
  constexpr std::size_t kMost = 128;
  if (!report.profile->ranks) return {};
  const Ranks& ranks = *report.profile->ranks;
  const std::vector<RankSum> shown = shown_ranks(ranks, kMost);
  std::string html = fmt::format(
      "<section id=\"ranks\" aria-labelledby=\"ranks-h\">\n<h2 id=\"ranks-h\">By rank</h2>\n<p class=\"lead\">{}</p>\n",
      escape_html(scaling_text(report)));
  if (const std::string matching = matching_text(report); !matching.empty()) {
    html += fmt::format("<p>{}</p>\n", escape_html(matching));
  }
  html += html_table("sums ranks", ranks.whole_run ? "Run of each rank" : "Mean step of each rank", rank_columns(),
                     ranks, shown);
  if (shown.size() < ranks.ranks.size()) {
    html += fmt::format("<p>{} of {} ranks: those that others wait for most.</p>\n", shown.size(), ranks.ranks.size());
  }
  if (!ranks.collectives.empty()) {
    html += fmt::format("<h3>{}</h3>\n", ranks.whole_run ? "Calls of MPI" : "Collectives") +
            html_table("sums collectives",
                       ranks.whole_run ? "Calls by time in MPI" : "Collectives by waiting and exposed time",
                       collective_columns(), ranks, ranks.collectives);
  }
  return html + "</section>\n";
}

}  // namespace roofline
