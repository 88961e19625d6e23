// SwiGLU on a GPU: z = gate / (1 + exp(-gate)) * up. The kernels are those of elementwise.cuh.
#include "kernels/blocks/cuda/elementwise.cuh"
#include "op/registry.hpp"

namespace roofline::swiglu_cuda {
namespace {

/// An exponential and a reciprocal of the special function units. A gate below -87 has a denominator near or past
/// the end of fp32; the fast quotient is then 0, which is correct within 1e-36.
struct Gate {
  __device__ float operator()(const float (&x)[2]) const {
    constexpr float kLog2E = 1.4426950408889634f;
    return __fdividef(x[0], 1.0f + fast_exp2(-kLog2E * x[0])) * x[1];
  }
};

const ImplementationRegistrar kRegistrar(
    "swiglu",
    {map_implementation<Gate, 2>("scalar", "one element per thread", MapVariant::scalar),
     map_implementation<Gate, 2>("vectorized", "16-byte accesses, one per input and thread", MapVariant::vectorized)});

}  // namespace
}  // namespace roofline::swiglu_cuda
