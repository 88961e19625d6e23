// GPU activities within the steps of a program, as input of the detectors.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "profile/intervals.hpp"
#include "profile/recording.hpp"
#include "report/profile.hpp"

namespace roofline {

/// Blocks of a launch; 0: its geometry is not known.
inline std::int64_t blocks_in_grid(const spool::Kind& kind) {
  return std::int64_t{kind.grid[0]} * kind.grid[1] * kind.grid[2];
}

/// An activity that starts within a step.
struct StepActivity {
  const Activity* activity = nullptr;
  std::size_t step = 0;  ///< index into StepActivities::steps
  double seconds = 0;    ///< part of it within the steps
  double alone_s = 0;  ///< part of `seconds` while its GPU runs no kernel and no earlier copy (copies and memsets only)
  std::string_view symbol;  ///< mangled name; kernels only
  spool::Kind kind = {};    ///< kernels only
  spool::Place place = {};

  std::int64_t blocks() const { return blocks_in_grid(kind); }  ///< kernels only
};

class StepActivities {
 public:
  /// `spans`: the steps, sorted and disjoint. Counted launches are excluded.
  StepActivities(const Recording& recording, std::vector<Span> spans);

  const Recording& recording;
  const std::vector<Span> steps;
  std::vector<StepActivity> all;  ///< sorted by start
  double total_s = 0;             ///< all steps
  double kernel_s = 0;            ///< all kernels, including concurrent ones

  const ProcessTrace& trace(const StepActivity& of) const;
  /// The record of an activity that is a copy.
  const spool::Copy& copy(const StepActivity& of) const { return trace(of).copies[of.activity->index]; }
  /// "model.py:10 forward"; empty: unknown.
  std::string line(const StepActivity& of) const;
  /// Launching thread; 0: unknown.
  static std::uint32_t thread(const StepActivity& of);

 private:
  void add(const Activity& activity, std::size_t step);
  void find_alone();
};

/// Activities with the same fault.
struct FaultyActivities {
  double seconds = 0;
  std::int64_t count = 0;
  std::vector<bool> in_step;            ///< per step
  std::map<std::string, double> lines;  ///< seconds per line
  std::map<int, double> groups;         ///< seconds per launch group (index into Recording::groups)

  /// `seconds`: the part of the activity's time to add.
  void add(const StepActivities& in, const StepActivity& activity, double seconds);
  /// Fraction of the steps that contain one.
  double share_of_steps() const;
  bool in_nearly_all_steps() const { return share_of_steps() >= 0.9; }
  std::string line() const;  ///< line with the most time; empty: unknown
  int group() const;         ///< group with the most time; -1: none
};

}  // namespace roofline
