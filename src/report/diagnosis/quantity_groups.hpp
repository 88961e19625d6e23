// The groups of quantities; each function sets what is known of a timed point.
#pragma once

#include <cmath>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "report/diagnosis/quantities.hpp"

namespace roofline {

/// Sets quantities; values that are not finite are left out.
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

/// A row with a collective, or with a product and its collective.
void add_network(QuantityCollector& out, const Point& point, const Machine& machine);

/// Quantities of CPUs: threads, vector width, pages, NUMA nodes. `counters` may be null.
void add_cpu(QuantityCollector& out, const Point& point, const Machine& machine, const Counters* counters);

/// A loop of a CPU program that was counted under emulation.
void add_loop(QuantityCollector& out, const Point& point, const Machine& machine);

/// What the row's re-runs showed. Uncertain ratios are left out.
void add_experiments(QuantityCollector& out, const Point& point, const Machine& machine);

/// What the samples of its instructions show: shares of the time of its warps.
void add_samples(QuantityCollector& out, const Point& point);

/// What a faster pipe of this GPU could do, of a program's row.
void add_pipes(QuantityCollector& out, const Point& point, const Machine& machine, const Counters& counters);

/// What only counters show: tensor pipes, launch layout, memory accesses, stalls.
void add_counters(QuantityCollector& out, const Point& point, const Machine& machine, const Counters& counters);

}  // namespace roofline
