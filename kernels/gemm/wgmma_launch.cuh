// Launch of the persistent wgmma kernel (wgmma_mainloop.cuh) for any operands: grid, cluster, and reasons why it
// cannot run.
#pragma once

#include <algorithm>
#include <optional>
#include <string>

#include "device/cuda/check.hpp"
#include "kernels/blocks/cuda/hopper.hpp"
#include "kernels/gemm/wgmma_mainloop.cuh"
#include "model/error.hpp"

namespace roofline {

template <typename Config, typename Operands>
class WgmmaLaunch {
 public:
  /// For a result of `m` rows and `n` columns, in strips of `group` rows of tiles. Throws Error if the kernel
  /// cannot run here.
  WgmmaLaunch(std::int64_t m, std::int64_t n, int group, cudaStream_t stream) : stream_(stream) {
    check(cudaFuncSetAttribute(kKernel, cudaFuncAttributeMaxDynamicSharedMemorySize, Config::kSharedBytes),
          "setting the wgmma kernel's shared memory size");
    constexpr std::int64_t kRows = std::int64_t{Config::kTileM} * Config::kCluster;
    order_ = {.rows = static_cast<int>((m + kRows - 1) / kRows),
              .columns = static_cast<int>((n + Config::kTileN - 1) / Config::kTileN),
              .group = group};
    int clusters = 0;
    const cudaLaunchConfig_t any = config_of(Config::kCluster);
    check(cudaOccupancyMaxActiveClusters(&clusters, kKernel, &any), "querying the maximum number of active clusters");
    if (clusters == 0) throw Error("no cluster of the wgmma kernel fits on the GPU");
    blocks_ = std::min(clusters, order_.count()) * Config::kCluster;
  }

  void operator()(const Operands& operands) {
    cudaLaunchConfig_t config = config_of(blocks_);
    check(cudaLaunchKernelEx(&config, kKernel, operands, order_), "wgmma kernel");
  }

  /// Waves until all tiles are done, in units of columns of the result; used to choose a tile.
  std::int64_t rounds() const {
    const int clusters = blocks_ / Config::kCluster;
    return std::int64_t{(order_.count() + clusters - 1) / clusters} * Config::kTileN;
  }

  /// Why the kernel cannot run on this GPU in this build, or nothing.
  static std::optional<std::string> missing(const Device& device) {
    return hopper_missing(device, Hopper::wgmma, kKernel);
  }

 private:
  static constexpr auto kKernel = wgmma_gemm<Config, Operands>;

  cudaLaunchConfig_t config_of(int blocks) {
    cluster_.id = cudaLaunchAttributeClusterDimension;
    cluster_.val.clusterDim = {Config::kCluster, 1, 1};
    cudaLaunchConfig_t config = {};
    config.gridDim = dim3(static_cast<unsigned>(blocks));
    config.blockDim = dim3(Config::kThreads);
    config.dynamicSmemBytes = Config::kSharedBytes;
    config.stream = stream_;
    config.attrs = &cluster_;
    config.numAttrs = 1;
    return config;
  }

  cudaStream_t stream_;
  TileOrder order_{};
  int blocks_ = 0;
  cudaLaunchAttribute cluster_{};
};

}  // namespace roofline
