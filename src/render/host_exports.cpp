#include "render/host_exports.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "model/error.hpp"
#include "report/folded_stacks.hpp"
#include "report/json/json_value.hpp"
#include "report/profile_findings.hpp"
#include "text/text.hpp"

namespace roofline {
namespace {

using Json = nlohmann::ordered_json;

[[noreturn]] void refuse() {
  throw UsageError("this report has no stacks",
                   "roofline profile records them: of the host unless --no-host is given, of "
                   "GPUs where kernels ran");
}

const HostProfile* host_of(const Report& report) {
  return report.profile && report.profile->host ? &*report.profile->host : nullptr;
}

/// Semicolons are between frames.
std::string collapsed(std::string name) {
  std::ranges::replace(name, ';', ':');
  return name;
}

/// The frames of a stack, that of a wait at its end.
std::vector<std::string> frame_names(const FoldedStack& stack) {
  std::vector<std::string> names;
  for (const StackFrame& frame : stack.frames) names.push_back(frame.name);
  if (stack.state != ThreadState::running) names.push_back(state_frame(stack.state));
  return names;
}

/// Frames of a speedscope file by their contents.
class SpeedscopeFrames {
 public:
  std::size_t add(Json frame) {
    const auto [found, is_new] = index_.try_emplace(to_json_text(frame), list_.size());
    if (is_new) list_.push_back(std::move(frame));
    return found->second;
  }
  std::size_t add(const HostFrame& frame) {
    Json entry = {{"name", clean_line(frame.function)}};
    if (!frame.file.empty()) entry["file"] = clean_line(frame.file);
    if (frame.line > 0) entry["line"] = frame.line;
    return add(std::move(entry));
  }
  Json take() { return std::move(list_); }

 private:
  Json list_ = Json::array();
  std::map<std::string, std::size_t> index_;
};

/// One of the profiles of a speedscope file: samples with weights.
class SpeedscopeProfile {
 public:
  void add(Json sample, double seconds) {
    samples_.push_back(std::move(sample));
    weights_.push_back(seconds);
    total_ += seconds;
  }
  void put(Json& profiles, const std::string& name) {
    if (samples_.empty()) return;
    profiles.push_back({{"type", "sampled"},
                        {"name", name},
                        {"unit", "seconds"},
                        {"startValue", 0},
                        {"endValue", total_},
                        {"samples", std::move(samples_)},
                        {"weights", std::move(weights_)}});
  }

 private:
  Json samples_ = Json::array(), weights_ = Json::array();
  double total_ = 0;
};

}  // namespace

std::string render_stacks(const Runs& runs) {
  constexpr double kMicroseconds = 1e6;
  const HostProfile* const host = host_of(runs.last());
  std::string text;
  const auto add = [&](const std::vector<FoldedStack>& stacks) {
    for (const FoldedStack& stack : stacks) {
      std::string line;
      for (const std::string& name : frame_names(stack)) line += (line.empty() ? "" : ";") + collapsed(name);
      text += fmt::format("{} {}\n", line, std::llround(stack.seconds * kMicroseconds));
    }
  };
  if (host != nullptr) add(host_stacks(*host));
  add(gpu_stacks(runs.last()));
  if (text.empty()) refuse();
  return text;
}

std::string render_speedscope(const Runs& runs) {
  const Report& report = runs.last();
  const HostProfile* const host = host_of(report);
  SpeedscopeFrames frames;
  Json profiles = Json::array();
  std::map<int, SpeedscopeProfile> threads;
  if (host != nullptr) {
    std::vector<std::size_t> indices;
    for (const HostFrame& frame : host->frames) indices.push_back(frames.add(frame));
    for (const HostStackSum& stack : host->stacks) {
      Json sample = Json::array();
      for (const int frame : stack.frames) sample.push_back(indices.at(static_cast<std::size_t>(frame)));
      if (stack.state != ThreadState::running) sample.push_back(frames.add(Json{{"name", state_frame(stack.state)}}));
      threads[stack.thread].add(std::move(sample), stack.seconds);
    }
  }
  for (auto& [index, profile] : threads) {
    const HostThread& thread = host->threads.at(static_cast<std::size_t>(index)).thread;
    profile.put(profiles, clean_line(fmt::format("{}: {} {}", process_name(thread), thread.name, thread.tid)));
  }
  SpeedscopeProfile gpu;
  for (const FoldedStack& stack : gpu_stacks(report)) {
    Json sample = Json::array();
    for (const std::string& name : frame_names(stack)) sample.push_back(frames.add(Json{{"name", name}}));
    gpu.add(std::move(sample), stack.seconds);
  }
  gpu.put(profiles, "GPU time");
  if (profiles.empty()) refuse();
  return to_json_text({{"$schema", "https://www.speedscope.app/file-format-schema.json"},
                       {"name", program_name(*report.profile)},
                       {"exporter", "roofline " + report.invocation.tool_version},
                       {"shared", {{"frames", frames.take()}}},
                       {"profiles", std::move(profiles)}});
}

}  // namespace roofline
