#include "profile/mpi/mpi_lines.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "profile/host_sums.hpp"
#include "sample/native_names.hpp"
#include "text/parse.hpp"
#include "text/text.hpp"

namespace roofline {
namespace {

constexpr std::string_view kFirstLine = "roofline-mpi-lines-1";
constexpr std::size_t kMostPlaces = 200;  ///< of a rank

/// True for frames of the interposed library, or of MPI itself if it is linked into the program.
bool is_in_mpi(const HostFrame& frame) {
  if (frame.python) return false;
  const std::string_view file = last_path_part(frame.file), function = frame.function;
  return file.starts_with("libroofline_mpi") || file.starts_with("libmpi") || function.starts_with("MPI_") ||
         function.starts_with("PMPI_");
}

bool is_in_mpi(const HostSamples& samples, int stack) {
  if (stack < 0) return false;
  const std::vector<int>& frames = samples.stacks[static_cast<std::size_t>(stack)];
  return std::ranges::any_of(frames,
                             [&](int frame) { return is_in_mpi(samples.frames[static_cast<std::size_t>(frame)]); });
}

/// A field of the file: tabs and line breaks would end it.
std::string field(std::string_view text) {
  std::string result(text);
  std::ranges::replace_if(
      result, [](char c) { return c == '\t' || c == '\n'; }, ' ');
  return result;
}

std::string fields_of(const HostFrame& place) {
  return fmt::format("{}\t{}\t{}\t{}", field(place.file), place.line, field(place.function), place.python ? 1 : 0);
}

/// Returns an empty place if the function is missing or a number is invalid.
HostFrame take_place(std::string_view& rest) {
  HostFrame place;
  place.file = take_until(rest, '\t');
  const auto line = parsed_number<int>(take_until(rest, '\t'));
  place.function = take_until(rest, '\t');
  place.python = take_until(rest, '\t') == "1";
  place.own = true;
  constexpr int kMostLine = 1 << 30;
  if (!line || *line < 0 || *line > kMostLine) return {};
  place.line = *line;
  return place;
}

void take_call(std::string_view rest, MpiProcess& process) {
  const auto site = parsed_number<std::size_t>(take_until(rest, '\t'));
  if (site && *site < process.sites.size()) process.sites[*site].place = take_place(rest);
}

void take_compute(std::string_view rest, MpiProcess& process) {
  MpiCompute compute;
  for (double& seconds : compute.times.seconds) {
    const auto value = parsed_number<double>(take_until(rest, '\t'));
    if (!value || !(*value >= 0) || *value > process.seconds() + 1) return;
    seconds = *value;
  }
  compute.place = take_place(rest);
  if (!compute.place.function.empty() && process.compute.size() < kMostPlaces) process.compute.push_back(compute);
}

}  // namespace

void find_call_lines(std::vector<MpiProcess>& processes) {
  CodeModules modules;
  std::vector<CodePlace> places;
  std::vector<MpiSite*> sites;
  for (MpiProcess& process : processes) {
    for (MpiSite& site : process.sites) {
      if (!site.place.function.empty() || site.module.empty() || site.address == 0) continue;
      places.push_back({modules.find(site.module), site.address - 1});  // in the call, not after it
      sites.push_back(&site);
    }
  }
  std::vector<HostFrame> frames = native_frames(modules, places);
  for (std::size_t i = 0; i < sites.size(); ++i) sites[i]->place = std::move(frames[i]);
}

void add_compute_lines(std::vector<MpiProcess>& processes, const HostSamples& samples) {
  std::vector<bool> in_mpi;
  std::vector<int> charged;
  for (std::size_t stack = 0; stack < samples.stacks.size(); ++stack) {
    in_mpi.push_back(is_in_mpi(samples, static_cast<int>(stack)));
    charged.push_back(charged_frame(samples, samples.stacks[stack]));
  }
  std::map<std::int64_t, std::map<int, HostTimes>> by_process;
  std::map<std::int64_t, const MpiProcess*> known;
  for (const MpiProcess& process : processes) known[process.pid] = &process;
  for (const HostSample& sample : samples.samples) {
    const HostThread& thread = samples.threads[static_cast<std::size_t>(sample.thread)];
    if (!thread.main) continue;
    const auto process = known.find(thread.pid);
    if (process == known.end() || sample.time < process->second->start || sample.time > process->second->end) continue;
    if (sample.stack >= 0 && in_mpi[static_cast<std::size_t>(sample.stack)]) continue;
    const int place = sample.stack < 0 ? -1 : charged[static_cast<std::size_t>(sample.stack)];
    if (place >= 0) by_process[thread.pid][place].of(sample.state) += sample.seconds;
  }
  for (MpiProcess& process : processes) {
    const auto found = by_process.find(process.pid);
    if (found == by_process.end()) continue;
    for (const auto& [place, times] : found->second) {
      process.compute.push_back({samples.frames[static_cast<std::size_t>(place)], times});
    }
    std::ranges::stable_sort(
        process.compute, [](const MpiCompute& a, const MpiCompute& b) { return a.times.total() > b.times.total(); });
    process.compute.resize(std::min(process.compute.size(), kMostPlaces));
  }
}

std::string write_mpi_lines(const std::vector<MpiProcess>& processes) {
  std::string text = fmt::format("{}\n", kFirstLine);
  for (const MpiProcess& process : processes) {
    for (std::size_t i = 0; i < process.sites.size(); ++i) {
      const HostFrame& place = process.sites[i].place;
      if (!place.function.empty()) text += fmt::format("call\t{}\t{}\t{}\n", process.pid, i, fields_of(place));
    }
    for (const MpiCompute& compute : process.compute) {
      text += fmt::format("compute\t{}\t{:.4f}\t{}\n", process.pid, fmt::join(compute.times.seconds, "\t"),
                          fields_of(compute.place));
    }
  }
  return text;
}

void read_mpi_lines(std::string_view text, std::vector<MpiProcess>& processes) {
  if (take_until(text, '\n') != kFirstLine) return;
  std::map<std::int64_t, MpiProcess*> known;
  for (MpiProcess& process : processes) known[process.pid] = &process;
  while (!text.empty()) {
    std::string_view rest = take_until(text, '\n');
    const std::string_view what = take_until(rest, '\t');
    const auto pid = parsed_number<std::int64_t>(take_until(rest, '\t'));
    const auto process = pid ? known.find(*pid) : known.end();
    if (process == known.end()) continue;
    if (what == "call") take_call(rest, *process->second);
    if (what == "compute") take_compute(rest, *process->second);
  }
}

}  // namespace roofline
