// Bindings for cuBLAS, and the GEMM that uses them.
#include "device/cuda/cublas.hpp"

#include <cublas_v2.h>
#include <fmt/format.h>

#include <array>
#include <cstdlib>

#include "device/cuda/handles.hpp"
#include "host/shared_library.hpp"
#include "model/error.hpp"

namespace roofline {
namespace {

/// Written out because cublas_v2.h overloads the name for C++, so decltype is ambiguous.
using GemmEx = cublasStatus_t(cublasHandle_t, cublasOperation_t, cublasOperation_t, int m, int n, int k,
                              const void* alpha, const void* a, cudaDataType, int lda, const void* b, cudaDataType,
                              int ldb, const void* beta, void* c, cudaDataType, int ldc, cublasComputeType_t,
                              cublasGemmAlgo_t);

struct CublasFunctions : SharedLibrary {
  using SharedLibrary::SharedLibrary;
  decltype(&cublasCreate_v2) create = symbol("cublasCreate_v2");
  decltype(&cublasDestroy_v2) destroy = symbol("cublasDestroy_v2");
  decltype(&cublasSetStream_v2) set_stream = symbol("cublasSetStream_v2");
  decltype(&cublasSetWorkspace_v2) set_workspace = symbol("cublasSetWorkspace_v2");
  decltype(&cublasSetMathMode) set_math_mode = symbol("cublasSetMathMode");
  GemmEx* gemm_ex = symbol("cublasGemmEx");
  decltype(&cublasGetStatusString) status_string = symbol("cublasGetStatusString");
  decltype(&cublasGetProperty) get_property = symbol("cublasGetProperty");
};

/// Null if cuBLAS is missing or lacks a function.
const CublasFunctions* cublas_functions() {
  static const CublasFunctions table(cublas_library_names("libcublas"));
  return table.complete() ? &table : nullptr;
}

void check_cublas(cublasStatus_t status, const char* what) {
  if (status == CUBLAS_STATUS_SUCCESS) return;
  // If the context is lost, CUDA's error is more specific than cuBLAS's "execution failed".
  check(cudaPeekAtLastError(), what);
  throw Error(fmt::format("{}: {}", what, cublas_functions()->status_string(status)));
}

struct Types {
  cudaDataType data = CUDA_R_32F;
  cublasComputeType_t compute = CUBLAS_COMPUTE_32F;
};

Types types_of(DType dtype) {
  static constexpr std::array kTypes = {Types{CUDA_R_64F, CUBLAS_COMPUTE_64F}, Types{CUDA_R_32F, CUBLAS_COMPUTE_32F},
                                        Types{CUDA_R_32F, CUBLAS_COMPUTE_32F_FAST_TF32},
                                        Types{CUDA_R_16F, CUBLAS_COMPUTE_32F},
                                        Types{CUDA_R_16BF, CUBLAS_COMPUTE_32F}};  // fp64, fp32, tf32, fp16, bf16
  const auto index = static_cast<std::size_t>(dtype);
  if (index >= kTypes.size()) throw Error("cuBLAS does not support this type");
  return kTypes[index];
}

}  // namespace

std::vector<std::string> cublas_library_names(const std::string& library) {
  std::vector<std::string> folders = {""};
  for (const char* variable : {"CUDA_HOME", "CUDA_PATH"}) {
    if (const char* home = std::getenv(variable)) folders.push_back(std::string(home) + "/lib64/");
  }
  folders.emplace_back("/usr/local/cuda/lib64/");
  std::vector<std::string> names;
  for (const char* version : {".so.13", ".so.12"}) {
    for (const std::string& folder : folders) names.push_back(folder + library + version);
  }
  return names;
}

std::optional<std::string> cublas_missing() {
  if (cublas_functions() != nullptr) return std::nullopt;
  return "cuBLAS was not found: install it (libcublas) or set CUDA_HOME";
}

struct CublasHandle::State {
  const CublasFunctions* table = cublas_functions();
  cublasHandle_t handle = nullptr;
  DeviceMemory workspace;

  ~State() {
    if (handle != nullptr) table->destroy(handle);
  }
};

CublasHandle::CublasHandle(cudaStream_t stream) : state_(std::make_unique<State>()) {
  if (const auto missing = cublas_missing()) throw Error(*missing);
  const CublasFunctions& table = *state_->table;
  check_cublas(table.create(&state_->handle), "creating a cuBLAS handle");
  check_cublas(table.set_stream(state_->handle, stream), "setting cuBLAS's stream");
  state_->workspace = make_device_memory(kCublasWorkspaceBytes);
  // After cublasSetStream, which resets the workspace.
  check_cublas(table.set_workspace(state_->handle, state_->workspace.get(), kCublasWorkspaceBytes),
               "setting cuBLAS's workspace");
  // Otherwise split-K may reduce partial sums in 16 bits.
  const auto mode = static_cast<cublasMath_t>(CUBLAS_DEFAULT_MATH | CUBLAS_MATH_DISALLOW_REDUCED_PRECISION_REDUCTION);
  check_cublas(table.set_math_mode(state_->handle, mode), "setting cuBLAS's precision");
}

CublasHandle::~CublasHandle() = default;

void CublasHandle::gemm(const CublasGemm& product) {
  const Types types = types_of(product.dtype);
  // Scalars have the compute type.
  const bool wide = product.dtype == DType::fp64;
  const double wide_scalars[] = {1, 0};
  const float scalars[] = {1, 0};
  const void* one = wide ? static_cast<const void*>(&wide_scalars[0]) : &scalars[0];
  const void* zero = wide ? static_cast<const void*>(&wide_scalars[1]) : &scalars[1];
  const auto operation = [](bool transpose) { return transpose ? CUBLAS_OP_T : CUBLAS_OP_N; };
  check_cublas(
      state_->table->gemm_ex(state_->handle, operation(product.transpose_a), operation(product.transpose_b), product.m,
                             product.n, product.k, one, product.a, types.data, product.lda, product.b, types.data,
                             product.ldb, zero, product.c, types.data, product.ldc, types.compute, CUBLAS_GEMM_DEFAULT),
      "cuBLAS product");
}

std::string CublasHandle::version() const {
  int major = 0;
  int minor = 0;
  int patch = 0;
  check_cublas(state_->table->get_property(MAJOR_VERSION, &major), "reading cuBLAS's version");
  check_cublas(state_->table->get_property(MINOR_VERSION, &minor), "reading cuBLAS's version");
  check_cublas(state_->table->get_property(PATCH_LEVEL, &patch), "reading cuBLAS's version");
  return fmt::format("cuBLAS {}.{}.{}", major, minor, patch);
}

}  // namespace roofline
