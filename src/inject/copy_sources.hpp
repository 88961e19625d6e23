// The host memory that copies to a device read, and the device memory that copies and memsets write, from the arguments
// of their calls.
#pragma once

#include <cupti.h>

#include <memory>

#include "inject/driver_calls.hpp"
#include "inject/session.hpp"

namespace roofline::inject {

/// Before a copy or memset: records its source if that is host memory, and which device memory it changes; null where
/// that is not known.
std::unique_ptr<NodeMemory> follow_transfer(Session& session, const DriverCall& call, const CUpti_CallbackData& data,
                                            bool recorded);

}  // namespace roofline::inject
