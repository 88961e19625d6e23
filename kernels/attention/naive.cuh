// Attention in three fp32 kernels with the whole matrix of scores in memory: a thread per score, a block per row of
// the softmax, a thread per output. The baseline for the fused kernels.
#pragma once

#include <algorithm>
#include <climits>
#include <cmath>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "device/cuda/check.hpp"
#include "device/cuda/cuda_device.hpp"
#include "device/cuda/handles.hpp"
#include "kernels/attention/attention.hpp"
#include "kernels/blocks/cuda/reduce.cuh"
#include "op/op.hpp"

namespace roofline {

namespace attention_naive {

constexpr int kThreads = 256;

/// `heads` of all batches, each [queries, head_dim] by [keys, head_dim].
struct Problem {
  std::int64_t heads;
  std::int64_t group;  ///< consecutive heads that share keys and values
  std::int64_t queries;
  std::int64_t keys;
  std::int64_t head_dim;
  bool causal;  ///< query i sees keys 0 … i only
  float scale;

  __host__ __device__ std::int64_t scores() const { return heads * queries * keys; }
  __host__ __device__ std::int64_t outputs() const { return heads * queries * head_dim; }
  /// The first key of the head that row `row` of the scores belongs to, among those of all heads.
  __device__ std::int64_t first_key(std::int64_t row) const { return row / queries / group * keys; }
  __device__ std::int64_t seen(std::int64_t row) const { return causal ? row % queries + 1 : keys; }
};

template <typename T>
__global__ void scores(const T* __restrict__ q, const T* __restrict__ k, float* __restrict__ s, Problem problem) {
  const std::int64_t index = std::int64_t{blockIdx.x} * kThreads + threadIdx.x;
  if (index >= problem.scores()) return;
  const std::int64_t row = index / problem.keys;
  const std::int64_t key = index % problem.keys;
  if (key >= problem.seen(row)) return;  // neither computed nor read
  const T* query = q + row * problem.head_dim;
  const T* other = k + (problem.first_key(row) + key) * problem.head_dim;
  float sum = 0;
  for (std::int64_t i = 0; i < problem.head_dim; ++i) sum = fmaf(widen(query[i]), widen(other[i]), sum);
  s[index] = sum * problem.scale;
}

template <typename Score>
__global__ void __launch_bounds__(kThreads) softmax(Score* __restrict__ s, Problem problem) {
  const std::int64_t seen = problem.seen(blockIdx.x);
  Score* row = s + std::int64_t{blockIdx.x} * problem.keys;
  float largest = -INFINITY;
  for (std::int64_t i = threadIdx.x; i < seen; i += kThreads) largest = fmaxf(largest, row[i]);
  largest = group_reduce<kThreads>(largest, Max{});
  float sum = 0;
  for (std::int64_t i = threadIdx.x; i < seen; i += kThreads) {
    row[i] = expf(row[i] - largest);
    sum += row[i];
  }
  sum = group_reduce<kThreads>(sum, Sum{});
  for (std::int64_t i = threadIdx.x; i < seen; i += kThreads) row[i] /= sum;
}

template <typename T>
__global__ void outputs(const float* __restrict__ s, const T* __restrict__ v, T* __restrict__ o, Problem problem) {
  const std::int64_t index = std::int64_t{blockIdx.x} * kThreads + threadIdx.x;
  if (index >= problem.outputs()) return;
  const std::int64_t row = index / problem.head_dim;
  const T* column = v + problem.first_key(row) * problem.head_dim + index % problem.head_dim;
  const std::int64_t seen = problem.seen(row);
  float sum = 0;
  for (std::int64_t key = 0; key < seen; ++key) {
    sum = fmaf(s[row * problem.keys + key], widen(column[key * problem.head_dim]), sum);
  }
  o[index] = narrow<T>(sum);
}

/// `scratch` holds problem.scores() floats.
template <typename T>
void launch(const Problem& problem, std::span<void* const> tensors, float* scratch, cudaStream_t stream) {
  const auto blocks = [](std::int64_t threads) { return static_cast<unsigned>(ceil_div(threads, kThreads)); };
  scores<<<blocks(problem.scores()), kThreads, 0, stream>>>(static_cast<const T*>(tensors[0]),
                                                            static_cast<const T*>(tensors[1]), scratch, problem);
  check_launch("naive attention, scores");
  softmax<<<static_cast<unsigned>(problem.heads * problem.queries), kThreads, 0, stream>>>(scratch, problem);
  check_launch("naive attention, softmax");
  outputs<<<blocks(problem.outputs()), kThreads, 0, stream>>>(scratch, static_cast<const T*>(tensors[2]),
                                                              static_cast<T*>(tensors[3]), problem);
  check_launch("naive attention, outputs");
}

inline Problem problem_of(const Attended& e) {
  return {.heads = e.heads,
          .group = e.group,
          .queries = e.queries,
          .keys = e.keys,
          .head_dim = e.d,
          .causal = e.causal,
          .scale = static_cast<float>(1 / std::sqrt(static_cast<double>(e.d)))};
}

/// Limiting the scores to a quarter of the GPU's memory leaves room for the tensors and their rotation.
inline std::optional<std::string> unsupported(const Problem& problem, const Device& device) {
  const double bytes = static_cast<double>(problem.scores()) * sizeof(float);
  if (bytes > as_cuda(device).properties().memory_bytes / 4) return "the scores need more than a quarter of the memory";
  if (std::max(problem.scores(), problem.outputs()) / kThreads >= INT_MAX) return "exceeds the maximum grid size";
  return std::nullopt;
}

inline Kernel prepare(const Problem& problem, DType dtype, Device& device) {
  auto scratch = std::make_shared<DeviceMemory>(make_device_memory(problem.scores() * sizeof(float)));
  return with_element_type(dtype, [&]<typename T>() -> Kernel {
    return [problem, scratch, stream = as_cuda(device).stream()](std::span<void* const> tensors) {
      launch<T>(problem, tensors, static_cast<float*>(scratch->get()), stream);
    };
  });
}

/// The implementation of an op with such extents, on tensors q, k, v and o.
inline Implementation implementation(Attended (*extents)(const Workload&),
                                     decltype(Implementation::extra_traffic) extra = {}) {
  return {
      .name = "naive",
      .summary = "three kernels; scores are written to memory and read back",
      .device = DeviceKind::cuda,
      .dtypes = {DType::fp32, DType::fp16, DType::bf16},
      .unsupported = [=](const Workload& w,
                         const Device& device) { return unsupported(problem_of(extents(w)), device); },
      .extra_traffic = std::move(extra),
      .prepare = [=](const Workload& w, Device& device) { return prepare(problem_of(extents(w)), w.dtype, device); }};
}

}  // namespace attention_naive
}  // namespace roofline
