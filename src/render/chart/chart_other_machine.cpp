// Two machines on one chart: the roofs of the first run's machine that differ from those of the last one's.

#include <algorithm>
#include <cmath>

#include "render/chart/chart.hpp"
#include "report/titles.hpp"

namespace roofline {
namespace {

/// Closer lines are not distinguishable; and up to that their names would stand on each other.
constexpr double kApart = 0.02, kVisiblyApart = 0.1;

bool differs(const Ceiling& ceiling, const Machine& machine, double by = kApart) {
  const Ceiling* const same = machine.find(ceiling.name, ceiling.regime);
  return same == nullptr || !is_plausible(same->value) || std::abs(same->value / ceiling.value - 1) > by;
}

Line line_of(const Chart& chart, const RoofSpan& span, const Roof& roof) {
  const double width = roof.main ? 2.2 : 1.2;
  std::vector<double> dash;
  if (roof.ceiling->is_data_sheet_limit()) dash = {2, 4};
  if (roof.ceiling->regime == Regime::sustained) dash = {7, 5};
  return {{span.a, span.b}, false, {}, Stroke{chart.colors->roof_other, width, std::move(dash)}};
}

/// The lines of roofs that points use; the others would only fill the chart.
std::vector<Group> draw_lines(Chart& chart, const std::vector<Roof>& roofs) {
  std::vector<Group> groups;
  for (const Roof& roof : roofs) {
    Group& group = groups.emplace_back();
    group.classes = "other-roof";
    group.title = chart.other->name + " " + roof.title();
    const RoofSpan span = roof_span(chart, chart.other->roofs, roof, roof.ceiling->value);
    if (!span.visible) continue;
    group.items.push_back(line_of(chart, span, roof));
    const Quad stroke = Quad::stroke(span.a, span.b, 1);
    chart.space.lines.push_back(stroke);
    if (roof.main) chart.space.roofline.push_back(stroke);
  }
  return groups;
}

}  // namespace

std::optional<OtherMachine> other_machine(const Chart& chart) {
  if (chart.runs.size() < 2) return std::nullopt;
  const Report& first = *chart.runs.front();
  OtherMachine other{&first, chart.projected ? "here" : "before", roofs_of(first, chart.of)};
  const Machine& last = chart.report->machine;
  if (first.machine.device.name != last.device.name)
    other.name = names_apart(first.machine.device.name, last.device.name).first;
  const auto same = [&](const Roof& roof) { return !roof.used || (!roof.main && !differs(*roof.ceiling, last)); };
  std::erase_if(other.roofs.memory, same);
  std::erase_if(other.roofs.patterns, same);
  std::erase_if(other.roofs.compute, same);
  // The main slope and ceiling give the others their ends: they stay while any roof differs.
  const auto any = [&](const std::vector<Roof>& roofs) {
    return std::any_of(roofs.begin(), roofs.end(), [&](const Roof& roof) { return differs(*roof.ceiling, last); });
  };
  if (!any(other.roofs.memory) && !any(other.roofs.compute)) return std::nullopt;
  // A pattern's short line beside its slope would be one line too many. Main roofs that differ visibly are always
  // named.
  other.roofs.patterns.clear();
  for (auto* roofs : {&other.roofs.memory, &other.roofs.compute})
    for (Roof& roof : *roofs) roof.limits = roof.main && differs(*roof.ceiling, last, kVisiblyApart);
  return other;
}

std::string name_beside(const Chart& chart, const OtherMachine& other) {
  const std::string& first = other.report->machine.device.name;
  const std::string& name = chart.report->machine.device.name;
  return first != name ? names_apart(first, name).second : chart.projected ? "there" : "now";
}

RoofGroups draw_other_roofs(Chart& chart) {
  RoofGroups groups;
  groups.slopes = draw_lines(chart, chart.other->roofs.memory);
  groups.flats = draw_lines(chart, chart.other->roofs.compute);
  return groups;
}

}  // namespace roofline
