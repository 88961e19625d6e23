// The one way in which a CUDA call is checked: a status becomes an exception, once.
#pragma once

#include <cuda_runtime_api.h>

namespace roofline {

/// Throws unless `status` is cudaSuccess: PoisonedDevice for errors that end the context (an illegal access), Error for
/// all others. `what` names the operation: "allocating", "softmax kernel".
void check(cudaError_t status, const char* what);

/// Throws for errors of the preceding `<<<…>>>` itself (a bad configuration, a missing image).
void check_launch(const char* kernel);

/// True if an error stays with the context, so that every later call in this process fails as well.
bool is_sticky(cudaError_t status);

}  // namespace roofline
