#include "profile/checkpoint_calls.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string>
#include <string_view>

#include "model/find.hpp"
#include "profile/idle/stack_frames.hpp"

namespace roofline {
namespace {

/// The innermost own frame outside of the outermost call of torch.utils.checkpoint; empty: it is not called.
std::string call_of(const HostSamples& samples, const std::vector<int>& stack) {
  constexpr std::string_view kCheckpoint = "torch/utils/checkpoint.py";
  for (auto at = stack.rbegin(); at != stack.rend(); ++at) {
    const HostFrame& frame = samples.frames[static_cast<std::size_t>(*at)];
    if (!frame.file.ends_with(kCheckpoint)) continue;
    const auto outer = std::find_if(at.base(), stack.end(), [&](int index) {
      const HostFrame& of = samples.frames[static_cast<std::size_t>(index)];
      return of.own && of.python && of.line > 0;
    });
    if (outer == stack.end()) return {};
    const HostFrame& call = samples.frames[static_cast<std::size_t>(*outer)];
    return HostPlace{call.file, call.function, call.line}.text();
  }
  return {};
}

}  // namespace

void name_checkpoint_calls(std::vector<Saving>& savings, const HostSamples& samples) {
  const auto found = std::ranges::find(savings, SavingCause::checkpointing, &Saving::cause);
  if (found == savings.end()) return;
  std::vector<std::string> calls;
  calls.reserve(samples.stacks.size());
  for (const std::vector<int>& stack : samples.stacks) calls.push_back(call_of(samples, stack));
  std::map<std::string, double> seconds;
  for (const HostSample& sample : samples.samples) {
    if (sample.stack < 0) continue;
    const std::string& call = calls[static_cast<std::size_t>(sample.stack)];
    if (!call.empty()) seconds[call] += sample.seconds;
  }
  const std::string line = key_of_largest(seconds);
  if (line.empty() || line == found->line) return;
  if (!found->line.empty()) found->evidence += fmt::format("; mostly at {}", found->line);
  found->line = line;
}

}  // namespace roofline
