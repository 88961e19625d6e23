// CUPTI's callbacks and activities, into the spool.
#pragma once

#include <cupti.h>

#include <string>

#include "inject/session.hpp"

namespace roofline::inject {

/// Subscribes and enables. Empty: done; else why not.
std::string start_trace(Session& session);

/// Asks CUPTI for its completed records, but not in programs of XLA; `all`: in each, and also for those of activities
/// that have not ended.
void flush_activities(bool all);

/// True if a graph is being captured.
bool capturing();

/// No more callbacks and activities: the program runs at its own speed.
void stop_trace();

/// CUPTI's buffer callbacks, in activities.cpp.
void CUPTIAPI give_buffer(std::uint8_t** buffer, std::size_t* size, std::size_t* most_records);
void CUPTIAPI take_buffer(CUcontext context, std::uint32_t stream, std::uint8_t* buffer, std::size_t size,
                          std::size_t valid);
/// Buffers for the first launches, which should not wait for memory.
void prepare_buffers();

/// Books copies and fills, whose records come later, to the place of the call.
void remember_place(std::uint32_t correlation, spool::Id place);

}  // namespace roofline::inject
