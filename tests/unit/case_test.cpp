// A case on a fake device, with kernels that go wrong in each way that verification must see.
#include "op/case.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <set>

#include "model/error.hpp"
#include "op/layout.hpp"
#include "op/tolerance.hpp"
#include "tests/support/fake_device.hpp"
#include "tests/support/mentions.hpp"

namespace roofline {
namespace {

using ::testing::HasSubstr;

/// y = 2 x + z: two inputs, so that their data can be told apart.
class Axpy final : public Op {
 public:
  explicit Axpy(double cost = 2) : cost_(cost) {}
  std::string_view name() const override { return "axpy"; }
  std::string_view summary() const override { return "y = 2 x + z"; }
  std::string_view family() const override { return "elementwise"; }
  std::vector<ShapeParameter> parameters() const override { return {{.name = "n", .meaning = "elements"}}; }
  std::vector<TensorSpec> tensors(const Workload& w) const override {
    const std::int64_t n = w.shape["n"];
    return {{"x", TensorRole::input, n, w.dtype},
            {"z", TensorRole::input, n, w.dtype},
            {"y", TensorRole::output, n, w.dtype}};
  }
  Work work(const Workload&, DeviceKind) const override { return {}; }
  void reference(const Workload&, std::span<const HostTensor> inputs, std::span<const std::int64_t> indices,
                 std::span<double> expected) const override {
    for (std::size_t i = 0; i < indices.size(); ++i) expected[i] = 2 * inputs[0][indices[i]] + inputs[1][indices[i]];
  }
  double reference_cost(const Workload&) const override { return cost_; }
  Tolerance tolerance(const Workload& w) const override { return storage_tolerance(w.dtype, 1, 2); }
  std::vector<Implementation> implementations() const override { return {}; }

