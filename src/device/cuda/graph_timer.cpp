// Capture, replay, time.
#include "device/cuda/graph_timer.hpp"

#include <algorithm>
#include <vector>

#include "device/cuda/capture.hpp"
#include "model/error.hpp"

namespace roofline {
namespace {

// A graph of 2048 kernels takes some milliseconds to make and a megabyte to keep; past that, a batch is
// several graphs in a row, and the microsecond between two of them is nothing beside 2048 launches.
constexpr std::int64_t kMaxNodes = 2048;
// Distinct graphs of one batch. After that many, launch numbers start again at 0: by then every buffer set
// has been used.
constexpr std::int64_t kMaxSpans = 16;
constexpr std::int64_t kMaxCachedNodes = 4 * kMaxNodes * kMaxSpans;

/// Opens the gate whatever happens: what waits behind it must never outlive an exception.
class OpenAtExit {
 public:
  explicit OpenAtExit(Gate& gate) : gate_(gate) {}
  ~OpenAtExit() { gate_.open(); }
  OpenAtExit(const OpenAtExit&) = delete;
  OpenAtExit& operator=(const OpenAtExit&) = delete;

 private:
  Gate& gate_;
};

}  // namespace

GraphTimer::GraphTimer(int device, cudaStream_t stream, int sm_count, LaunchFunction launch, Together together)
    : device_(device),
      stream_(stream),
      launch_(std::move(launch)),
      together_(std::move(together)),
      start_(make_event()),
      stop_(make_event()),
      stamps_(sm_count) {}

GraphExec GraphTimer::capture(Span span) {
  const Graph graph = roofline::capture(stream_, [&] {
    const auto all = [&] {
      for (std::int64_t launch = span.first; launch < span.first + span.second; ++launch) launch_(launch);
    };
    together_.around ? together_.around(all) : all();
  });
  cudaGraphExec_t exec = nullptr;
  check(cudaGraphInstantiate(&exec, graph.get(), 0), "instantiating a graph");
  GraphExec owned(exec);
  check(cudaGraphUpload(exec, stream_), "uploading a graph");
  return owned;
}

cudaGraphExec_t GraphTimer::graph(Span span) {
  const auto known = graphs_.find(span);
  if (known != graphs_.end()) return known->second.get();
  cached_nodes_ += span.second;
  return graphs_.emplace(span, capture(span)).first->second.get();
}

Reading GraphTimer::time(std::int64_t launches) {
  if (launches < 1) throw Error("a batch needs at least one launch");
  const CurrentDevice guard(device_);
  // Only between batches: a batch never drops its own graphs.
  if (cached_nodes_ > kMaxCachedNodes) {
    graphs_.clear();
    cached_nodes_ = 0;
  }
  std::vector<cudaGraphExec_t> batch;
  for (std::int64_t done = 0; done < launches; done += kMaxNodes) {
    const std::int64_t first = done % (kMaxNodes * kMaxSpans);
    batch.push_back(graph({first, std::min(kMaxNodes, launches - done)}));
  }
  check(cudaStreamSynchronize(stream_), "preparing a timed batch");

  {
    const OpenAtExit opener(gate_);
    // Without the gate an idle GPU would take the start event at once and then wait for the host to submit
    // the graph: some 10 us of host latency inside the interval.
    gate_.close(stream_);
    if (together_.align) together_.align();
    // Behind the gate: a GPU that waits runs at its full clock, which is not that of a tensor kernel.
    stamps_.enqueue_before(stream_);
    check(cudaEventRecord(start_.get(), stream_), "recording the start");
    for (cudaGraphExec_t exec : batch) check(cudaGraphLaunch(exec, stream_), "launching a graph");
    check(cudaEventRecord(stop_.get(), stream_), "recording the stop");
    stamps_.enqueue_after(stream_);
  }
  check(cudaStreamSynchronize(stream_), "waiting for a timed batch");

  float milliseconds = 0;
  check(cudaEventElapsedTime(&milliseconds, start_.get(), stop_.get()), "reading the time of a batch");
  return {.seconds = static_cast<double>(milliseconds) * 1e-3, .clock_hz = stamps_.clock_hz()};
}

}  // namespace roofline
