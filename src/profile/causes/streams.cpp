// Streams that could overlap, and do not: the legacy default stream waits for all others, and they for it.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "profile/causes/detectors.hpp"
#include "text/format.hpp"

namespace roofline {
namespace {

/// CUPTI's number of the default stream of a process's first context.
constexpr std::uint32_t kDefaultStream = 7;

/// Activity of other streams' kernels on one device.
struct Turns {
  std::map<std::uint32_t, double> streams;  ///< seconds of kernels that leave room for others, by stream
  std::int64_t changes = 0, separated = 0;  ///< from one stream to the next; those with the default stream between
  std::uint32_t last = 0;                   ///< stream of the last kernel
  bool between = false;                     ///< the default stream has worked since
};

/// Upper bound on the time lost if the default stream separates most changes between streams: each of them could run
/// concurrently.
double lost_by(const Turns& turns) {
  constexpr double kMost = 0.8, kFair = 0.5;  // of the changes; of an equal share of the time
  if (turns.changes == 0 || static_cast<double>(turns.separated) < kMost * static_cast<double>(turns.changes)) return 0;
  double all = 0;
  for (const auto& [stream, time] : turns.streams) all += time;
  const auto fair = all / std::max(1.0, static_cast<double>(turns.streams.size()));
  const auto even = std::count_if(turns.streams.begin(), turns.streams.end(),
                                  [fair](const auto& stream) { return stream.second >= kFair * fair; });
  return even < 2 ? 0 : all * (1 - 1 / static_cast<double>(even));
}

}  // namespace

std::vector<FoundCause> find_default_streams(const CauseInputs& inputs) {
  constexpr double kLeastShare = 0.1;  // of the kernel time
  // The streams of PyTorch and XLA do not wait for the default one.
  if (inputs.framework == Framework::torch || inputs.framework == Framework::jax) return {};
  const StepActivities& steps = inputs.steps;
  std::map<int, Turns> devices;
  FaultyKernels small, serial;
  for (const StepActivity& entry : steps.all) {
    const Activity& activity = *entry.activity;
    Turns& turns = devices[activity.device];
    if (activity.stream == kDefaultStream) {
      turns.between = true;
      if (activity.what == ActivityKind::kernel) serial.add(steps, entry);
      continue;
    }
    if (activity.what != ActivityKind::kernel) continue;
    if (turns.last != 0 && turns.last != activity.stream) {
      ++turns.changes;
      turns.separated += turns.between ? 1 : 0;
    }
    turns.last = activity.stream;
    turns.between = false;
    const std::int64_t blocks = entry.blocks();
    const auto sms = steps.recording.devices[static_cast<std::size_t>(activity.device)].about.sms;
    if (!inputs.free(entry) || blocks == 0 || 2 * blocks > sms) continue;
    turns.streams[activity.stream] += entry.seconds;
    small.add(steps, entry);
  }
  double lost = 0;
  for (const auto& [device, turns] : devices) lost += lost_by(turns);
  if (lost < kLeastShare * steps.kernel_s || serial.sum.count == 0) return {};
  FoundCause found = small.cause(SavingCause::small_batch, inputs, CauseDetail::default_stream);
  found.saving.line = serial.sum.line();
  found.saving.seconds = lost;
  found.saving.what = what_is_lost(SavingCause::small_batch, CauseDetail::default_stream);
  found.saving.evidence = fmt::format(
      "{} kernels in other streams use at most half of the GPU, {}; {} in the default stream run between them",
      count(small.sum.count), duration(small.sum.seconds), count(serial.sum.count));
  return {std::move(found)};
}

}  // namespace roofline
