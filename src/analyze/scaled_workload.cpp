// An extent at a time, until the tensors fit; the op and the kernel's formulas decide whether a shape is valid.
#include "analyze/scaled_workload.hpp"

#include <algorithm>
#include <string>

#include "model/error.hpp"
#include "user/user_implementation.hpp"

namespace roofline {
namespace {

/// True if the op, or the kernel's formulas, accept the shape.
bool is_valid(const SuiteEntry& entry, const Workload& workload) {
  try {
    for (const ShapeParameter& parameter : entry.op->parameters()) {
      if (!workload.shape.contains(parameter.name)) continue;
      const std::int64_t extent = workload.shape[parameter.name];
      if (extent < parameter.minimum || extent > parameter.maximum) return false;
    }
    if (entry.op->invalid(workload.shape)) return false;
    if (entry.kernel) check_bindings(*entry.kernel, workload);
    return bytes_of(*entry.op, workload) > 0;
  } catch (const Error&) {
    return false;
  }
}

Workload with_extent(Workload workload, const std::string& name, std::int64_t extent) {
  workload.shape.set(name, extent);
  return workload;
}

/// Operations per byte within a factor of 1.5: the same work per element.
bool does_the_same_work(const Op& op, const Workload& a, const Workload& b) {
  const double flops_a = units_of(op, a, true), flops_b = units_of(op, b, true);
  const double bytes_a = units_of(op, a, false), bytes_b = units_of(op, b, false);
  if (!(bytes_a > 0) || !(bytes_b > 0)) return false;
  if (!(flops_a > 0) || !(flops_b > 0)) return flops_a == flops_b;
  const double ratio = flops_a / bytes_a / (flops_b / bytes_b);
  return ratio > 1 / 1.5 && ratio < 1.5;
}

/// Halves an extent at a time until the tensors take at most so many bytes: of those that matter for them the one with
/// the largest `score(smaller workload, extent)`. std::nullopt if none is left before.
template <typename Score>
std::optional<Workload> halved(const SuiteEntry& entry, Workload workload, double bytes, Score&& score) {
  constexpr double kMatters = 0.8;
  const Op& op = *entry.op;
  while (bytes_of(op, workload) > bytes) {
    std::optional<Workload> best;
    double most = 0;
    for (const auto& [name, value] : workload.shape.extents()) {
      const Workload smaller = with_extent(workload, name, value / 2);
      if (value < 2 || !is_valid(entry, smaller) || bytes_of(op, smaller) > kMatters * bytes_of(op, workload)) continue;
      const double scored = score(smaller, value);
      if (!(scored > most)) continue;
      best = smaller;
      most = scored;
    }
    if (!best) return std::nullopt;
    workload = *best;
  }
  return workload;
}

}  // namespace

double bytes_of(const Op& op, const Workload& workload) {
  double bytes = 0;
  for (const TensorSpec& tensor : op.tensors(workload)) bytes += static_cast<double>(tensor.bytes());
  return bytes;
}

double units_of(const Op& op, const Workload& workload, bool products) {
  const Work work = op.work(workload, DeviceKind::cpu);
  if (products) return work.total_flops();
  const auto traffic = work.bytes.find(Level::dram);
  return traffic == work.bytes.end() ? 0 : traffic->second.total();
}

std::optional<Workload> shrunk(const SuiteEntry& entry, double bytes, bool products) {
  Workload workload = entry.workload;
  workload.cache = CacheMode::hot;
  const Op& op = *entry.op;
  const auto fits = [&](const Workload& one) { return bytes_of(op, one) <= bytes; };
  if (fits(workload)) return workload;
  if (!products) {
    for (const auto& [name, value] : workload.shape.extents()) {
      for (std::int64_t extent = value / 2; extent > 0; extent /= 2) {
        const Workload smaller = with_extent(workload, name, extent);
        if (!is_valid(entry, smaller)) break;
        if (fits(smaller)) {
          if (does_the_same_work(op, smaller, workload)) return smaller;
          break;
        }
      }
    }
  }
  // What loses the fewest operations per byte: the heads of attention before its sequence, a product's longest side.
  const std::optional<Workload> small = halved(entry, workload, bytes, [&](const Workload& smaller, std::int64_t) {
    return std::max(units_of(op, smaller, true), 1.0) / bytes_of(op, smaller);
  });
  if (!small) return std::nullopt;
  return products || does_the_same_work(op, *small, entry.workload) ? small : std::nullopt;
}

std::optional<Workload> shrunk_evenly(const SuiteEntry& entry, double bytes) {
  Workload workload = entry.workload;
  workload.cache = CacheMode::hot;
  return halved(entry, workload, bytes,
                [](const Workload&, std::int64_t extent) { return static_cast<double>(extent); });
}

std::optional<Workload> doubled(const SuiteEntry& entry) {
  for (const auto& [name, value] : entry.workload.shape.extents()) {
    const Workload twice = with_extent(entry.workload, name, 2 * value);
    const double growth = is_valid(entry, twice) ? bytes_of(*entry.op, twice) / bytes_of(*entry.op, entry.workload) : 0;
    if (growth > 1.8 && growth < 2.2) return twice;
  }
  return std::nullopt;
}

}  // namespace roofline
