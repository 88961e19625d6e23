// GEMM by NVIDIA's libraries, which are column-major: the row-major c is its transpose, and transpose(c) =
// transpose(b) · transpose(a). cublas uses the library's choice; cublaslt tries the candidates.
#include <algorithm>
#include <climits>
#include <memory>
#include <vector>

#include "device/cuda/check.hpp"
#include "device/cuda/cublas.hpp"
#include "device/cuda/cublaslt.hpp"
#include "device/cuda/cuda_device.hpp"
#include "device/cuda/handles.hpp"
#include "kernels/gemm/gemm_implementations.hpp"
#include "op/registry.hpp"
#include "op/tensor.hpp"

namespace roofline {
namespace {

Kernel prepare_cublas(const Workload& workload, Device& device) {
  const GemmProblem problem = gemm_problem(workload, device);
  CublasHandle& cublas = as_cuda(device).cublas();
  CublasGemm product;
  product.m = static_cast<int>(problem.n);
  product.n = static_cast<int>(problem.m);
  product.k = static_cast<int>(problem.k);
  product.lda = product.m;
  product.ldb = product.k;
  product.ldc = product.m;
  product.dtype = workload.dtype;
  return [&cublas, product](std::span<void* const> tensors) {
    CublasGemm call = product;
    call.a = tensors[1];
    call.b = tensors[0];
    call.c = tensors[2];
    cublas.gemm(call);
  };
}

std::optional<std::string> unsupported_cublas(const Workload& workload, const Device&) {
  for (const char* extent : {"m", "n", "k"}) {
    if (workload.shape[extent] > INT_MAX) return std::string("cuBLAS has 32-bit sizes, and ") + extent + " is larger";
  }
  return cublas_missing();
}

/// Operands for trying candidates: random, because zeros draw less power and run faster.
class Scratch {
 public:
  Scratch(const std::vector<TensorSpec>& specs, Device& device) {
    for (const TensorSpec& spec : specs) {
      buffers_.push_back(device.allocate(static_cast<std::size_t>(spec.bytes())));
      if (spec.role == TensorRole::input) fill(spec, *buffers_.back(), device);
    }
  }
  void* operator[](std::size_t tensor) { return buffers_[tensor]->data(); }

 private:
  /// A random start, repeated.
  static void fill(const TensorSpec& spec, Buffer& buffer, Device& device) {
    TensorSpec beginning = spec;
    beginning.elements = std::min<std::int64_t>(spec.elements, std::int64_t{1} << 21);
    HostTensor values(beginning);
    values.fill_random(1);
    auto* to = static_cast<std::byte*>(buffer.data());
    device.upload(to, values.bytes().data(), values.bytes().size());
    for (std::int64_t made = beginning.bytes(); made < spec.bytes(); made *= 2) {
      device.copy(to + made, to, static_cast<std::size_t>(std::min(made, spec.bytes() - made)));
    }
  }

