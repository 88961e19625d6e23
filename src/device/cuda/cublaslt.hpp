// cuBLASLt, loaded at run time: one GEMM, and the algorithms that the library's heuristics propose for it.
#pragma once

#include <cuda_runtime_api.h>

#include <memory>
#include <optional>
#include <string>

#include "model/names.hpp"

namespace roofline {

/// Why cuBLASLt cannot be used on this machine, with the remedy; empty if it can.
std::optional<std::string> cublaslt_missing();

/// C = op(A)·B with cuBLAS's conventions: column-major and dense, `m` rows of C. A is m × k, or k × m if transposed;
/// B is k × n.
struct LtProduct {
  bool transpose_a = false;
  std::int64_t m = 0, n = 0, k = 0;
  DType operands = DType::fp32;
  DType result = DType::fp32;  ///< bf16 for fp8, int32 for int8, else the operands' type
};

/// One GEMM with the heuristics' candidates, best first, and its own workspace. fp32 is computed in fp32; tf32 rounds
/// fp32 operands to tf32; 16- and 8-bit floats accumulate in fp32, int8 in int32. fp8 uses fast accumulation: partial
/// sums stay in the tensor cores at reduced precision instead of being promoted to fp32 registers periodically. Split-K
/// never reduces in 16 bits.
class LtGemm {
 public:
  /// Throws Error if the library is missing or has no algorithm for the GEMM.
  LtGemm(const LtProduct& product, cudaStream_t stream);
  ~LtGemm();
  LtGemm(const LtGemm&) = delete;
  LtGemm& operator=(const LtGemm&) = delete;

  int candidates() const;
  /// Enqueues the GEMM with candidate `index`. All pointers 256-byte aligned.
  void run(int index, const void* a, const void* b, void* c);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace roofline
