// Collectives and products over ranks on fake devices, with ranks that go wrong in ways that verification must see;
// what their work counts, and what bounds them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>

#include "kernels/collectives/collective.hpp"
#include "kernels/parallel_gemm/parallel_gemm.hpp"
#include "model/bound.hpp"
#include "model/collective.hpp"
#include "op/case.hpp"
#include "op/layout.hpp"
#include "op/registry.hpp"
#include "tests/support/fake_device.hpp"

namespace roofline {
namespace {

using ::testing::HasSubstr;

Workload collective_row(std::string op, std::int64_t n, std::int64_t ranks, bool in_place = false,
                        DType dtype = DType::fp32) {
  Workload w{.op = std::move(op), .implementation = "test", .dtype = dtype, .shape = {}, .label = "row"};
  w.shape.set("n", n);
  w.shape.set("ranks", ranks);
  if (in_place) w.shape.set("in_place", 1);
  return w;
}

Workload row_of(std::string op, Shape shape) {
  return {.op = std::move(op), .implementation = "test", .dtype = DType::fp32, .shape = std::move(shape), .label = ""};
}

/// What NCCL does, from copies of what the ranks give.
template <typename T>
void run_collective(const Workload& w, std::span<void* const> tensors) {
  const auto ranks = static_cast<std::size_t>(ranks_of(w));
  const auto n = static_cast<std::size_t>(w.shape["n"]);
  const std::size_t part = n / ranks;
  const RankBuffers buffers = rank_buffers(w, tensors);
  std::vector<std::vector<T>> given(ranks);
  for (std::size_t rank = 0; rank < ranks; ++rank) {
    const auto* send = static_cast<const T*>(buffers.send[rank]);
    if (send != nullptr) given[rank].assign(send, send + (w.op == "all_gather" ? part : n));
  }
  std::vector<T> sums(n);
  if (adds_up(w.op)) {
    for (const auto& of_rank : given) {
      for (std::size_t i = 0; i < n; ++i) sums[i] = static_cast<T>(sums[i] + of_rank[i]);
    }
  }
  for (std::size_t rank = 0; rank < ranks; ++rank) {
    auto* receive = static_cast<T*>(buffers.receive[rank]);
    const auto copy = [&](const T* from, std::size_t count, std::size_t to) {
      std::memcpy(receive + to, from, count * sizeof(T));
    };
    if (w.op == "all_reduce") copy(sums.data(), n, 0);
    if (w.op == "reduce_scatter") copy(sums.data() + rank * part, part, 0);
    if (w.op == "broadcast") copy(given[0].data(), n, 0);
    if (w.op == "send_recv") copy(given[(rank + ranks - 1) % ranks].data(), n, 0);
    for (std::size_t other = 0; other < ranks && w.op == "all_gather"; ++other)
      copy(given[other].data(), part, other * part);
    for (std::size_t other = 0; other < ranks && w.op == "all_to_all"; ++other)
      copy(given[other].data() + rank * part, part, other * part);
  }
}

using Run = std::function<void(const Workload&, std::span<void* const>)>;

Verification verified(const Workload& w, const Run& run) {
  FakeDevice device;
  device.join_ranks(static_cast<int>(w.shape["ranks"]));
  const Implementation implementation = {
      .name = "test", .summary = "", .dtypes = {w.dtype}, .prepare = [&](const Workload&, Device&) -> Kernel {
        return [&](std::span<void* const> tensors) { run(w, tensors); };
      }};
  return Case(*find_op(w.op), implementation, w, device).verify();
}

TEST(Collectives, TheReferenceIsWhatRanksGetFromEachOther) {
  for (const std::string_view name : kCollectives) {
    const Op& op = *find_op(name);
    for (Shape shape : op.test_shapes(DeviceKind::cuda)) {
      const Workload w = row_of(std::string(name), shape);
      ASSERT_FALSE(op.invalid(shape));
      const Verification result = verified(w, run_collective<float>);
      EXPECT_TRUE(result.passed) << name << " among " << shape["ranks"] << ": " << result.failure;
    }
  }
}

TEST(Collectives, IntegersWrapRoundAsRanksDo) {
  for (const char* op : {"all_reduce", "reduce_scatter"}) {
    EXPECT_TRUE(verified(collective_row(op, 4096, 8, false, DType::int8), run_collective<std::int8_t>).passed);
    EXPECT_TRUE(verified(collective_row(op, 4096, 8, false, DType::int32), [](const Workload& w, auto tensors) {
                  run_collective<std::uint32_t>(w, tensors);
                }).passed);
  }
}

TEST(Collectives, ARankThatGetsAnothersPartIsFound) {
  for (const std::string_view name : kCollectives) {
    const Workload w = collective_row(std::string(name), 4096, 4);
    const Verification result = verified(w, [](const Workload& row, std::span<void* const> tensors) {
      std::vector<void*> swapped(tensors.begin(), tensors.end());
      // What the last two ranks get changes places; where all get the same, one gets nothing.
      std::swap(swapped[swapped.size() - 1], swapped[swapped.size() - 2]);
      const bool alike = row.op == "all_reduce" || row.op == "all_gather" || row.op == "broadcast";
      if (alike) swapped[swapped.size() - 1] = swapped[swapped.size() - 2];
      run_collective<float>(row, swapped);
    });
    EXPECT_FALSE(result.passed) << name;
  }
}

TEST(Collectives, ARankThatIsLeftOutOfASumIsFound) {
  const Verification result = verified(collective_row("all_reduce", 4096, 8, false, DType::fp32),
                                       [](const Workload& row, std::span<void* const> tensors) {
                                         std::vector<float> zeros(4096);
                                         std::vector<void*> without(tensors.begin(), tensors.end());
                                         without[3] = zeros.data();
                                         run_collective<float>(row, without);
                                       });
  EXPECT_FALSE(result.passed);
  EXPECT_THAT(result.failure, HasSubstr("y0[0] is"));
}

TEST(Collectives, ADroppedLastElementOfOneRankIsFound) {
  for (const std::string_view name : kCollectives) {
    const Workload w = collective_row(std::string(name), 4096, 2);
    const Verification result = verified(w, [](const Workload& row, std::span<void* const> tensors) {
      const auto specs = find_op(row.op)->tensors(row);
      auto* const last = static_cast<float*>(tensors.back()) + specs.back().elements - 1;
      const float before = *last;
      run_collective<float>(row, tensors);
      *last = before;
    });
    EXPECT_FALSE(result.passed) << name;
    EXPECT_THAT(result.failure, HasSubstr("1 of")) << name;
  }
}

TEST(Collectives, TensorsLieInTheMemoryOfTheirRanks) {
  for (const bool in_place : {false, true}) {
    const Workload w = collective_row("all_gather", 4096, 4, in_place);
    FakeDevice device;
    device.join_ranks(4);
    bool all = true;
    const std::vector<TensorSpec> specs = find_op(w.op)->tensors(w);
    const Implementation implementation = {
        .name = "test", .summary = "", .dtypes = {w.dtype}, .prepare = [&](const Workload&, Device&) -> Kernel {
          return [&](std::span<void* const> tensors) {
            for (std::size_t t = 0; t < tensors.size(); ++t) {
              for (int rank = 0; rank < 4; ++rank) {
                const auto& of_rank = dynamic_cast<const FakeDevice&>(device.rank(rank));
                all = all && of_rank.owns(tensors[t]) == (rank == specs[t].rank);
              }
            }
            run_collective<float>(w, tensors);
          };
        }};
    Case row(*find_op(w.op), implementation, w, device);
    EXPECT_TRUE(row.verify().passed);
    row.bench().batch(40);
    EXPECT_TRUE(all);
  }
}

TEST(Collectives, MemoryIsThatOfTheRankThatTakesMost) {
  const std::int64_t n = std::int64_t{1} << 28;
  const LastLevelCache cache{.bytes = 60 << 20, .device = DeviceKind::cuda};
  const auto bytes = [&](const char* op) {
    Workload w = collective_row(op, n, 8);
    w.cache = CacheMode::hot;
    return case_bytes(*find_op(op), w, cache);
  };
  const double buffer = 4.0 * static_cast<double>(n) + 2 * kGuardBytes;
  EXPECT_DOUBLE_EQ(bytes("all_reduce"), 2 * buffer);
  EXPECT_DOUBLE_EQ(bytes("broadcast"), 2 * buffer) << "the root's";
}

TEST(Collectives, BusBandwidthIsThatOfNcclTests) {
  EXPECT_DOUBLE_EQ(*bus_factor("all_reduce", 8), 1.75);
  EXPECT_DOUBLE_EQ(*bus_factor("all_reduce", 2), 1);
  for (const char* name : {"all_gather", "reduce_scatter", "all_to_all"}) {
    EXPECT_DOUBLE_EQ(*bus_factor(name, 4), 0.75) << name;
  }
  for (const char* name : {"broadcast", "send_recv"}) EXPECT_DOUBLE_EQ(*bus_factor(name, 4), 1) << name;
  EXPECT_FALSE(bus_factor("gather", 4));
}

TEST(Collectives, WorkIsThatOfOneRank) {
  const auto work = [](const Workload& w) { return find_op(w.op)->work(w, DeviceKind::cuda); };
  const Work reduce = work(collective_row("all_reduce", 1 << 20, 4));
  EXPECT_DOUBLE_EQ(reduce.bytes.at(Level::network).total(), 1.5 * 4 * (1 << 20));
  EXPECT_DOUBLE_EQ(reduce.bytes.at(Level::hbm).read, 4 * (1 << 20));
  EXPECT_DOUBLE_EQ(reduce.total_flops(), 0) << "sums are no FLOPs by convention";
  EXPECT_DOUBLE_EQ(reduce.uncounted.at(Pipe::fp32), 0.75 * (1 << 20));
  EXPECT_EQ(reduce.collective->name, "all_reduce");
  EXPECT_EQ(reduce.collective->ranks, 4);

  const Work gather = work(collective_row("all_gather", 1 << 20, 4, false, DType::bf16));
  EXPECT_DOUBLE_EQ(gather.bytes.at(Level::network).total(), 0.75 * 2 * (1 << 20));
  EXPECT_DOUBLE_EQ(gather.bytes.at(Level::hbm).read, 0.5 * (1 << 20));
  EXPECT_DOUBLE_EQ(gather.bytes.at(Level::hbm).write, 2 * (1 << 20));
  EXPECT_TRUE(gather.uncounted.empty());

  EXPECT_FALSE(gather.bytes.at(Level::hbm).in_place);
  EXPECT_TRUE(work(collective_row("all_reduce", 1 << 20, 4, true)).bytes.at(Level::hbm).in_place);
}

// Products over ranks.

/// The whole product first, from all ranks' parts, and then to each its own of it.
void run_product(const Workload& w, std::span<void* const> tensors) {
  const ParallelProduct product = parallel_product(w);
  const auto at = [&](std::int64_t tensor) { return static_cast<float*>(tensors[static_cast<std::size_t>(tensor)]); };
  const std::int64_t rows = product.m / product.ranks, deep = product.k / product.ranks,
                     wide = product.n / product.ranks;
  const auto a = [&](std::int64_t i, std::int64_t p) {
    return product.by_rows ? at(2 * (p / deep))[i * deep + p % deep] : at(2 * (i / rows))[i % rows * product.k + p];
  };
  const auto b = [&](std::int64_t p, std::int64_t j) {
    return product.by_rows ? at(2 * (p / deep) + 1)[p % deep * product.n + j]
                           : at(2 * (j / wide) + 1)[p * wide + j % wide];
  };
  for (std::int64_t i = 0; i < product.m; ++i) {
    for (std::int64_t j = 0; j < product.n; ++j) {
      double sum = 0;
      for (std::int64_t p = 0; p < product.k; ++p) sum += static_cast<double>(a(i, p)) * static_cast<double>(b(p, j));
      for (std::int64_t rank = 0; rank < product.ranks; ++rank) {
        float* const c = at(2 * product.ranks + rank);
        if (product.by_rows && !product.scatter) c[i * product.n + j] = static_cast<float>(sum);
        if (product.by_rows && product.scatter && i / rows == rank)
          c[i % rows * product.n + j] = static_cast<float>(sum);
        if (!product.by_rows && j / wide == rank) c[i * wide + j % wide] = static_cast<float>(sum);
      }
    }
  }
}

TEST(ParallelGemm, TheReferenceIsTheWholeProduct) {
  for (const char* op : {"row_parallel", "column_parallel"}) {
    for (const Shape& shape : find_op(op)->test_shapes(DeviceKind::cuda)) {
      ASSERT_FALSE(find_op(op)->invalid(shape)) << op;
      const Verification result = verified(row_of(op, shape), run_product);
      EXPECT_TRUE(result.passed) << op << ": " << result.failure;
    }
  }
}

TEST(ParallelGemm, APartOfTheSumThatIsMissingIsFound) {
  const Shape shape{{"m", 8}, {"n", 8}, {"k", 64}, {"ranks", 4}};
  const Verification result =
      verified(row_of("row_parallel", shape), [](const Workload& w, std::span<void* const> tensors) {
        std::vector<float> zeros(8 * 16);
        std::vector<void*> without(tensors.begin(), tensors.end());
        without[4] = zeros.data();  // A of rank 2
        run_product(w, without);
      });
  EXPECT_FALSE(result.passed);
}

TEST(ParallelGemm, WorkIsTheProductOfOneRankAndItsCollective) {
  const Workload row = row_of("row_parallel", {{"m", 4096}, {"n", 4096}, {"k", 14336}, {"ranks", 4}});
  const Work work = find_op("row_parallel")->work(row, DeviceKind::cuda);
  EXPECT_DOUBLE_EQ(work.total_flops(), 2.0 * 4096 * 4096 * 14336 / 4);
  EXPECT_DOUBLE_EQ(work.bytes.at(Level::network).total(), 1.5 * 4 * 4096 * 4096);
  EXPECT_EQ(work.collective->name, "all_reduce");
  EXPECT_EQ(work.launches, 2);

  Workload scattered = row;
  scattered.shape.set("scatter", 1);
  const Work half = find_op("row_parallel")->work(scattered, DeviceKind::cuda);
  EXPECT_DOUBLE_EQ(half.bytes.at(Level::network).total(), 0.75 * 4 * 4096 * 4096);
  EXPECT_EQ(half.collective->name, "reduce_scatter");

  const Workload column = row_of("column_parallel", {{"m", 4096}, {"n", 28672}, {"k", 4096}, {"ranks", 4}});
  const Work gathered = find_op("column_parallel")->work(column, DeviceKind::cuda);
  EXPECT_DOUBLE_EQ(gathered.bytes.at(Level::network).total(), 0.75 * 4 * 4096 * 4096);
  EXPECT_EQ(gathered.collective->name, "all_gather");
}

// What bounds them.

Ceiling network_roof(const char* name, double value) {
  Ceiling ceiling;
  ceiling.name = name;
  ceiling.level = Level::network;
  ceiling.pattern = Pattern::duplex;
  ceiling.value = value;
  ceiling.ci95 = {0.999 * value, 1.001 * value};
  return ceiling;
}

/// all_reduce and send_recv at 300 and 400 GB/s, HBM at 4 TB/s, tensor cores at 800 TFLOP/s; 6 us among two ranks.
Machine two_gpus() {
  Machine machine;
  machine.device.kind = DeviceKind::cuda;
  Ceiling memory = network_roof("hbm.copy", 4e12);
  memory.level = Level::hbm;
  memory.pattern = Pattern::copy;
  Ceiling tensor = network_roof("tensor.bf16", 800e12);
  tensor.kind = CeilingKind::compute;
  tensor.level.reset();
  tensor.pattern.reset();
  tensor.pipe = Pipe::tensor_bf16;
  machine.ceilings = {memory, tensor, network_roof("nccl.all_reduce", 300e9), network_roof("nccl.send_recv", 400e9)};
  Sweep sweep;
  sweep.name = "sweep.nccl.all_reduce";
  sweep.axis = SweepAxis::message;
  sweep.lines = {{.ranks = 2, .latency_s = 6e-6, .latency_ci95 = {5.9e-6, 6.1e-6}, .rate = 300e9, .rate_ci95 = {}}};
  machine.sweeps = {sweep};
  return machine;
}

Bound bound_of_row(const Workload& w, const Machine& machine = two_gpus()) {
  return bound_of(find_op(w.op)->work(w, DeviceKind::cuda), machine);
}

TEST(NetworkBound, LargeCollectivesAreCommunicationBoundByTheirOwnRoof) {
  const Bound bound = bound_of_row(collective_row("all_reduce", 3 << 20, 2));
  EXPECT_EQ(bound.label, BoundLabel::communication);
  EXPECT_EQ(to_string(bound.label), "communication");
  EXPECT_EQ(bound.limiting_ceiling, "nccl.all_reduce");
  EXPECT_DOUBLE_EQ(bound.attainable_time_s, 12 * (1 << 20) / 300e9);
}

TEST(NetworkBound, SmallOnesAreLatencyBoundByTheirLine) {
  const Bound bound = bound_of_row(collective_row("all_reduce", 2, 2));
  EXPECT_EQ(bound.label, BoundLabel::latency);
  EXPECT_EQ(bound.limiting_ceiling, "nccl.all_reduce.latency");
  EXPECT_DOUBLE_EQ(bound.attainable_time_s, 6e-6);
}

TEST(NetworkBound, ALineHoldsForItsOwnNumberOfRanks) {
  const Bound bound = bound_of_row(collective_row("all_reduce", 4, 4));
  for (const ResourceTime& resource : bound.resources) EXPECT_NE(resource.ceiling, "nccl.all_reduce.latency");
}

TEST(NetworkBound, ACollectiveWithoutARoofOfItsOwnHasTheNetworks) {
  EXPECT_EQ(bound_of_row(collective_row("all_gather", 1 << 24, 2)).limiting_ceiling, "nccl.send_recv");
  Machine alone = two_gpus();
  std::erase_if(alone.ceilings, [](const Ceiling& ceiling) { return ceiling.level == Level::network; });
  const Bound bound = bound_of_row(collective_row("all_gather", 1 << 24, 2), alone);
  EXPECT_EQ(bound.label, BoundLabel::memory);
  const bool listed = std::any_of(bound.resources.begin(), bound.resources.end(), [](const ResourceTime& resource) {
    return resource.ceiling == "network" && std::isnan(resource.time_s);
  });
  EXPECT_TRUE(listed);
}

TEST(NetworkBound, AProductIsBoundByComputeOrByItsCollective) {
  const auto bound = [](std::int64_t m, std::int64_t k) {
    Workload w = row_of("row_parallel", {{"m", m}, {"n", 4096}, {"k", k}, {"ranks", 2}});
    w.dtype = DType::bf16;
    return bound_of_row(w);
  };
  EXPECT_EQ(bound(4096, 14336).label, BoundLabel::compute);
  EXPECT_EQ(bound(4096, 2048).label, BoundLabel::communication);
  // 2 m n k / 2 FLOPs at 800 TFLOP/s and 2 m n bytes at 300 GB/s take as long at k = 5333.
  EXPECT_EQ(bound(4096, 5334).label, BoundLabel::balanced);
}

}  // namespace
}  // namespace roofline
