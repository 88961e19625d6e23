// Which driver functions are traced, and how their arguments are read.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "inject/spool.hpp"

namespace roofline::inject {

/// What a call's arguments are read for.
enum class Arguments : std::uint8_t {
  none,
  kernel,
  kernel_ex,
  cooperative,
  multi_device,
  grid,  ///< of the old calls, which set everything else before
  graph,
  memory,  ///< result and bytes
  pitched,
  registered,
  copy_in,     ///< from host memory: destination, source, bytes
  copy_out,    ///< to host memory: no device memory is written
  written_to,  ///< the first argument is the device memory that it writes
  begin_capture,
  end_capture,
  kernel_node,
  any_node
};

/// What a call does to memory that is summed.
enum class MemoryCall : std::uint8_t { none, device, pitched, managed, pinned, create, free, free_pinned, release };

struct DriverCall {
  spool::CallKind kind = spool::CallKind::other;
  Arguments arguments = Arguments::none;
  MemoryCall memory = MemoryCall::none;
  bool followed = false;
  bool recorded = false;           ///< as a Call or a Launch; others are observed for their arguments
  bool per_thread_stream = false;  ///< a stream of 0 is the thread's own
};

/// The call by the driver's name for it, with its version.
DriverCall driver_call(std::string_view name);

/// True if the call is followed even while nothing is recorded: without it, later records would be misread (pointers as
/// numbers, kernels of graphs without a name, freed memory).
bool always_followed(const DriverCall& call);

/// Without version suffixes: "cuMemcpyHtoDAsync".
std::string plain_name(std::string_view name);

}  // namespace roofline::inject
