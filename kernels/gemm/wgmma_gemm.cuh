// GEMM by the persistent wgmma kernel: its operands as tensor maps.
#pragma once

#include <array>
#include <map>

#include "device/cuda/tensor_map.hpp"
#include "kernels/blocks/cuda/element.cuh"
#include "kernels/gemm/gemm_implementations.hpp"
#include "kernels/gemm/wgmma_launch.cuh"

namespace roofline {

/// c[m, n] = a[m, k] · b, row-major; b is [k, n], or [n, k] if Config does not transpose it.
template <typename Config>
struct GemmOperands {
  CUtensorMap a;
  CUtensorMap b;
  CUtensorMap c;
  int depth_steps;

  __device__ int steps() const { return depth_steps; }
  __device__ void load_a(void* to, Barrier& full, int row, int step) const {
    load_tile(to, &a, full, step * Config::kDepth, row);
  }
  __device__ void load_b(void* to, Barrier& full, int column, int step, int part) const {
    const int across = column + part * Config::kBoxN;
    const int down = step * Config::kDepth;
    const int x = Config::kTransposedB ? across : down;
    const int y = Config::kTransposedB ? down : across;
    load_tile_multicast(to, &b, full, x, y, Config::kEveryBlock);
  }
};

/// GEMM of one Config and one shape. Tensor maps contain addresses, so they are created when a set of buffers is
/// first used, and cached.
template <typename Config>
class WgmmaGemm {
 public:
  /// `type` is that of a and b, `result` that of c. Throws Error if the kernel cannot run here.
  WgmmaGemm(const GemmProblem& problem, DType type, DType result)
      : size_(problem), type_(type), result_(result), launch_(problem.m, problem.n, kGroup, problem.stream) {}

  void run(const void* a, const void* b, void* c) {
    const auto [known, inserted] = operands_.try_emplace({a, b, c});
    if (inserted) known->second = maps(a, b, c);
    launch_(known->second);
  }

  std::int64_t rounds() const { return launch_.rounds(); }

 private:
  static constexpr int kGroup = 8;  /// rows of tiles in a strip: 8 x 8 tiles of 256 x 256 are active on 132 SMs

  CUtensorMap matrix_map(const void* base, DType type, std::int64_t rows, std::int64_t columns, int box_rows,
                         int box_columns) const {
    return make_tensor_map(base, type, std::array{columns, rows}, std::array{columns},
                           std::array{box_columns, box_rows});
  }

  GemmOperands<Config> maps(const void* a, const void* b, void* c) const {
    GemmOperands<Config> made;
    made.a = matrix_map(a, type_, size_.m, size_.k, Config::kTileM, Config::kDepth);
    made.b = Config::kTransposedB ? matrix_map(b, type_, size_.k, size_.n, Config::kDepth, Config::kBoxN)
                                  : matrix_map(b, type_, size_.n, size_.k, Config::kBoxN, Config::kDepth);
    made.c = matrix_map(c, result_, size_.m, size_.n, 16, 64);
    made.depth_steps = static_cast<int>(ceil_div(size_.k, Config::kDepth));
    return made;
  }

  GemmProblem size_;
  DType type_;
  DType result_;
  WgmmaLaunch<Config, GemmOperands<Config>> launch_;
  std::map<std::array<const void*, 3>, GemmOperands<Config>> operands_;
};

}  // namespace roofline
