// The residual sum on a GPU: z = x + y. The kernels are those of elementwise.cuh.
#include "kernels/blocks/cuda/elementwise.cuh"
#include "op/registry.hpp"

namespace roofline::add_cuda {
namespace {

struct Sum {
  __device__ float operator()(const float (&x)[2]) const { return x[0] + x[1]; }
};

const ImplementationRegistrar kRegistrar(
    "add",
    {map_implementation<Sum, 2>("scalar", "one element per thread", MapVariant::scalar),
     map_implementation<Sum, 2>("vectorized", "16-byte accesses, one per input and thread", MapVariant::vectorized)});

}  // namespace
}  // namespace roofline::add_cuda
