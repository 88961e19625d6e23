// What the host was executing when it launched the GPU events of a torch.profiler trace.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "import/kineto_events.hpp"

namespace roofline::kineto {

/// What the host was executing at a moment.
struct HostContext {
  spool::Id range = 0;
  std::string module;
  std::uint32_t line = 0;  ///< word, "program.py(43): forward"; 0: none
  std::uint32_t signature = 0;
  bool backward = false;
};

/// Of each GPU event, in their order. Adds the times of ranges to the trace. Fails `source` where spans nest too deep.
std::vector<HostContext> host_contexts(const Events& events, ByteSource& source, TraceBuilder& builder,
                                       ProcessTrace& trace);

}  // namespace roofline::kineto
