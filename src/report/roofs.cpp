// Choosing, naming and describing roofs.
#include "report/roofs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <set>

#include "text/format.hpp"

namespace roofline {
namespace {

std::string upper(std::string_view text) {
  std::string out(text);
  for (char& c : out) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return out;
}

std::string name_of(const Ceiling& ceiling) {
  if (ceiling.level) {
    const std::string level =
        *ceiling.level == Level::shared ? std::string("shared memory") : upper(to_string(*ceiling.level));
    return ceiling.pattern ? level + " " + std::string(to_string(*ceiling.pattern)) : level;
  }
  const std::string_view tensor = "tensor.";
  if (ceiling.name.starts_with(tensor)) return upper(ceiling.name.substr(tensor.size())) + " tensor";
  return upper(ceiling.name);
}

std::string capitalised(std::string text) {
  if (!text.empty()) text[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(text[0])));
  return text;
}

std::string joined(const std::vector<std::string>& parts) { return fmt::format("{}", fmt::join(parts, " · ")); }

/// Takes the last words that all have in common off, and returns them: {"BF16 tensor", "FP16 tensor"} -> " tensor".
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
  for (const Roof* roof : roofs) rates.push_back(rate(roof->ceiling->value, roof->ceiling->kind));
  if (std::equal(rates.begin() + 1, rates.end(), rates.begin())) return rates.front();
  const std::string unit = split_common_end(rates);
  return joined(rates) + unit;
}

bool drawable(const Ceiling& c) { return c.role == Role::roof && is_plausible(c.value); }
bool is_link(Level level) { return level == Level::pcie || level == Level::nvlink; }

struct Usage {
  std::set<Pipe> pipes;
  std::set<std::string> sustained;  ///< names of the ceilings that points are held against in that regime
  std::set<Level> levels;
};

/// What the points of the chart run on: each one's busiest pipe, and every level that it moves bytes over.
Usage usage_of(const Report& report) {
  Usage usage;
  for (const Point& point : report.points) {
    if (!is_plottable(point)) continue;
    const auto busiest = std::max_element(point.work.flops.begin(), point.work.flops.end(),
                                          [](const auto& a, const auto& b) { return a.second < b.second; });
    if (busiest != point.work.flops.end()) usage.pipes.insert(busiest->first);
    for (const auto& [level, traffic] : point.work.bytes)
      if (traffic.total() > 0) usage.levels.insert(level);
    for (const ResourceTime& resource : point.bound.resources)
      if (resource.regime == Regime::sustained) usage.sustained.insert(resource.ceiling);
  }
  return usage;
}

/// A sustained roof is a line of its own where a point is held against it and it lies visibly lower than the burst one.
bool shows_regime(const Ceiling& ceiling, const Machine& machine, const Usage& usage) {
  if (ceiling.regime == Regime::burst) return true;
  const Ceiling* burst = machine.find(ceiling.name);
  constexpr double kVisible = 0.98;
  return burst == nullptr || (usage.sustained.contains(ceiling.name) && ceiling.value < kVisible * burst->value);
}

void add_memory(Roofs& roofs, const Machine& machine, const Usage& usage) {
  std::set<std::pair<Level, Regime>> seen;
  for (const Ceiling& first : machine.ceilings) {
    if (first.kind != CeilingKind::bandwidth || !first.level || !drawable(first)) continue;
    const Level level = *first.level;
    const bool used = usage.levels.contains(level);
    if (first.regime == Regime::sustained && machine.find(first.name) != nullptr) continue;
    if ((is_link(level) && !used) || !seen.insert({level, first.regime}).second) continue;
    Roof roof;
    for (const Ceiling& c : machine.ceilings) {
      if (c.kind != CeilingKind::bandwidth || c.level != level || c.regime != first.regime || !drawable(c)) continue;
      roof.others.push_back(&c);
      if (!roof.ceiling || c.value > roof.ceiling->value) roof.ceiling = &c;
    }
    std::erase(roof.others, roof.ceiling);
    roof.name = name_of(*roof.ceiling);
    roof.used = used;
    roof.main = level == main_memory(machine.device.kind) && first.regime == Regime::burst;
    roofs.memory.push_back(std::move(roof));
  }
}

