// ReLU on a GPU: y = max(x, 0). The kernels are those of elementwise.cuh.
#include "kernels/blocks/cuda/elementwise.cuh"
#include "op/registry.hpp"

namespace roofline::relu_cuda {
namespace {

struct Rectify {
  __device__ float operator()(const float (&x)[1]) const { return fmaxf(x[0], 0.0f); }
};

const ImplementationRegistrar kRegistrar(
    "relu", {map_implementation<Rectify, 1>("naive", "one element per thread", MapVariant::scalar),
             map_implementation<Rectify, 1>("vectorized", "16-byte accesses, one per thread", MapVariant::vectorized)});

}  // namespace
}  // namespace roofline::relu_cuda
