#include "device/cuda/tensor_map.hpp"

#include <cuda_runtime_api.h>
#include <fmt/format.h>

#include <array>
#include <vector>

#include "device/cuda/check.hpp"
#include "model/error.hpp"

namespace roofline {
namespace {

/// An entry point of the driver, by way of the runtime: the tool must start if there is no driver.
template <typename Function>
Function driver_function(const char* name) {
  void* function = nullptr;
  cudaDriverEntryPointQueryResult found{};
  check(cudaGetDriverEntryPointByVersion(name, &function, 12000, cudaEnableDefault, &found), name);
  if (found != cudaDriverEntryPointSuccess) throw Error(fmt::format("the driver lacks {}", name));
  return reinterpret_cast<Function>(function);
}

CUtensorMapDataType map_type(DType dtype) {
  static constexpr std::array kTypes = {
      CU_TENSOR_MAP_DATA_TYPE_FLOAT64, CU_TENSOR_MAP_DATA_TYPE_FLOAT32,  CU_TENSOR_MAP_DATA_TYPE_TFLOAT32,
      CU_TENSOR_MAP_DATA_TYPE_FLOAT16, CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, CU_TENSOR_MAP_DATA_TYPE_UINT8,
      CU_TENSOR_MAP_DATA_TYPE_UINT8,   CU_TENSOR_MAP_DATA_TYPE_INT32,    CU_TENSOR_MAP_DATA_TYPE_UINT8,
      CU_TENSOR_MAP_DATA_TYPE_UINT16,  CU_TENSOR_MAP_DATA_TYPE_UINT16,   CU_TENSOR_MAP_DATA_TYPE_UINT32,
      CU_TENSOR_MAP_DATA_TYPE_INT64,   CU_TENSOR_MAP_DATA_TYPE_UINT64};  // by the DType: fp8, int8 and int16 by size
  return kTypes.at(static_cast<std::size_t>(dtype));
}

std::vector<cuuint64_t> extents_of(std::span<const std::int64_t> extents) { return {extents.begin(), extents.end()}; }

std::vector<cuuint64_t> strides_in_bytes(std::span<const std::int64_t> strides, DType dtype) {
  std::vector<cuuint64_t> bytes;
  for (const std::int64_t stride : strides) bytes.push_back(static_cast<cuuint64_t>(stride * element_size(dtype)));
  return bytes;
}

void check_encoded(CUresult result) {
  if (result != CUDA_SUCCESS) {
    throw Error(fmt::format("the driver refused a tensor map (CUresult {})", static_cast<int>(result)));
  }
}

}  // namespace

CUtensorMap make_tensor_map(const void* base, DType dtype, std::span<const std::int64_t> extents,
                            std::span<const std::int64_t> strides, std::span<const int> box, TileLayout layout,
                            L2Fetch fetch) {
  static const auto encode = driver_function<decltype(&cuTensorMapEncodeTiled)>("cuTensorMapEncodeTiled");
  const auto sizes = extents_of(extents);
  const auto pitches = strides_in_bytes(strides, dtype);
  const std::vector<cuuint32_t> tile(box.begin(), box.end());
  const std::vector<cuuint32_t> steps(extents.size(), 1);
  CUtensorMap map;
  check_encoded(
      encode(&map, map_type(dtype), static_cast<cuuint32_t>(extents.size()), const_cast<void*>(base), sizes.data(),
             pitches.data(), tile.data(), steps.data(), CU_TENSOR_MAP_INTERLEAVE_NONE,
             layout == TileLayout::plain ? CU_TENSOR_MAP_SWIZZLE_NONE : CU_TENSOR_MAP_SWIZZLE_128B,
             fetch == L2Fetch::bytes_128 ? CU_TENSOR_MAP_L2_PROMOTION_L2_128B : CU_TENSOR_MAP_L2_PROMOTION_L2_256B,
             CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE));
  return map;
}

CUtensorMap make_im2col_map(const void* base, DType dtype, std::span<const std::int64_t, 4> extents,
                            std::span<const std::int64_t, 3> strides, std::span<const int, 2> lower,
                            std::span<const int, 2> upper, int channels, int pixels) {
  static const auto encode = driver_function<decltype(&cuTensorMapEncodeIm2col)>("cuTensorMapEncodeIm2col");
  const auto sizes = extents_of(extents);
  const auto pitches = strides_in_bytes(strides, dtype);
  const std::vector<cuuint32_t> steps(4, 1);
  CUtensorMap map;
  check_encoded(encode(&map, map_type(dtype), 4, const_cast<void*>(base), sizes.data(), pitches.data(), lower.data(),
                       upper.data(), static_cast<cuuint32_t>(channels), static_cast<cuuint32_t>(pixels), steps.data(),
                       CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_128B, CU_TENSOR_MAP_L2_PROMOTION_L2_256B,
                       CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE));
  return map;
}

}  // namespace roofline
