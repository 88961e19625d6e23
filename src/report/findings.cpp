// What a report says, in sentences. Counts and superlatives only; no diagnosis of why a kernel is slow.
#include "report/findings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "report/format.hpp"
#include "report/text.hpp"

namespace roofline {
namespace {

constexpr int kNameColumns = 60;

std::vector<const Point*> timed_points(const Report& report) {
  std::vector<const Point*> points;
  for (const Point& point : report.points) {
    if (point.status == PointStatus::ok && point.time) points.push_back(&point);
  }
  return points;
}

std::int64_t with_status(const Report& report, PointStatus status) {
  return std::count_if(report.points.begin(), report.points.end(),
                       [status](const Point& point) { return point.status == status; });
}

std::string listed(const std::vector<std::string>& parts) {
  std::string text;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (i > 0) text += i + 1 == parts.size() ? " and " : ", ";
    text += parts[i];
  }
  return text;
}

std::string how_many_ran(const Report& report, std::size_t timed) {
  const std::size_t all = report.points.size();
  if (all == 0) return "No workload was run.";
  std::string text = timed == all ? fmt::format("{} {} verified and timed", all, all == 1 ? "kernel" : "kernels")
                                  : fmt::format("{} of {} kernels verified and timed", timed, all);
  std::vector<std::string> rest;
  if (const auto n = with_status(report, PointStatus::skipped); n > 0) rest.push_back(fmt::format("{} skipped", n));
  if (const auto n = with_status(report, PointStatus::failed); n > 0) rest.push_back(fmt::format("{} failed", n));
  if (!rest.empty()) text += "; " + listed(rest) + ", each with its reason below";
  return text + ".";
}

std::string labels(const std::vector<const Point*>& points) {
  static constexpr std::array<std::pair<BoundLabel, const char*>, 5> kWords = {
      {{BoundLabel::memory, "memory-bound"},
       {BoundLabel::compute, "compute-bound"},
       {BoundLabel::latency, "latency-bound"},
       {BoundLabel::balanced, "balanced"},
       {BoundLabel::unknown, "without a ceiling to compare with"}}};
  std::vector<std::string> parts;
  for (const auto& [label, words] : kWords) {
    const auto n = std::count_if(points.begin(), points.end(),
                                 [label = label](const Point* point) { return point->bound.label == label; });
    if (n == 0) continue;
    parts.push_back(parts.empty() ? fmt::format("{} of {} {} {}", n, points.size(), n == 1 ? "is" : "are", words)
                                  : fmt::format("{} {}", n, words));
  }
  return listed(parts) + ".";
}

std::vector<std::string> extremes(std::vector<const Point*> points) {
  std::erase_if(points, [](const Point* point) { return !std::isfinite(point->fraction_of_roof()); });
  if (points.empty()) return {};
  const auto [far, near] = std::minmax_element(points.begin(), points.end(), [](const Point* a, const Point* b) {
    return a->fraction_of_roof() < b->fraction_of_roof();
  });
  std::vector<std::string> sentences = {fmt::format("Nearest to its roof: {}, at {} of {}.", point_name(**near),
                                                    percent((*near)->fraction_of_roof()), limit_label((*near)->bound))};
  if (*far != *near) {
    sentences.push_back(fmt::format("Most head-room: {}, {}.", point_name(**far), head_room(**far)));
  }
  return sentences;
}

std::vector<std::string> warnings(const Report& report, const std::vector<const Point*>& points) {
  std::vector<std::string> sentences;
  std::vector<std::string> above;
  for (const Point* point : points) {
    if (point->above_roof()) above.push_back(point_name(*point));
  }
  if (!above.empty()) {
    sentences.push_back(fmt::format("Above {} roof, which means that the ceiling or the work model is wrong there: {}.",
                                    above.size() == 1 ? "its" : "their", listed(above)));
  }
  std::vector<std::string> suspect;
  for (const Ceiling& ceiling : report.machine.ceilings) {
    if (ceiling.suspect() && ceiling.role == Role::roof) suspect.push_back(clean_line(ceiling_label(ceiling)));
  }
  if (!suspect.empty()) {
    sentences.push_back(fmt::format("Failed {} audit and {} shown as suspect: {}.",
                                    suspect.size() == 1 ? "its" : "their", suspect.size() == 1 ? "is" : "are",
                                    listed(suspect)));
  }
  if (report.cancelled) sentences.push_back("The run was cancelled: what had been measured until then is here.");
  return sentences;
}

}  // namespace

