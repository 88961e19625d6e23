#include "project/row_work.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "model/occupancy.hpp"

namespace roofline {
namespace {

enum Bytes : std::uint8_t { kLikely, kFewest, kMost };

Work counted_work(const Point& point) {
  Work work = point.work;
  if (!point.counters) return work;
  const Counters& counters = *point.counters;
  if (const auto traffic = counted_traffic(counters)) work.bytes[Level::hbm] = *traffic;
  if (const auto l2 = counted_bytes(counters, Level::l2)) work.bytes[Level::l2] = unsplit_traffic(*l2);
  if (work.flops.empty()) work.flops = counted_flops(counters);
  return work;
}

void scale(Work& work, Level level, double factor) {
  const auto traffic = work.bytes.find(level);
  if (traffic == work.bytes.end()) return;
  traffic->second.read *= factor;
  traffic->second.write *= factor;
}

double l2_bytes(const Machine& machine) {
  const auto& caches = machine.device.caches;
  const auto l2 = std::find_if(caches.begin(), caches.end(), [](const auto& of) { return of.level == Level::l2; });
  return l2 == caches.end() ? 0 : l2->bytes * static_cast<double>(std::max<std::int64_t>(l2->instances, 1));
}

/// Misses of a cache fall with the square root of its size (Hartstein et al., "Cache Miss Behavior: Is It sqrt(2)?",
/// 2006; exponents of programs lie between 0.3 and 0.7). This scales the part of the bytes that was requested more than
/// once, between no effect and the inverse of the size.
void follow_l2(std::array<Work, 3>& works, const Point& point, double here, double there) {
  // Caches of similar size: replacement and placement differ by more. The model was fitted within this ratio.
  constexpr double kSimilar = 1.3;
  if (!point.counters || !(here > 0) || !(there > 0)) return;
  if (std::max(here, there) <= kSimilar * std::min(here, there)) return;
  const auto fetched = counted_bytes(*point.counters, Level::hbm), wanted = counted_bytes(*point.counters, Level::l2);
  if (!fetched || !wanted || !(*fetched > 0) || !(*wanted > 0)) return;
  // All of it stays in L2 on both machines, so that none was fetched twice.
  if (std::max(*fetched, there < here ? *wanted : 0) <= std::min(here, there)) return;
  const auto model = point.work.bytes.find(Level::hbm);
  const bool modelled = !point.profiled && model != point.work.bytes.end();
  const double once = std::min(*fetched, modelled ? model->second.total() : std::min(here, there));
  const double repeated = modelled ? 1 - once / *fetched : std::max(0.0, 1 - *fetched / *wanted);
  const auto factor = [&](double exponent) {
    const double bytes = *fetched * (1 + repeated * (std::pow(here / there, exponent) - 1));
    return std::clamp(bytes, once, std::max(*fetched, *wanted)) / *fetched;
  };
  const double most = factor(there > here ? 0 : 1), fewest = factor(there > here ? 1 : 0);
  scale(works[kLikely], Level::hbm, factor(0.5));
  scale(works[kFewest], Level::hbm, fewest);
  scale(works[kMost], Level::hbm, most);
}

double size_ratio(const TypeChange& type) {
  return static_cast<double>(element_size(type.to)) / static_cast<double>(element_size(type.from));
}

/// Operands shrink, results may keep their type; a fused conversion reads the wide type.
void change_type(std::array<Work, 3>& works, const TypeChange& type) {
  const Pipe from = matrix_pipe(type.from, DeviceKind::cuda), to = matrix_pipe(type.to, DeviceKind::cuda);
  const double ratio = size_ratio(type);
  for (std::size_t i = 0; i < works.size(); ++i) {
    const auto moved = works.at(i).flops.extract(from);
    works.at(i).flops[to] += moved.mapped();
    if (i == kMost) continue;
    for (const Level level : {Level::hbm, Level::l2}) {
      const auto traffic = works.at(i).bytes.find(level);
      if (traffic == works.at(i).bytes.end()) continue;
      traffic->second.read *= ratio;
      if (i == kFewest) traffic->second.write *= ratio;
    }
  }
  if (ratio > 1) std::swap(works[kFewest].bytes, works[kMost].bytes);
}

/// Weights are read once for any batch, activations once for each sample.
void change_batch(std::array<Work, 3>& works, double batch) {
  for (std::size_t i = 0; i < works.size(); ++i) {
    for (auto& [pipe, count] : works.at(i).flops) count *= batch;
    for (auto& [pipe, count] : works.at(i).uncounted) count *= batch;
    if (i == kFewest && batch > 1) continue;
    for (auto& [level, traffic] : works.at(i).bytes) {
      traffic.read *= batch;
      traffic.write *= batch;
    }
  }
}

/// The compute capability from which tensor cores multiply that type (PTX ISA, mma); 0: not of interest here.
int first_capability(Pipe pipe) {
  switch (pipe) {
    case Pipe::tensor_fp8:
      return 89;
    case Pipe::tensor_bf16:
    case Pipe::tensor_tf32:
      return 80;
    case Pipe::tensor_int8:
      return 75;
    case Pipe::tensor_fp16:
      return 70;
    default:
      return 0;
  }
}

/// A data sheet lists the rates of all types that its tensor cores multiply.
bool is_absent_in_sheet(const Machine& machine, Pipe pipe) {
  const Ceiling* const products = machine.compute(Pipe::tensor_fp16);
  return products != nullptr && products->origin == kDataSheetOrigin && machine.compute(pipe) == nullptr;
}

}  // namespace

RowWork work_on_both(const Point& point, const Machine& here, const Machine& there, const WorkChange& change) {
  RowWork work;
  work.here = counted_work(point);
  work.there.fill(work.here);
  if (there.device.kind == DeviceKind::cuda && !work.here.cache) {
    follow_l2(work.there, point, l2_bytes(here), l2_bytes(there));
  }
  if (work.here.cache && point.resident_bytes > 0 && !there.device.caches.empty()) {
    for (Work& of : work.there) of.cache = there.cache_for(point.resident_bytes, of.threads);
  }
  if (change.type) {
    const auto found = work.here.flops.find(matrix_pipe(change.type->from, DeviceKind::cuda));
    if (found != work.here.flops.end() && found->second > 0) change_type(work.there, *change.type);
  }
  work.batch = change.batch;
  if (change.batch != 1) change_batch(work.there, change.batch);
  return work;
}

std::string missing_unit(const Work& work, const Machine& machine) {
  if (machine.device.kind != DeviceKind::cuda) return {};
  const int capability = compute_capability(machine.device.isa);
  for (const auto& [pipe, count] : work.flops) {
    const int first = first_capability(pipe);
    if (!(count > 0) || first == 0) continue;
    if ((capability > 0 && capability < first) || (capability == 0 && is_absent_in_sheet(machine, pipe))) {
      return fmt::format("{} has no {} pipe", machine.device.name, to_string(pipe));
    }
  }
  return {};
}

}  // namespace roofline
