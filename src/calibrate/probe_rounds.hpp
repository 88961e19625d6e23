// One probe of a CPU, measured in rounds: each visit adds samples to those of its relevant cases, and results are
// available at any time.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "calibrate/measure_probe.hpp"
#include "calibrate/probe_ceiling.hpp"
#include "measure/fast_plateau.hpp"

namespace roofline {

class ProbeRounds {
 public:
  /// `probe`, `device` and `effort` outlive the object.
  ProbeRounds(const Probe& probe, Device& device, const Effort& effort, std::function<bool()> cancelled);

  /// One round. The first one tries and verifies every variant; later ones drop variants that would have proved
  /// faster by now, and add twice the work of the best one for the audit. `slowed_share` is that of the rounds of
  /// all probes of its kind. Rethrows the probe's exceptions.
  void visit(double slowed_share);

  /// True if another round would change nothing: plateaus are reached, and one variant is left.
  bool converged(double slowed_share) const;

  /// The current ceiling with its audit.
  std::optional<MeasuredProbe> measured(double slowed_share) const;

  /// Why there is none.
  std::string failure() const;

  /// The best variant's index, or std::nullopt before the first round.
  std::optional<int> best() const;

  void add_to(Slowdowns& slowdowns) const;

 private:
  struct Series {
    int variant = 0;
    double scale = 1;
    ProbeCase facts;            ///< of the first visit, without what runs
    std::vector<Check> checks;  ///< of the case: what needs no time
    std::optional<std::string> wrong;
    std::vector<Round> rounds;
    FastPlateau plateau;

    double rate() const { return facts.amount / plateau.seconds; }
  };

  bool visit(Series& series);
  double least_s(const Series& series) const;  ///< by the probe's limit at its clock; NaN if there is none
  bool reached(const Series& series, double slowed_share) const;
  bool given_up(const Series& variant, double slowed_share) const;
  const Series* leader() const;
  Check audit_doubled(const Series& once, double slowed_share) const;

  const Probe& probe_;
  Device& device_;
  const Effort& effort_;
  std::function<bool()> cancelled_;
  std::vector<Series> variants_;
  std::optional<Series> twice_;  ///< the best variant's
  bool tried_all_ = false;
  Contention contention_;  ///< while samples were taken
  double took_s_ = 0;
};

}  // namespace roofline
