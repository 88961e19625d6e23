// GELU on a GPU. The kernels are those of elementwise.cuh.
#include "gelu.hpp"
#include "kernels/blocks/cuda/elementwise.cuh"
#include "op/registry.hpp"

namespace roofline {
namespace {

/// An exponential and a reciprocal of the special function units.
struct Formula {
  __device__ float operator()(const float (&x)[1]) const {
    constexpr float kLog2E = 1.4426950408889634f;
    constexpr auto kFirst = static_cast<float>(kGeluLinear) * kLog2E;
    constexpr auto kThird = static_cast<float>(kGeluCubic) * kLog2E;
    return __fdividef(x[0], 1.0f + fast_exp2(x[0] * (kFirst + kThird * x[0] * x[0])));
  }
};

const ImplementationRegistrar kRegistrar(
    "gelu", {map_implementation<Formula, 1>("scalar", "one element per thread", MapVariant::scalar),
             map_implementation<Formula, 1>("vectorized", "16-byte accesses, one per thread", MapVariant::vectorized)});

}  // namespace
}  // namespace roofline
