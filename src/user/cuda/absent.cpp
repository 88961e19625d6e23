// Stands in for the CUDA half in a build without it.
#include "user/cuda_kernel.hpp"

namespace roofline {

std::optional<std::string> cuda_refusal(const BoundKernel&, const Device&) { return "this build has no CUDA support"; }

Kernel load_cuda_kernel(const BoundKernel&, const std::filesystem::path&, const std::vector<std::string>&, Device&) {
  throw Error("this build has no CUDA support");
}

}  // namespace roofline