 private:
  double cost_;
};

struct Tensors {
  float* x;
  float* z;
  float* y;
};

using Body = std::function<void(Tensors, std::int64_t n)>;

Implementation running(Body body) {
  return {
      .name = "test", .summary = "", .dtypes = {DType::fp32}, .prepare = [body](const Workload& w, Device&) -> Kernel {
        return [body, n = w.shape["n"]](std::span<void* const> t) {
          body({static_cast<float*>(t[0]), static_cast<float*>(t[1]), static_cast<float*>(t[2])}, n);
        };
      }};
}

void correct(Tensors t, std::int64_t n) {
  for (std::int64_t i = 0; i < n; ++i) t.y[i] = 2 * t.x[i] + t.z[i];
}

Workload workload(std::int64_t n, CacheMode cache = CacheMode::cold) {
  return {.op = "axpy",
          .implementation = "test",
          .dtype = DType::fp32,
          .shape = {{"n", n}},
          .cache = cache,
          .label = "axpy"};
}

Verification verify(Body body, std::int64_t n = 1000, double cost = 2) {
  FakeDevice device;
  const Axpy op(cost);
  return Case(op, running(std::move(body)), workload(n), device).verify();
}

TEST(Case, ACorrectKernelPasses) {
  const auto result = verify(correct);
  EXPECT_TRUE(result.passed) << result.failure;
  EXPECT_LE(result.error, result.tolerance);
  EXPECT_EQ(result.checked, 1000);
  EXPECT_EQ(result.outputs, 1000);
  EXPECT_THAT(result.reference, mentions("fp64", "CPU", "all 1,000"));
}

TEST(Case, UnwrittenElementsAreCounted) {
  const auto result = verify([](Tensors t, std::int64_t n) { correct(t, n - 3); });
  EXPECT_FALSE(result.passed);
  EXPECT_TRUE(std::isnan(result.error));
  EXPECT_THAT(result.failure, mentions("3 of 1,000", "'y'", "not written"));
}

TEST(Case, NanIsNotTakenForUnwritten) {
  const auto result = verify([](Tensors t, std::int64_t n) {
    correct(t, n);
    t.y[17] = std::nanf("");
  });
  EXPECT_FALSE(result.passed);
  EXPECT_TRUE(std::isnan(result.error));
  EXPECT_THAT(result.failure, mentions("1 of 1,000", "'y'", "NaN"));
  EXPECT_THAT(result.failure, HasSubstr("y[17] is"));
}

TEST(Case, InfinityNeverPasses) {
  const auto result = verify([](Tensors t, std::int64_t n) {
    correct(t, n);
    t.y[5] = std::numeric_limits<float>::infinity();
  });
  EXPECT_FALSE(result.passed);
}

TEST(Case, TheLastElementIsCompared) {
  const auto result = verify([](Tensors t, std::int64_t n) {
    correct(t, n);
    t.y[n - 1] += 1e-5F;
  });
  EXPECT_FALSE(result.passed);
  EXPECT_THAT(result.failure, HasSubstr("y[999] is"));
  EXPECT_THAT(result.failure, mentions("1 of 1,000", "wrong"));
}

TEST(Case, AShiftByOneIsFound) {
  EXPECT_FALSE(verify([](Tensors t, std::int64_t n) {
                 for (std::int64_t i = 0; i < n; ++i) t.y[i] = 2 * t.x[(i + 1) % n] + t.z[i];
               }).passed);
}

TEST(Case, SwappedInputsAreFound) {
  EXPECT_FALSE(verify([](Tensors t, std::int64_t n) { correct({t.z, t.x, t.y}, n); }).passed);
}

TEST(Case, StrayWritesNameTheirTensor) {
  const auto past = verify([](Tensors t, std::int64_t n) {
    correct(t, n);
    t.y[n] = 0;
  });
  EXPECT_FALSE(past.passed);
  EXPECT_THAT(past.failure, mentions("past", "'y'"));
  const auto before = verify([](Tensors t, std::int64_t n) {
    correct(t, n);
    t.z[-1] = 0;
  });
  EXPECT_FALSE(before.passed);
  EXPECT_THAT(before.failure, mentions("before", "'z'"));
}

TEST(Case, AChangedInputIsFound) {
  const auto result = verify([](Tensors t, std::int64_t n) {
    correct(t, n);
    t.x[7] = 3;
  });
  EXPECT_FALSE(result.passed);
  EXPECT_THAT(result.failure, mentions("input x[7]"));
}

TEST(Case, AnExpensiveReferenceIsSampled) {
  const auto result = verify(correct, 1'000'000, 1e5);
  EXPECT_TRUE(result.passed) << result.failure;
  EXPECT_GE(result.checked, 4096);
  EXPECT_LE(result.checked, 4096 + 512);
  EXPECT_THAT(result.reference, HasSubstr(" of 1,000,000 elements"));
}

TEST(Case, ASampleIsSmallerWhereAnElementTakesLong) {
  const auto result = verify(correct, 1'000'000, 1e12);
  EXPECT_TRUE(result.passed) << result.failure;
  EXPECT_GE(result.checked, 64);
  EXPECT_LE(result.checked, 64 + 8);
}

TEST(Case, ASampleSeesTheEndsAndEveryBlank) {
  const auto last = verify(
      [](Tensors t, std::int64_t n) {
        correct(t, n);
        t.y[n - 1] = 9;
      },
      1'000'000, 1e9);
  EXPECT_FALSE(last.passed);
  const auto blank = verify(
      [](Tensors t, std::int64_t n) {
        correct(t, n);
        t.y[n / 2] = std::nanf("");
      },
      1'000'000, 1e9);
  EXPECT_FALSE(blank.passed);
}

TEST(Case, AnErrorOfTheKernelIsNotSwallowed) {
  EXPECT_THROW(verify([](Tensors, std::int64_t) { throw Error("launch failed"); }), Error);
}

TEST(Case, OnlyAVerifiedCaseIsTimed) {
  FakeDevice device;
  const Axpy op;
  Case good(op, running(correct), workload(100), device);
  EXPECT_THROW(good.bench(), Error);
  EXPECT_TRUE(good.verify().passed);
  EXPECT_TRUE(good.verify().passed) << "inputs are made again for a second time";
  EXPECT_EQ(good.bench().batch(5).seconds, 5e-3);
  Case bad(op, running([](Tensors, std::int64_t) {}), workload(100), device);
  EXPECT_FALSE(bad.verify().passed);
  EXPECT_THROW(bad.bench(), Error);
}

TEST(Case, LaunchesRotateOverColdSets) {
  FakeDevice device(/*last_level_cache=*/100'000);
  const Axpy op;
  std::set<const float*> seen;
  const auto spy = running([&](Tensors t, std::int64_t n) {
    correct(t, n);
    seen.insert(t.y);
    ASSERT_EQ(reinterpret_cast<std::uintptr_t>(t.y) % 256, 0U);
  });
  Case cold(op, spy, workload(1000), device);
  EXPECT_EQ(cold.buffer_sets(), 134);  // 16 times 100,000 / 12,000, rounded up
  ASSERT_TRUE(cold.verify().passed);
  const Bench bench = cold.bench();
  EXPECT_EQ(bench.launch_quantum, 1);
  seen.clear();
  bench.batch(100);
  EXPECT_EQ(seen.size(), 100U);
  bench.batch(34);
  EXPECT_EQ(seen.size(), 134U) << "on from where the one before has stopped";
  bench.batch(134);
  EXPECT_EQ(seen.size(), 134U);
  EXPECT_EQ(cold.resident_bytes(), case_bytes(op, workload(1000), {.bytes = 100'000}));
  EXPECT_EQ(Case(op, spy, workload(1000, CacheMode::hot), device).buffer_sets(), 1);
}

TEST(Case, EverySetHoldsTheSameInputs) {
  FakeDevice device(100'000);
  const Axpy op;
  std::set<float> values;
  Case cold(op, running([&](Tensors t, std::int64_t n) {
              correct(t, n);
              values.insert(t.y[n - 1]);
            }),
            workload(1000), device);
  ASSERT_TRUE(cold.verify().passed);
  cold.bench().batch(17);
  EXPECT_EQ(values.size(), 1U);
}

/// y = 2 y, in place.
class Doubled final : public Op {
 public:
  std::string_view name() const override { return "doubled"; }
  std::string_view summary() const override { return "y = 2 y"; }
  std::string_view family() const override { return "elementwise"; }
  std::vector<ShapeParameter> parameters() const override { return {{.name = "n", .meaning = "elements"}}; }
  std::vector<TensorSpec> tensors(const Workload& w) const override {
    return {{"y", TensorRole::inout, w.shape["n"], w.dtype}};
  }
  Work work(const Workload&, DeviceKind) const override { return {}; }
  void reference(const Workload&, std::span<const HostTensor> inputs, std::span<const std::int64_t> indices,
                 std::span<double> expected) const override {
    for (std::size_t i = 0; i < indices.size(); ++i) expected[i] = 2 * inputs[0][indices[i]];
  }
  double reference_cost(const Workload&) const override { return 1; }
  Tolerance tolerance(const Workload& w) const override { return storage_tolerance(w.dtype, 1, 2); }
  std::vector<Implementation> implementations() const override { return {}; }
};

TEST(Case, WhatIsWrittenInPlaceStartsAgainFromItsFirstValues) {
  const Doubled op;
  for (const std::int64_t n :
       {std::int64_t{1000}, std::int64_t{1} << 19}) {  // in one slab, and in buffers of their own
    FakeDevice device;
    float largest = 0;
    const Implementation doubling = {
        .name = "test", .summary = "", .dtypes = {DType::fp32}, .prepare = [&](const Workload&, Device&) -> Kernel {
          return [&largest, n](std::span<void* const> t) {
            auto* y = static_cast<float*>(t[0]);
            largest = std::max(largest, std::abs(y[0]));
            for (std::int64_t i = 0; i < n; ++i) y[i] *= 2;
          };
        }};
    Case c(op, doubling, workload(n, CacheMode::hot), device);
    EXPECT_TRUE(c.verify().passed);
    EXPECT_TRUE(c.verify().passed) << "each verification starts from the same values";
    const Bench bench = c.bench();
    for (int batch = 0; batch < 100; ++batch) bench.batch(4);
    EXPECT_GT(largest, 0);
    EXPECT_LT(largest, 0x1p20F) << "400 launches on the same values are beyond fp32";
  }
}

TEST(Case, MemoryThatIsNotThereIsAnError) {
  FakeDevice device(1 << 20, /*memory=*/1000);
  const Axpy op;
  EXPECT_THROW(Case(op, running(correct), workload(1000), device), Error);
}

TEST(Layout, SetsAreCappedAndNeverZero) {
  const TensorSpec tiny{"x", TensorRole::input, 1, DType::fp32};
  const TensorSpec huge{"x", TensorRole::input, 1 << 20, DType::fp32};
  EXPECT_EQ(buffer_sets({&tiny, 1}, CacheMode::cold, {.bytes = 1 << 20}), kMaxBufferSets);
  EXPECT_EQ(buffer_sets({&huge, 1}, CacheMode::cold, {.bytes = 1 << 18}), 1) << "one of 4 MiB, 16 times the cache";
  EXPECT_EQ(buffer_sets({&huge, 1}, CacheMode::cold, {.bytes = (1 << 18) + 1}), 2);
  EXPECT_EQ(buffer_sets({&huge, 1}, CacheMode::cold, {.bytes = 1 << 21}), 8);
  const auto with_free = [&](double bytes) {
    return buffer_sets({&huge, 1}, CacheMode::cold, {.bytes = 1 << 23, .free_memory_bytes = bytes});
  };
  EXPECT_EQ(with_free(1 << 30), 32);
  EXPECT_EQ(with_free(3 << 28), 24) << "an eighth of it";
  EXPECT_EQ(with_free(1 << 20), 4) << "twice the cache all the same";
  EXPECT_EQ(guarded_bytes(tiny), 768);
}

/// By what was counted on an H200: L2 keeps up to a third of itself of a single set, whatever the set's size.
TEST(Layout, AGpuIsColdWithFourSetsOrOneThatDwarfsItsL2) {
  const LastLevelCache l2{.bytes = 1 << 20, .device = DeviceKind::cuda};
  const auto sets = [&](double of_l2, CacheMode cache = CacheMode::cold) {
    const TensorSpec x{"x", TensorRole::input, static_cast<std::int64_t>(of_l2 * (1 << 20) / 4), DType::fp32};
    return buffer_sets({&x, 1}, cache, l2);
  };
  EXPECT_EQ(sets(0.25), 16);
  EXPECT_EQ(sets(1), 4);
  EXPECT_EQ(sets(2.1), 4);
  EXPECT_EQ(sets(31), 4);
  EXPECT_EQ(sets(32), 1);
  EXPECT_EQ(sets(0.25, CacheMode::hot), 1);
}

}  // namespace
}  // namespace roofline
