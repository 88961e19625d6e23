// The process that calibrates a CPU: visits its probes in rounds, then measures what needs uninterrupted time.
#pragma once

#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "calibrate/calibrate.hpp"
#include "calibrate/messages.hpp"
#include "calibrate/probe_rounds.hpp"
#include "measure/rounds.hpp"

namespace roofline {

class RoundsWorker {
 public:
  /// `lost` names the probes that killed a process, which are skipped. The time counts from `begin_s`
  /// (wall_seconds).
  RoundsWorker(const CalibrateOptions& options, const std::vector<const Probe*>& probes,
               const std::set<std::string>& lost, double begin_s);

  /// The next step: a visit, a sweep, or a sustained ceiling.
  AfterJob run(const Send& send);

  double time_s() const { return time_s_; }
  double end_s() const { return end_s_; }

 private:
  struct Member {
    const Probe* probe = nullptr;
    std::optional<ProbeRounds> rounds;  ///< from the first visit on
    bool over = false;                  /// nothing more can be measured
    bool stretched = false;             ///< its sweep or sustained ceiling is done
    bool deferred = false;              /// a sweep that took too long to come first: it has its turn with the others
    std::optional<double>
        in_a_cycle;  /// work per cycle of the sustained ceiling relative to the burst one so far; NaN: unknown
  };

  /// The next step: `work` with the member at that index.
  struct Step {
    void (RoundsWorker::*work)(Member& member, const MessageWriter& writer) = nullptr;
    Member* member = nullptr;
  };

  std::optional<Step> next();
  void open(Member& member, const MessageWriter& writer);
  void visit(Member& member, const MessageWriter& writer);
  void sweep(Member& member, const MessageWriter& writer);
  void sustain(Member& member, const MessageWriter& writer);
  void finish(const MessageWriter& writer);
  void send_ceiling(Member& member, const MessageWriter& writer) const;
  bool stopped() const;
  double slowed_share(const Member& member) const;
  bool converged(const Member& member, double now_s) const;
  bool comes_first(const Member& member) const;
  double rounds_end_s() const;
  std::int64_t visited() const;
  bool lost(const Member& member) const { return lost_.contains(member.probe->name); }

  const CalibrateOptions& options_;
  const std::set<std::string>& lost_;
  double time_s_, least_s_, end_s_;
  std::vector<Member> members_;  ///< measured in rounds: roofs first
  std::vector<Member> sweeps_;
  std::optional<Rounds> rounds_;
  bool in_first_visits_ = false;
  std::unique_ptr<Device> device_;
};

}  // namespace roofline
