// The order of accesses: what a trace of a known loop has, and what its pattern says.
#include "analyze/access_pattern.hpp"

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <cstdlib>
#include <vector>

namespace roofline {
namespace {

constexpr std::uint64_t kBase = std::uint64_t{1} << 32;

/// Accesses of buffer 0 at byte offsets.
std::vector<TracedAccess> at(const std::vector<std::uint64_t>& offsets) {
  std::vector<TracedAccess> accesses;
  for (const std::uint64_t offset : offsets)
    accesses.push_back({.buffer = 0, .is_write = false, .address = kBase + offset});
  return accesses;
}

/// `passes` times over `bytes`, from `first`, in steps.
std::vector<std::uint64_t> stream(std::uint64_t bytes, std::uint64_t step, int passes = 1, std::uint64_t first = 0) {
  std::vector<std::uint64_t> offsets;
  for (int pass = 0; pass < passes; ++pass) {
    for (std::uint64_t offset = first; offset < bytes; offset += step) offsets.push_back(offset);
  }
  return offsets;
}

/// fp32 columns of a matrix of rows of `row_bytes`, one after the other.
std::vector<std::uint64_t> columns(std::uint64_t rows, std::uint64_t row_bytes) {
  std::vector<std::uint64_t> offsets;
  for (std::uint64_t column = 0; column < 16; ++column) {
    for (std::uint64_t row = 0; row < rows; ++row) offsets.push_back(row * row_bytes + 4 * column);
  }
  return offsets;
}

TEST(AccessPattern, AStreamVisitsEachLineOnce) {
  for (const std::uint64_t width : {4U, 16U, 64U}) {
    const AccessPattern pattern = pattern_of(at(stream(16384, width)));
    EXPECT_DOUBLE_EQ(pattern.line_visits, 1) << width;
    EXPECT_NEAR(pattern.page_jumps, 4 * static_cast<double>(width) / 16384, 1e-9) << width;
    EXPECT_EQ(pattern.split_share, 0) << width;
  }
  EXPECT_DOUBLE_EQ(pattern_of(at(stream(16384, 32, 8))).line_visits, 1) << "whole lines, eight times";
}

TEST(AccessPattern, ColumnsComeBackToEachLine) {
  const AccessPattern lines = pattern_of(at(columns(64, 64)));
  EXPECT_DOUBLE_EQ(lines.line_visits, 16);
  EXPECT_LT(lines.page_jumps, 0.1);
  const AccessPattern pages = pattern_of(at(columns(64, 4160)));
  EXPECT_DOUBLE_EQ(pages.line_visits, 16);
  EXPECT_GT(pages.page_jumps, 0.9);
}

/// Sixteen streams of one buffer, in turns.
TEST(AccessPattern, StreamsInTurnsAreNoColumns) {
  std::vector<std::uint64_t> offsets;
  for (std::uint64_t i = 0; i < 256; ++i) {
    for (std::uint64_t row = 0; row < 8; ++row) offsets.push_back(row * 4096 + 4 * i);
  }
  const AccessPattern pattern = pattern_of(at(offsets));
  EXPECT_DOUBLE_EQ(pattern.line_visits, 1);
  EXPECT_LT(pattern.page_jumps, 0.1);
}

TEST(AccessPattern, VectorsThatBeginWithinALineCrossIt) {
  EXPECT_NEAR(pattern_of(at(stream(8192, 32, 1, 4))).split_share, 0.5, 0.01);
  EXPECT_NEAR(pattern_of(at(stream(8192, 64, 1, 4))).split_share, 1, 0.01);
  EXPECT_EQ(pattern_of(at(stream(8192, 4, 1, 4))).split_share, 0) << "scalars never do";
}

TEST(AccessPattern, NothingIsKnownOfNoAccesses) {
  EXPECT_EQ(pattern_of({}).accesses, 0U);
  EXPECT_EQ(pattern_of({}).line_visits, 0);
}

class TraceAccesses : public testing::Test {
 protected:
  static constexpr std::size_t kFloats = 4096;

  void SetUp() override {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    GTEST_SKIP() << "a sanitizer has these signals";
#endif
    if (!can_trace_accesses()) GTEST_SKIP() << "no traces on this system";
    memory_ = ::mmap(nullptr, 2 * kFloats * sizeof(float), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    ASSERT_NE(memory_, MAP_FAILED);
    x_ = static_cast<float*>(memory_);
    y_ = x_ + kFloats;
  }
  void TearDown() override {
    if (memory_ != nullptr) ::munmap(memory_, 2 * kFloats * sizeof(float));
  }

  std::vector<TracedAccess> trace(std::size_t accesses, const std::function<void()>& run) {
    const std::span<std::byte> buffers[] = {std::as_writable_bytes(std::span(x_, kFloats)),
                                            std::as_writable_bytes(std::span(y_, kFloats))};
    return trace_accesses(buffers, {.accesses = accesses, .seconds = 60}, run);
  }

  void* memory_ = nullptr;
  float *x_ = nullptr, *y_ = nullptr;
};

/// volatile: an instruction for each access.
TEST_F(TraceAccesses, HasEachAccessInOrder) {
  const auto found = trace(1000, [&] {
    volatile float *x = x_, *y = y_;
    for (std::size_t i = 0; i < 100; ++i) y[i] = x[16 * i] + 1;
  });
  ASSERT_EQ(found.size(), 200U);
  for (std::size_t i = 0; i < 100; ++i) {
    const TracedAccess &read = found[2 * i], &write = found[2 * i + 1];
    EXPECT_EQ(read.buffer, 0U);
    EXPECT_FALSE(read.is_write);
    EXPECT_EQ(read.address, reinterpret_cast<std::uintptr_t>(x_ + 16 * i));
    EXPECT_EQ(write.buffer, 1U);
    EXPECT_TRUE(write.is_write);
    EXPECT_EQ(write.address, reinterpret_cast<std::uintptr_t>(y_ + i));
    EXPECT_EQ(y_[i], 1) << "computed as without a trace";
  }
}

TEST_F(TraceAccesses, EndsAtItsLimitAndTheKernelDoesNot) {
  const auto found = trace(10, [&] {
    volatile float* y = y_;
    for (std::size_t i = 0; i < kFloats; ++i) y[i] = 2;
  });
  EXPECT_EQ(found.size(), 10U);
  EXPECT_EQ(y_[kFloats - 1], 2);
}

TEST_F(TraceAccesses, LeavesOtherFaultsToTheirHandlers) {
  EXPECT_DEATH(trace(10, [] { *static_cast<volatile int*>(nullptr) = 1; }), "");
}

}  // namespace
}  // namespace roofline
