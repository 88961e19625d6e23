// A spool read back: what the library recorded in one process.
#pragma once

#include <cstdint>
#include <filesystem>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "inject/spool.hpp"
#include "model/work.hpp"
#include "report/profile.hpp"

namespace roofline {

/// The stream of records of a file that has none: they may run side by side.
inline constexpr std::uint32_t kUnknownStream = std::numeric_limits<std::uint32_t>::max();

/// ProcessTrace::times_by of traces of JAX and TensorFlow.
inline constexpr std::string_view kXlaProfiler = "XLA's profiler";

/// Records in the order of writing; those with an id are looked up by it.
struct ProcessTrace {
  /// Work of a launch signature as stated by its author, used if it was not counted.
  struct Model {
    Work work;
    std::string by;  ///< "roofline, from the shapes of aten::mm(…)"
    WorkSource source = WorkSource::modelled;
  };
  struct Note {
    std::uint64_t time = 0;
    spool::NoteCode code = spool::NoteCode::remark;
    std::string text;
  };
  struct Counts {
    spool::Counts about;
    std::vector<double> values;
  };

  std::filesystem::path folder;  ///< source folder; empty for recordings of other tools
  spool::Process process = {};
  std::vector<std::string> command;  ///< argv
  std::vector<Note> notes;
  std::vector<spool::Device> devices;
  std::vector<spool::Context> contexts;
  std::vector<spool::Launch> launches;
  std::vector<spool::Kernel> kernels;
  std::vector<spool::Copy> copies;
  std::vector<spool::Fill> fills;
  std::vector<spool::Call> calls;
  std::vector<spool::RangeTime> range_times;
  std::vector<spool::Overhead> overheads;
  std::vector<spool::Metric> metrics;
  std::vector<Counts> counts;
  std::vector<spool::Uncounted> uncounted;
  std::vector<spool::Thread> threads;
  std::vector<spool::CopySource> copy_sources;
  std::vector<spool::Marker> markers;
  std::vector<spool::Marks> marks;  ///< steps outside the recording
  std::vector<spool::Allocation> allocations;
  std::vector<spool::MemoryUse> memory_uses;
  std::optional<spool::Rank> rank;                            ///< std::nullopt without a job launcher
  std::map<std::string, std::string, std::less<>> variables;  ///< of NCCL, that were set when it started
  std::vector<spool::Collective> collectives;
  std::vector<spool::GpuModule> gpu_modules;
  std::vector<spool::StallReason> stall_reasons;
  std::vector<spool::InstructionSamples> instruction_samples;
  std::vector<spool::InstructionPhase> instruction_phases;
  spool::Tally tally = {};         ///< the last one written
  std::uint64_t last_time = 0;     ///< latest time in any record
  bool counts_only = false;        ///< from a run for counters only: its times are not used
  bool torn = false;               ///< no final tally, or unreadable bytes
  std::uint64_t unread_bytes = 0;  ///< from the first truncated or impossible record on

  /// The record with that id; an empty value for id 0 and undefined ids.
  std::string_view text(spool::Id id) const;
  const spool::Range& range(spool::Id id) const;
  const spool::Line& line(spool::Id id) const;
  const spool::Place& place(spool::Id id) const;
  const spool::Kind& kind(spool::Id id) const;
  const spool::CodeFile& code_file(spool::Id id) const;
  const spool::Code& code(spool::Id id) const;
  const spool::Communicator& communicator(spool::Id id) const;

  // Traces of other tools; empty for our own.
  std::string times_by;  ///< "torch.profiler"
  TimeSource times = TimeSource::traced;
  std::string counts_by;                            ///< "ncu 2025.3.1"
  std::map<spool::Id, Model> models;                ///< by launch signature
  std::string samples_by;                           ///< tool that took instruction_samples: "ncu 2025.3.1"
  std::map<std::uint64_t, std::string> gpu_code;    ///< cubins, by the numbers in instruction_samples
  std::map<std::string, std::string> source_files;  ///< source files of this code, by path

  // By id.
  std::vector<std::string> texts;
  std::vector<spool::Range> ranges;
  std::vector<spool::Line> lines;
  std::vector<spool::Place> places;
  std::vector<spool::Kind> kinds;
  std::vector<spool::CodeFile> code_files;
  std::vector<spool::Code> codes;
  std::vector<spool::Communicator> communicators;
};

/// True for calls that give work to the GPU.
bool gives_work(spool::CallKind kind);

/// True if the trace has host calls that launched work. Without them, the host's activity during idle time is unknown:
/// some traces of other tools contain GPU activities only.
bool has_host_launches(const ProcessTrace& trace);

/// The signature with grid and block clamped to CUDA's limits, so that products of untrusted values cannot overflow.
spool::Kind launchable(spool::Kind kind);

enum class SpoolDefect : std::uint8_t {
  torn,          ///< read up to the first truncated or impossible record
  no_process,    ///< truncated before the process record: skipped
  empty,         ///< skipped
  other_format,  ///< another version or not a spool: skipped
  unreadable     ///< skipped
};
std::string_view to_string(SpoolDefect defect);

struct DefectiveSpool {
  std::string name;  ///< file name
  SpoolDefect defect = SpoolDefect::torn;
  std::uint64_t bytes = 0;  ///< bytes not read
};

/// Throws Error if the file is not a spool. A truncated spool is read as far as possible.
ProcessTrace read_spool(const std::filesystem::path& file);

/// Spool files of a folder, unordered.
std::vector<std::filesystem::path> spools_in(const std::filesystem::path& folder);

/// std::nullopt if the spool is skipped. Adds spools with defects to `defective`.
std::optional<ProcessTrace> read_listed_spool(const std::filesystem::path& file,
                                              std::vector<DefectiveSpool>& defective);

/// All readable spools of a folder, sorted by process start. Adds those with defects to `defective`.
std::vector<ProcessTrace> read_spools(const std::filesystem::path& folder, std::vector<DefectiveSpool>& defective);

/// One line about truncated spools and one about skipped ones, with number and names; empty without defects.
std::vector<std::string> notes_of(const std::vector<DefectiveSpool>& defective);

}  // namespace roofline
