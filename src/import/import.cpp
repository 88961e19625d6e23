#include "import/import.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "host/host.hpp"
#include "import/byte_source.hpp"
#include "import/join.hpp"
#include "import/kineto.hpp"
#include "import/ncu.hpp"
#include "import/nsys.hpp"
#include "import/proton.hpp"
#include "import/roofs.hpp"
#include "model/error.hpp"
#include "profile/intervals.hpp"
#include "profile/profile.hpp"

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

/// A format that can be imported.
struct ImportFormat {
  std::string_view files;                       ///< for messages: the tool, and how it writes such a file
  bool (*matches)(std::string_view beginning);  ///< whether a file may be of it, by its first bytes, unpacked
  ImportedProfile (*read)(const fs::path& file);
};

/// The first that matches reads the file: what any JSON may be comes last of the JSON formats.
constexpr ImportFormat kFormats[] = {
    {"nsys (nsys export --type sqlite)", looks_like_nsys, read_nsys},
    {"ncu (.ncu-rep, .ncu-repz)", looks_like_ncu_report, read_bytes<read_ncu_report>},
    {"Triton Proton (.hatchet)", [](auto bytes) { return is_json(bytes) && looks_like_proton_tree(bytes); },
     read_bytes<read_proton_tree>},
    {"Triton Proton (Chrome trace)", [](auto bytes) { return is_json(bytes) && looks_like_proton_trace(bytes); },
     read_bytes<read_proton_trace>},
    {"torch.profiler (JSON, .gz)", is_json, read_bytes<read_kineto>},
    {"ncu (ncu --page raw --csv)", looks_like_ncu_csv, read_bytes<read_ncu_csv>},
};

ImportedProfile read_by_content(const fs::path& file) {
  constexpr std::size_t kBeginning = std::size_t{1} << 16;
  const std::string ending = file.extension().string();
  if (ending == ".nsys-rep" || ending == ".qdrep") {
    throw UsageError(fmt::format("{}: reports of Nsight Systems are imported as SQLite exports", file.string()),
                     fmt::format("nsys export --type sqlite -o {0}.sqlite {0}{1}, and import that",
                                 (file.parent_path() / file.stem()).string(), ending));
  }
  const std::string beginning = first_bytes(file, kBeginning);
  if (beginning.empty()) throw UsageError(fmt::format("{}: the file is empty", file.string()));
  std::vector<std::string_view> known;
  for (const ImportFormat& format : kFormats) {
    if (format.matches(beginning)) return format.read(file);
    known.push_back(format.files);
  }
  throw UsageError(fmt::format("{}: not a profile of a known format", file.string()),
                   fmt::format("known formats: {}", fmt::join(known, ", ")));
}

std::string stem_of(const std::string& file) { return file.substr(0, file.find('.', file.starts_with('.') ? 1 : 0)); }

}  // namespace

ImportedProfile read_profile_file(const fs::path& file) {
  ImportedProfile profile = read_by_content(file);
  profile.file = file.filename().string();
  return profile;
}

DeviceFacts device_of(const std::vector<ImportedProfile>& profiles) {
  std::map<std::pair<std::size_t, std::uint32_t>, double> times;
  for (std::size_t i = 0; i < profiles.size(); ++i) {
    for (const spool::Kernel& kernel : profiles[i].trace.kernels) {
      times[{i, kernel.device}] += seconds(kernel.end - kernel.start);
    }
  }
  const auto most = std::max_element(times.begin(), times.end(), [](auto& a, auto& b) { return a.second < b.second; });
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

Report report_of_imports(std::vector<ImportedProfile> profiles, const Machine& machine,
                         const std::vector<std::string>& command, std::vector<std::string>& joined) {
  std::vector<std::string> files, notes;
  for (const ImportedProfile& profile : profiles) {
    files.push_back(profile.file);
    notes.push_back(fmt::format("{}: recorded by {}", profile.file, profile.tool));
    for (const std::string& note : profile.notes) notes.push_back(profile.file + ": " + note);
    for (const std::string& note : notes_of(profile.time_defects)) notes.push_back(profile.file + ": " + note);
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
  std::vector<ProcessTrace> traces;
  for (ImportedProfile& profile : profiles) {
    profile.trace.command = {profile.file};
    traces.push_back(std::move(profile.trace));
  }
  Report report = report_of(traces, {.program = files, .folder = {}, .run = {}, .untraced_s = {}}, machine);
  if (!has_starts) report.profile->timeline.reset();
  if (const std::string warning = about_roofs(machine); !warning.empty()) {
    report.notes.insert(report.notes.begin(), warning);
  }
  report.notes.insert(report.notes.end(), notes.begin(), notes.end());
  report.notes.insert(report.notes.end(), joined.begin(), joined.end());
  report.invocation.command = command;
  report.invocation.run_name = files.empty() ? "import" : stem_of(files.front());
  report.invocation.tool_version = ROOFLINE_VERSION;
  report.invocation.started_at = utc_now();
  return report;
}

}  // namespace roofline
