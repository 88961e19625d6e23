// The GPU activity of all processes of a program in one order, with launches grouped by signature.
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

/// A GPU of the program, identified by its UUID.
struct SeenDevice {
  spool::Device about = {};
  std::string name;
  std::string chip;  ///< CUPTI's name; empty where it was not queried
};

enum class ActivityKind : std::uint8_t { kernel, copy, fill };

/// A kernel, copy or memset on a GPU.
struct Activity {
  std::uint64_t start = 0, end = 0;  ///< ns
  ActivityKind what = ActivityKind::kernel;
  int device = 0;   ///< index into Recording::devices
  int process = 0;  ///< index into the traces
  std::uint32_t stream = 0;
  int group = -1;                         ///< of a kernel: index into Recording::groups
  int graph = -1;                         ///< of a kernel of a graph: the group of the graph's launches
  std::size_t index = 0;                  ///< of its record in the process's kernels, copies or fills
  const spool::Launch* launch = nullptr;  ///< of a kernel that the host launched by itself
  const spool::Call* call = nullptr;      ///< of a copy, a memset, or the launch of its graph, where it was recorded
  bool counted = false;                   ///< counters were read around it, which changes its time
};

/// What one launch of a kind counted, quantity by quantity: values of its groups of counters, a sample a launch.
using CountedValues = std::map<std::string, std::vector<double>, std::less<>>;

struct Recording;

/// Launches of one signature: same function, geometry and place, where numbers in repeated modules and ranges
/// ("blocks.3.mlp", "step 7") are ignored. Other scalar parameters make another group only where times or counters
/// differ; some parameters (seeds, padding of a struct) vary without effect.
struct LaunchGroup {
  int process = 0;            ///< of the first one
  spool::Kind kind = {};      ///< of the first one
  spool::Kernel kernel = {};  ///< the first record: registers, memory
  int device = 0;
  std::string symbol;         ///< mangled
  std::string module, range;  ///< as any_block() and without_numbers() have them
  std::vector<double> times;  ///< seconds, in order, of launches that were not counted
  std::vector<double> counted_times;
  double total_s = 0;
  std::int64_t launches = 0;
  std::int64_t counted = 0;
  CountedValues values;
  std::set<std::uint32_t> groups_counted;      ///< of counters
  std::string identity;                        ///< everything that its launches share, without scalar parameters
  std::vector<std::string> missing;            ///< why some are missing, each reason once
  const ProcessTrace::Model* model = nullptr;  ///< of its work, where one is given
  std::int64_t folded = 0;                     ///< other groups that it stands for, whose counts and work differ

  bool graph() const { return (kind.flags & spool::kGraph) != 0; }
  /// Whether every group of counters that it can have was read.
  bool complete(const Recording& recording) const;
  bool in_graph() const { return (kind.flags & spool::kInGraph) != 0; }
};

struct Recording {
  /// Where there are more than `most` groups, those with the least time are folded into one per device model
  /// ("other kernels (N)"), and one of kernels in graphs.
  explicit Recording(const std::vector<ProcessTrace>& traces, std::size_t most = kReportRows);

  const std::vector<ProcessTrace>& traces;  ///< must outlive it
  /// What ran while instructions were sampled is left out of steps, as if it had been counted. False where there is
  /// hardly anything else.
  bool sampling_disturbs = true;
  std::vector<SeenDevice> devices;
  std::vector<LaunchGroup> groups;
  std::vector<Activity> activities;      ///< by start
  std::size_t counter_groups = 0;        ///< that were to be counted; 0 without counters
  std::set<std::uint32_t> instrumented;  ///< of them, those that graphs and cooperative kernels never have
  std::map<std::string, std::string, std::less<>> absent;  ///< quantities that the chip has no counter for
  std::uint64_t start = 0, end = 0;                        ///< of the recording, or of its window, ns

  const spool::Place& place(const Activity& activity) const;

 private:
  void join_variants();
};

/// The text with every number as '*': what repeated ranges have in common ("step *").
std::string without_numbers(std::string_view text);

/// The module's path with the numbers of repeated blocks as '*' ("blocks.*.fc1").
std::string any_block(std::string_view module);

/// A range and those around it, the outermost first.
std::vector<spool::Id> range_chain(const ProcessTrace& trace, spool::Id range);

/// When the library first said that; nothing where it never did.
std::optional<std::uint64_t> note_time(const ProcessTrace& trace, spool::NoteCode code);

/// The path of a range, from its root, with '/' between its parts, without those that NCCL opens.
std::string range_path(const ProcessTrace& trace, spool::Id range);

}  // namespace roofline
