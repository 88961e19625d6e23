// A file of another tool as the records of a spool, so that everything after reading is shared with `roofline profile`.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "import/clean_times.hpp"
#include "import/whole_graphs.hpp"
#include "model/machine.hpp"
#include "model/work.hpp"
#include "profile/process_trace.hpp"

namespace roofline {

/// A GPU as a file describes it; 0 and empty: not in the file.
struct DeviceFacts {
  std::uint32_t index = 0;
  bool is_cpu = false;    ///< of tools that measure programs of the CPU
  bool is_amd = false;    ///< of tools for AMD's GPUs that do not name them
  bool is_intel = false;  ///< the same of Intel's
  std::string name = {};
  std::string chip = {};  ///< "gh100"
  std::uint32_t compute_major = 0, compute_minor = 0;
  std::uint32_t sms = 0, threads_per_sm = 0, blocks_per_sm = 0, registers_per_sm = 0, registers_per_block = 0;
  std::uint32_t shared_per_sm = 0, shared_per_block = 0, warps_per_sm = 0;
  double memory_bytes = 0, l2_bytes = 0;
  double core_hz = 0, memory_hz = 0, bus_bits = 0;
  double memory_bytes_per_s = 0;  ///< where a file gives that instead of clock and bus
};

/// The name of a machine whose file tells the vendor alone.
inline constexpr std::string_view kUnnamedAmdGpu = "AMD GPU not named in the file";
inline constexpr std::string_view kUnnamedIntelGpu = "Intel GPU not named in the file";

/// The tool that wrote a file: counters come from `ncu` alone, times of a program from the others.
enum class ImportedKind : std::uint8_t {
  ncu,
  nsys,
  kineto,
  proton,
  nvbench,
  google_benchmark,
  nsys_sums,
  rocprof,
  rocprof_compute,
  tensorrt,
  xla,
  likwid,
  ert
};

struct ImportedProfile {
  ImportedKind kind = ImportedKind::kineto;
  std::string file;  ///< its name, without folders
  std::string tool;  ///< "torch.profiler", "ncu 2025.3.1"
  ProcessTrace trace;
  std::vector<DeviceFacts> devices;
  bool has_starts = true;         ///< start times are known, not only durations
  std::uint64_t began_ns = 0;     ///< its first record, in ns since 1970; 0: unknown
  TimeDefects time_defects = {};  ///< of records that were left out or corrected
  WholeGraphs whole_graphs = {};
  std::optional<Machine> roofs = {};  ///< that the tool measured on the same device
  std::vector<std::string> notes;     ///< for the report: "12 launches without a kernel"
};

/// Where something was launched.
struct ImportedPlace {
  spool::Id range = 0;
  std::string_view file = {}, function = {};  ///< the line of the program's own code; empty: unknown
  std::uint32_t line = 0;
  std::string_view module = {};
  std::string_view operation = {};
  bool backward = false;
};

/// A launch signature.
struct ImportedKernel {
  std::string_view name;  ///< mangled where the file has it
  std::array<std::uint32_t, 3> grid = {}, block = {}, cluster = {};
  std::uint32_t dynamic_shared = 0;
  spool::Id place = 0;
  std::uint64_t scalars = 0;  ///< distinguishes launches that do different work, like their scalar parameters would
  bool whole_graph = false;   ///< a CUDA graph that was traced as a whole
  bool cold_caches = false;   ///< the tool flushes the caches before each launch
};

/// When and by which thread something of CUDA was called; `correlation` refers to its GPU work.
struct ImportedCall {
  std::uint64_t start = 0, end = 0;
  std::uint32_t correlation = 0, thread = 0;
};

/// Identity of FLOPs and bytes, for ImportedKernel::scalars.
std::uint64_t work_identity(const Work& work);

/// Builds a trace; each text, range, place and launch signature is stored once.
class TraceBuilder {
 public:
  explicit TraceBuilder(ProcessTrace& trace);

  spool::Id text(std::string_view text);
  spool::Id range(spool::Id parent, std::string_view name);
  spool::Id place(const ImportedPlace& place);
  spool::Id kind(const ImportedKernel& kernel);
  /// Adds a call of the runtime or the driver. Launches have no signature here: their kernels have.
  void call(std::string_view name, const ImportedCall& call);
  /// The quantity's place among the values of a launch.
  std::uint32_t quantity(std::string_view name);

  void device(const DeviceFacts& device, std::string_view file);
  /// Records why that signature has no work.
  void without_work(spool::Id kind, std::string_view reason);

  /// Times are ns of any clock; finish() shifts them so that the recording starts near 0, and returns the first of
  /// them. A kernel that ends at 0 has no time.
  std::uint64_t finish();

 private:
  template <typename Key, typename Record, typename Make>
  spool::Id intern(std::map<Key, spool::Id>& known, std::vector<Record>& records, const Key& key, Make&& make);
  /// The signature of graph launches, whose kernels have rows of their own.
  spool::Id graph_launch();

  ProcessTrace& trace_;
  std::unordered_map<std::string, spool::Id> texts_;
  std::map<std::pair<spool::Id, spool::Id>, spool::Id> ranges_;
  std::map<std::tuple<spool::Id, spool::Id, std::uint32_t>, spool::Id> lines_;
  std::map<std::array<spool::Id, 5>, spool::Id> places_;
  std::map<std::array<std::uint32_t, 15>, spool::Id> kinds_;
  std::map<std::string, std::uint32_t, std::less<>> quantities_;
};

/// Moves a recording to later times: of several, to the one that began first.
void delay(ProcessTrace& trace, std::uint64_t by_ns);

/// "41 launches, but no kernel record: " and what to do about it; `otherwise` for traces without launches.
std::string why_no_kernels(const ProcessTrace& trace, std::string_view remedy, std::string_view otherwise);

/// Notes that a tool has no counters, and where to get those of these GPUs.
void note_no_counters(ProcessTrace& trace, std::string_view tool, const std::vector<DeviceFacts>& devices = {});

}  // namespace roofline
