// The rows of tables of kernels, and their orders.
#include <algorithm>

#include "model/nan.hpp"
#include "render/html/sections.hpp"
#include "render/kernel_columns.hpp"
#include "report/profile_findings.hpp"

namespace roofline {

const ProfiledKind& KernelRow::launch() const {
  static const ProfiledKind none;
  return point.profiled ? *point.profiled : none;
}

double KernelRow::saving_s() const {
  if (verdict == nullptr) return kNaN;
  return report.profile ? verdict->total_gain_s : verdict->gain_s;
}

std::vector<KernelRow> kernel_rows(const Report& report, const std::vector<Verdict>& verdicts) {
  std::vector<const Verdict*> verdict_of(report.points.size());
  for (const Verdict& verdict : verdicts) verdict_of[verdict.row] = &verdict;
  std::vector<bool> listed(report.points.size());
  for (const Verdict* verdict : listed_verdicts(verdicts)) listed[verdict->row] = true;
  std::vector<KernelRow> rows;
  for (std::size_t i = 0; i < report.points.size(); ++i)
    rows.push_back({report, report.points[i], i, verdict_of[i], listed[i]});
  return rows;
}

std::vector<KernelRow> program_rows(const Report& report, const std::vector<Verdict>& verdicts) {
  const std::vector<KernelRow> all = kernel_rows(report, verdicts);
  std::vector<KernelRow> rows;
  for (const std::size_t i : by_total_time(report)) {
    if (report.points[i].profiled) rows.push_back(all[i]);
  }
  return rows;
}

std::vector<KernelRow> rows_by_saving(const Report& report, const std::vector<Verdict>& verdicts) {
  const std::vector<KernelRow> all = kernel_rows(report, verdicts);
  std::vector<KernelRow> rows;
  for (const Verdict& verdict : verdicts) rows.push_back(all[verdict.row]);
  std::ranges::copy_if(all, std::back_inserter(rows), [](const KernelRow& row) { return row.verdict == nullptr; });
  return rows;
}

}  // namespace roofline
