// Kernels with one fault, found and summed.
#include <fmt/format.h>

#include "profile/causes/detectors.hpp"
#include "profile/source_text.hpp"
#include "text/format.hpp"
#include "text/parts.hpp"

namespace roofline {
namespace {

template <typename Add>
void for_each_faulty(const CauseInputs& inputs, const IsFaulty& is_faulty, Add&& add) {
  for (const StepActivity& entry : inputs.steps.all) {
    if (entry.activity->what == ActivityKind::kernel && inputs.free(entry) && is_faulty(entry)) add(entry);
  }
}

}  // namespace

void FaultyKernels::add(const StepActivities& steps, const StepActivity& kernel) {
  sum.add(steps, kernel, kernel.seconds);
  activities.insert(kernel.activity);
}

std::string FaultyKernels::amount(const StepActivities& steps, std::string_view what) const {
  return fmt::format("{} {}, {}, {} of the kernel time", count(sum.count), what, duration(sum.seconds),
                     percent(sum.seconds / steps.kernel_s));
}

FoundCause FaultyKernels::cause(SavingCause cause, const CauseInputs& inputs, CauseDetail detail) const {
  FoundCause found;
  found.saving.kind = SavingKind::kernel;
  found.saving.cause = cause;
  found.saving.line = sum.line();
  found.saving.seconds = sum.seconds;
  found.saving.point = sum.group();
  found.saving.action = action_against(cause, inputs.framework, detail);
  found.activities = activities;
  return found;
}

FaultyKernels faulty_kernels(const CauseInputs& inputs, const IsFaulty& is_faulty) {
  FaultyKernels all;
  for_each_faulty(inputs, is_faulty, [&](const StepActivity& entry) { all.add(inputs.steps, entry); });
  return all;
}

Traffic traffic_of_row(const std::vector<Point>& points, int row, Level level) {
  const Point* const point = point_of_row(points, row);
  if (point == nullptr) return {};
  const auto found = point->work.bytes.find(level);
  return found == point->work.bytes.end() ? Traffic() : found->second;
}

double bytes_of_row(const std::vector<Point>& points, int row) {
  for (const Level level : {Level::l2, Level::hbm}) {
    const double bytes = traffic_of_row(points, row, level).total();
    if (bytes > 0) return bytes;
  }
  return 0;
}

const Point* point_of_row(const std::vector<Point>& points, int row) {
  return row < 0 || static_cast<std::size_t>(row) >= points.size() ? nullptr : &points[static_cast<std::size_t>(row)];
}

double lost_share(const std::vector<Point>& points, int row, double unknown) {
  const Point* const point = point_of_row(points, row);
  const bool has_roof = point != nullptr && !point->bound.limiting_ceiling.empty();
  const double reached = has_roof ? point->fraction_of_roof() : 0;
  return reached > 0 && reached <= 1 ? 1 - reached : unknown;
}

std::string source_line(const CauseInputs& inputs, const StepActivity& kernel, std::int64_t after) {
  if (inputs.sources == nullptr || kernel.place.line == 0) return {};
  const ProcessTrace& trace = inputs.steps.trace(kernel);
  const spool::Line& line = trace.line(kernel.place.line);
  return inputs.sources->text(std::string(trace.text(line.file)), static_cast<std::int64_t>(line.number) + after);
}

bool is_near_text(const CauseInputs& inputs, const StepActivity& kernel,
                  std::initializer_list<std::string_view> texts) {
  constexpr std::int64_t kLinesBefore = 2;
  for (std::int64_t before = 0; before <= kLinesBefore; ++before) {
    if (contains_any(source_line(inputs, kernel, -before), texts)) return true;
  }
  return false;
}

std::vector<FoundCause> found_if_large(const FaultyKernels& kernels, const CauseInputs& inputs, SavingCause cause,
                                       double saved, const char* noun, CauseDetail detail) {
  constexpr double kLeastShare = 0.1;  // of the kernel time
  if (kernels.sum.count == 0 || kernels.sum.seconds < kLeastShare * inputs.steps.kernel_s) return {};
  FoundCause found = kernels.cause(cause, inputs, detail);
  found.saving.seconds *= saved;
  found.saving.what = what_is_lost(cause, detail);
  found.saving.evidence = kernels.amount(inputs.steps, noun);
  return {std::move(found)};
}

std::map<std::string, FaultyKernels> faulty_kernels_by_line(const CauseInputs& inputs, const IsFaulty& is_faulty) {
  std::map<std::string, FaultyKernels> lines;
  for_each_faulty(inputs, is_faulty,
                  [&](const StepActivity& entry) { lines[inputs.steps.line(entry)].add(inputs.steps, entry); });
  return lines;
}

}  // namespace roofline
