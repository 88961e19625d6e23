// Memory that cases return and take again: which buffers are dealt, when new ones are made, and when idle ones are
// freed.
#include "op/buffer_pool.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <vector>

#include "analyze/ab_round.hpp"
#include "op/case.hpp"
#include "op/registry.hpp"
#include "tests/support/fake_device.hpp"

namespace roofline {
namespace {

constexpr std::size_t kPoolBytes = 4096;

TEST(BufferPool, AReturnedBufferIsTakenAgainAndOneOfAnotherSizeIsNot) {
  FakeDevice device;
  BufferPool pool(1);
  auto first = pool.take(device, kPoolBytes);
  void* const memory = first->data();
  static_cast<char*>(memory)[17] = 'x';
  EXPECT_EQ(first->size(), kPoolBytes);
  EXPECT_EQ(pool.idle_bytes(), 0);
  first.reset();
  EXPECT_EQ(pool.idle_bytes(), kPoolBytes);
  EXPECT_EQ(pool.take(device, 2 * kPoolBytes)->size(), 2 * kPoolBytes);
  const auto again = pool.take(device, kPoolBytes);
  EXPECT_EQ(again->data(), memory);
  EXPECT_EQ(static_cast<char*>(memory)[17], 'x');
}

/// Every buffer is dealt to either of two sides about equally often, whatever it was the time before.
TEST(BufferPool, DealsEachBufferToEitherSideAtRandom) {
  constexpr int kRounds = 400;
  FakeDevice device;
  BufferPool pool(7);
  std::vector<void*> of_first;
  for (int round = 0; round < kRounds; ++round) {
    const auto first = pool.take(device, kPoolBytes), second = pool.take(device, kPoolBytes);
    of_first.push_back(first->data());
  }
  const std::set<void*> all(of_first.begin(), of_first.end());
  ASSERT_EQ(all.size(), 2U);
  const auto times = std::count(of_first.begin(), of_first.end(), *all.begin());
  EXPECT_NEAR(static_cast<double>(times), kRounds / 2.0, 5 * 10);  // five standard deviations
  int kept = 0;
  for (std::size_t i = 1; i < of_first.size(); ++i) kept += of_first[i] == of_first[i - 1] ? 1 : 0;
  EXPECT_NEAR(kept, kRounds / 2.0, 5 * 10);
}

TEST(BufferPool, IdleMemoryIsFreedBeforeItIsMoreThanWhatStaysFree) {
  constexpr double kMemory = 10 * kPoolBytes;
  FakeDevice device(1 << 20, kMemory);
  BufferPool pool(1);
  {
    std::vector<std::unique_ptr<Buffer>> many;
    for (int i = 0; i < 8; ++i) many.push_back(pool.take(device, kPoolBytes));
  }
  EXPECT_EQ(pool.idle_bytes(), 8 * kPoolBytes);
  const auto other = pool.take(device, 4 * kPoolBytes);
  EXPECT_EQ(pool.idle_bytes(), 6 * kPoolBytes);
}

Implementation idle() {
  return {.name = "idle", .summary = "", .dtypes = {DType::fp32}, .prepare = [](const Workload&, Device&) -> Kernel {
            return [](std::span<void* const>) {};
          }};
}

SuiteEntry copy_entry(std::int64_t n, CacheMode cache = CacheMode::cold) {
  SuiteEntry entry;
  entry.op = find_op("copy");
  entry.workload = {
      .op = "copy", .implementation = "", .dtype = DType::fp32, .shape = {{"n", n}}, .cache = cache, .label = "copy"};
  return entry;
}

TEST(BufferPool, OnlyLargeRoundsOfEqualTensorsAreDealt) {
  constexpr std::int64_t kLarge = std::int64_t{1} << 24, kSmall = std::int64_t{1} << 10;
  FakeDevice device;
  const SuiteEntry large = copy_entry(kLarge), larger = copy_entry(2 * kLarge), small = copy_entry(kSmall),
                   hot = copy_entry(kLarge, CacheMode::hot);
  EXPECT_TRUE(is_dealt({&large, &large}, device));
  EXPECT_FALSE(is_dealt({&large, &larger}, device)) << "either side would keep its buffers";
  EXPECT_FALSE(is_dealt({&large, &hot}, device));
  EXPECT_FALSE(is_dealt({&small, &small}, device)) << "new memory is cheap";
}

TEST(BufferPool, ACaseTakesItsMemoryFromThePoolAndReturnsIt) {
  const SuiteEntry entry = copy_entry(std::int64_t{1} << 20);
  FakeDevice device;
  BufferPool pool(1);
  double resident = 0;
  for (int i = 0; i < 2; ++i) {
    const Case prepared(*entry.op, idle(), entry.workload, device, InputValues::random, {.pool = &pool});
    resident = prepared.resident_bytes();
    EXPECT_EQ(pool.idle_bytes(), 0) << "the second case takes all that the first returned";
  }
  EXPECT_EQ(pool.idle_bytes(), resident);
}

TEST(BufferPool, LessFreeMemoryMakesFewerSets) {
  const SuiteEntry entry = copy_entry(std::int64_t{1} << 17);  // 1 MiB
  FakeDevice device(16 << 20);
  const Case all(*entry.op, idle(), entry.workload, device);
  const Case fewer(*entry.op, idle(), entry.workload, device, InputValues::random, {.most_free_bytes = 1});
  EXPECT_EQ(fewer.buffer_sets(), 32) << "twice the last-level cache";
  EXPECT_GT(all.buffer_sets(), fewer.buffer_sets());
}

}  // namespace
}  // namespace roofline
