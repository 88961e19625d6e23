#include <cmath>

#include "report/diagnosis/quantity_groups.hpp"
#include "report/roof_share.hpp"

namespace roofline {
namespace {

/// One ceiling as a share of another.
std::optional<double> share_of(const Machine& machine, std::string_view part, std::string_view whole) {
  const Ceiling* a = machine.find(part);
  const Ceiling* b = machine.find(whole);
  return a != nullptr && b != nullptr && b->value > 0 ? std::optional(a->value / b->value) : std::nullopt;
}

double bits_of(std::string_view isa) { return isa.starts_with("avx512") ? 512 : isa.starts_with("avx") ? 256 : 128; }

/// True if the row computes with integers and no ceiling says how fast the machine does so.
bool is_unmeasured_integer_work(const Point& point) {
  bool measured = false, declared = false;
  for (const ResourceTime& resource : point.bound.resources) {
    if (resource.kind != CeilingKind::compute || !(resource.amount > 0)) continue;
    measured = measured || std::isfinite(resource.time_s);
    declared = declared || resource.ceiling == to_string(Pipe::int32) || resource.ceiling == to_string(Pipe::int8);
  }
  const bool by_formula =
      point.verification && point.verification->work && point.verification->work->integer_operations;
  return !measured && (declared || by_formula);
}

/// Elements that a vector pipe processes per cycle, of `lanes` in a vector: half as many on CPUs that split their
/// widest vectors (Zen 4). `one_core`: roof of one core; without its clock, `lanes`.
double lanes_per_cycle(const Ceiling* one_core, double lanes) {
  if (one_core == nullptr || !one_core->clocks.core_hz) return lanes;
  constexpr double kPipes = 2, kFlopsPerElement = 2, kSplit = 0.6;
  const double per_cycle = one_core->value / *one_core->clocks.core_hz / (kPipes * kFlopsPerElement);
  return per_cycle < kSplit * lanes ? lanes / 2 : lanes;
}

}  // namespace

void add_cpu(QuantityCollector& out, const Point& point, const Machine& machine, const Counters* counters) {
  const DeviceInfo& device = machine.device;
  const double time = time_at_roof_speed(point);
  const auto threads = static_cast<double>(device.units);
  const double used = point.work.threads > 0 ? static_cast<double>(point.work.threads) : threads;
  out.set("threads.of", threads);
  out.set("threads.used", used);
  if (threads > 0) out.set("threads.used_share", used / threads);
  if (has_roof_of_own_threads(point)) out.set("roof.on_own_threads", point.fraction_of_roof());
  out.set("roof.on_all_threads", fraction_on_all_threads(point, machine));
  out.flag_is("integers", is_integer(point.workload.dtype));
  out.flag_is("integer.unmeasured", is_unmeasured_integer_work(point));
  // Loops of a program say what they lose by threads themselves, and how wide their instructions are.
  const bool of_program = point.profiled && point.profiled->loop;
  if (!of_program) out.set("threads.saving", saving_on_all_threads(point, machine));
  out.set("cores", number_of(device.attributes, AttributeKey::physical_cores));
  if (const auto cores = out.get("cores"); cores > 0)
    out.set("threads.share", static_cast<double>(device.units) / *cores);
  const std::optional<Pipe> pipe = dominant_pipe(point.work);
  if (pipe == Pipe::fp32 || pipe == Pipe::fp64) {
    const double rate = point.work.flops.at(*pipe) / time;
    const double lanes = bits_of(device.isa) / (pipe == Pipe::fp32 ? 32 : 64);
    const Ceiling* one_core = machine.find(std::string(to_string(*pipe)) + std::string(kOneCore));
    if (one_core != nullptr && used > 1) out.set("one_core", rate / one_core->value);
    const Ceiling* roof = machine.compute_at(*pipe, std::nullopt, point.work.threads);
    if (roof != nullptr) {
      const Ceiling* of_one_core = one_core == nullptr && device.units <= 1 ? roof : one_core;
      const double scalar_rate = roof->value / lanes_per_cycle(of_one_core, lanes);
      out.set(of_program ? "loop.scalar_rate" : "scalar", rate / scalar_rate);
    }
    out.set("lanes", lanes);
  }
  const auto traffic = point.work.bytes.find(Level::dram);
  // With many passes, the bytes are not a working set.
  if (!of_program && traffic != point.work.bytes.end() && traffic->second.total() > 0) {
    const double bytes = traffic->second.total();
    if (!traffic->second.unsplit) out.set("writes", traffic->second.write / bytes);
    out.set("working_set", bytes);
    const Ceiling* roof = machine.find(point.bound.limiting_ceiling);
    const bool roof_in_place = roof != nullptr && roof->pattern && is_in_place(*roof->pattern);
    out.flag_is("in_place.apart", point.work.cache.has_value() && traffic->second.in_place && !roof_in_place);
    const Ceiling* regular = machine.find("dram.copy.regular");
    // Not for kernels that already use non-temporal stores (background load can slow them to the same rate), nor for
    // those that write where they read: their stores find the line in the cache.
    const bool comparable = regular != nullptr && used == threads && !point.work.cache;
    const bool may_bypass = !point.non_temporal_stores && !traffic->second.in_place;
    if (comparable && may_bypass) out.set("regular.share", bytes / time / regular->value);
    if (const double cache = machine.largest_cache_bytes(); cache > 0) {
      out.set("cache.multiple", bytes / cache);
      if (point.work.write_only) out.set("write_only.of_cache", *point.work.write_only / cache);
    }
  }
  out.set("regular.of_roof", share_of(machine, "dram.copy.regular", "dram.copy"));
  if (device.huge_page_share) out.flag_is("pages.small", !(*device.huge_page_share > 0));
  out.set("numa.nodes", number_of(device.attributes, AttributeKey::numa_nodes));
  out.set("numa.remote", share_of(machine, "numa.remote", "numa.local"));
  if (counters == nullptr) return;
  const auto flops = counters->sum({"fp32.ops", "fp64.ops", "fp.ops"});
  const auto instructions = counters->find("instructions");
  if (flops && instructions > 0) out.set("flops.per_instruction", *flops / *instructions);
}

}  // namespace roofline
