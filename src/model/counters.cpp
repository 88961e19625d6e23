// Counts → FLOPs by pipe and bytes by level. The ids are those of the metric tables (src/device).
#include "model/counters.hpp"

#include <algorithm>
#include <array>

#include "model/spelling.hpp"

namespace roofline {
namespace {

constexpr std::array<std::string_view, 4> kLimits = {"threads", "blocks", "registers", "shared memory"};

struct PipeIds {
  Pipe pipe;
  std::array<std::string_view, 3> ids;  /// whose values add up to the pipe's operations; empty ones are unused
};

constexpr std::array<PipeIds, 6> kTensorOps = {{
    {Pipe::tensor_fp64, {"tensor.fp64_ops"}},
    {Pipe::tensor_tf32, {"tensor.wgmma_tf32_ops", "tensor.mma_tf32_ops"}},
    {Pipe::tensor_fp16, {"tensor.wgmma_fp16_ops", "tensor.mma_fp16_ops", "tensor.mma_fp16_fp16_ops"}},
    {Pipe::tensor_bf16, {"tensor.wgmma_bf16_ops", "tensor.mma_bf16_ops"}},
    {Pipe::tensor_fp8, {"tensor.fp8_ops"}},
    {Pipe::tensor_int8, {"tensor.wgmma_int8_ops", "tensor.mma_int8_ops"}},
}};

/// add + mul + 2 fma, times the operations of one thread instruction.
std::optional<double> vector_flops(const Counters& counters, std::string_view pipe, double packed) {
  const std::string name(pipe);
  const auto add = counters.find(name + ".add");
  const auto mul = counters.find(name + ".mul");
  const auto fma = counters.find(name + ".fma");
  if (!add || !mul || !fma) return std::nullopt;
  return packed * (*add + *mul + 2 * *fma);
}

/// The counted operations of a pipe; std::nullopt if there are none and a part of the pipe was not requested.
std::optional<double> tensor_ops(const Counters& counters, const PipeIds& entry) {
  double sum = 0;
  bool all = true;
  for (const std::string_view id : entry.ids) {
    if (id.empty()) continue;
    sum += counters.find(id).value_or(0);
    all = all && (counters.values.contains(id) || counters.missing.contains(id));
  }
  return all || sum > 0 ? std::optional(sum) : std::nullopt;
}

/// Wavefronts of 128 bytes. The hardware also counts one per global store of a warp, which is subtracted.
std::optional<double> shared_bytes(const Counters& counters) {
  constexpr double kWavefront = 128;
  const auto wavefronts = counters.find("shared.wavefronts");
  const auto stores = counters.find("global.store_instructions");
  if (!wavefronts || !stores) return std::nullopt;
  return kWavefront * std::max(*wavefronts - *stores, 0.0);
}

}  // namespace

std::string_view to_string(OccupancyLimit limit) { return spell(kLimits, limit); }
std::optional<OccupancyLimit> parse_occupancy_limit(std::string_view text) {
  return unspell<OccupancyLimit>(kLimits, text);
}

std::optional<double> Counters::find(std::string_view id) const {
  const auto found = values.find(id);
  return found == values.end() ? std::nullopt : std::optional(found->second);
}

std::optional<double> Counters::sum(std::initializer_list<std::string_view> ids) const {
  std::optional<double> total;
  for (const std::string_view id : ids) {
    if (const auto value = find(id)) total = total.value_or(0) + *value;
  }
  return total;
}

std::optional<double> Counters::ratio(std::string_view id, std::string_view over) const {
  const auto numerator = find(id);
  const auto denominator = find(over);
  if (!numerator || !denominator || *denominator == 0) return std::nullopt;
  return *numerator / *denominator;
}

std::map<Pipe, double> counted_flops(const Counters& counters) {
  std::map<Pipe, double> flops;
  if (const auto count = vector_flops(counters, "fp64", 1)) flops[Pipe::fp64] = *count;
  if (const auto count = vector_flops(counters, "fp32", 1)) flops[Pipe::fp32] = *count;
  // The counters distinguish neither fp16 from bf16 nor packed from scalar instructions: both are given as packed
  // fp16.
  if (const auto count = vector_flops(counters, "half", 2)) flops[Pipe::fp16] = *count;
  for (const PipeIds& entry : kTensorOps) {
    if (const auto count = tensor_ops(counters, entry)) flops[entry.pipe] = *count;
  }
  return flops;
}

std::optional<Traffic> counted_traffic(const Counters& counters) {
  const auto read = counters.find("dram.read_bytes"), write = counters.find("dram.write_bytes");
  if (read && write) return Traffic{.read = *read, .write = *write};
  const auto all = counters.find("dram.bytes");
  return all ? std::optional(unsplit_traffic(*all)) : std::nullopt;
}

std::optional<double> counted_bytes(const Counters& counters, Level level) {
  switch (level) {
    case Level::hbm:
    case Level::dram:
      if (const auto unsplit = counters.find("dram.bytes")) return unsplit;
      return counters.sum({"dram.read_bytes", "dram.write_bytes"});
    case Level::l2:
      return counters.find("l2.bytes");
    case Level::l1:
      return counters.find("l1.bytes");
    case Level::shared:
      return shared_bytes(counters);
    case Level::l3:
      return counters.find("l3.bytes");
    default:
      return std::nullopt;
  }
}

std::optional<double> wgmma_share(const Counters& counters) {
  const auto wgmma = counters.sum(
      {"tensor.wgmma_bf16_ops", "tensor.wgmma_fp16_ops", "tensor.wgmma_tf32_ops", "tensor.wgmma_int8_ops"});
  const auto mma = counters.sum({"tensor.mma_bf16_ops", "tensor.mma_fp16_ops", "tensor.mma_fp16_fp16_ops",
                                 "tensor.mma_tf32_ops", "tensor.mma_int8_ops"});
  const double total = wgmma.value_or(0) + mma.value_or(0);
  if (!(total > 0)) return std::nullopt;
  return wgmma.value_or(0) / total;
}

}  // namespace roofline
