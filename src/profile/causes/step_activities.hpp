// What the GPUs did within the steps of a program, for detectors of causes.
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

/// An activity that starts within a step.
struct StepActivity {
  const Activity* activity = nullptr;
  std::size_t step = 0;     ///< index into StepActivities::steps
  double seconds = 0;       ///< of it, within the steps
  double alone_s = 0;       ///< of that, while its GPU runs no kernel and no copy that started before (copies, memsets)
  std::string_view symbol;  ///< of a kernel, mangled
  spool::Kind kind = {};    ///< of a kernel
  spool::Place place = {};

  std::int64_t blocks() const { return std::int64_t{kind.grid[0]} * kind.grid[1] * kind.grid[2]; }  ///< of a kernel
};

class StepActivities {
 public:
  /// `spans`: of the steps, sorted and disjoint. Counted launches are left out.
  StepActivities(const Recording& recording, std::vector<Span> spans);

  const Recording& recording;
  const std::vector<Span> steps;
  std::vector<StepActivity> all;  ///< by start
  double total_s = 0;             ///< of the steps
  double kernel_s = 0;            ///< of all kernels, also of those side by side

  const ProcessTrace& trace(const StepActivity& of) const;
  /// "model.py:10 forward"; empty: not known.
  std::string line(const StepActivity& of) const;
  /// The thread that launched it; 0: not known.
  static std::uint32_t thread(const StepActivity& of);

 private:
  void add(const Activity& activity, std::size_t step);
  void find_alone();
};

/// Activities with one fault.
struct FaultyActivities {
  double seconds = 0;
  std::int64_t count = 0;
  std::vector<bool> in_step;            ///< by step
  std::map<std::string, double> lines;  ///< seconds of each
  std::map<int, double> groups;         ///< seconds of each group of launches (index into Recording::groups)

  /// `seconds`: that are counted, of the activity's.
  void add(const StepActivities& in, const StepActivity& activity, double seconds);
  /// Of the steps, those that have it; 0 to 1.
  double share_of_steps() const;
  std::string line() const;  ///< with the most time; empty: not known
  int group() const;         ///< likewise; -1: none
};

}  // namespace roofline
