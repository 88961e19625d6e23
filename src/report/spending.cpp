// The groups of verdicts, and the savings of a program that concern more than one kernel's own time.
#include "report/spending.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "report/profile_findings.hpp"
#include "text/format.hpp"

namespace roofline {
namespace {

/// A kernel's own time is the subject of its verdict.
bool of_one_kernel(const Win& win) { return win.kind == WinKind::kernel || win.kind == WinKind::traffic; }

}  // namespace

std::vector<Spending> spending_of(const Report& report, const std::vector<Verdict>& verdicts) {
  std::vector<Spending> all;
  for (VerdictGroup& group : where_to_spend_time(verdicts, report)) {
    Spending spending{.kind = group.kind,
                      .what = {},
                      .seconds = group.total_gain_s,
                      .text = std::move(group.text),
                      .evidence = {},
                      .action = std::move(group.action),
                      .rows = std::move(group.rows),
                      .beside = group.by_clock};
    const auto first = std::find_if(verdicts.begin(), verdicts.end(), [&](const Verdict& verdict) {
      return !spending.rows.empty() && verdict.row == spending.rows.front();
    });
    if (first != verdicts.end()) spending.evidence = evidence_text(*first);
    all.push_back(std::move(spending));
  }
  for (const Win& win : report.profile ? report.profile->wins : std::vector<Win>{}) {
    if (of_one_kernel(win)) continue;
    all.push_back({.kind = VerdictKind::slow,
                   .what = std::string(to_string(win.kind)),
                   .seconds = win.seconds,
                   .text = win.what,
                   .evidence = win.evidence,
                   .action = win.action,
                   .rows = {},
                   .beside = false});
    if (win.point >= 0 && static_cast<std::size_t>(win.point) < report.points.size())
      all.back().rows.push_back(static_cast<std::size_t>(win.point));
  }
  std::stable_sort(all.begin(), all.end(),
                   [](const Spending& a, const Spending& b) { return wins_more(a.seconds, b.seconds); });
  return all;
}

std::string evidence_text(const Verdict& verdict) {
  std::string text;
  for (const auto& [name, value] : verdict.evidence)
    text += fmt::format("{}{} {}", text.empty() ? "" : " \u00b7 ", name, value);
  return text;
}

std::string grounds_text(const Verdict& verdict) {
  std::string text = evidence_text(verdict);
  for (const std::string& part : {verdict.rule, verdict.source}) {
    if (!part.empty()) text += (text.empty() ? "" : " \u00b7 ") + part;
  }
  return text;
}

std::string to_win_text(double seconds) {
  if (!std::isfinite(seconds)) return "potential saving not known";
  return duration(seconds) + " potential saving";
}

std::string_view kind_words(VerdictKind kind) {
  static constexpr std::array<std::string_view, 5> kWords = {"slow", "unexplained", "at its roof", "measure again",
                                                             "no roof"};
  return kWords.at(static_cast<std::size_t>(kind));
}

}  // namespace roofline
