// Calls of NCCL: which collective each rank calls, on which communicator, with how many bytes, and which launch is its
// kernel. Libraries that look NCCL's functions up by dlsym() are not seen.
#pragma once

#include <cstdint>

namespace roofline::inject {

/// Redirects the calls of the libraries that are loaded; cheap when none was loaded since the last time. Collectives
/// are numbered from their communicator's first one on, so it has to come before that.
void look_for_nccl();

/// The calling thread launched a kernel: the one of the collective that it is in, if it is in one.
void note_collective_launch(std::uint32_t correlation);

}  // namespace roofline::inject
