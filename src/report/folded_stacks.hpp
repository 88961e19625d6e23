// Profile times by unique stack, for flame graphs and export. Pure.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "report/report.hpp"

namespace roofline {

enum class FrameKind : std::uint8_t {
  process,
  thread,
  own,     ///< code of the program itself
  python,  ///< other Python code
  native,  ///< other native code
  device,  ///< a GPU
  module,  ///< a part of a module's path
  line,    ///< a line that launches
  kernel,
  transfer  ///< copies or memsets
};

struct StackFrame {
  std::string name;  ///< "load (data.py:31)"; one line
  FrameKind kind = FrameKind::native;

  auto operator<=>(const StackFrame&) const = default;
};

struct FoldedStack {
  std::vector<StackFrame> frames;  ///< outermost first, never empty
  ThreadState state = ThreadState::running;
  double seconds = 0;
};

/// Host stacks: process, thread, then frames. Sorted by frames, then by state.
std::vector<FoldedStack> host_stacks(const HostProfile& host);

/// GPU stacks: device, module path, line and kernel, as far as known; copies and memsets by direction and line. Sorted
/// by frames.
std::vector<FoldedStack> gpu_stacks(const Report& report);

/// "python3 4711"; "pt_data_pin 4730".
std::string process_name(const HostThread& thread);
std::string thread_name(const HostThread& thread);

/// Frame name for a waiting thread: "[waits for a lock]".
std::string state_frame(ThreadState state);

}  // namespace roofline