  std::vector<std::unique_ptr<Buffer>> buffers_;
};

double milliseconds(const std::function<void()>& work, cudaStream_t stream) {
  const Event start = make_event();
  const Event stop = make_event();
  check(cudaEventRecord(start.get(), stream), "timing a candidate");
  work();
  check(cudaEventRecord(stop.get(), stream), "timing a candidate");
  check(cudaEventSynchronize(stop.get()), "timing a candidate");
  float elapsed = 0;
  check(cudaEventElapsedTime(&elapsed, start.get(), stop.get()), "timing a candidate");
  return elapsed;
}

/// The candidate with the lowest median time. All run in turn, for several rounds, so that the clock, which falls
/// under tensor load, falls for all of them; candidates that are far behind in the first rounds are dropped. The
/// heuristics' first choice is kept unless another is faster by more than the scatter of the rounds.
int fastest_candidate(LtGemm& gemm, Scratch& scratch, cudaStream_t stream) {
  constexpr int kRounds = 11;
  constexpr double kFarBehind = 1.15;
  constexpr double kClearlyFaster = 0.985;
  constexpr double kRoundMilliseconds = 1;  // per candidate and round: several launches if they are short
  const auto count = static_cast<std::size_t>(gemm.candidates());
  const auto run = [&](std::size_t candidate, int launches) {
    return milliseconds(
               [&] {
                 for (int i = 0; i < launches; ++i) {
                   gemm.run(static_cast<int>(candidate), scratch[1], scratch[0], scratch[2]);
                 }
               },
               stream) /
           launches;
  };
  std::vector<std::vector<double>> times(count);
  std::vector<double> medians(count);
  for (std::size_t i = 0; i < count; ++i) run(i, 1);  // loads its code
  const int launches = std::clamp(static_cast<int>(kRoundMilliseconds / run(0, 1)), 1, 50);
  for (int round = 0; round < kRounds; ++round) {
    const double least = round < 2 ? 0 : *std::min_element(medians.begin(), medians.end());
    for (std::size_t i = 0; i < count; ++i) {
      if (round >= 2 && medians[i] > kFarBehind * least) continue;
      std::vector<double>& of_one = times[i];
      of_one.push_back(run(i, launches));
      std::sort(of_one.begin(), of_one.end());
      medians[i] = of_one[of_one.size() / 2];
    }
  }
  const auto fastest = std::min_element(medians.begin(), medians.end());
  return *fastest < kClearlyFaster * medians[0] ? static_cast<int>(fastest - medians.begin()) : 0;
}

/// The heuristics' first choice if there is no memory to try the candidates.
int choose_candidate(LtGemm& gemm, const Workload& workload, CudaDevice& device) {
  const std::vector<TensorSpec> specs = find_op("gemm")->tensors(workload);
  double bytes = 0;
  for (const TensorSpec& spec : specs) bytes += static_cast<double>(spec.bytes());
  if (gemm.candidates() == 1 || bytes > 0.9 * device.free_memory_bytes()) return 0;
  Scratch scratch(specs, device);
  const int fastest = fastest_candidate(gemm, scratch, device.stream());
  device.synchronize();
  return fastest;
}

Kernel prepare_cublaslt(const Workload& workload, Device& device) {
  const GemmProblem problem = gemm_problem(workload, device);
  LtProduct product;
  product.transpose_a = workload.dtype == DType::fp8 || workload.dtype == DType::int8;  // b is stored as n x k
  product.m = problem.n;
  product.n = problem.m;
  product.k = problem.k;
  product.operands = workload.dtype;
  product.result = find_op("gemm")->tensors(workload).back().dtype;
  const auto gemm = std::make_shared<LtGemm>(product, problem.stream);
  const int candidate = choose_candidate(*gemm, workload, as_cuda(device));
  return
      [gemm, candidate](std::span<void* const> tensors) { gemm->run(candidate, tensors[1], tensors[0], tensors[2]); };
}

std::optional<std::string> unsupported_cublaslt(const Workload& workload, const Device& device) {
  const bool narrow = element_size(workload.dtype) == 1;
  if (narrow && (workload.shape["k"] % 16 != 0 || workload.shape["n"] % 16 != 0)) {
    return "cuBLASLt needs k and n in multiples of 16 for 8-bit types";
  }
  if (workload.dtype == DType::fp8 && as_cuda(device).properties().major < 9) {
    return "fp8 needs compute capability 9.0 or later";
  }
  return cublaslt_missing();
}

}  // namespace

Implementation gemm_cublas() {
  return {.name = "cublas",
          .summary = "cuBLAS; tensor cores for all types except fp32",
          .device = DeviceKind::cuda,
          .dtypes = {DType::fp64, DType::fp32, DType::tf32, DType::fp16, DType::bf16},
          .unsupported = unsupported_cublas,
          .prepare = prepare_cublas};
}

Implementation gemm_cublaslt() {
  return {.name = "cublaslt",
          .summary = "cuBLASLt, the fastest of up to 16 heuristic candidates for this shape",
          .device = DeviceKind::cuda,
          .dtypes = {DType::fp64, DType::fp32, DType::tf32, DType::fp16, DType::bf16, DType::fp8, DType::int8},
          .unsupported = unsupported_cublaslt,
          .prepare = prepare_cublaslt};
}

}  // namespace roofline
