#include "render/host_exports.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>

#include "model/error.hpp"
#include "report/json/json_value.hpp"
#include "report/profile_findings.hpp"
#include "text/text.hpp"

namespace roofline {
namespace {

using Json = nlohmann::ordered_json;

const HostProfile& host_of(const Runs& runs) {
  const auto& profile = runs.last().profile;
  if (!profile || !profile->host || profile->host->stacks.empty()) {
    throw UsageError("this report has no stacks of the host",
                     "roofline profile records them, unless --no-host is given");
  }
  return *profile->host;
}

/// "load (data.py:31)", "memcpy (libc.so.6)".
std::string frame_name(const HostFrame& frame) {
  const std::string_view file = last_path_part(frame.file);
  if (file.empty()) return clean_line(frame.function);
  return clean_line(frame.line > 0 ? fmt::format("{} ({}:{})", frame.function, file, frame.line)
                                   : fmt::format("{} ({})", frame.function, file));
}

/// The state of a thread that does not run, as the innermost frame; empty for one that does.
std::string state_name(ThreadState state) {
  return state == ThreadState::running ? std::string() : fmt::format("[{}]", to_string(state));
}

std::string stack_thread_name(const HostThread& thread) {
  const std::string_view command = thread.command;
  const std::string_view name = last_path_part(command.substr(0, command.find(' ')));
  return clean_line(fmt::format("{} {}", name.empty() ? thread.name : name, thread.pid));
}

/// Semicolons are between frames.
std::string collapsed(std::string name) {
  std::ranges::replace(name, ';', ':');
  return name;
}

}  // namespace

std::string render_stacks(const Runs& runs) {
  constexpr double kMicroseconds = 1e6;
  const HostProfile& host = host_of(runs);
  std::map<std::string, double> lines;  // several stacks may have one text
  for (const HostStackSum& stack : host.stacks) {
    const HostThread& thread = host.threads.at(static_cast<std::size_t>(stack.thread)).thread;
    std::string line = collapsed(stack_thread_name(thread)) + ';' +
                       collapsed(clean_line(fmt::format("{} {}", thread.name, thread.tid)));
    for (const int frame : stack.frames)
      line += ';' + collapsed(frame_name(host.frames.at(static_cast<std::size_t>(frame))));
    if (const std::string state = state_name(stack.state); !state.empty()) line += ';' + state;
    lines[line] += stack.seconds;
  }
  std::string text;
  for (const auto& [line, seconds] : lines) text += fmt::format("{} {}\n", line, std::llround(seconds * kMicroseconds));
  return text;
}

std::string render_speedscope(const Runs& runs) {
  const HostProfile& host = host_of(runs);
  Json frames = Json::array();
  for (const HostFrame& frame : host.frames) {
    Json entry = {{"name", clean_line(frame.function)}};
    if (!frame.file.empty()) entry["file"] = clean_line(frame.file);
    if (frame.line > 0) entry["line"] = frame.line;
    frames.push_back(std::move(entry));
  }
  std::map<ThreadState, std::size_t> states;
  for (const HostStackSum& stack : host.stacks) {
    if (stack.state == ThreadState::running || !states.try_emplace(stack.state, frames.size()).second) continue;
    frames.push_back({{"name", state_name(stack.state)}});
  }
  Json profiles = Json::array();
  for (std::size_t i = 0; i < host.threads.size(); ++i) {
    Json samples = Json::array(), weights = Json::array();
    double total = 0;
    for (const HostStackSum& stack : host.stacks) {
      if (static_cast<std::size_t>(stack.thread) != i) continue;
      Json sample = stack.frames;
      if (stack.state != ThreadState::running) sample.push_back(states.at(stack.state));
      samples.push_back(std::move(sample));
      weights.push_back(stack.seconds);
      total += stack.seconds;
    }
    if (samples.empty()) continue;
    const HostThread& thread = host.threads[i].thread;
    profiles.push_back(
        {{"type", "sampled"},
         {"name", clean_line(fmt::format("{}: {} {}", stack_thread_name(thread), thread.name, thread.tid))},
         {"unit", "seconds"},
         {"startValue", 0},
         {"endValue", total},
         {"samples", std::move(samples)},
         {"weights", std::move(weights)}});
  }
  return to_json_text({{"$schema", "https://www.speedscope.app/file-format-schema.json"},
                       {"name", program_name(*runs.last().profile)},
                       {"exporter", "roofline " + runs.last().invocation.tool_version},
                       {"shared", {{"frames", std::move(frames)}}},
                       {"profiles", std::move(profiles)}});
}

}  // namespace roofline
