// What copies to a device read and what copies and memsets write, from the arguments of their calls.
#pragma once

#include <cupti.h>

#include "inject/driver_calls.hpp"
#include "inject/session.hpp"

namespace roofline::inject {

/// Before such a call: records the source of a copy from the host, and which device memory changes.
void follow_transfer(Session& session, const DriverCall& call, const CUpti_CallbackData& data, bool recorded);

}  // namespace roofline::inject
