// Products of whose result little is used: a line takes the last position of it, or its memory is freed before the
// kernels that follow can have read much of it.
#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "profile/causes/detectors.hpp"
#include "profile/causes/kernel_names.hpp"
#include "profile/memory_blocks.hpp"
#include "profile/phases.hpp"
#include "text/format.hpp"

namespace roofline {
namespace {

constexpr double kLargest = 32 << 20;                 // bytes of a result that caches may hold
constexpr double kMostUsed = 0.125, kMostOfIt = 0.5;  // of a result

/// Products, with what works on their whole results.
struct UnusedResults {
  FaultyKernels kernels;
  std::int64_t results = 0;
  double bytes = 0, used = 0;

  void add(const CauseInputs& inputs, const std::vector<const StepActivity*>& chain, double result, double read) {
    for (const StepActivity* kernel : chain) {
      if (inputs.free(*kernel)) kernels.add(inputs.steps, *kernel);
    }
    ++results;
    bytes += result;
    used += std::min(read, result);
  }
};

/// True if its line takes the last position of a sequence.
bool takes_last(const CauseInputs& inputs, const StepActivity& kernel) {
  return is_near_text(inputs, kernel, {"[:, -1", "[:,-1", "[..., -1, :]", "[:, [-1]", "select(1, -1)"});
}

/// What a process launches, in the order of its calls, and the memory of its results.
class ResultsOfProcess {
 public:
  ResultsOfProcess(const CauseInputs& inputs, int process, double most_bytes_per_s)
      : inputs_(inputs), most_bytes_per_s_(most_bytes_per_s), recorded_(recorded(inputs.steps.recording, process)) {
    const Recording& recording = inputs.steps.recording;
    for (const Activity& activity : recording.activities) {
      if (activity.process == process && called(activity) != 0) calls_.push_back(&activity);
    }
    std::stable_sort(calls_.begin(), calls_.end(),
                     [](const Activity* a, const Activity* b) { return called(*a) < called(*b); });
    read_.push_back(0);
    for (const Activity* activity : calls_) read_.push_back(read_.back() + most_read(*activity));
    for (const StepActivity& entry : inputs.steps.all) {
      if (entry.activity->process == process) in_steps_.emplace(entry.activity, &entry);
    }
    blocks_ = blocks_of(recording.traces[static_cast<std::size_t>(process)],
                        [](const spool::Allocation& of) { return of.pool == spool::MemoryPool::torch; });
    std::erase_if(blocks_, [](const MemoryBlock& block) { return block.bytes < kLargest; });
  }

  void find(UnusedResults& found) const {
    std::vector<std::pair<std::size_t, const MemoryBlock*>> made;
    std::map<std::size_t, double> results;  // bytes, by the call that makes them
    for (const MemoryBlock& block : blocks_) {
      const std::optional<std::size_t> maker = maker_of(block);
      if (!maker) continue;
      made.emplace_back(*maker, &block);
      results[*maker] = block.bytes;
    }
    for (const auto& [maker, block] : made) {
      if (!lies_in_recorded(*block)) continue;
      const std::size_t end = first_call(block->freed);
      // A workspace is freed before anything else is launched.
      if (end <= maker + 1) continue;
      const double read = read_[end] - read_[maker + 1];
      if (read >= kMostUsed * block->bytes) continue;
      const std::vector<const StepActivity*> chain = chain_to(maker, results);
      if (!chain.empty()) found.add(inputs_, chain, block->bytes, read);
    }
  }

 private:
  static std::uint64_t called(const Activity& of) {
    if (of.launch != nullptr) return of.launch->start;
    return of.call != nullptr ? of.call->start : 0;
  }

  /// Bytes that it can have read. An SM that runs alone has at most three times the bandwidth of one among all.
  double most_read(const Activity& of) const {
    const double length = seconds(of.end - of.start);
    if (of.what == ActivityKind::fill) return 0;
    if (of.what == ActivityKind::copy) {
      return static_cast<double>(
          inputs_.steps.recording.traces[static_cast<std::size_t>(of.process)].copies[of.index].bytes);
    }
    if (of.group < 0) return length * most_bytes_per_s_;
    constexpr double kAlone = 3;
    const Recording& recording = inputs_.steps.recording;
    const auto blocks = static_cast<double>(blocks_in_grid(recording.groups[static_cast<std::size_t>(of.group)].kind));
    const double units = recording.devices[static_cast<std::size_t>(of.device)].about.sms;
    const double part = blocks > 0 && units > 0 ? std::min(1.0, kAlone * blocks / units) : 1;
    return length * most_bytes_per_s_ * part;
  }

  std::size_t first_call(std::uint64_t time) const {
    return static_cast<std::size_t>(
        std::partition_point(calls_.begin(), calls_.end(), [&](const Activity* of) { return called(*of) < time; }) -
        calls_.begin());
  }

