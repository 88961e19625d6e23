// Classifies the stack of a thread: the library that it is in, and the program's line.
#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "profile/cause_detail.hpp"
#include "profile/intervals.hpp"
#include "sample/host_samples.hpp"

namespace roofline {

/// A place in host code. Compared by function; `line` is the position within it.
struct HostPlace {
  std::string file, function;
  int line = 0;

  bool known() const { return !function.empty() || !file.empty(); }
  std::string text() const;  ///< "data.py:31 load_batch"; empty if unknown
  auto operator<=>(const HostPlace&) const = default;
};

/// The interval that a sample stands for.
Span span_of(const HostSample& sample);

/// The stack of a sample, innermost frame first; may be empty.
class StackView {
 public:
  StackView(const HostSamples& samples, int stack);

  bool empty() const { return size_ == 0; }
  /// The innermost line of the program; otherwise of Python; otherwise the innermost named function outside the C and
  /// C++ libraries.
  HostPlace place() const;
  /// Lines of the program's Python functions, innermost first.
  std::vector<HostPlace> python_places() const;
  bool native() const;      ///< the innermost frame outside system libraries is not Python
  bool in_program() const;  ///< a frame belongs to the program

  bool imports() const;              ///< Python imports a library module
  bool compiles() const;             ///< in torch.compile, Triton, XLA, Numba or NVRTC
  CauseDetail compiler() const;      ///< that compiler; none: torch.compile or XLA
  bool traces_for_compiler() const;  ///< torch.compile traces or compiles what the program calls
  bool in_gpu_library() const;       ///< in the CUDA driver, or in a library of kernels
  bool traces_anomalies() const;     ///< autograd's anomaly mode stores the stack of an operation
  bool prints_tensor() const;
  bool in_model() const;           ///< in the forward of a PyTorch module
  bool computes_on_cpu() const;    ///< in PyTorch's CPU kernels
  bool awaits_team() const;        ///< waits in OpenMP's library for the other threads of a parallel region
  bool awaits_backward() const;    ///< waits for autograd's thread
  bool in_backward() const;        ///< PyTorch runs a backward pass, in this thread or another
  bool decompresses() const;       ///< reads something compressed other than an image
  bool gathers_rows() const;       ///< reads rows of a tensor or array by their indices, on the CPU
  bool picks_items() const;        ///< in Python's random.sample(), choice(), choices() or shuffle()
  bool draws_random() const;       ///< in random generators of NumPy, PyTorch (CPU) or Python
  bool profiles() const;           ///< in PyTorch's profiler, started by the program
  bool starts_workers() const;     ///< starts or ends worker processes of a loader or pool
  bool connects_ranks() const;     ///< makes, connects or destroys a communicator of NCCL or a process group
  bool copies_deeply() const;      ///< copy.deepcopy
  bool saves_state() const;        ///< torch.save and similar
  bool sends_objects() const;      ///< collectives of Python objects
  bool prepares_shards() const;    ///< in FSDP's work around the collectives of a unit
  bool in_barrier() const;         ///< barrier of PyTorch's ranks
  bool in_cpu_collective() const;  ///< waits for or executes a collective of tensors in host memory
  bool runs_program() const;       ///< starts another program, or waits for its end or output
  bool loads_data() const;         ///< in a framework's data loader, or a library that reads or transforms inputs
  bool awaits_queue() const;       ///< waits for workers: a loader's queue, a pool's result, a pipe
  bool in_profiler() const;        ///< in the injected library or CUPTI
  bool logs() const;               ///< prints a tensor, logs, updates a progress bar or experiment tracker
  bool dispatches() const;         ///< in the framework or the driver, on the way to a launch
  bool talks_to_network() const;
  bool works_for_loader() const;  ///< workers: prepares an item, instead of waiting for the next task
  bool in_worker() const;         ///< in the loop of a worker process or thread
  bool feeds_queue() const;       ///< the thread that a worker starts with its first item, to send it
  /// Workers: the innermost program line that it runs, or the dataset's method if that belongs to a library.
  HostPlace place_in_worker() const;
  /// Workers: what that program line calls of a library ("json.load"); empty: nothing.
  std::string call_in_worker() const;

 private:
  template <typename Test>
  bool any(Test&& test) const;
  const HostFrame& frame(std::size_t index) const;
  /// The innermost frame that is not native code of the system's libraries; the number of frames if there is none.
  std::size_t outside_system() const;

  const HostSamples& samples_;
  const int* indices_ = nullptr;
  std::size_t size_ = 0;
};

template <typename Test>
bool StackView::any(Test&& test) const {
  for (std::size_t i = 0; i < size_; ++i) {
    if (test(frame(i))) return true;
  }
  return false;
}

}  // namespace roofline
