#include "import/import.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>
#include <set>

#include "host/host.hpp"
#include "import/above_roof.hpp"
#include "import/byte_source.hpp"
#include "import/join.hpp"
#include "import/kineto.hpp"
#include "import/ncu.hpp"
#include "import/nsys.hpp"
#include "import/other_files.hpp"
#include "import/other_tools.hpp"
#include "import/product_pipe.hpp"
#include "import/proton.hpp"
#include "import/replay_clock.hpp"
#include "import/roofs.hpp"
#include "model/error.hpp"
#include "model/find.hpp"
#include "profile/instructions.hpp"
#include "profile/intervals.hpp"
#include "profile/profile.hpp"
#include "report/work_source.hpp"
#include "text/format.hpp"

namespace roofline {
namespace {

namespace fs = std::filesystem;

bool is_json(std::string_view beginning) {
  const std::size_t first = beginning.find_first_not_of(" \t\r\n\xef\xbb\xbf");
  return first != std::string_view::npos && (beginning[first] == '{' || beginning[first] == '[');
}

/// A reader of bytes, for a file or what a compressed one unpacks to.
template <ImportedProfile (*read)(ByteSource&)>
ImportedProfile read_bytes(const fs::path& file) {
  ByteSource source(file);
  return read(source);
}

/// Enough for what tells formats apart.
constexpr std::size_t kBeginning = std::size_t{1} << 16;

/// A format that can be imported.
struct ImportFormat {
  std::string_view files;                       ///< for messages: the tool, and how it writes such a file
  bool (*matches)(std::string_view beginning);  ///< true if a file may be of it, by its first bytes, unpacked
  ImportedProfile (*read)(const fs::path& file);
};

template <bool (*looks)(std::string_view)>
bool is_json_like(std::string_view beginning) {
  return is_json(beginning) && looks(beginning);
}

/// The first that matches reads the file: what any JSON may be comes last of the JSON formats.
constexpr ImportFormat kFormats[] = {
    {"rocprofv3 (.db)", looks_like_rocpd, read_rocpd},
    {"nsys (nsys export --type sqlite)", looks_like_nsys, read_nsys},
    {"ncu (.ncu-rep, .ncu-repz)", looks_like_ncu_report, read_bytes<read_ncu_report>},
    {"JAX, TensorFlow (xplane.pb)", looks_like_xplane, read_xplane},
    {"nvbench (--json)", is_json_like<looks_like_nvbench>, read_bytes<read_nvbench>},
    {"Google Benchmark (JSON)", is_json_like<looks_like_google_benchmark>, read_bytes<read_google_benchmark>},
    {"TensorRT (trtexec --exportProfile)", is_json_like<looks_like_tensorrt_profile>,
     read_bytes<read_tensorrt_profile>},
    {"JAX, TensorFlow (trace.json.gz)", is_json_like<looks_like_xla_trace>, read_bytes<read_xla_trace>},
    {"Triton Proton (.hatchet)", is_json_like<looks_like_proton_tree>, read_bytes<read_proton_tree>},
    {"Triton Proton (Chrome trace)", is_json_like<looks_like_proton_trace>, read_bytes<read_proton_trace>},
    {"rocprofv3 (--output-format json)", is_json_like<looks_like_rocprof_json>, read_bytes<read_rocprof_json>},
    {"rocprof (results.json)", is_json_like<looks_like_rocprof_trace>, read_bytes<read_rocprof_trace>},
    {"Empirical Roofline Toolkit (roofline.json)", is_json_like<looks_like_ert_json>, read_bytes<read_ert_json>},
    {"torch.profiler (JSON, .gz)", is_json, read_bytes<read_kineto>},
    {"rocprof-compute (pmc_perf.csv)", looks_like_rocprof_compute, read_rocprof_compute},
    {"rocprof-compute (roofline.csv)", looks_like_rocprof_roofs, read_rocprof_roofs},
    {"rocprofv3 (kernel_trace.csv, counter_collection.csv), rocprof (results.csv)", looks_like_rocprof,
     read_bytes<read_rocprof>},
    {"likwid-perfctr (-O)", looks_like_likwid, read_bytes<read_likwid>},
    {"likwid-perfctr (tables)", looks_like_likwid_text, read_bytes<read_likwid_text>},
    {"Empirical Roofline Toolkit (text)", looks_like_ert_text, read_bytes<read_ert_text>},
    {"nsys stats (CSV of kernel sums)", looks_like_nsys_sums, read_bytes<read_nsys_sums>},
    {"ncu (ncu --page raw --csv)", looks_like_ncu_csv, read_bytes<read_ncu_csv>},
};

/// A folder of rocprof-compute is one profile, which any of its files stands for.
fs::path main_file(const fs::path& given) {
  const std::optional<fs::path> table = rocprof_compute_table(given);
  std::error_code ignored;
  if (!table && fs::is_directory(given, ignored)) {
    throw UsageError(fmt::format("{} is a folder, and has no pmc_perf.csv of rocprof-compute", given.string()),
                     "give the folder of one GPU (workloads/NAME/MI200), or a file");
  }
  return table.value_or(given);
}

ImportedProfile read_by_content(const fs::path& file) {
  refuse_other_file(file.string(), {});  // some are known by name, and need not be read
  const std::string beginning = first_bytes(file, kBeginning);
  if (beginning.empty()) throw UsageError(fmt::format("{}: the file is empty", file.string()));
  refuse_other_file(file.string(), beginning);
  std::vector<std::string_view> known;
  for (const ImportFormat& format : kFormats) {
    if (format.matches(beginning)) return format.read(file);
    known.push_back(format.files);
  }
  throw UsageError(fmt::format("{}: not a profile of a known format", file.string()),
                   fmt::format("known formats: {}", fmt::join(known, ", ")));
}

/// Tools that do not know where a program ran count the bytes of its main memory: of a CPU's roofs that is DRAM.
void use_main_memory_of(const Machine& machine, std::vector<ProcessTrace>& traces) {
  if (machine.device.name.empty()) return;
  const bool cpu = machine.device.kind == DeviceKind::cpu;
  const Level from = cpu ? Level::hbm : Level::dram, to = cpu ? Level::dram : Level::hbm;
  for (ProcessTrace& trace : traces) {
    for (auto& [kind, model] : trace.models) {
      if (model.source != WorkSource::stated || !model.work.bytes.contains(from)) continue;
      auto moved = model.work.bytes.extract(from);
      moved.key() = to;
      model.work.bytes.insert(std::move(moved));
    }
  }
}

/// The note on main memory's bytes of which the file has the sum alone; empty if there are none.
std::string note_of_unsplit_bytes(const Report& report) {
  const auto rows = std::count_if(report.points.begin(), report.points.end(), [&](const Point& point) {
    const auto bytes = point.work.bytes.find(main_memory(machine_of(report, point).device.kind));
    return bytes != point.work.bytes.end() && bytes->second.unsplit;
  });
  if (rows == 0) return {};
  return fmt::format("{} bytes that the file does not split into reads and writes: they have the roof of reads",
                     counted_noun(rows, "row has", "rows have"));
}

/// No kernel moves no bytes, and of some only the bytes are known: the intensity is then not known.
void forget_unknown_intensities(Report& report) {
  for (Point& point : report.points) {
    if (!point.profiled || point.profiled->work_source == WorkSource::none) continue;
    if (!point.work.bytes.empty() && !lacks_flops(point)) continue;
    point.bound.arithmetic_intensity = std::numeric_limits<double>::quiet_NaN();
  }
}

/// What a reader says of a file, and what is wrong with the times in it.
std::vector<std::string> notes_of(const ImportedProfile& profile) {
  std::vector<std::string> notes = profile.notes;
  for (std::string& note : notes_of(profile.time_defects)) notes.push_back(std::move(note));
  return notes;
}

/// A report of nothing would look like one of a program that used no GPU.
void require_gpu_activity(const std::vector<ImportedProfile>& profiles) {
  std::vector<std::string> files, notes;
  for (const ImportedProfile& profile : profiles) {
    const ProcessTrace& trace = profile.trace;
    if (!trace.kernels.empty() || !trace.copies.empty() || !trace.fills.empty() || profile.roofs) return;
    files.push_back(profile.file);
    for (std::string& note : notes_of(profile)) notes.push_back(std::move(note));
  }
  throw UsageError(fmt::format("no GPU activity in {}", fmt::join(files, ", ")),
                   fmt::format("{}", fmt::join(notes, "; ")));
}

/// Launches without start times follow each other on each GPU.
void lay_end_to_end(ProcessTrace& trace) {
  std::map<std::uint32_t, std::uint64_t> clocks;
  for (spool::Kernel& kernel : trace.kernels) {
    if (kernel.end == 0) continue;
    std::uint64_t& clock = clocks.try_emplace(kernel.device, 1).first->second;
    const std::uint64_t length = kernel.end - kernel.start;
    kernel.start = clock;
    kernel.end = clock += length;
  }
}

/// Ranks that recorded at the same time, each into a file of its own, by their clocks; the note about it, empty if
/// there is none. Files of other times begin together.
std::string align_by_clock(std::vector<ImportedProfile>& profiles) {
  std::uint64_t first = std::numeric_limits<std::uint64_t>::max(), last_begin = 0;
  std::uint64_t first_end = std::numeric_limits<std::uint64_t>::max();
  std::size_t timed = 0;
  for (const ImportedProfile& profile : profiles) {
    if (!profile.has_starts) continue;
    if (profile.began_ns == 0) return {};
    ++timed;
    first = std::min(first, profile.began_ns);
    last_begin = std::max(last_begin, profile.began_ns);
    first_end = std::min(first_end, profile.began_ns + profile.trace.last_time);
  }
  if (timed < 2 || last_begin >= first_end) return {};
  for (ImportedProfile& profile : profiles) {
    if (profile.has_starts) delay(profile.trace, profile.began_ns - first);
  }
  return fmt::format("the {} traces are aligned by the clocks of their machines; the last one began {} after the first",
                     timed, duration(seconds(last_begin - first)));
}

/// Removes idle time: one of several GPUs may have less work, which without start times is not idle time.
void forget_idle_time(Profile& profile) {
  profile.timeline.reset();
  for (WallTime& wall : profile.devices) {
    wall.wall_s -= wall.before_s + wall.after_s;
    wall.before_s = wall.after_s = 0;
  }
}

std::string stem_of(const std::string& file) { return file.substr(0, file.find('.', file.starts_with('.') ? 1 : 0)); }

}  // namespace

ImportedProfile read_profile_file(const fs::path& given) {
  const fs::path file = main_file(given);
  ImportedProfile profile = read_by_content(file);
  profile.file = file.filename().string();
  return profile;
}

std::string_view recorded_by(const fs::path& given) {
  const fs::path file = rocprof_compute_table(given).value_or(given);
  std::error_code ignored;
  if (!fs::is_regular_file(file, ignored)) return {};
  const std::string beginning = first_bytes(file, kBeginning);
  if (is_own_file(beginning)) return {};
  refuse_other_file(file.string(), beginning);
  // Other JSON than a trace may be a damaged report, which is an object.
  const bool is_trace = beginning.find("\"traceEvents\"") != std::string::npos || beginning.starts_with('[');
  for (const ImportFormat& format : kFormats) {
    if (format.matches(beginning)) return format.read == read_bytes<read_kineto> && !is_trace ? "" : format.files;
  }
  return {};
}

DeviceFacts device_of(const std::vector<ImportedProfile>& profiles) {
  std::map<std::pair<std::size_t, std::uint32_t>, double> times;
  for (std::size_t i = 0; i < profiles.size(); ++i) {
    for (const spool::Kernel& kernel : profiles[i].trace.kernels) {
      times[{i, kernel.device}] += seconds(kernel.end - kernel.start);
    }
  }
  const auto most = largest_entry(times);
  if (most == times.end()) return {};
  DeviceFacts best;
  for (const DeviceFacts& device : profiles[most->first.first].devices) {
    if (device.index == most->first.second) best = device;
  }
  // Another file of the program may describe it more completely.
  for (const ImportedProfile& profile : profiles) {
    for (const DeviceFacts& device : profile.devices) {
      const bool better = device.core_hz > 0 && !(best.core_hz > 0);
      if (better && (best.name.empty() || best.name == device.name)) best = device;
    }
  }
  return best;
}

std::vector<DeviceFacts> other_models(const std::vector<ImportedProfile>& profiles, const std::string& name) {
  std::vector<DeviceFacts> others;
  for (const ImportedProfile& profile : profiles) {
    for (const DeviceFacts& device : profile.devices) {
      const bool known =
          device.name.empty() || device.name == name || find_by(others, &DeviceFacts::name, device.name) != nullptr;
      if (!known) others.push_back(device);
    }
  }
  return others;
}

const Machine* roofs_in(const std::vector<ImportedProfile>& profiles) {
  for (const ImportedProfile& profile : profiles) {
    if (profile.roofs) return &*profile.roofs;
  }
  return nullptr;
}

Report report_of_imports(std::vector<ImportedProfile> profiles, const ImportRoofs& roofs,
                         const std::vector<std::string>& command, std::vector<std::string>& joined) {
  require_gpu_activity(profiles);
  std::vector<std::string> files, notes;
  ShortenedRecords shortened;
  for (const ImportedProfile& profile : profiles) {
    const std::set<std::string>& kernels = profile.time_defects.shortened.kernels;
    shortened.kernels.insert(kernels.begin(), kernels.end());
    shortened.transfers |= profile.time_defects.shortened.transfers;
    files.push_back(profile.file);
    notes.push_back(fmt::format("{}: recorded by {}", profile.file, profile.tool));
    for (const std::string& note : notes_of(profile)) notes.push_back(profile.file + ": " + note);
    if (const std::string note = note_of(profile.whole_graphs); !note.empty()) {
      notes.push_back(profile.file + ": " + note);
    }
  }
  for (const JoinResult& result : join_profiles(profiles)) {
    for (std::string& sentence : sentences_of(result)) joined.push_back(std::move(sentence));
  }
  const bool has_starts =
      std::all_of(profiles.begin(), profiles.end(), [](const ImportedProfile& profile) { return profile.has_starts; });
  if (!has_starts) {
    notes.emplace_back("the file has no timeline: kernels are shown back to back, without idle time");
  }
  if (std::string note = align_by_clock(profiles); !note.empty()) notes.push_back(std::move(note));
  std::vector<ProcessTrace> traces;
  for (ImportedProfile& profile : profiles) {
    profile.trace.command = {profile.file};
    if (!profile.has_starts) lay_end_to_end(profile.trace);
    traces.push_back(std::move(profile.trace));
  }
  use_main_memory_of(roofs.machine, traces);
  assign_product_pipes(traces, roofs.machine, roofs.others);
  ProgramFacts facts = {
      .program = files, .folder = {}, .run = {}, .untraced_s = {}, .gpu = false, .other_machines = roofs.others};
  facts.instructions = kernel_samples(traces);
  name_as_launched(facts.instructions, traces);
  Report report = report_of(traces, facts, roofs.machine);
  if (!has_starts) forget_idle_time(*report.profile);
  forget_unknown_intensities(report);
  if (const std::string warning = about_roofs(roofs.machine); !warning.empty()) {
    report.notes.insert(report.notes.begin(), warning);
  }
  report.notes.insert(report.notes.end(), notes.begin(), notes.end());
  report.notes.insert(report.notes.end(), joined.begin(), joined.end());
  if (std::string note = explain_rows_above_roof(report, shortened); !note.empty())
    report.notes.push_back(std::move(note));
  if (std::string note = note_of_unsplit_bytes(report); !note.empty()) report.notes.push_back(std::move(note));
  if (std::string note = note_of_replay_clocks(report); !note.empty()) report.notes.push_back(std::move(note));
  report.invocation.command = command;
  report.invocation.run_name = files.empty() ? "import" : stem_of(files.front());
  report.invocation.tool_version = ROOFLINE_VERSION;
  report.invocation.started_at = utc_now();
  return report;
}

}  // namespace roofline
