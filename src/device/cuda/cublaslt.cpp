// Bindings for cuBLASLt, and the descriptors of one GEMM.
#include "device/cuda/cublaslt.hpp"

#include <cublasLt.h>
#include <fmt/format.h>

#include <array>
#include <vector>

#include "device/cuda/cublas.hpp"
#include "device/cuda/handles.hpp"
#include "host/shared_library.hpp"
#include "model/error.hpp"

namespace roofline {
namespace {

constexpr int kMostCandidates = 16;

struct CublasLtFunctions : SharedLibrary {
  using SharedLibrary::SharedLibrary;
  decltype(&cublasLtCreate) create = symbol("cublasLtCreate");
  decltype(&cublasLtDestroy) destroy = symbol("cublasLtDestroy");
  decltype(&cublasLtMatmul) matmul = symbol("cublasLtMatmul");
  decltype(&cublasLtMatmulAlgoGetHeuristic) get_heuristic = symbol("cublasLtMatmulAlgoGetHeuristic");
  decltype(&cublasLtMatmulDescCreate) create_description = symbol("cublasLtMatmulDescCreate");
  decltype(&cublasLtMatmulDescDestroy) destroy_description = symbol("cublasLtMatmulDescDestroy");
  decltype(&cublasLtMatmulDescSetAttribute) describe = symbol("cublasLtMatmulDescSetAttribute");
  decltype(&cublasLtMatrixLayoutCreate) create_layout = symbol("cublasLtMatrixLayoutCreate");
  decltype(&cublasLtMatrixLayoutDestroy) destroy_layout = symbol("cublasLtMatrixLayoutDestroy");
  decltype(&cublasLtMatmulPreferenceCreate) create_preference = symbol("cublasLtMatmulPreferenceCreate");
  decltype(&cublasLtMatmulPreferenceDestroy) destroy_preference = symbol("cublasLtMatmulPreferenceDestroy");
  decltype(&cublasLtMatmulPreferenceSetAttribute) prefer = symbol("cublasLtMatmulPreferenceSetAttribute");
  decltype(&cublasLtGetStatusString) status_string = symbol("cublasLtGetStatusString");
};

/// Null if cuBLASLt is missing or lacks a function.
const CublasLtFunctions* cublaslt_functions() {
  static const CublasLtFunctions table(cublas_library_names("libcublasLt"));
  return table.complete() ? &table : nullptr;
}

void check_lt(cublasStatus_t status, const char* what) {
  if (status == CUBLAS_STATUS_SUCCESS) return;
  check(cudaPeekAtLastError(), what);
  throw Error(fmt::format("{}: {}", what, cublaslt_functions()->status_string(status)));
}

cudaDataType blas_type(DType dtype) {
  static constexpr std::array kTypes = {CUDA_R_64F,  CUDA_R_32F,     CUDA_R_32F, CUDA_R_16F,
                                        CUDA_R_16BF, CUDA_R_8F_E4M3, CUDA_R_8I,  CUDA_R_32I};  // by the DType
  return kTypes.at(static_cast<std::size_t>(dtype));
}

struct Computation {
  cublasComputeType_t type = CUBLAS_COMPUTE_32F;
  cudaDataType scalars = CUDA_R_32F;
};

Computation computation_of(DType operands) {
  if (operands == DType::fp64) return {CUBLAS_COMPUTE_64F, CUDA_R_64F};
  if (operands == DType::tf32) return {CUBLAS_COMPUTE_32F_FAST_TF32, CUDA_R_32F};
  if (operands == DType::int8) return {CUBLAS_COMPUTE_32I, CUDA_R_32I};
  return {};
}

/// One and zero in the scalar type.
struct Scalars {
  double wide[2] = {1, 0};
  float narrow[2] = {1, 0};
  std::int32_t whole[2] = {1, 0};

  const void* at(cudaDataType type, int index) const {
    if (type == CUDA_R_64F) return &wide[index];
    if (type == CUDA_R_32I) return &whole[index];
    return &narrow[index];
  }
};

}  // namespace

std::optional<std::string> cublaslt_missing() {
  if (cublaslt_functions() != nullptr) return std::nullopt;
  return "cuBLASLt was not found: install it (libcublasLt) or set CUDA_HOME";
}

struct LtGemm::State {
  const CublasLtFunctions* table = cublaslt_functions();
  cublasLtHandle_t handle = nullptr;
  cublasLtMatmulDesc_t description = nullptr;
  std::array<cublasLtMatrixLayout_t, 3> layouts{};  ///< of A, B and C
  Computation computation;
  cudaStream_t stream = nullptr;
  DeviceMemory workspace;
  std::vector<cublasLtMatmulHeuristicResult_t> candidates;

