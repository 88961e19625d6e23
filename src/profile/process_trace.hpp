// What the library inside one process recorded: a spool, read back.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "inject/spool.hpp"
#include "model/work.hpp"
#include "report/profile.hpp"

namespace roofline {

/// Records in the order in which they were written; what has an id is looked up by it.
struct ProcessTrace {
  /// Work of a launch signature as stated by the author, if it was not counted.
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

  std::filesystem::path folder;  ///< that it was read from; empty of other tools' recordings
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
  std::vector<spool::Marks> marks;  ///< of steps while nothing was recorded
  std::vector<spool::Allocation> allocations;
  std::vector<spool::MemoryUse> memory_uses;
  std::optional<spool::Rank> rank;  ///< nothing without a launcher of jobs
  std::vector<spool::Collective> collectives;
  std::vector<spool::GpuModule> gpu_modules;
  std::vector<spool::StallReason> stall_reasons;
  std::vector<spool::InstructionSamples> instruction_samples;
  std::vector<spool::InstructionPhase> instruction_phases;
  spool::Tally tally = {};         ///< the last one
  std::uint64_t last_time = 0;     ///< latest time in any record
  bool counts_only = false;        ///< of a run for counts alone: its times are not the program's
  bool torn = false;               ///< no last tally, or bytes that could not be read
  std::uint64_t unread_bytes = 0;  ///< from the first record on that is cut off or has an impossible size

  /// What has that id; id 0, and one that was never defined, is an empty value.
  std::string_view text(spool::Id id) const;
  const spool::Range& range(spool::Id id) const;
  const spool::Line& line(spool::Id id) const;
  const spool::Place& place(spool::Id id) const;
  const spool::Kind& kind(spool::Id id) const;
  const spool::CodeFile& code_file(spool::Id id) const;
  const spool::Code& code(spool::Id id) const;
  const spool::Communicator& communicator(spool::Id id) const;

  // Of a trace that another tool recorded; empty of our own.
  std::string times_by;  ///< "torch.profiler"
  TimeSource times = TimeSource::traced;
  std::string counts_by;                            ///< "ncu 2025.3.1"
  std::map<spool::Id, Model> models;                ///< by kind
  std::string samples_by;                           ///< "ncu 2025.3.1", of instruction_samples
  std::map<std::uint64_t, std::string> gpu_code;    ///< cubins, by the numbers that instruction_samples have
  std::map<std::string, std::string> source_files;  ///< texts of source files of this code, by path

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

/// Whether a call of that kind gives work to the GPU.
bool gives_work(spool::CallKind kind);

/// Whether the trace has calls of the host that gave work to the GPU. Without any, nothing is known of what the host
/// did while the GPU was idle: some traces of other tools have GPU activities only.
bool has_host_launches(const ProcessTrace& trace);

/// The signature with grid and block clamped to CUDA's limits, so that products of values from a file can't overflow.
spool::Kind launchable(spool::Kind kind);

enum class SpoolDefect : std::uint8_t {
  torn,          ///< read up to the first record that is cut off or has an impossible size
  no_process,    ///< torn before its first record: left out
  empty,         ///< left out
  other_format,  ///< another version's, or no spool: left out
  unreadable     ///< left out
};
std::string_view to_string(SpoolDefect defect);

struct DefectiveSpool {
  std::string name;  ///< of the file
  SpoolDefect defect = SpoolDefect::torn;
  std::uint64_t bytes = 0;  ///< that were not read
};

/// Throws Error when the file is no spool. One that is torn is read up to the tear.
ProcessTrace read_spool(const std::filesystem::path& file);

/// The spools of a folder, in no order.
std::vector<std::filesystem::path> spools_in(const std::filesystem::path& folder);

/// Nothing of a spool that is left out. Adds one with a defect to `defective`.
std::optional<ProcessTrace> read_listed_spool(const std::filesystem::path& file,
                                              std::vector<DefectiveSpool>& defective);

/// All spools of a folder, by process start, as far as they can be read. Adds those with a defect to `defective`.
std::vector<ProcessTrace> read_spools(const std::filesystem::path& folder, std::vector<DefectiveSpool>& defective);

/// A line for the torn spools and one for those left out, each with their number and names; none without defects.
std::vector<std::string> notes_of(const std::vector<DefectiveSpool>& defective);

}  // namespace roofline
