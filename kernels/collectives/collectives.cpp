// The collectives of NCCL. `n` counts elements as nccl-tests does: those of a rank's larger buffer.
//   all_reduce      every rank has n elements, and receives the sums over all ranks
//   all_gather      every rank has n/ranks elements, and receives those of all ranks
//   reduce_scatter  every rank has n elements, and receives its n/ranks of the sums
//   broadcast       rank 0 has n elements, and every rank receives them
//   all_to_all      every rank has n elements, n/ranks of them for each rank
//   send_recv       every rank sends n elements to the next rank, cyclically
#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "kernels/collectives/collective.hpp"
#include "model/collective.hpp"
#include "op/registry.hpp"
#include "op/tolerance.hpp"

namespace roofline {

std::int64_t ranks_of(const Workload& workload) { return workload.shape["ranks"]; }

bool is_in_place(const Workload& workload) {
  return workload.shape.contains("in_place") && workload.shape["in_place"] == 1;
}

bool adds_up(std::string_view collective) { return collective == "all_reduce" || collective == "reduce_scatter"; }

namespace {

bool in_parts(std::string_view collective) {
  return collective == "all_gather" || collective == "reduce_scatter" || collective == "all_to_all";
}

/// NCCL's send and receive do not work in place, nor do collectives made of them.
bool can_be_in_place(std::string_view collective) { return collective != "all_to_all" && collective != "send_recv"; }

/// Buffers of one rank, out of place.
std::int64_t elements_sent(std::string_view collective, std::int64_t n, std::int64_t ranks) {
  return collective == "all_gather" ? n / ranks : n;
}
std::int64_t elements_received(std::string_view collective, std::int64_t n, std::int64_t ranks) {
  return collective == "reduce_scatter" ? n / ranks : n;
}

/// Integers wrap around.
double wrapped(double sum, DType dtype) {
  if (dtype == DType::int8) return static_cast<std::int8_t>(static_cast<std::int64_t>(sum));
  if (dtype == DType::int32) return static_cast<std::int32_t>(static_cast<std::int64_t>(sum));
  return sum;
}

CollectiveShape shape_of(const Workload& w) {
  return {.collective = w.op, .n = w.shape["n"], .ranks = ranks_of(w), .in_place = is_in_place(w)};
}

}  // namespace

RankBuffers rank_buffers(const Workload& workload, std::span<void* const> tensors) {
  const auto ranks = static_cast<std::size_t>(ranks_of(workload));
  RankBuffers buffers{std::vector<const void*>(ranks), std::vector<void*>(ranks)};
  const bool from_one = workload.op == "broadcast";
  for (std::size_t rank = 0; rank < ranks; ++rank) {
    if (!is_in_place(workload)) {
      buffers.send[rank] = from_one && rank > 0 ? nullptr : tensors[rank];
      buffers.receive[rank] = tensors[(from_one ? 1 : ranks) + rank];
      continue;
    }
    auto* const whole = static_cast<std::byte*>(tensors[rank]);
    const std::int64_t part_bytes =
        workload.shape["n"] / ranks_of(workload) * element_size(workload.dtype) * static_cast<std::int64_t>(rank);
    std::byte* const part = whole == nullptr ? nullptr : whole + part_bytes;
    buffers.send[rank] = workload.op == "all_gather" ? part : whole;
    buffers.receive[rank] = workload.op == "reduce_scatter" ? part : whole;
  }
  return buffers;
}

Traffic network_traffic(std::string_view collective, std::int64_t n, DType dtype, std::int64_t ranks) {
  const double bytes = static_cast<double>(n) * static_cast<double>(element_size(dtype));
  const double bus = bytes * bus_factor(collective, ranks).value_or(0);
  // That many bytes go in each direction and count once: half of them per direction.
  return {.read = bus / 2, .write = bus / 2};
}

Traffic memory_traffic(std::string_view collective, std::int64_t n, DType dtype, std::int64_t ranks, bool in_place) {
  const auto size = static_cast<double>(element_size(dtype));
  Traffic traffic{.read = size * static_cast<double>(elements_sent(collective, n, ranks)),
                  .write = size * static_cast<double>(elements_received(collective, n, ranks)),
                  .in_place = in_place};
  // Elements that a rank already has are not written; for a broadcast, that is all.
  if (in_place && collective == "all_gather") traffic.write -= traffic.read;
  if (in_place && collective == "broadcast") traffic.write = 0;
  return traffic;
}

Tolerance rank_sum_tolerance(DType dtype, std::int64_t ranks) {
  if (unit_roundoff(dtype) == 0) return {.relative = 0, .magnitude = 1};
  const double magnitude = std::sqrt(static_cast<double>(ranks) / 3);
  Tolerance tolerance = storage_tolerance(dtype, magnitude, 0);
  // The last sum is rounded when stored. Earlier sums may be larger than the result: at most 5.7 standard
  // deviations, for the largest of 10^8.
  for (std::int64_t terms = 2; terms < ranks; ++terms) {
    const auto count = static_cast<double>(terms);
    tolerance.relative += unit_roundoff(dtype) * std::min(count, 5.7 * std::sqrt(count / 3)) / magnitude;
  }
  return tolerance;
}

namespace {

class CollectiveOp final : public Op {
 public:
  CollectiveOp(std::string_view name, std::string summary) : name_(name), summary_(std::move(summary)) {}

  std::string_view name() const override { return name_; }
  std::string_view summary() const override { return summary_; }
  std::string_view family() const override { return "communication"; }

