// Choosing, naming and describing roofs.
#include "report/roofs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "model/find.hpp"
#include "report/titles.hpp"
#include "text/format.hpp"
#include "text/text.hpp"

namespace roofline {
namespace {

std::string name_of(const Ceiling& ceiling) {
  // "NCCL all_reduce": a collective's pattern is its own.
  if (ceiling.level == Level::network && ceiling.name != to_string(Level::network))
    return "NCCL " + ceiling.name.substr(ceiling.name.find('.') + 1);
  if (ceiling.level) {
    const std::string level = title_of(*ceiling.level);
    return ceiling.pattern ? level + " " + std::string(to_string(*ceiling.pattern)) : level;
  }
  return title_of_pipe(ceiling.name);
}

std::string joined(const std::vector<std::string>& parts) { return fmt::format("{}", fmt::join(parts, " · ")); }

/// Removes the common last words of all names and returns them: {"BF16 tensor", "FP16 tensor"} -> " tensor".
std::string split_common_end(std::vector<std::string>& names) {
  std::string end;
  for (;;) {
    const std::size_t space = names.front().rfind(' ');
    if (names.size() < 2 || space == std::string::npos) return end;
    const std::string word = names.front().substr(space);
    const bool common =
        std::all_of(names.begin(), names.end(), [&](const std::string& n) { return n.ends_with(word); });
    if (!common) return end;
    for (std::string& n : names) n.erase(n.size() - word.size());
    end.insert(0, word);
  }
}

/// "917 · 877 TFLOP/s": the unit once where it is the same, and a value once that all have.
std::string joined_rates(const std::vector<const Roof*>& roofs) {
  std::vector<std::string> rates;
  rates.reserve(roofs.size());
  for (const Roof* roof : roofs) rates.push_back(ceiling_value(*roof->ceiling));
  if (std::equal(rates.begin() + 1, rates.end(), rates.begin())) return rates.front();
  const std::string unit = split_common_end(rates);
  return joined(rates) + unit;
}

bool drawable(const Ceiling& c) { return c.role == Role::roof && is_plausible(c.value); }
bool is_link(Level level) { return level == Level::pcie || level == Level::nvlink; }

/// FLOP/byte.
struct Segment {
  double from = 0, to = 0;
};

struct Usage {
  std::set<Pipe> pipes;
  std::set<Level> levels;
  std::set<std::string> collectives;        ///< names of the roofs of those that points wait for
  std::set<std::string> sustained;          ///< names of the sustained ceilings that limit points
  std::map<std::string, Segment> limiting;  ///< by name: range of the points limited by a ceiling

