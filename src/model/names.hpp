// The field's closed vocabularies (pipes, levels, patterns, element types) and their spelling in files.
// No arithmetic here; every `to_string` is the inverse of its `parse_…`.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace roofline {

/// An execution resource that FLOPs are issued to. Spelled in files as in docs/report-schema.md:
/// fp64, fp32, fp16, bf16, int32, int8, sfu, tensor.fp64, tensor.tf32, tensor.fp16, tensor.bf16, tensor.fp8,
/// tensor.int8. Those of a type alone are vector units: bf16 and int8 on a CPU are its dot products of that type, whose
/// sums are wider. `tensor` are matrix units: tensor cores of a GPU, AMX of a CPU.
enum class Pipe : std::uint8_t {
  fp64,
  fp32,
  fp16,
  bf16,
  int32,
  int8,
  sfu,
  tensor_fp64,
  tensor_tf32,
  tensor_fp16,
  tensor_bf16,
  tensor_fp8,
  tensor_int8,
};

/// A level of the memory hierarchy, or a link. GPUs have hbm, l2, l1, shared; CPUs dram, l3, l2, l1. `network` is
/// what collectives use, of any kind.
enum class Level : std::uint8_t { hbm, dram, l3, l2, l1, shared, pcie, nvlink, network };

/// Access pattern of a bandwidth probe. A copy reads as much as it writes, a triad twice as much; read4_write1 and its
/// kin are mixes of that many bytes each. update and accumulate write where they read, with the mixes of copy and
/// triad: y = f(y) and y = f(x, y). h2d, d2h and duplex (both directions at once) belong to links.
enum class Pattern : std::uint8_t {
  read,
  write,
  copy,
  triad,
  read4_write1,
  read1_write2,
  read1_write4,
  update,
  accumulate,
  h2d,
  d2h,
  duplex
};

/// The type of a tensor's elements: fp8 is E4M3 (finite, at most 448); int32 holds the sums of int8 products. Those
/// after int32 are indices, masks and counts of a suite's own kernels; no op computes in them.
enum class DType : std::uint8_t {
  fp64,
  fp32,
  tf32,
  fp16,
  bf16,
  fp8,
  int8,
  int32,
  uint8,
  int16,
  uint16,
  uint32,
  int64,
  uint64
};
constexpr bool is_integer(DType dtype) { return dtype >= DType::int8; }

enum class DeviceKind : std::uint8_t { cpu, cuda };

std::string_view to_string(Pipe pipe);
std::string_view to_string(Level level);
std::string_view to_string(Pattern pattern);
std::string_view to_string(DType dtype);
std::string_view to_string(DeviceKind kind);

std::optional<Pipe> parse_pipe(std::string_view text);
std::optional<Level> parse_level(std::string_view text);
std::optional<Pattern> parse_pattern(std::string_view text);
std::optional<DType> parse_dtype(std::string_view text);
std::optional<DeviceKind> parse_device_kind(std::string_view text);

/// Every spelling of a vocabulary, in declaration order: for messages and for "did you mean".
std::span<const std::string_view> pipe_names();
std::span<const std::string_view> level_names();
std::span<const std::string_view> pattern_names();
std::span<const std::string_view> dtype_names();

/// Bytes that one element takes in memory (tf32 is stored as fp32: 4).
std::int64_t element_size(DType dtype);

/// The level that holds a device's main memory: hbm on a GPU, dram on a CPU.
Level main_memory(DeviceKind kind);

/// The full-rate pipe of a matrix product in `dtype` on such a device: the tensor pipe of that type, if such
/// devices have one (plain fp32 stays on fp32 everywhere, fp64 on a CPU). Not every CPU has it; see unit_for() in
/// machine.hpp.
Pipe matrix_pipe(DType dtype, DeviceKind kind);

/// True if the pattern writes in place.
bool is_in_place(Pattern pattern);

/// True for matrix units: tensor cores of a GPU, AMX of a CPU.
bool is_tensor(Pipe pipe);

/// The level of a bandwidth or latency ceiling of that name: "hbm.copy" belongs to hbm, "nccl.all_reduce" and "network"
/// to the network. std::nullopt for pipes and launch paths.
std::optional<Level> level_of(std::string_view ceiling);

/// The unit for products of that pipe on a CPU that lacks it, by the available kernels: dot products of bf16 and
/// int8 instead of tiles, otherwise fp32 after widening. Other pipes are unchanged.
Pipe lesser_unit(Pipe pipe);

/// The pipe of elementwise arithmetic: fp64 for fp64, int32 for integers, otherwise fp32, to which narrower types
/// are converted.
Pipe vector_pipe(DType dtype);

}  // namespace roofline
