// cuBLAS, loaded at run time, so that the program starts without it.
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

/// Workspace of every handle. NVIDIA recommends 32 MiB on Hopper (cuBLAS documentation, cublasSetWorkspace); twice that
/// is enough for all split-K kernels.
inline constexpr std::size_t kCublasWorkspaceBytes = std::size_t{64} << 20;

/// Candidate paths of a cuBLAS library ("libcublas", "libcublasLt"): the loader's search path, then the toolkit's
/// folders. The version of the headers comes first, because enumerations may differ in newer versions.
std::vector<std::string> cublas_library_names(const std::string& library);

/// Why cuBLAS cannot be used on this machine, with the remedy; empty if it can.
std::optional<std::string> cublas_missing();

/// C = op(A)·op(B) with cuBLAS's conventions: column-major, `m` rows of C.
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

/// One cuBLAS handle on one stream, with its own workspace: cuBLAS then allocates nothing, and its calls can be
/// captured into graphs.
class CublasHandle {
 public:
  /// Throws Error if the library is missing.
  explicit CublasHandle(cudaStream_t stream);
  ~CublasHandle();
  CublasHandle(const CublasHandle&) = delete;
  CublasHandle& operator=(const CublasHandle&) = delete;

  /// Enqueues one product. fp64 and fp32 are computed in their own type; tf32 rounds fp32 operands to tf32; fp16 and
  /// bf16 accumulate in fp32. Throws Error for 8-bit types.
  void gemm(const CublasGemm& product);

  /// "cuBLAS 13.1.0".
  std::string version() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace roofline
