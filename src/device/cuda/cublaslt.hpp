// cuBLASLt, loaded at run time: one product at a time, and the ways to compute it that the library's heuristics offer.
#pragma once

#include <cuda_runtime_api.h>

#include <memory>
#include <optional>
#include <string>

#include "model/names.hpp"

namespace roofline {

/// Why cuBLASLt can't be used on this machine, with what to do; nothing when it can.
std::optional<std::string> cublaslt_missing();

/// C = op(A)·B in cuBLAS's own terms: column-major and dense, `m` rows of C. A is m × k, or k × m where it is
/// transposed; B is k × n.
struct LtProduct {
  bool transpose_a = false;
  std::int64_t m = 0, n = 0, k = 0;
  DType operands = DType::fp32;
  DType result = DType::fp32;  ///< bf16 for fp8, int32 for int8, else that of the operands
};

/// One product, with the candidates that the heuristics name for it, best guess first, and a workspace of its own. fp32
/// stays fp32; tf32 rounds fp32 operands to tf32; 16- and 8-bit floats are summed in fp32, int8 in int32. fp8 with fast
/// accumulation: its sums stay in the tensor cores, which cut them, instead of moving to fp32 registers now and then.
/// Partial sums are never added in 16 bits.
class LtGemm {
 public:
  /// Throws Error where the library is missing or has no way to compute the product.
  LtGemm(const LtProduct& product, cudaStream_t stream);
  ~LtGemm();
  LtGemm(const LtGemm&) = delete;
  LtGemm& operator=(const LtGemm&) = delete;

  int candidates() const;
  /// Enqueues the product by candidate `index`. All pointers 256-byte aligned.
  void run(int index, const void* a, const void* b, void* c);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace roofline
