// Profiles: the program, its step, the use of its time, and potential savings.
#include <fmt/format.h>

#include <algorithm>

#include "mcp/digest.hpp"
#include "mcp/facts.hpp"
#include "text/format.hpp"
#include "text/text.hpp"

namespace roofline {
namespace {

constexpr std::size_t kSummarySavings = 5, kSectionLines = 40;

struct Part {
  const char* key;
  const char* name;
};
constexpr Part kParts[] = {{"kernels_s", "kernels"},
                           {"rank_wait_s", "waiting for ranks"},
                           {"communication_s", "communication"},
                           {"copies_s", "copies"},
                           {"idle_launching_s", "idle: host launching"},
                           {"idle_waiting_s", "idle: host in a CUDA call"},
                           {"idle_elsewhere_s", "idle: host busy outside CUDA"},
                           {"idle_unknown_s", "idle: unknown"},
                           {"counting_s", "profiler overhead"},
                           {"before_s", "before the first activity"},
                           {"after_s", "after the last"}};

/// "GPU 0: 15.7 s = kernels 8.95 s (at their roofs 5.18 s), copies 42 ms, …".
std::string device_line(const Json& device, const std::string& whole) {
  std::string parts;
  for (const Part& part : kParts) {
    if (const double seconds = number_fact_or(device, part.key, 0); seconds > 0) {
      parts += fmt::format("{}{} {}", parts.empty() ? "" : ", ", part.name, duration(seconds));
    }
  }
  return fmt::format("GPU {:.0f}, {}: {} = {}; its kernels at their roofs {}", number_fact_or(device, "device", 0),
                     whole, duration_fact(device, "wall_s"), parts, duration_fact(device, "at_roof_s"));
}

void digest_devices(const Json& devices, const std::string& whole, Digest& digest) {
  constexpr std::size_t kMostDevices = 4;
  for (std::size_t i = 0; i < std::min(devices.size(), kMostDevices); ++i) {
    digest.line(device_line(devices[i], whole), 420);
  }
  if (devices.size() > kMostDevices) digest.line(fmt::format("and {} more GPUs", devices.size() - kMostDevices));
}

/// The program, where it ran, and how it ended.
void digest_program(const Json& report, Digest& digest) {
  std::string program;
  for (const Json& word : list_fact(report, "profile.program")) {
    if (word.is_string()) program += (program.empty() ? "" : " ") + clean_line(word.get<std::string>());
  }
  std::string end;
  if (const auto status = number_fact(report, "profile.exit_status"))
    end = fmt::format(", exit status {:.0f}", *status);
  if (const auto signal = number_fact(report, "profile.signal")) end = fmt::format(", ended by signal {:.0f}", *signal);
  digest.line(fmt::format("{} on {}: {} of wall time{}", shorten(program, 120),
                          text_fact(report, "machine.device.name"), duration_fact(report, "profile.wall_s"), end));
}

void digest_steps(const Json& profile, Digest& digest) {
  const Json& steps = object_fact(profile, "steps");
  if (steps.empty()) {
    if (const std::string why = text_fact(profile, "why_no_steps"); !why.empty()) digest.line("no steps: " + why);
    return;
  }
  digest.line(fmt::format("step: median {} {}, {:.0f} steps found by {}; at the roofs {}; start-up {}",
                          duration_fact(steps, "median_s"), duration_interval_fact(steps, "ci95"),
                          number_fact_or(steps, "count", 0), text_fact(steps, "source"),
                          duration_fact(steps, "at_roof_s"), duration_fact(steps, "start_up_s")));
  if (find_fact(steps, "untouched_s") != nullptr) {
    digest.line("step without the profiler: " + duration_fact(steps, "untouched_s"));
  }
}

/// "running 1.49 s, read 66 ms", largest first.
std::string states_of(const Json& seconds) {
  std::vector<std::pair<double, std::string>> states;
  for (const auto& [state, value] : seconds.items()) {
    if (value.is_number()) states.emplace_back(value.get<double>(), state);
  }
  std::sort(states.rbegin(), states.rend());
  std::string text;
  for (std::size_t i = 0; i < std::min<std::size_t>(states.size(), 3); ++i) {
    text += fmt::format("{}{} {}", i == 0 ? "" : ", ", states[i].second, duration(states[i].first));
  }
  return text;
}

/// "train.py:40", "libc.so.6"; "no file" for code of unknown origin.
std::string place_of(const Json& frame) {
  const std::string file = shorten(text_fact(frame, "file"), 80);
  const auto line = number_fact(frame, "line");
  return file.empty() ? "no file" : line ? fmt::format("{}:{:.0f}", file, *line) : file;
}

/// Causes of time on the host, largest first, with their actions.
void digest_host_causes(const Json& profile, std::size_t most, Digest& digest) {
  const Json& causes = list_fact(profile, "host_causes");
  if (!causes.empty()) digest.line("causes of host time:");
  for (std::size_t i = 0; i < std::min(causes.size(), most); ++i) {
    const std::string action = text_fact(causes[i], "action");
    digest.item(
        fmt::format("{}. {} {}: {}{}", i + 1, duration_fact(causes[i], "seconds"), text_fact(causes[i], "cause"),
                    text_fact(causes[i], "what"), action.empty() ? "" : "\n   Next: " + action),
        480);
  }
}

void list_host_lines(const Json& host, std::size_t offset, std::size_t most, Digest& digest) {
  const Json& lines = list_fact(host, "lines");
  std::size_t at = std::min(offset, lines.size());
  const std::size_t end = std::min(lines.size(), at + most);
  for (; at < end; ++at) {
    if (!digest.item(fmt::format("  {} {}: {}", place_of(lines[at]), shorten(text_fact(lines[at], "function"), 60),
                                 states_of(object_fact(lines[at], "seconds"))))) {
      break;
    }
  }
  digest_offset(offset, lines.size(), "lines", digest);
  if (at < lines.size()) digest.more(fmt::format("{} more lines: section=host offset={}", lines.size() - at, at));
}

}  // namespace

void digest_host(const Json& report, std::size_t offset, Digest& digest) {
  const Json& host = object_fact(report, "profile.host");
  if (host.empty()) return digest.line("no samples of the host");
  if (const std::string why = text_fact(host, "why_none"); !why.empty()) digest.line("no samples: " + why);
  digest_host_causes(object_fact(report, "profile"), kSectionLines, digest);
  const double threads = number_fact_or(host, "thread_count", 0), processes = number_fact_or(host, "process_count", 0);
  digest.line(fmt::format("{:.0f} {} in {:.0f} {}: {}", threads, threads == 1 ? "thread" : "threads", processes,
                          processes == 1 ? "process" : "processes", states_of(object_fact(host, "seconds"))));
  digest.line("lines by time:");
  list_host_lines(host, offset, kSectionLines, digest);
}

void digest_memory(const Json& report, Digest& digest) {
  const auto bytes = [](const Json& object, const char* key) { return binary_bytes(number_fact_or(object, key, 0)); };
  const auto growth_of = [](const Json& object) {
    const auto growth = number_fact(object, "growth.bytes_per_s");
    return growth ? fmt::format("; grows by {} per second", binary_bytes(*growth)) : std::string();
  };
  for (const Json& device : list_fact(report, "profile.memory.devices")) {
    digest.line(fmt::format("GPU {:.0f} ({}): peak {} allocated, {} reserved, of {}{}",
                            number_fact_or(device, "device", 0), text_fact(device, "source"),
                            bytes(device, "peak_allocated"), bytes(device, "peak_reserved"), bytes(device, "capacity"),
                            growth_of(device)));
    for (const Json& place : list_fact(device, "at_peak")) {
      if (!digest.item(fmt::format("  at the peak: {} {} {}", bytes(place, "bytes"), text_fact(place, "line"),
                                   text_fact(place, "module")))) {
        break;
      }
    }
  }
  for (const Json& process : list_fact(report, "profile.memory.host")) {
    digest.line(fmt::format("host process {:.0f} {}: peak {} resident, of {}{}", number_fact_or(process, "pid", 0),
                            shorten(text_fact(process, "command"), 80), bytes(process, "peak"),
                            bytes(process, "capacity"), growth_of(process)));
  }
  if (list_fact(report, "profile.memory.devices").empty() && list_fact(report, "profile.memory.host").empty()) {
    digest.line("memory was not recorded");
  }
}

void digest_profile(const Json& report, Digest& digest) {
  constexpr std::size_t kSummaryLines = 8;
  const Json& profile = object_fact(report, "profile");
  digest_program(report, digest);
  digest_steps(profile, digest);
  const Json& steps = object_fact(profile, "steps");
  if (!steps.empty()) {
    digest_devices(list_fact(steps, "devices"), "all steps", digest);
  } else {
    digest_devices(list_fact(profile, "devices"), "the run", digest);
  }
  const std::string why = text_fact(profile, "why_no_counters");
  if (!list_fact(report, "results").empty() && !why.empty()) digest.line("no counters: " + why);
  digest_savings(report, 0, kSummarySavings, digest);
  digest_host_causes(profile, kSummarySavings, digest);
  if (find_fact(profile, "ranks") != nullptr) {
    for (const Json& rank : list_fact(profile, "ranks.ranks")) {
      if (number_fact_or(rank, "last_share", 0) < 0.5) continue;
      digest.line(fmt::format("rank {:.0f} ({}) is late in {} of the steps; each other rank waits {} per step for it",
                              number_fact_or(rank, "rank", 0), text_fact(rank, "host"),
                              percent_fact(rank, "last_share"), duration_fact(rank, "caused_wait_s")));
    }
  }
  const Json& host = object_fact(profile, "host");
  if (!host.empty() && list_fact(report, "results").empty()) {
    digest.line(fmt::format("host: {}; lines by time:", states_of(object_fact(host, "seconds"))));
    list_host_lines(host, 0, kSummaryLines, digest);
  }
}

}  // namespace roofline
