// Times of a profile by stack, each stack once: what flame graphs and files for other programs are made from. Pure.
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
  line,    ///< that launches
  kernel,
  transfer  ///< copies or memsets
};

struct StackFrame {
  std::string name;  ///< "load (data.py:31)"; one line
  FrameKind kind = FrameKind::native;

  auto operator<=>(const StackFrame&) const = default;
};

struct FoldedStack {
  std::vector<StackFrame> frames;  ///< the outermost first, never empty
  ThreadState state = ThreadState::running;
  double seconds = 0;
};

/// Of host threads: process, thread, then the frames of the stack. By frames, then by state.
std::vector<FoldedStack> host_stacks(const HostProfile& host);

/// Of GPUs: device, the parts of the module's path, the line and the kernel, of what is known; copies and memsets by
/// direction and line. By frames.
std::vector<FoldedStack> gpu_stacks(const Report& report);

/// "python3 4711"; "pt_data_pin 4730".
std::string process_name(const HostThread& thread);
std::string thread_name(const HostThread& thread);

/// How a state of a thread that doesn't run stands in a stack: "[waits for a lock]".
std::string state_frame(ThreadState state);

}  // namespace roofline
