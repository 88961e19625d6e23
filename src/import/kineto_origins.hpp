// Which call of the host launched each GPU event of a torch.profiler trace, and by which operator.
#pragma once

#include <cstdint>
#include <vector>

#include "import/kineto_events.hpp"

namespace roofline::kineto {

struct Origin {
  const Call* call = nullptr;       ///< by the correlation; null: not in the trace
  const Span* operation = nullptr;  ///< by External id, only if there is no such call
};

struct Origins {
  std::vector<Origin> of;      ///< of each GPU event, in their order
  std::int64_t ambiguous = 0;  ///< GPU events without one, whose ids several processes have
};

/// A merged trace has several processes, each with its own ids: an event's origin is the only process with matching ids
/// and times; none if several match.
Origins origins_of(const Events& events);

}  // namespace roofline::kineto