  ~State() {
    for (const auto layout : layouts) {
      if (layout != nullptr) table->destroy_layout(layout);
    }
    if (description != nullptr) table->destroy_description(description);
    if (handle != nullptr) table->destroy(handle);
  }

  void describe(const LtProduct& product);
  void find_candidates();
};

void LtGemm::State::describe(const LtProduct& product) {
  computation = computation_of(product.operands);
  check_lt(table->create_description(&description, computation.type, computation.scalars),
           "describing a matrix product");
  const cublasOperation_t operation = product.transpose_a ? CUBLAS_OP_T : CUBLAS_OP_N;
  check_lt(table->describe(description, CUBLASLT_MATMUL_DESC_TRANSA, &operation, sizeof operation),
           "describing a matrix product");
  if (product.operands == DType::fp8) {
    const std::int8_t fast = 1;
    check_lt(table->describe(description, CUBLASLT_MATMUL_DESC_FAST_ACCUM, &fast, sizeof fast),
             "describing a matrix product");
  }
  const auto layout = [&](std::size_t index, DType type, std::int64_t rows, std::int64_t columns) {
    check_lt(table->create_layout(&layouts[index], blas_type(type), static_cast<std::uint64_t>(rows),
                                  static_cast<std::uint64_t>(columns), rows),
             "describing a matrix");
  };
  const auto [rows, columns] = product.transpose_a ? std::pair{product.k, product.m} : std::pair{product.m, product.k};
  layout(0, product.operands, rows, columns);
  layout(1, product.operands, product.k, product.n);
  layout(2, product.result, product.m, product.n);
}

void LtGemm::State::find_candidates() {
  cublasLtMatmulPreference_t preference = nullptr;
  check_lt(table->create_preference(&preference), "querying algorithms");
  const std::size_t workspace_bytes = kCublasWorkspaceBytes;
  const std::uint32_t reductions = CUBLASLT_REDUCTION_SCHEME_INPLACE | CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE;
  candidates.resize(kMostCandidates);
  int found = 0;
  table->prefer(preference, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, &workspace_bytes, sizeof workspace_bytes);
  table->prefer(preference, CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK, &reductions, sizeof reductions);
  const cublasStatus_t status =
      table->get_heuristic(handle, description, layouts[0], layouts[1], layouts[2], layouts[2], preference,
                           kMostCandidates, candidates.data(), &found);
  table->destroy_preference(preference);
  check_lt(status, "querying cuBLASLt's algorithms");
  candidates.resize(static_cast<std::size_t>(found));
  std::erase_if(candidates, [](const auto& result) { return result.state != CUBLAS_STATUS_SUCCESS; });
  if (candidates.empty()) throw Error("cuBLASLt has no algorithm for this product");
}

LtGemm::LtGemm(const LtProduct& product, cudaStream_t stream) : state_(std::make_unique<State>()) {
  if (const auto missing = cublaslt_missing()) throw Error(*missing);
  check_lt(state_->table->create(&state_->handle), "creating a cuBLASLt handle");
  state_->stream = stream;
  state_->workspace = make_device_memory(kCublasWorkspaceBytes);
  state_->describe(product);
  state_->find_candidates();
}

LtGemm::~LtGemm() = default;

int LtGemm::candidates() const { return static_cast<int>(state_->candidates.size()); }

void LtGemm::run(int index, const void* a, const void* b, void* c) {
  const State& state = *state_;
  static constexpr Scalars kScalars;
  const cudaDataType scalars = state.computation.scalars;
  check_lt(state.table->matmul(state.handle, state.description, kScalars.at(scalars, 0), a, state.layouts[0], b,
                               state.layouts[1], kScalars.at(scalars, 1), c, state.layouts[2], c, state.layouts[2],
                               &state.candidates.at(static_cast<std::size_t>(index)).algo, state.workspace.get(),
                               kCublasWorkspaceBytes, state.stream),
           "cuBLASLt product");
}

}  // namespace roofline
