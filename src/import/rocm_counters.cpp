#include "import/rocm_counters.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <utility>

#include "import/clean_times.hpp"

namespace roofline {
namespace {

constexpr std::pair<std::string_view, Pipe> kVectorTypes[] = {
    {"F16", Pipe::fp16}, {"F32", Pipe::fp32}, {"F64", Pipe::fp64}};

/// The matrix cores' fp32 has the place of tf32: no other pipe of a matrix unit takes fp32.
constexpr std::pair<std::string_view, Pipe> kMatrixTypes[] = {{"F16", Pipe::tensor_fp16}, {"BF16", Pipe::tensor_bf16},
                                                              {"F32", Pipe::tensor_tf32}, {"F64", Pipe::tensor_fp64},
                                                              {"F8", Pipe::tensor_fp8},   {"I8", Pipe::tensor_int8}};

constexpr std::string_view kVector = "SQ_INSTS_VALU_";
constexpr std::string_view kMatrix = "SQ_INSTS_VALU_MFMA_MOPS_";
constexpr std::string_view kOtherMatrix = "SQ_INSTS_VALU_MFMA_MOPS_F6F4";

std::optional<double> value_of(const RocmMeans& means, const std::string& counter) {
  const auto found = means.find(counter);
  return found == means.end() ? std::nullopt : std::optional(found->second);
}

/// Operations of the vector units on one type; std::nullopt if a counter is missing.
std::optional<double> vector_flops(const RocmMeans& means, std::string_view type) {
  constexpr double kLanes = 64;
  double instructions = 0;
  for (const auto& [name, operations] : {std::pair("ADD_", 1.0), {"MUL_", 1.0}, {"FMA_", 2.0}, {"TRANS_", 1.0}}) {
    const auto value = value_of(means, fmt::format("{}{}{}", kVector, name, type));
    if (!value) return std::nullopt;
    instructions += operations * *value;
  }
  return kLanes * instructions;
}

/// The L2 cache's requests to memory, under the prefix of the chip's generation: "TCC_EA0_" since gfx940.
struct MemoryRequests {
  std::optional<double> reads, reads_32, writes, writes_64, bubbles;
  bool has_bubbles = false;  ///< the chip has requests of 128 bytes, which TCC_BUBBLE counts

