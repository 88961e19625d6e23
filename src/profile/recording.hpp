// GPU activity of all processes of a program in time order, with launches grouped by signature.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "host/file_limits.hpp"
#include "profile/process_trace.hpp"

namespace roofline {

/// A GPU of the program, identified by UUID.
struct SeenDevice {
  spool::Device about = {};
  std::string name;
  std::string chip;  ///< CUPTI's name; empty if not queried
};

enum class ActivityKind : std::uint8_t { kernel, copy, fill };

/// A kernel, copy or memset on a GPU.
struct Activity {
  std::uint64_t start = 0, end = 0;  ///< ns
  ActivityKind what = ActivityKind::kernel;
  int device = 0;   ///< index into Recording::devices
  int process = 0;  ///< index into the traces
  std::uint32_t stream = 0;
  int group = -1;                         ///< kernels: index into Recording::groups
  int graph = -1;                         ///< kernels of a graph: group of the graph's launches
  std::size_t index = 0;                  ///< index of its record in the process's kernels, copies or fills
  const spool::Launch* launch = nullptr;  ///< kernels that the host launched directly
  const spool::Call* call = nullptr;      ///< copies, memsets and graph launches, if recorded
  bool counted = false;                   ///< counters were read during it, which changes its time
};

/// Counter values of one launch signature by quantity; one sample per launch.
using CountedValues = std::map<std::string, std::vector<double>, std::less<>>;

struct Recording;

/// Launches with the same function, geometry and place; numbers in repeated modules and ranges ("blocks.3.mlp", "step
/// 7") are ignored. Different scalar parameters form another group only if times or counters differ, because some
/// parameters (seeds, struct padding) have no effect.
struct LaunchGroup {
  int process = 0;            ///< of the first launch
  spool::Kind kind = {};      ///< of the first launch
  spool::Kernel kernel = {};  ///< first record: registers, memory
  int device = 0;
  std::string symbol;         ///< mangled
  std::string module, range;  ///< as returned by any_block() and without_numbers()
  std::vector<double> times;  ///< seconds, in order, of launches that were not counted
  std::vector<double> counted_times;
  double total_s = 0;
  std::int64_t launches = 0;
  std::int64_t counted = 0;
  CountedValues values;
  std::set<std::uint32_t> groups_counted;      ///< counter groups that were read
  std::string identity;                        ///< everything that its launches share, except scalar parameters
  std::vector<std::string> missing;            ///< reasons for missing counters, each once
  const ProcessTrace::Model* model = nullptr;  ///< model of its work, if there is one
  std::int64_t folded = 0;  ///< number of other groups merged into this one, with different counts and work

  bool graph() const { return (kind.flags & spool::kGraph) != 0; }
  /// True if every counter group that it can have was read.
  bool complete(const Recording& recording) const;
  bool in_graph() const { return (kind.flags & spool::kInGraph) != 0; }
  bool cold_caches() const { return (kind.flags & spool::kColdCaches) != 0; }
};

struct Recording {
  /// With more than `most` groups, those with the least time are merged into one per device model ("other kernels
  /// (N)"), and one for kernels in graphs.
  explicit Recording(const std::vector<ProcessTrace>& traces, std::size_t most = kReportRows);

  const std::vector<ProcessTrace>& traces;  ///< must outlive this
  /// True if activity during instruction sampling is excluded from steps, like counted activity. False if there is
  /// hardly any other.
  bool sampling_disturbs = true;
  std::vector<SeenDevice> devices;
  std::vector<LaunchGroup> groups;
  std::vector<Activity> activities;      ///< sorted by start
  std::size_t counter_groups = 0;        ///< requested counter groups; 0 without counters
  std::set<std::uint32_t> instrumented;  ///< part of them that graphs and cooperative kernels never have
  /// By process: the line of the program that runs its backward pass ("train.py:85 step"), from samples of the host;
  /// empty: unknown. May have fewer entries than `traces`.
  std::vector<std::string> backward_lines;
  std::map<std::string, std::string, std::less<>> absent;  ///< quantities without a counter on this chip
  std::uint64_t start = 0, end = 0;                        ///< the recording or its window, ns

  const spool::Place& place(const Activity& activity) const;

 private:
  void join_variants();
};

/// A range and its parents, outermost first.
std::vector<spool::Id> range_chain(const ProcessTrace& trace, spool::Id range);

/// The time at which the library first reported that; std::nullopt: never.
std::optional<std::uint64_t> note_time(const ProcessTrace& trace, spool::NoteCode code);

/// The path of a range from its root, separated by '/', without NCCL's own ranges.
std::string range_path(const ProcessTrace& trace, spool::Id range);

}  // namespace roofline
