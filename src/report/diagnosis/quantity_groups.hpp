// Groups of quantities; each function sets the known quantities of a timed point.
#pragma once

#include <cmath>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "report/diagnosis/quantities.hpp"

namespace roofline {

/// Seconds of a launch below which the launch itself, and the first instructions from memory, are a good part of it.
inline constexpr double kShortLaunch = 20e-6;

/// Collects quantities; non-finite values are dropped.
class QuantityCollector {
 public:
  void set(std::string_view name, double value) {
    if (std::isfinite(value)) values_.insert_or_assign(std::string(name), value);
  }
  void set(std::string_view name, std::optional<double> value) {
    if (value) set(name, *value);
  }
  void flag_is(std::string_view name, bool value) { set(name, value ? 1.0 : 0.0); }
  std::optional<double> get(std::string_view name) const {
    const auto found = values_.find(name);
    return found == values_.end() ? std::nullopt : std::optional(found->second);
  }
  Quantities take() { return std::move(values_); }

 private:
  Quantities values_;
};

/// Rows with a collective, or with a product and a collective.
void add_network(QuantityCollector& out, const Point& point, const Machine& machine);

/// CPU quantities: threads, vector width, pages, NUMA nodes. `counters` may be null.
void add_cpu(QuantityCollector& out, const Point& point, const Machine& machine, const Counters* counters);

/// Loops of a CPU program, counted under emulation.
void add_loop(QuantityCollector& out, const Point& point, const Machine& machine);

/// Results of the row's experiments. Uncertain ratios are left out.
void add_experiments(QuantityCollector& out, const Point& point, const Machine& machine);

/// Instruction samples: fractions of the warps' time.
void add_samples(QuantityCollector& out, const Point& point);

/// Possible gain of a profiled row on a faster pipe of this GPU.
void add_pipes(QuantityCollector& out, const Point& point, const Machine& machine, const Counters& counters);

/// Counter-based quantities: tensor pipes, launch layout, memory accesses, stalls.
void add_counters(QuantityCollector& out, const Point& point, const Machine& machine, const Counters& counters);

}  // namespace roofline
