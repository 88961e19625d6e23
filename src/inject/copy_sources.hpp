// What copies to a device read and what copies and memsets write, from the arguments of their calls.
#pragma once

#include <cupti.h>

#include "inject/driver_calls.hpp"
#include "inject/session.hpp"

namespace roofline::inject {

/// Before such a call: records the source of a copy from the host, and which device memory changes.
void follow_transfer(Session& session, const DriverCall& call, const CUpti_CallbackData& data, bool recorded);

/// A hash of all bytes up to 16 KiB; of more, of 256 words spread evenly.
std::uint64_t digest_of(const void* bytes, std::uint64_t size);

}  // namespace roofline::inject