  /// The kernel of the operation for which it was allocated.
  std::optional<std::size_t> maker_of(const MemoryBlock& block) const {
    constexpr std::size_t kSoon = 4;  // an operation can launch other kernels before
    const std::size_t first = first_call(block.allocated);
    for (std::size_t i = first; i < std::min(first + kSoon, calls_.size()); ++i) {
      const Activity& activity = *calls_[i];
      if (activity.what == ActivityKind::kernel && activity.graph < 0 &&
          inputs_.steps.recording.place(activity).id == block.place) {
        return i;
      }
    }
    return std::nullopt;
  }

  bool lies_in_recorded(const MemoryBlock& block) const {
    const std::size_t at = span_at(recorded_, block.allocated);
    return at < recorded_.size() && block.freed < recorded_[at].end;
  }

  /// From a product, over kernels that make as much from its result, to that call; empty: there is none, or not in a
  /// step, or in backward.
  std::vector<const StepActivity*> chain_to(std::size_t call, const std::map<std::size_t, double>& results) const {
    constexpr std::size_t kLongest = 4;
    std::vector<const StepActivity*> chain;
    const double bytes = results.at(call);
    for (std::size_t length = 0; length < kLongest && length <= call; ++length) {
      const std::size_t i = call - length;
      const auto result = results.find(i);
      const auto step = in_steps_.find(calls_[i]);
      if (result == results.end() || result->second < kMostOfIt * kMostOfIt * bytes) return {};
      if (step == in_steps_.end() || step->second->place.backward != 0) return {};
      chain.push_back(step->second);
      if (is_product(step->second->symbol)) return chain;
    }
    return {};
  }

  const CauseInputs& inputs_;
  double most_bytes_per_s_;
  std::vector<Span> recorded_;
  std::vector<const Activity*> calls_;
  std::vector<double> read_;  ///< bytes, by all calls before
  std::map<const Activity*, const StepActivity*> in_steps_;
  std::vector<MemoryBlock> blocks_;  ///< large ones
};

/// By the time that their memory was in use.
UnusedResults freed_unread(const CauseInputs& inputs) {
  UnusedResults found;
  const Ceiling* const cache = inputs.machine.find("l2.read");
  if (cache == nullptr || !(cache->value > 0)) return found;
  const Recording& recording = inputs.steps.recording;
  for (std::size_t process = 0; process < recording.traces.size(); ++process) {
    if (recording.traces[process].allocations.empty()) continue;
    ResultsOfProcess(inputs, static_cast<int>(process), cache->value).find(found);
  }
  return found;
}

/// By the source text and the bytes that are counted.
UnusedResults last_position_used(const CauseInputs& inputs) {
  UnusedResults found;
  if (inputs.sources == nullptr) return found;
  double written = 0;                      // by the product that opened the present chain
  std::vector<const StepActivity*> chain;  // a product, and kernels on all of its result
  for (const StepActivity& entry : inputs.steps.all) {
    if (entry.activity->what != ActivityKind::kernel) continue;
    if (is_product(entry.symbol)) {
      const int row = entry.activity->group;
      written = inputs.free(entry) ? traffic_of_row(inputs.points, row, Level::hbm).write : 0;
      chain.assign(written >= kLargest ? 1 : 0, &entry);
      continue;
    }
    if (chain.empty()) continue;
    const double bytes = bytes_of_row(inputs.points, entry.activity->group);
    if (bytes >= kMostOfIt * written) {
      chain.push_back(&entry);
      continue;
    }
    if (bytes > 0 && bytes < kMostUsed * written && takes_last(inputs, entry)) found.add(inputs, chain, written, bytes);
    chain.clear();
  }
  return found;
}

}  // namespace

std::vector<FoundCause> find_unused_results(const CauseInputs& inputs) {
  const UnusedResults last = last_position_used(inputs), freed = freed_unread(inputs);
  const bool by_text = last.kernels.sum.seconds >= freed.kernels.sum.seconds;
  const UnusedResults& unused = by_text ? last : freed;
  constexpr double kShareOfSteps = 0.5;
  if (!(unused.bytes > 0) || unused.kernels.sum.share_of_steps() < kShareOfSteps) return {};
  const double used = unused.used / unused.bytes;
  std::vector<FoundCause> found = found_if_large(unused.kernels, inputs, SavingCause::unused_results, 1 - used,
                                                 "products and kernels on their whole results");
  for (FoundCause& one : found) {
    one.saving.evidence +=
        by_text
            ? fmt::format("; the kernel after them takes the last position, {} of the result's bytes", percent(used))
            : fmt::format("; each result has {}, and is freed after kernels that can have read {} of it at most",
                          si(unused.bytes / static_cast<double>(unused.results), "B"), percent(used));
  }
  return found;
}

}  // namespace roofline
