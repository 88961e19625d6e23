// What the host was executing when it launched the GPU events of a torch.profiler trace.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "import/kineto_events.hpp"
#include "import/kineto_origins.hpp"

namespace roofline::kineto {

inline constexpr std::uint32_t kNoSpan = std::numeric_limits<std::uint32_t>::max();

/// What the host was executing at a moment.
struct HostContext {
  spool::Id range = 0;
  std::string module;
  std::uint32_t line = 0;             ///< word, "program.py(43): forward"; 0: none
  std::uint32_t signature = 0;        ///< of the innermost operator; 0: none
  std::uint32_t operation = kNoSpan;  ///< the call of it
  bool backward = false;
};

/// Context of each GPU event, in their order. Adds the times of ranges to the trace. Fails `source` if spans nest too
/// deep.
std::vector<HostContext> host_contexts(const Events& events, const Origins& origins, ByteSource& source,
                                       TraceBuilder& builder, ProcessTrace& trace);

}  // namespace roofline::kineto