void add_compute(Roofs& roofs, const Machine& machine, const Usage& usage) {
  for (const Ceiling& c : machine.ceilings) {
    if (c.kind != CeilingKind::compute || !drawable(c) || !shows_regime(c, machine, usage)) continue;
    roofs.compute.push_back({&c, name_of(c), c.pipe && usage.pipes.contains(*c.pipe), false, {}});
  }
  // The main ceiling is the highest that is in use, so that the ridge is one that these kernels can meet.
  const auto rank = [](const Roof& r) {
    return std::tuple(r.used, r.ceiling->regime == Regime::burst, r.ceiling->value);
  };
  const auto top = std::max_element(roofs.compute.begin(), roofs.compute.end(),
                                    [&](const Roof& a, const Roof& b) { return rank(a) < rank(b); });
  if (top != roofs.compute.end()) top->main = true;
}

}  // namespace

bool is_plausible(double rate) { return rate >= 1 && rate <= 1e21; }

bool is_plottable(const Point& point) {
  // Farther out than any kernel; a single wild value must not press all others into one pixel.
  constexpr double kLow = 1e-4, kHigh = 1e7;
  if (point.status != PointStatus::ok || !point.time || !(point.work.total_flops() > 0)) return false;
  const double intensity = point.bound.arithmetic_intensity;
  return intensity >= kLow && intensity <= kHigh && is_plausible(point.performance());
}

bool Roof::shows_limit() const {
  constexpr double kApart = 1.05;
  return used && ceiling->limit && std::isfinite(ceiling->limit->value) &&
         ceiling->limit->value > kApart * ceiling->value;
}

std::string Roof::level_name() const { return capitalised(name.substr(0, name.rfind(' '))); }

std::string Roof::label() const { return shared_label({this}); }

std::string shared_label(const std::vector<const Roof*>& roofs) {
  std::vector<std::string> names;
  names.reserve(roofs.size());
  for (const Roof* roof : roofs) names.push_back(roof->name);
  const std::string last_words = split_common_end(names);
  std::string text = capitalised(joined(names)) + last_words + " " + joined_rates(roofs);
  const Ceiling& first = *roofs.front()->ceiling;
  if (first.regime == Regime::sustained) text += " sustained";
  if (first.suspect()) text += " · suspect";
  return text;
}

std::string sustained_label(const std::vector<const Roof*>& roofs) {
  const std::string rates = joined_rates(roofs);
  return rates.substr(0, rates.rfind(' ')) + " sustained";
}

std::string Roof::title() const {
  const Ceiling& c = *ceiling;
  std::string text = fmt::format("{}: {} ({}", capitalised(name), rate(c.value, c.kind), to_string(c.regime));
  if (std::isfinite(c.ci95.low) && std::isfinite(c.ci95.high)) text += ", " + plus_minus(c.value, c.ci95);
  if (!c.origin.empty()) text += ", " + c.origin;
  text += ")";
  if (c.limit) text += fmt::format("; limit {} = {}", rate(c.limit->value, c.kind), c.limit->basis);
  for (const Ceiling* other : others) text += fmt::format("; {} {}", name_of(*other), rate(other->value, other->kind));
  for (const Check& check : c.audit.checks)
    if (check.status == CheckStatus::fail) text += fmt::format("; suspect: {} ({})", check.name, check.detail);
  return text;
}

const Roof* Roofs::main_memory() const {
  const auto found = std::find_if(memory.begin(), memory.end(), [](const Roof& r) { return r.main; });
  return found == memory.end() ? nullptr : &*found;
}

const Roof* Roofs::main_compute() const {
  const auto found = std::find_if(compute.begin(), compute.end(), [](const Roof& r) { return r.main; });
  return found == compute.end() ? nullptr : &*found;
}

std::optional<double> Roofs::ridge() const {
  if (!main_memory() || !main_compute()) return std::nullopt;
  return main_compute()->ceiling->value / main_memory()->ceiling->value;
}

Roofs roofs_of(const Report& report) {
  const Usage usage = usage_of(report);
  Roofs roofs;
  add_memory(roofs, report.machine, usage);
  add_compute(roofs, report.machine, usage);
  const auto higher = [](const Roof& a, const Roof& b) { return a.ceiling->value > b.ceiling->value; };
  std::stable_sort(roofs.memory.begin(), roofs.memory.end(), higher);
  std::stable_sort(roofs.compute.begin(), roofs.compute.end(), higher);
  return roofs;
}

}  // namespace roofline
