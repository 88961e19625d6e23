#include "profile/launch_sequence.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <unordered_map>
#include <utility>

#include "model/find.hpp"
#include "text/block_names.hpp"
#include "text/text.hpp"

namespace roofline {
namespace {

/// Numbers texts in the order in which they are first seen.
class Numbers {
 public:
  std::uint32_t of(const std::string& text) {
    return numbers_.try_emplace(text, static_cast<std::uint32_t>(numbers_.size())).first->second;
  }

 private:
  std::unordered_map<std::string, std::uint32_t> numbers_;
};

/// True if a function's name is that of an optimizer's kernel, as PyTorch, apex and JAX's libraries name them.
bool is_update(std::string_view symbol) {
  return contains_any(lower_case(symbol), {"multi_tensor_apply", "adam", "sgd", "adagrad", "rmsprop", "optimizer"});
}

class SequenceBuilder {
 public:
  SequenceBuilder(const Recording& recording, int process)
      : recording_(recording), process_(process), trace_(recording.traces[static_cast<std::size_t>(process)]) {}

  LaunchSequence build() {
    for (const Activity& activity : recording_.activities) {
      if (activity.process == process_) take(activity);
    }
    mark_aside();
    sort();
    mark_tuner();
    return std::move(sequence_);
  }

 private:
  struct Signature {
    std::uint32_t kind = 0, exact = 0;
    bool update = false;
    bool has_line = false;
    bool check = false;  ///< of memory, by XLA's tuner
  };

  void take(const Activity& activity) {
    if (migrates(activity)) return;
    if (activity.what == ActivityKind::kernel) {
      kernels_ns_[{activity.device, activity.stream}] += activity.end - activity.start;
      all_kernels_ns_ += activity.end - activity.start;
    }
    const std::uint32_t correlation = correlation_of(activity);
    const auto [found, is_new] = by_correlation_.try_emplace(correlation, sequence_.elements.size());
    if (!is_new && correlation != 0) {
      Span& on_gpu = sequence_.on_gpu[found->second];
      on_gpu = {std::min(on_gpu.start, activity.start), std::max(on_gpu.end, activity.end)};
      return;
    }
    const Span host = host_of(activity);
    const Signature signature = signature_of(activity);
    streams_.emplace_back(activity.device, activity.stream);
    sequence_.elements.push_back({.kind = signature.kind,
                                  .exact = signature.exact,
                                  .update = signature.update,
                                  .time = host.start,
                                  .pause = host.end,
                                  .copy = activity.what != ActivityKind::kernel});
    sequence_.on_gpu.push_back({activity.start, activity.end});
    sequence_.has_line.push_back(signature.has_line);
    sequence_.of_tuner.push_back(signature.check);
  }

  /// A host that queues many steps at once lets a stream of copies run ahead of the kernels of the same step.
  void mark_aside() {
    constexpr double kLittle = 0.02;  // of the kernel time
    for (std::size_t i = 0; i < streams_.size(); ++i) {
      const auto found = kernels_ns_.find(streams_[i]);
      const double kernels_ns = found == kernels_ns_.end() ? 0 : static_cast<double>(found->second);
      sequence_.elements[i].aside = kernels_ns < kLittle * static_cast<double>(all_kernels_ns_);
    }
  }

  /// Sorts by host time; the end of each call determines the pause before the next.
  void sort() {
    std::vector<SequenceElement>& elements = sequence_.elements;
    std::vector<std::size_t> order(elements.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t a, std::size_t b) { return elements[a].time < elements[b].time; });
    LaunchSequence sorted;
    std::uint64_t ended = elements.empty() ? 0 : elements[order.front()].time;
    for (const std::size_t i : order) {
      SequenceElement element = elements[i];
      const std::uint64_t end = element.pause;  // the call's, until here
      element.pause = element.time > ended ? element.time - ended : 0;
      ended = std::max(ended, end);
      element.on_gpu = sequence_.on_gpu[i].length();
      sorted.elements.push_back(element);
      sorted.on_gpu.push_back(sequence_.on_gpu[i]);
      sorted.has_line.push_back(sequence_.has_line[i]);
      sorted.of_tuner.push_back(sequence_.of_tuner[i]);
      sorted.position.push_back(sorted.position.size());
    }
    sequence_ = std::move(sorted);
  }

  /// What XLA launches to choose among candidates for a kernel, all from the line whose code it compiles: between its
  /// checks of the memory around their buffers, which are marked already, come a few launches each time.
  void mark_tuner() {
    constexpr std::size_t kMostBetween = 8;
    std::vector<bool>& of_tuner = sequence_.of_tuner;
    std::size_t last = of_tuner.size();
    for (std::size_t i = 0; i < of_tuner.size(); ++i) {
      if (!of_tuner[i]) continue;
      if (last < i && i - last - 1 <= kMostBetween) {
        for (std::size_t between = last + 1; between < i; ++between) of_tuner[between] = true;
      }
      last = i;
    }
  }

  bool migrates(const Activity& activity) const {
    if (activity.what != ActivityKind::copy) return false;
    const spool::Copy& copy = trace_.copies[activity.index];
    return copy.from == spool::Memory::migrating || copy.to == spool::Memory::migrating;
  }

