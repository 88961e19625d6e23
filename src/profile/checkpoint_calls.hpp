// The line of the program that checkpoints: the kernels that run again are launched by code that it calls.
#pragma once

#include <vector>

#include "report/profile.hpp"
#include "sample/host_samples.hpp"

namespace roofline {

/// Gives savings of gradient checkpointing the line at which most samples call torch.utils.checkpoint, if there are
/// any; the evidence keeps the line of the kernels.
void name_checkpoint_calls(std::vector<Saving>& savings, const HostSamples& samples);

}  // namespace roofline
