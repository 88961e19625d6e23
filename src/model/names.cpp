// Tables of names, and the pipe and level of a type on a device.
#include "model/names.hpp"

#include <array>

#include "model/spelling.hpp"

namespace roofline {
namespace {

constexpr std::array<std::string_view, 13> kPipes = {
    "fp64",        "fp32",        "fp16",        "bf16",        "int32",      "int8",       "sfu",
    "tensor.fp64", "tensor.tf32", "tensor.fp16", "tensor.bf16", "tensor.fp8", "tensor.int8"};
constexpr std::array<std::string_view, 9> kLevels = {"hbm",    "dram", "l3",     "l2",     "l1",
                                                     "shared", "pcie", "nvlink", "network"};
constexpr std::array<std::string_view, 12> kPatterns = {"read",         "write",        "copy",         "triad",
                                                        "read4_write1", "read1_write2", "read1_write4", "update",
                                                        "accumulate",   "h2d",          "d2h",          "duplex"};
constexpr std::array<std::string_view, 14> kDTypes = {"fp64",  "fp32",  "tf32",  "fp16",   "bf16",   "fp8",   "int8",
                                                      "int32", "uint8", "int16", "uint16", "uint32", "int64", "uint64"};
constexpr std::array<std::int64_t, 14> kElementSizes = {8, 4, 4, 2, 2, 1, 1, 4, 1, 2, 2, 4, 8, 8};  // in that order
constexpr std::array<Pipe, 14> kMatrixPipes = {
    Pipe::tensor_fp64, Pipe::fp32,        Pipe::tensor_tf32, Pipe::tensor_fp16, Pipe::tensor_bf16,
    Pipe::tensor_fp8,  Pipe::tensor_int8, Pipe::int32,       Pipe::int32,       Pipe::int32,
    Pipe::int32,       Pipe::int32,       Pipe::int32,       Pipe::int32};
constexpr std::array<std::string_view, 2> kDeviceKinds = {"cpu", "cuda"};

}  // namespace

std::string_view to_string(Pipe pipe) { return spell(kPipes, pipe); }
std::string_view to_string(Level level) { return spell(kLevels, level); }
std::string_view to_string(Pattern pattern) { return spell(kPatterns, pattern); }
std::string_view to_string(DType dtype) { return spell(kDTypes, dtype); }
std::string_view to_string(DeviceKind kind) { return spell(kDeviceKinds, kind); }

std::optional<Pipe> parse_pipe(std::string_view text) { return unspell<Pipe>(kPipes, text); }
std::optional<Level> parse_level(std::string_view text) { return unspell<Level>(kLevels, text); }
std::optional<Pattern> parse_pattern(std::string_view text) { return unspell<Pattern>(kPatterns, text); }
std::optional<DType> parse_dtype(std::string_view text) { return unspell<DType>(kDTypes, text); }
std::optional<DeviceKind> parse_device_kind(std::string_view text) { return unspell<DeviceKind>(kDeviceKinds, text); }

std::span<const std::string_view> pipe_names() { return kPipes; }
std::span<const std::string_view> level_names() { return kLevels; }
std::span<const std::string_view> pattern_names() { return kPatterns; }
std::span<const std::string_view> dtype_names() { return kDTypes; }

std::int64_t element_size(DType dtype) { return kElementSizes.at(static_cast<std::size_t>(dtype)); }

Level main_memory(DeviceKind kind) { return kind == DeviceKind::cuda ? Level::hbm : Level::dram; }

bool is_in_place(Pattern pattern) { return pattern == Pattern::update || pattern == Pattern::accumulate; }

bool is_tensor(Pipe pipe) { return pipe >= Pipe::tensor_fp64; }

std::optional<Level> level_of(std::string_view ceiling) {
  const std::string_view first = ceiling.substr(0, ceiling.find('.'));
  return first == "nccl" ? Level::network : parse_level(first);
}

Pipe matrix_pipe(DType dtype, DeviceKind kind) {
  const bool no_unit = kind == DeviceKind::cpu && (dtype == DType::fp64 || dtype == DType::tf32);
  return no_unit ? vector_pipe(dtype) : kMatrixPipes.at(static_cast<std::size_t>(dtype));
}

Pipe lesser_unit(Pipe pipe) {
  if (pipe == Pipe::tensor_int8) return Pipe::int8;
  if (pipe == Pipe::tensor_bf16) return Pipe::bf16;
  return pipe == Pipe::bf16 || pipe == Pipe::tensor_fp16 ? Pipe::fp32 : pipe;
}

Pipe vector_pipe(DType dtype) {
  if (is_integer(dtype)) return Pipe::int32;
  return dtype == DType::fp64 ? Pipe::fp64 : Pipe::fp32;
}

}  // namespace roofline