  std::uint32_t correlation_of(const Activity& activity) const {
    switch (activity.what) {
      case ActivityKind::copy:
        return trace_.copies[activity.index].correlation;
      case ActivityKind::fill:
        return trace_.fills[activity.index].correlation;
      case ActivityKind::kernel:
        break;
    }
    return trace_.kernels[activity.index].correlation;
  }

  static Span host_of(const Activity& activity) {
    if (activity.launch != nullptr) return {activity.launch->start, activity.launch->end};
    if (activity.call != nullptr) return {activity.call->start, activity.call->end};
    return {activity.start, activity.start};
  }

  /// A kernel's. Imported launches have no signature of their own.
  const spool::Kind& kind_of(const Activity& kernel) const {
    const bool known_launch = kernel.launch != nullptr && kernel.launch->kind != 0;
    return trace_.kind(known_launch ? kernel.launch->kind : trace_.kernels[kernel.index].kind);
  }

  Signature signature_of(const Activity& activity) {
    if (activity.what == ActivityKind::kernel) {
      const spool::Kind& kind = kind_of(activity);
      const auto [signature, is_new] = of_kinds_.try_emplace(kind.id);
      if (is_new) signature->second = signature_of(kind);
      return signature->second;
    }
    const bool copy = activity.what == ActivityKind::copy;
    const std::string what = copy ? fmt::format("copy {} {}", static_cast<int>(trace_.copies[activity.index].from),
                                                static_cast<int>(trace_.copies[activity.index].to))
                                  : std::string("memset");
    const std::uint64_t bytes = copy ? trace_.copies[activity.index].bytes : trace_.fills[activity.index].bytes;
    const spool::Place& place = recording_.place(activity);
    const std::string at = text_of(place);
    return {kinds_.of(what + at), exact_.of(fmt::format("{}{}|{}", what, at, bytes)), false, place.line != 0, false};
  }

  Signature signature_of(const spool::Kind& kind) {
    const std::string_view symbol = trace_.text(kind.name);
    const spool::Place& place = trace_.place(kind.place);
    // The number of kernels in a graph counts as a size: compilers may divide the same work differently for another
    // shape.
    const bool graph = (kind.flags & spool::kGraph) != 0;
    const std::string coarse =
        fmt::format("{}{}", graph ? without_numbers(symbol) : std::string(symbol), text_of(place));
    const std::string exact = fmt::format("{}{}|{}|{}|{}", symbol, text_of(place), fmt::join(kind.grid, "x"),
                                          fmt::join(kind.block, "x"), without_numbers(range_path(trace_, place.range)));
    const bool check = contains_any(symbol, {"RedzoneAllocatorKernel"});
    return {kinds_.of(coarse), exact_.of(exact), is_update(symbol), place.line != 0, check};
  }

  std::string text_of(const spool::Place& place) const {
    const spool::Line& line = trace_.line(place.line);
    return fmt::format("|{}:{}|{}|{}|{}", trace_.text(line.file), line.number, trace_.text(place.module),
                       trace_.text(place.operation), place.backward);
  }

  const Recording& recording_;
  int process_;
  const ProcessTrace& trace_;
  LaunchSequence sequence_;
  using Stream = std::pair<int, std::uint32_t>;  ///< device and number
  std::vector<Stream> streams_;                  ///< by element
  std::map<Stream, std::uint64_t> kernels_ns_;
  std::uint64_t all_kernels_ns_ = 0;
  Numbers kinds_, exact_;
  std::unordered_map<std::uint32_t, std::size_t> by_correlation_;
  std::unordered_map<spool::Id, Signature> of_kinds_;
};

template <typename Test>
LaunchSequence elements_where(const LaunchSequence& sequence, Test&& test) {
  LaunchSequence kept;
  for (std::size_t i = 0; i < sequence.elements.size(); ++i) {
    if (!test(i)) continue;
    kept.elements.push_back(sequence.elements[i]);
    kept.on_gpu.push_back(sequence.on_gpu[i]);
    kept.has_line.push_back(sequence.has_line[i]);
    kept.of_tuner.push_back(sequence.of_tuner[i]);
    kept.position.push_back(sequence.position[i]);
  }
  return kept;
}

}  // namespace

LaunchSequence launch_sequence(const Recording& recording, int process) {
  return SequenceBuilder(recording, process).build();
}

LaunchSequence of_program(const LaunchSequence& sequence) {
  return elements_where(sequence, [&](std::size_t i) { return sequence.has_line[i] && !sequence.of_tuner[i]; });
}

LaunchSequence launched_within(const LaunchSequence& sequence, const Span& time) {
  return elements_where(sequence, [&](std::size_t i) {
    return sequence.elements[i].time >= time.start && sequence.elements[i].time < time.end;
  });
}

int busiest_process(const Recording& recording) {
  std::map<int, std::uint64_t> busy;
  for (const Activity& activity : recording.activities) {
    if (activity.what == ActivityKind::kernel) busy[activity.process] += activity.end - activity.start;
  }
  return key_of_largest(busy, -1);
}

}  // namespace roofline
