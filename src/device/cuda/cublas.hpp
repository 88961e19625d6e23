// cuBLAS, loaded at run time: a program linked against it would not start where it is missing.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "model/names.hpp"

namespace roofline {

/// Of every handle. NVIDIA recommends 32 MiB on Hopper (cuBLAS documentation, cublasSetWorkspace); twice that leaves
/// split-K kernels no reason to fall back.
inline constexpr std::size_t kCublasWorkspaceBytes = std::size_t{64} << 20;

/// Where a library of cuBLAS ("libcublas", "libcublasLt") may be: the loader's own path first, then where the toolkit
/// puts it. The headers' version first: the newest is not always the one that this build's enumerations belong to.
std::vector<std::string> cublas_library_names(const std::string& library);

/// Why cuBLAS can't be used on this machine, with what to do; nothing when it can.
std::optional<std::string> cublas_missing();

/// C = op(A)·op(B) in cuBLAS's own terms: column-major, `m` rows of C.
struct CublasGemm {
  bool transpose_a = false;
  bool transpose_b = false;
  int m = 0, n = 0, k = 0;
  const void* a = nullptr;
  int lda = 0;
  const void* b = nullptr;
  int ldb = 0;
  void* c = nullptr;
  int ldc = 0;
  DType dtype = DType::fp32;
};

/// One cuBLAS handle on one stream, with a workspace of our own: cuBLAS then allocates nothing, and its
/// calls can be captured into graphs.
class CublasHandle {
 public:
  /// Throws Error where the library is missing.
  explicit CublasHandle(cudaStream_t stream);
  ~CublasHandle();
  CublasHandle(const CublasHandle&) = delete;
  CublasHandle& operator=(const CublasHandle&) = delete;

  /// Enqueues one product. fp64 and fp32 stay as they are; tf32 rounds fp32 operands to tf32; fp16 and bf16 accumulate
  /// in fp32. Throws Error for 8-bit types.
  void gemm(const CublasGemm& product);

  /// "cuBLAS 13.1.0".
  std::string version() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace roofline