  std::vector<ShapeParameter> parameters() const override {
    std::vector<ShapeParameter> parameters = {
        {.name = "n", .meaning = "elements of the larger buffer of a rank", .default_value = std::int64_t{1} << 26},
        {.name = "ranks", .meaning = "GPUs that take part", .default_value = 2, .minimum = 2, .maximum = 4096}};
    if (can_be_in_place(name_)) {
      parameters.push_back({.name = "in_place",
                            .meaning = "0: separate send and receive buffers, 1: in place",
                            .default_value = 0,
                            .minimum = 0,
                            .maximum = 1});
    }
    return parameters;
  }

  std::optional<std::string> invalid(const Shape& shape) const override {
    if (!in_parts(name_) || shape["n"] % shape["ranks"] == 0) return std::nullopt;
    return "n must be a multiple of ranks";
  }

  std::vector<TensorSpec> tensors(const Workload& w) const override {
    const std::int64_t n = w.shape["n"];
    const std::int64_t ranks = ranks_of(w);
    std::vector<TensorSpec> specs;
    const auto add = [&](std::string_view letter, TensorRole role, std::int64_t elements, std::int64_t count) {
      for (std::int64_t rank = 0; rank < count; ++rank) {
        specs.push_back({fmt::format("{}{}", letter, rank), role, elements, w.dtype, static_cast<int>(rank)});
      }
    };
    if (is_in_place(w)) {
      add("x", TensorRole::inout, n, ranks);
      return specs;
    }
    add("x", TensorRole::input, elements_sent(name_, n, ranks), name_ == "broadcast" ? 1 : ranks);
    add("y", TensorRole::output, elements_received(name_, n, ranks), ranks);
    return specs;
  }

  /// Work of one rank. Sums are not FLOPs by convention: a collective moves data.
  Work work(const Workload& w, DeviceKind device) const override {
    const std::int64_t n = w.shape["n"];
    const std::int64_t ranks = ranks_of(w);
    Work work;
    work.bytes[Level::network] = network_traffic(name_, n, w.dtype, ranks);
    work.bytes[main_memory(device)] = memory_traffic(name_, n, w.dtype, ranks, is_in_place(w));
    work.collective = {.name = std::string(name_), .ranks = ranks};
    if (adds_up(name_)) {
      const double sums = static_cast<double>(n) * static_cast<double>(ranks - 1) / static_cast<double>(ranks);
      work.uncounted[vector_pipe(w.dtype)] = sums;
    }
    return work;
  }

  void reference(const Workload& w, std::span<const HostTensor> inputs, std::span<const std::int64_t> indices,
                 std::span<double> expected) const override {
    const CollectiveShape shape = shape_of(w);
    for (std::size_t i = 0; i < indices.size(); ++i) {
      double sum = 0;
      for_each_term(
          shape, indices[i] / shape.length(), indices[i] % shape.length(),
          [&](std::int64_t rank, std::int64_t index) { sum += inputs[static_cast<std::size_t>(rank)][index]; });
      expected[i] = wrapped(sum, w.dtype);
    }
  }

  double reference_cost(const Workload& w) const override {
    return adds_up(name_) ? 4 * static_cast<double>(ranks_of(w)) : 4;
  }

  std::vector<std::int64_t> edges(const Workload& w) const override {
    const std::int64_t ranks = ranks_of(w);
    const std::int64_t length = shape_of(w).length();
    std::vector<std::int64_t> found;
    for (std::int64_t rank = 0; rank < ranks; ++rank) {
      for (std::int64_t part = 0; part <= ranks; ++part) {
        const std::int64_t border = rank * length + part * length / ranks;
        if (part < ranks) found.push_back(std::min(border, rank * length + length - 1));
        if (part > 0) found.push_back(std::max(border - 1, rank * length));
      }
    }
    return found;
  }

  Tolerance tolerance(const Workload& w) const override {
    if (adds_up(name_)) return rank_sum_tolerance(w.dtype, ranks_of(w));
    return {.relative = unit_roundoff(w.dtype), .magnitude = 0.5};  // half an ulp is the resolution of the metric
  }

  std::vector<Implementation> implementations() const override { return {}; }

  /// Two ranks, and a few more; odd lengths where allowed.
  std::vector<Shape> test_shapes(DeviceKind) const override {
    std::vector<Shape> shapes;
    for (const std::int64_t ranks : {2, 3, 4, 8}) {
      const std::int64_t odd = in_parts(name_) ? 4099 * ranks : 10007;
      shapes.push_back({{"n", ranks}, {"ranks", ranks}});
      if (can_be_in_place(name_)) shapes.push_back({{"n", odd}, {"ranks", ranks}, {"in_place", 1}});
      shapes.push_back({{"n", odd}, {"ranks", ranks}});
    }
    return shapes;
  }

 private:
  std::string_view name_;
  std::string summary_;
};

const OpRegistrar kAllReduce(std::make_unique<CollectiveOp>("all_reduce",
                                                            "y = x0 + x1 + …: every rank receives all sums"));
const OpRegistrar kAllGather(
    std::make_unique<CollectiveOp>("all_gather", "y = x0, x1, …: every rank receives the elements of all ranks"));
const OpRegistrar kReduceScatter(std::make_unique<CollectiveOp>(
    "reduce_scatter", "y = its part of x0 + x1 + …: every rank receives its part of the sums"));
const OpRegistrar kBroadcast(std::make_unique<CollectiveOp>("broadcast",
                                                            "y = x0: every rank receives the elements of rank 0"));
const OpRegistrar kAllToAll(
    std::make_unique<CollectiveOp>("all_to_all", "y = its part of x0, of x1, …: every rank sends a part to each rank"));
const OpRegistrar kSendRecv(std::make_unique<CollectiveOp>("send_recv",
                                                           "y = x of the previous rank: every rank sends to the next"));

}  // namespace
}  // namespace roofline