  bool limited_by(const Ceiling& ceiling) const { return limiting.contains(ceiling.name); }
};

/// The pipes and levels that the points of the chart use, and what limits them.
Usage usage_of(const Report& report, Intensity of) {
  Usage usage;
  for (const Point& point : report.points) {
    if (!is_on_chart(report, point, of)) continue;
    const auto busiest = largest_entry(point.work.flops);
    if (busiest != point.work.flops.end()) usage.pipes.insert(busiest->first);
    for (const auto& [level, traffic] : point.work.bytes)
      if (traffic.total() > 0) usage.levels.insert(level);
    if (point.work.collective) usage.collectives.insert("nccl." + point.work.collective->name);
    for (const ResourceTime& resource : point.bound.resources)
      if (resource.regime == Regime::sustained) usage.sustained.insert(resource.ceiling);
    const double at = intensity_of(point, of);
    Segment& segment = usage.limiting.try_emplace(point.bound.limiting_ceiling, Segment{at, at}).first->second;
    segment = {std::min(segment.from, at), std::max(segment.to, at)};
  }
  return usage;
}

/// Closer lines are not distinguishable.
constexpr double kApart = 0.98;

/// A sustained roof is a line of its own where it limits a point and lies visibly below the burst one.
bool shows_regime(const Ceiling& ceiling, const Machine& machine, const Usage& usage) {
  if (ceiling.regime == Regime::burst) return true;
  const Ceiling* burst = machine.find(ceiling.name);
  return burst == nullptr || (usage.sustained.contains(ceiling.name) && ceiling.value < kApart * burst->value);
}

/// The level's patterns in the regime of `first`, the pattern of its slope first.
std::vector<const Ceiling*> patterns_of(const Machine& machine, const Ceiling& first) {
  std::vector<const Ceiling*> all;
  for (const Ceiling& c : machine.ceilings) {
    if (c.kind == CeilingKind::bandwidth && c.level == first.level && c.regime == first.regime && drawable(c))
      all.push_back(&c);
  }
  const auto rank = [](const Ceiling* c) { return std::pair(c->pattern == Pattern::read, c->value); };
  const auto slope =
      std::max_element(all.begin(), all.end(), [&](const Ceiling* a, const Ceiling* b) { return rank(a) < rank(b); });
  std::rotate(all.begin(), slope, slope + 1);
  return all;
}

void add_memory(Roofs& roofs, const Machine& machine, const Usage& usage, Intensity of) {
  const Level main = of == Intensity::network ? Level::network : main_memory(machine.device.kind);
  std::set<std::pair<Level, Regime>> seen;
  for (const Ceiling& first : machine.ceilings) {
    if (first.kind != CeilingKind::bandwidth || !first.level || !drawable(first)) continue;
    const Level level = *first.level;
    if ((level == Level::network) != (of == Intensity::network)) continue;
    const bool used = usage.levels.contains(level);
    if (first.regime == Regime::sustained && machine.find(first.name) != nullptr) continue;
    if ((is_link(level) && !used) || !seen.insert({level, first.regime}).second) continue;
    Roof slope;
    std::vector<const Ceiling*> patterns = patterns_of(machine, first);
    // Network roofs: only those used by points, if any was measured.
    const auto foreign = [&](const Ceiling* c) { return !usage.collectives.contains(c->name); };
    if (of == Intensity::network && !std::all_of(patterns.begin(), patterns.end(), foreign))
      std::erase_if(patterns, foreign);
    for (const Ceiling* c : patterns) {
      const bool limits = usage.limited_by(*c);
      slope.limits |= limits;
      const double ratio = slope.ceiling ? c->value / slope.ceiling->value : 1;
      if (slope.ceiling == nullptr) {
        slope.ceiling = c;
      } else if (limits && (ratio < kApart || ratio > 1 / kApart)) {
        const Segment where = usage.limiting.at(c->name);
        roofs.patterns.push_back({c, name_of(*c), true, false, {}, true, where.from, where.to});
      } else {
        slope.others.push_back(c);
      }
    }
    slope.name = name_of(*slope.ceiling);
    slope.used = used || slope.limits;
    slope.main = level == main && first.regime == Regime::burst;
    roofs.memory.push_back(std::move(slope));
  }
}

void add_compute(Roofs& roofs, const Machine& machine, const Usage& usage) {
  for (const Ceiling& c : machine.ceilings) {
    if (c.kind != CeilingKind::compute || !drawable(c) || !shows_regime(c, machine, usage)) continue;
    const bool limits = usage.limited_by(c);
    roofs.compute.push_back({&c, name_of(c), limits || (c.pipe && usage.pipes.contains(*c.pipe)), false, {}, limits});
  }
  // The main ceiling is the highest that limits these kernels, so that its ridge is one that they can meet. Integer
  // operations are no FLOPs: without kernels that use them they have no ridge.
  const auto rank = [](const Roof& r) {
    const bool integer = r.ceiling->pipe && (*r.ceiling->pipe == Pipe::int8 || *r.ceiling->pipe == Pipe::int32 ||
                                             *r.ceiling->pipe == Pipe::tensor_int8);
    return std::tuple(r.limits, r.used, !integer, r.ceiling->regime == Regime::burst, r.ceiling->value);
  };
  const auto top = std::max_element(roofs.compute.begin(), roofs.compute.end(),
                                    [&](const Roof& a, const Roof& b) { return rank(a) < rank(b); });
  if (top != roofs.compute.end()) top->main = true;
}

/// "bf16" for "tensor.bf16", where no other of the names comes to the same.
std::string short_pipe(const std::string& name, const std::vector<std::string>& all) {
  const std::string rest = name.substr(name.find('.') + 1);
  const auto same = [&](const std::string& other) { return other.substr(other.find('.') + 1) == rest; };
  return std::count_if(all.begin(), all.end(), same) == 1 ? rest : name;
}

}  // namespace

bool is_plausible(double rate) { return rate >= 1 && rate <= 1e21; }

double intensity_of(const Point& point, Intensity of) {
  // For a CPU loop, L1 bytes are counted and main-memory bytes may be zero: cache-aware roofline (Ilic, Pratas and
  // Sousa, 2014), where the slopes of all levels refer to the same intensity.
  const bool loop = point.profiled && point.profiled->loop && point.work.bytes.contains(Level::l1);
  if (loop && of == Intensity::memory) return arithmetic_intensity(point.work, Level::l1);
  return of == Intensity::memory ? point.bound.arithmetic_intensity : arithmetic_intensity(point.work, Level::network);
}

bool has_network_chart(const Report& report) {
  return report.machine.slope(Level::network) != nullptr &&
         std::any_of(report.points.begin(), report.points.end(),
                     [&](const Point& point) { return is_on_chart(report, point, Intensity::network); });
}

bool is_plottable(const Point& point, Intensity of) {
  // Farther out than any kernel; a single wild value must not press all others into one pixel.
  constexpr double kLow = 1e-4, kHigh = 1e7;
  if (point.status != PointStatus::ok || !point.time || !(point.work.total_flops() > 0)) return false;
  const double intensity = intensity_of(point, of);
  return intensity >= kLow && intensity <= kHigh && is_plausible(point.performance());
}

bool is_on_chart(const Report& report, const Point& point, Intensity of) {
  return is_plottable(point, of) && !ran_on_other_model(report, point);
}

double edge_bandwidth(const Report& report, const Point& point) {
  if (point.status != PointStatus::ok || !point.time || point.work.total_flops() > 0) return 0;
  if (ran_on_other_model(report, point) || point.bound.resources.empty()) return 0;
  const ResourceTime& limiting = point.bound.resources.front();
  const Ceiling* const roof = report.machine.find(limiting.ceiling);
  // Links and the network need not have a slope.
  if (roof == nullptr || !roof->level || is_link(*roof->level) || roof->level == Level::network) return 0;
  const double bandwidth = limiting.amount / point.time->median;
  return is_plausible(bandwidth) ? bandwidth : 0;
}

bool has_mark(const Report& report, const Point& point) {
  return is_on_chart(report, point) || edge_bandwidth(report, point) > 0;
}

bool Roof::shows_limit() const {
  constexpr double kFarther = 1.05;
  return used && ceiling->limit && std::isfinite(ceiling->limit->value) &&
         ceiling->limit->value > kFarther * ceiling->value;
}

std::string Roof::level_name() const { return capitalised(name.substr(0, name.rfind(' '))); }

std::string Roof::label() const { return shared_label({this}); }

std::string shared_name(const std::vector<const Roof*>& roofs) {
  std::vector<std::string> names;
  names.reserve(roofs.size());
  for (const Roof* roof : roofs) names.push_back(roof->name);
  const std::string last_words = split_common_end(names);
  return capitalised(joined(names)) + last_words;
}

std::string shared_label(const std::vector<const Roof*>& roofs) {
  std::string text = shared_name(roofs) + " " + joined_rates(roofs);
  const Ceiling& first = *roofs.front()->ceiling;
  if (first.regime == Regime::sustained) text += " sustained";
  if (first.suspect()) text += " · suspect";
  if (first.provisional()) text += " · provisional";
  if (first.is_data_sheet_limit()) text += " · not measured";
  return text;
}

std::string sustained_label(const std::vector<const Roof*>& roofs) {
  const std::string rates = joined_rates(roofs);
  const std::size_t unit = rates.rfind(' ');
  // Uses the unit of the burst roofs next to it; several values keep their own units.
  const bool one_unit = rates.find("P/s") > unit;
  return (one_unit ? rates.substr(0, unit) : rates) + " sustained";
}

std::string not_measured(const Machine& machine) {
  const auto limit = std::find_if(machine.ceilings.begin(), machine.ceilings.end(),
                                  [](const Ceiling& ceiling) { return ceiling.is_data_sheet_limit(); });
  if (limit != machine.ceilings.end()) {
    const std::string basis = limit->limit ? clean_line(limit->limit->basis) : std::string();
    return fmt::format(
        "data-sheet limits, not measured here ({}): no kernel quite reaches them; calibrate such a GPU, or pass its "
        "machine.json with --machine",
        limit->origin == kAttributesOrigin ? "device attributes: " + basis : basis);
  }
  return {};
}

bool has_unmeasured_roofs(const Report& report) {
  const auto unmeasured = [](const Machine& machine) { return !not_measured(machine).empty(); };
  return unmeasured(report.machine) ||
         std::any_of(report.other_machines.begin(), report.other_machines.end(), unmeasured);
}

std::string Roof::title() const {
  const Ceiling& c = *ceiling;
  if (c.is_data_sheet_limit()) {
    return fmt::format("{}: {} (not measured: {}{})", capitalised(name), ceiling_value(c), clean_line(c.origin),
                       c.limit ? ", " + clean_line(c.limit->basis) : "");
  }
  std::string text = fmt::format("{}: {} ({}", capitalised(name), ceiling_value(c), to_string(c.regime));
  if (c.ci95.known()) text += ", " + plus_minus(c.value, c.ci95);
  if (!c.origin.empty()) text += ", " + c.origin;
  return text + ")";
}

std::vector<std::string> Roof::title_notes() const {
  const Ceiling& c = *ceiling;
  std::vector<std::string> notes;
  if (c.is_data_sheet_limit()) return notes;
  if (c.limit)
    notes.push_back(fmt::format("limit {} = {}", ceiling_value(c.limit->value, c.kind, c.pipe), c.limit->basis));
  for (const Ceiling* other : others)
    notes.push_back(fmt::format("{} {}", name_of(*other), rate(other->value, other->kind)));
  for (const Check& check : c.audit.checks) {
    if (check.status == CheckStatus::fail) notes.push_back(fmt::format("suspect: {} ({})", check.name, check.detail));
    if (check.status == CheckStatus::provisional)
      notes.push_back(fmt::format("provisional: {} ({})", check.name, check.detail));
  }
  return notes;
}

const Roof* Roofs::main_memory() const { return find_by(memory, &Roof::main, true); }

const Roof* Roofs::main_compute() const { return find_by(compute, &Roof::main, true); }

std::vector<Ridge> Roofs::ridges() const {
  const Roof* slope = main_memory();
  if (slope == nullptr) return {};
  const auto meeting = [&](auto wanted) {
    std::vector<Ridge> found;
    for (const Roof& roof : compute) {
      // The sustained roof of a pipe gets no ridge in addition to its burst one.
      const bool repeated = std::any_of(found.begin(), found.end(), [&](const Ridge& ridge) {
        return ridge.roof->ceiling->name == roof.ceiling->name;
      });
      if (wanted(roof) && !repeated) found.push_back({&roof, roof.ceiling->value / slope->ceiling->value});
    }
    std::reverse(found.begin(), found.end());
    return found;
  };
  std::vector<Ridge> ridges = meeting([](const Roof& roof) { return roof.limits; });
  if (ridges.empty()) ridges = meeting([](const Roof& roof) { return roof.used; });
  if (ridges.empty()) ridges = meeting([](const Roof& roof) { return roof.main; });
  return ridges;
}

std::string ridge_value(double intensity) { return number(intensity, intensity < 100 ? 2 : 3); }

std::string ridge_range(const Roofs& roofs) {
  const std::vector<Ridge> ridges = roofs.ridges();
  if (ridges.empty()) return {};
  const std::string low = ridge_value(ridges.front().intensity), high = ridge_value(ridges.back().intensity);
  return (low == high ? "ridge " + low : "ridges " + low + "–" + high) + " FLOP/byte";
}

std::string ridge_label(const Roofs& roofs) {
  const std::vector<Ridge> ridges = roofs.ridges();
  std::vector<std::string> names;
  names.reserve(ridges.size());
  for (const Ridge& ridge : ridges) names.push_back(shorten(clean_line(ridge.roof->ceiling->name), 24));
  std::string text, last;
  for (std::size_t i = 0; i < ridges.size(); ++i) {
    const std::string value = ridge_value(ridges[i].intensity), pipe = short_pipe(names[i], names);
    const bool coincides = value == last;  // "fp32 · fp64 14"
    if (coincides) text.erase(text.size() - value.size() - 1);
    text += (text.empty() ? "" : coincides ? " · " : ", ") + pipe + " " + value;
    last = value;
  }
  return text.empty() ? text : "ridge: " + text + " FLOP/byte";
}

Roofs roofs_of(const Report& report, Intensity of) {
  const Usage usage = usage_of(report, of);
  Roofs roofs;
  add_memory(roofs, report.machine, usage, of);
  add_compute(roofs, report.machine, usage);
  const auto higher = [](const Roof& a, const Roof& b) { return a.ceiling->value > b.ceiling->value; };
  std::stable_sort(roofs.memory.begin(), roofs.memory.end(), higher);
  std::stable_sort(roofs.patterns.begin(), roofs.patterns.end(), higher);
  std::stable_sort(roofs.compute.begin(), roofs.compute.end(), higher);
  return roofs;
}

std::vector<Unmeasured> by_reason(const std::vector<Unmeasured>& unmeasured) {
  std::vector<Unmeasured> reasons;
  for (const Unmeasured& each : unmeasured) {
    if (Unmeasured* const same = find_by(reasons, &Unmeasured::reason, each.reason)) {
      same->name += ", " + each.name;
    } else {
      reasons.push_back(each);
    }
  }
  return reasons;
}

}  // namespace roofline
