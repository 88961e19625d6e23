// The paths to a GPU's tensor cores, and their common operands and checks. Each path is a file: wgmma.cu,
// mma_sync.cu, library_gemm.cu; tensor.cu selects the device's roof.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "kernels/calibration/cuda/probe.cuh"

namespace roofline {

enum class Fill : std::uint8_t { random, zeros };

/// Approximate duration of a launch. In its first 0.1 ms an H200's tensor cores run at 0.95 of their rate and at a
/// falling clock (from 1980 to 1600 MHz, then up to 1740); in a millisecond that is 1 %.
constexpr double kTensorLaunch_s = 1e-3;

/// Rounds that fill kTensorLaunch_s, if one round is that many operations of an SM and the path reaches `share` of
/// the pipe's rate.
int tensor_rounds(const CudaDevice& device, Pipe pipe, double operations_per_round, double share, double scale);

/// The type of a tensor pipe's operands, and the bytes of one element.
DType dtype_of(Pipe pipe);
int operand_bytes(Pipe pipe);

/// Elements of the pipe's type: uniform in [-1, 1), all 256 values for int8; or zeros.
std::vector<std::byte> make_operands(Pipe pipe, std::size_t bytes, Fill fill);

/// The products of all rows of `a` with all rows of `b`, accumulated in fp64: element (row of a) * (rows of b) +
/// (row of b).
std::vector<double> row_products(Pipe pipe, std::span<const std::byte> a, std::span<const std::byte> b, int row_bytes);

/// Tolerance of these sums on that pipe: 0 for int8, otherwise a fraction of the largest.
double accumulation_error(Pipe pipe, std::span<const double> sums);

/// Operands in device memory, and copies on the host.
struct Operands {
  std::vector<std::byte> host;
  std::shared_ptr<Buffer> device;
};
Operands upload_operands(CudaDevice& device, Pipe pipe, std::size_t bytes, Fill fill);

/// Why a path is unavailable on this device in this build; nothing if it is available.
std::optional<std::string> wgmma_unsupported(const CudaDevice& device, Pipe pipe);
std::optional<std::string> mma_sync_unsupported(const CudaDevice& device, Pipe pipe);
std::optional<std::string> library_gemm_unsupported(Pipe pipe);

/// The variants of a path, as Probe::make returns them.
std::optional<ProbeCase> wgmma_case(CudaDevice& device, Pipe pipe, Fill fill, const ProbeRequest& request, int variant);
std::optional<ProbeCase> mma_sync_case(CudaDevice& device, Pipe pipe, Fill fill, const ProbeRequest& request,
                                       int variant);
std::optional<ProbeCase> library_gemm_case(CudaDevice& device, Pipe pipe, const ProbeRequest& request, int variant);

}  // namespace roofline