  bool complete() const { return reads && reads_32 && writes && writes_64 && bubbles; }
  /// True if parts are more than the whole. Counters of different runs differ a little.
  bool contradictory() const {
    constexpr double kAlike = 1.05;
    return complete() && (*reads_32 + *bubbles > kAlike * *reads || *writes_64 > kAlike * *writes);
  }
};

MemoryRequests requests_of(const RocmMeans& means) {
  MemoryRequests requests;
  requests.has_bubbles = means.contains("TCC_EA0_RDREQ_sum");
  const std::string prefix = requests.has_bubbles ? "TCC_EA0_" : "TCC_EA_";
  requests.reads = value_of(means, prefix + "RDREQ_sum");
  requests.reads_32 = value_of(means, prefix + "RDREQ_32B_sum");
  requests.writes = value_of(means, prefix + "WRREQ_sum");
  requests.writes_64 = value_of(means, prefix + "WRREQ_64B_sum");
  requests.bubbles = requests.has_bubbles ? value_of(means, "TCC_BUBBLE_sum") : std::optional(0.0);
  return requests;
}

std::optional<Traffic> traffic_of(const RocmMeans& means) {
  constexpr double kSmall = 32, kUsual = 64, kLarge = 128, kKilobyte = 1024;
  const auto of_dram = [&](const char* counter) { return value_of(means, counter); };
  const auto reads = of_dram("TCC_EA0_RDREQ_DRAM_32B_sum"), writes = of_dram("TCC_EA0_WRREQ_WRITE_DRAM_32B_sum"),
             atomics = of_dram("TCC_EA0_WRREQ_ATOMIC_DRAM_32B_sum");
  if (reads && writes && atomics) return Traffic{.read = kSmall * *reads, .write = kSmall * (*writes + *atomics)};
  const MemoryRequests of = requests_of(means);
  if (of.complete()) {
    const double usual_reads = std::max(0.0, *of.reads - *of.reads_32 - *of.bubbles);
    const double small_writes = std::max(0.0, *of.writes - *of.writes_64);
    return Traffic{.read = kLarge * *of.bubbles + kUsual * usual_reads + kSmall * *of.reads_32,
                   .write = kUsual * *of.writes_64 + kSmall * small_writes};
  }
  const auto fetched = value_of(means, "FETCH_SIZE"), written = value_of(means, "WRITE_SIZE");
  if (fetched && written) return Traffic{.read = kKilobyte * *fetched, .write = kKilobyte * *written};
  return std::nullopt;
}

/// Chips whose instructions have 64 lanes, as the formulas want: CDNA. Names of counters tell where the chip is not
/// known.
bool has_64_lanes(std::string_view arch) { return arch.empty() || arch.starts_with("gfx9"); }

}  // namespace

bool RocmCounters::wants(std::string_view counter) {
  const auto is_memory = [counter] {
    return counter == "TCC_BUBBLE_sum" || counter == "FETCH_SIZE" || counter == "WRITE_SIZE" ||
           ((counter.starts_with("TCC_EA_") || counter.starts_with("TCC_EA0_")) && counter.ends_with("_sum") &&
            (counter.find("RDREQ_") != std::string_view::npos || counter.find("WRREQ_") != std::string_view::npos));
  };
  if (is_memory() || counter.starts_with(kMatrix)) return true;
  if (!counter.starts_with(kVector)) return false;
  return std::any_of(std::begin(kVectorTypes), std::end(kVectorTypes), [counter](const auto& type) {
    const std::string_view operation = counter.substr(kVector.size());
    return operation.ends_with(type.first) && (operation.starts_with("ADD_F") || operation.starts_with("MUL_F") ||
                                               operation.starts_with("FMA_F") || operation.starts_with("TRANS_F"));
  });
}

void RocmCounters::add(spool::Id kind, std::string_view counter, double value) {
  if (!std::isfinite(value) || value < 0) return;
  auto& sums = kinds_[kind];
  auto found = sums.find(counter);
  if (found == sums.end()) found = sums.emplace(std::string(counter), Sum{}).first;
  found->second.value += value;
  ++found->second.dispatches;
}

/// One of the two sizes alone is a run that was forgotten.
static std::string_view what_is_missing(const RocmMeans& means) {
  const bool fetched = means.contains("FETCH_SIZE"), written = means.contains("WRITE_SIZE");
  if (fetched && !written)
    return "bytes need WRITE_SIZE beside FETCH_SIZE: add it (rocprofv3 --pmc FETCH_SIZE WRITE_SIZE)";
  if (written && !fetched)
    return "bytes need FETCH_SIZE beside WRITE_SIZE: add it (rocprofv3 --pmc FETCH_SIZE WRITE_SIZE)";
  return "FLOPs need SQ_INSTS_VALU_{ADD,MUL,FMA,TRANS}_F*, bytes TCC_EA*_RDREQ and _WRREQ or FETCH_SIZE and WRITE_SIZE";
}

RocmWork rocm_work(const RocmMeans& means, std::string_view arch) {
  RocmWork result;
  result.work.launches = 0;
  if (means.empty()) return {.why_not = "the file has no counters of its FLOPs or bytes"};
  if (const auto other = value_of(means, std::string(kOtherMatrix)); other && *other > 0) {
    return {.why_not = "it has matrix products in FP4 or FP6, which are not modelled"};
  }
  if (requests_of(means).contradictory()) return {.why_not = "its counters contradict each other"};
  if (has_64_lanes(arch)) {
    for (const auto& [type, pipe] : kVectorTypes) {
      const auto flops = vector_flops(means, type);
      result.has_flops |= flops.has_value();
      if (flops && *flops > 0) result.work.flops[pipe] += *flops;
    }
    constexpr double kOperations = 512;
    for (const auto& [type, pipe] : kMatrixTypes) {
      const auto units = value_of(means, fmt::format("{}{}", kMatrix, type));
      result.has_flops |= units.has_value();
      if (units && *units > 0) result.work.flops[pipe] += kOperations * *units;
    }
  }
  if (const auto traffic = traffic_of(means)) {
    result.has_bytes = true;
    if (traffic->total() > 0) result.work.bytes[Level::hbm] = *traffic;
  }
  if (!result.has_flops && !result.has_bytes) {
    result.why_not = what_is_missing(means);
  } else if (result.work.flops.empty() && result.work.bytes.empty()) {
    result.why_not = "its counters are zero";
  }
  return result;
}

std::vector<std::string> RocmCounters::put_work(ProcessTrace& trace, TraceBuilder& builder, std::string_view arch,
                                                const std::string& by) const {
  std::int64_t without_flops = 0, without_bytes = 0, counted = 0, matrix_fp32 = 0;
  std::string_view why_none;  ///< of the first one with counters
  for (const spool::Kind& record : trace.kinds) {
    const spool::Id kind = record.id;
    if (kind == 0) continue;
    RocmMeans means;
    if (const auto found = kinds_.find(kind); found != kinds_.end()) {
      for (const auto& [counter, sum] : found->second) means[counter] = sum.value / sum.dispatches;
    }
    RocmWork result = rocm_work(means, arch);
    if (!result.why_not.empty()) {
      builder.without_work(kind, result.why_not);
      if (!means.empty() && why_none.empty()) why_none = result.why_not;
      continue;
    }
    ++counted;
    without_flops += result.has_flops ? 0 : 1;
    without_bytes += result.has_bytes ? 0 : 1;
    matrix_fp32 += result.work.flops.contains(Pipe::tensor_tf32) ? 1 : 0;
    if (!result.has_flops || !result.has_bytes) {
      builder.without_work(kind,
                           fmt::format("the file has no counters of its {}", result.has_bytes ? "FLOPs" : "bytes"));
    }
    trace.models[kind] = {.work = std::move(result.work), .by = by, .source = WorkSource::counted};
  }
  if (counted == 0 && !why_none.empty()) {
    trace.notes.push_back({.time = 0, .code = spool::NoteCode::not_counted, .text = std::string(why_none)});
  }
  std::vector<std::string> notes;
  if (counted > 0) {
    notes.emplace_back("FLOPs count all 64 lanes of an instruction, active or not, as rocprof-compute does");
  }
  const auto note = [&](std::int64_t number, std::string_view what) {
    if (number > 0) notes.push_back(fmt::format("{} of {} launch signatures {}", number, counted, what));
  };
  note(without_flops, "have counters of bytes but not of FLOPs: their intensity is unknown");
  note(without_bytes, "have counters of FLOPs but not of bytes: their memory roof is unknown");
  note(matrix_fp32, "have FP32 products on matrix cores, which are shown as TF32 tensor");
  return notes;
}

void finish_rocprofv3(ImportedProfile& profile, TraceBuilder& builder, const RocmCounters& counters,
                      const std::string& file) {
  if (profile.devices.empty()) profile.devices.emplace_back();
  for (const DeviceFacts& device : profile.devices) builder.device(device, file);
  clean_times(profile.trace, profile.time_defects);
  builder.finish();
  profile.trace.counts_by = profile.tool;
  profile.notes = counters.put_work(profile.trace, builder, profile.devices.front().chip, "rocprofv3's counters");
  if (counters.empty()) profile.notes.emplace_back("no counters in the file: FLOPs and bytes need rocprofv3 --pmc");
}

}  // namespace roofline
