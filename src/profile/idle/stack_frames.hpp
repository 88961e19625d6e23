// What a stack says about its thread: which library it is in, and which line of the program.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "profile/cause_detail.hpp"
#include "sample/host_samples.hpp"

namespace roofline {

/// A place in host code. Compared by function; `line` is where in it.
struct HostPlace {
  std::string file, function;
  int line = 0;

  bool known() const { return !function.empty() || !file.empty(); }
  std::string text() const;  ///< "data.py:31 load_batch"; empty where nothing is known
};

/// A stack of a sample, the innermost frame first; may be empty.
class StackView {
 public:
  StackView(const HostSamples& samples, int stack);

  bool empty() const { return size_ == 0; }
  /// The innermost line of the program; without one, of Python; without one, the innermost function that has a name
  /// and is not of the C or C++ library.
  HostPlace place() const;
  bool native() const;      ///< the innermost frame outside of the system's libraries is no Python
  bool in_program() const;  ///< a frame is the program's

  bool imports() const;           ///< Python loads a module of a library
  bool compiles() const;          ///< torch.compile, Triton, XLA, Numba or NVRTC at work
  CauseDetail compiler() const;   ///< that one; none: torch.compile or XLA
  bool traces_anomalies() const;  ///< autograd's anomaly mode stores the stack of an operation
  bool prints_tensor() const;
  bool in_model() const;           ///< within the forward of a PyTorch module
  bool computes_on_cpu() const;    ///< PyTorch's arithmetic on the CPU
  bool draws_random() const;       ///< NumPy's generators, PyTorch's on the CPU, or Python's
  bool profiles() const;           ///< PyTorch's profiler, started by the program
  bool starts_workers() const;     ///< worker processes of a loader or a pool are started or ended
  bool copies_deeply() const;      ///< copy.deepcopy
  bool saves_state() const;        ///< torch.save and its kin
  bool sends_objects() const;      ///< collectives of Python objects
  bool in_barrier() const;         ///< of PyTorch's ranks
  bool in_cpu_collective() const;  ///< waits for a collective of tensors in host memory, or does it
  bool runs_program() const;       ///< starts another program, or waits for its end or output
  bool loads_data() const;         ///< a data loader of a framework, or a library that reads and transforms inputs
  bool awaits_queue() const;       ///< takes something from workers: a loader's queue, a pool's result, a pipe
  bool in_profiler() const;        ///< our library or CUPTI
  bool logs() const;               ///< print of a tensor, logging, a progress bar, an experiment tracker
  bool dispatches() const;         ///< the framework or the driver, on the way to a launch
  bool talks_to_network() const;
  bool works_for_loader() const;  ///< of a worker: it makes an item, and does not wait for its next task
  /// Of a worker: the innermost line of the program that it runs; the dataset's method where that is a library's.
  HostPlace place_in_worker() const;

 private:
  template <typename Test>
  bool any(Test&& test) const;
  const HostFrame& frame(std::size_t index) const;

  const HostSamples& samples_;
  const int* indices_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace roofline
