// Begin, end, and what to do when it goes wrong in between.
#include "device/cuda/capture.hpp"

namespace roofline {
namespace {

/// Ends a capture that an exception has left open, and drops what it captured.
class CaptureGuard {
 public:
  explicit CaptureGuard(cudaStream_t stream) : stream_(stream) {
    check(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal), "beginning a graph capture");
  }
  ~CaptureGuard() {
    if (!open_) return;
    cudaGraph_t graph = nullptr;
    static_cast<void>(cudaStreamEndCapture(stream_, &graph));
    if (graph != nullptr) static_cast<void>(cudaGraphDestroy(graph));
    static_cast<void>(cudaGetLastError());  // "capture invalidated" follows from what was already thrown
  }
  CaptureGuard(const CaptureGuard&) = delete;
  CaptureGuard& operator=(const CaptureGuard&) = delete;

  Graph end() {
    open_ = false;
    cudaGraph_t graph = nullptr;
    check(cudaStreamEndCapture(stream_, &graph), "ending a graph capture");
    return Graph(graph);
  }

 private:
  cudaStream_t stream_;
  bool open_ = true;
};

}  // namespace

Graph capture(cudaStream_t stream, const std::function<void()>& enqueue) {
  CaptureGuard guard(stream);
  enqueue();
  return guard.end();
}

}  // namespace roofline
