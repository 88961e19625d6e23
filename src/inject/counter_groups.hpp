// Which counters a chip has, and how they are shared out to groups of one pass each. Needs neither GPU nor driver.
#pragma once

#include <cstdint>
#include <iosfwd>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "cupti/host.hpp"

namespace roofline::inject {

/// A line of the metrics file: a quantity, and its possible names on chips, best first.
struct Quantity {
  std::string id;
  double scale = 1;
  std::vector<std::string> candidates;
};
std::vector<Quantity> read_quantities(std::istream& file);

struct CounterGroup {
  bool instrumented = false;  ///< by code that CUPTI puts into the kernels; never beside the hardware's counters
  std::vector<std::string> names;
  std::vector<double> scales;
  std::unique_ptr<CuptiHost> host;
  std::vector<std::uint8_t> config;
};

class CounterGroups {
 public:
  /// Where a quantity is counted.
  struct Place {
    std::string name;  ///< the chip's; empty: it has none that fits into a pass
    std::uint32_t group = 0, index = 0;
  };

  /// `chip` as CUPTI spells it; `availability` is a device's image, empty for all that the chip has. Throws Error.
  CounterGroups(const CuptiProfiler& profiler, std::string chip, std::vector<std::uint8_t> availability,
                std::span<const Quantity> quantities);

  const std::vector<CounterGroup>& groups() const { return groups_; }
  /// Place of each quantity, in their order.
  const std::vector<Place>& places() const { return places_; }
  /// The values of a range in a counter data image, scaled.
  std::vector<double> evaluate(const CounterGroup& group, std::span<const std::uint8_t> data, std::size_t range) const;

 private:
  std::unique_ptr<CuptiHost> new_host() const;
  /// Gives the group these counters, unless they need more than one pass.
  bool configure(CounterGroup& group, std::vector<std::string> names) const;
  std::vector<std::size_t> fill(CounterGroup& group, std::span<const std::size_t> quantities);
  void share_out(bool instrumented, std::vector<std::size_t> quantities);

  const CuptiProfiler& profiler_;
  std::string chip_;
  std::vector<std::uint8_t> availability_;
  std::span<const Quantity> quantities_;
  std::vector<CounterGroup> groups_;
  std::vector<Place> places_;
};

}  // namespace roofline::inject