std::string point_name(const Point& point) {
  const std::string label = clean_line(point.workload.label.empty() ? point.workload.op : point.workload.label);
  const std::string implementation = clean_line(point.workload.implementation);
  if (implementation.empty()) return shorten(label, kNameColumns);
  return fmt::format("{} ({})", shorten(label, kNameColumns), shorten(implementation, kNameColumns / 2));
}

std::vector<std::string> headline(const Machine& machine) {
  std::vector<std::string> parts;
  const Level memory = main_memory(machine.device.kind);
  const Ceiling* slope = machine.slope(memory);
  if (slope != nullptr) parts.push_back(fmt::format("{} {}", to_string(memory), rate(slope->value, slope->kind)));
  const Ceiling* highest = nullptr;
  for (const Ceiling& ceiling : machine.ceilings) {
    if (ceiling.kind != CeilingKind::compute || ceiling.role != Role::roof || ceiling.pipe == Pipe::sfu ||
        ceiling.pipe == Pipe::int32)
      continue;
    if (highest == nullptr || ceiling.value > highest->value) highest = &ceiling;
  }
  if (highest != nullptr) parts.push_back(fmt::format("{} {}", highest->name, rate(highest->value, highest->kind)));
  if (slope != nullptr && highest != nullptr) {
    parts.push_back(fmt::format("ridge {} FLOP/byte", number(highest->value / slope->value, 3)));
  }
  return parts;
}

std::string limit_label(const Bound& bound) {
  if (bound.regime == Regime::burst) return bound.limiting_ceiling;
  return fmt::format("{} ({})", bound.limiting_ceiling, to_string(bound.regime));
}

std::string sweep_sentence(const Sweep& sweep) {
  std::string text;
  if (sweep.axis == SweepAxis::threads) {
    for (const SweepPoint& point : sweep.points) {
      text += fmt::format("{}{} with {}", text.empty() ? "" : ", ", rate(point.value, CeilingKind::bandwidth),
                          number(point.x));
    }
    text += " threads";
    return sweep.saturates_at ? fmt::format("{}; saturated from {} on", text, number(*sweep.saturates_at)) : text;
  }
  for (std::size_t i = 0; i < sweep.plateaus.size(); ++i) {
    text += fmt::format("{}{}", text.empty() ? "" : ", ", rate(sweep.plateaus[i].value, CeilingKind::bandwidth));
    if (i < sweep.boundaries.size()) text += fmt::format(" up to {}", binary_bytes(sweep.boundaries[i]));
  }
  if (sweep.plateaus.empty()) return "no plateau was found";
  return text + (sweep.boundaries.empty() ? " throughout" : " beyond");
}

std::string head_room(const Point& point) {
  const double fraction = point.fraction_of_roof();
  if (!std::isfinite(fraction) || fraction <= 0) return {};
  const std::string ceiling = clean_line(limit_label(point.bound));
  if (point.above_roof()) return fmt::format("{} above {}", factor(fraction), ceiling);
  return fmt::format("{} to {}", factor(std::max(1.0, 1 / fraction)), ceiling);
}

std::vector<std::string> findings(const Report& report) {
  const std::vector<const Point*> points = timed_points(report);
  std::vector<std::string> sentences = {how_many_ran(report, points.size())};
  const auto append = [&](const std::vector<std::string>& more) {
    sentences.insert(sentences.end(), more.begin(), more.end());
  };
  if (!points.empty()) sentences.push_back(labels(points));
  append(extremes(points));
  append(warnings(report, points));
  return sentences;
}

}  // namespace roofline
