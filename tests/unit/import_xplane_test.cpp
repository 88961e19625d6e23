// xplane.pb of XLA's profiler.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/import_files.hpp"

namespace roofline {
namespace {

using testing::HasSubstr;

std::string varint_bytes(std::uint64_t value) {
  std::string bytes;
  for (; value >= 0x80; value >>= 7U) bytes += static_cast<char>(value | 0x80U);
  return bytes + static_cast<char>(value);
}
std::string number_field(unsigned field, std::uint64_t value) {
  return varint_bytes(field << 3U) + varint_bytes(value);
}
std::string bytes_field(unsigned field, const std::string& bytes) {
  return varint_bytes(field << 3U | 2U) + varint_bytes(bytes.size()) + bytes;
}

/// A name of an event or a value, as an entry of a map.
std::string named(unsigned map, std::uint64_t id, const std::string& name, const std::string& values = {}) {
  return bytes_field(map, number_field(1, id) + bytes_field(2, number_field(1, id) + bytes_field(2, name) + values));
}
std::string text_value(std::uint64_t id, const std::string& text) {
  return bytes_field(4, number_field(1, id) + bytes_field(5, text));
}
std::string reference_value(std::uint64_t id, std::uint64_t reference) {
  return bytes_field(4, number_field(1, id) + number_field(7, reference));
}
std::string event_of(std::uint64_t name, std::uint64_t offset_ps, std::uint64_t duration_ps,
                     const std::string& values) {
  return bytes_field(4, number_field(1, name) + number_field(2, offset_ps) + number_field(3, duration_ps) + values);
}

constexpr unsigned kEventNames = 4, kValueNames = 5;

/// A kernel and a copy on a stream, and the operation's cost on another line.
std::string xplane_file(const std::string& device, const std::string& more_events = {}) {
  const std::string line =
      number_field(1, 13) + bytes_field(2, "Stream #13(Compute)") + number_field(3, 1000) +
      event_of(1, 2'000'000, 25'000'000,
               text_value(1, "fusion.3") + reference_value(2, 9) +
                   text_value(3, "regs:16 static_shared:0 dynamic_shared:64 grid:4,2,1 block:256,1,1")) +
      event_of(2, 50'000'000, 5'000'000, text_value(4, "kind_src:device kind_dst:pinned size:4096")) + more_events;
  const std::string operations =
      number_field(1, 14) + bytes_field(2, "XLA Ops") + number_field(3, 1000) + event_of(3, 2'000'000, 25'000'000, "");
  const std::string cost = bytes_field(5, number_field(1, 5) + number_field(3, 6000)) +
                           bytes_field(5, number_field(1, 6) + number_field(3, 2000));
  const std::string plane = number_field(1, 2) + bytes_field(2, device) + bytes_field(3, line) +
                            bytes_field(3, operations) + named(kEventNames, 1, "loop_fusion") +
                            named(kEventNames, 2, "MemcpyD2H") + named(kEventNames, 3, "fusion.3", cost) +
                            named(kEventNames, 4, "other_fusion") + named(kValueNames, 1, "hlo_op") +
                            named(kValueNames, 2, "hlo_module") + named(kValueNames, 3, "kernel_details") +
                            named(kValueNames, 4, "memcpy_details") + named(kValueNames, 5, "flops") +
                            named(kValueNames, 6, "bytes_accessed") + named(kValueNames, 9, "jit_step");
  return bytes_field(1, number_field(1, 1) + bytes_field(2, "/host:metadata")) + bytes_field(1, plane);
}

TEST(Xplane, KernelsAndCopiesAreThoseOfStreams) {
  const ImportedProfile profile = import_text("step.xplane.pb", xplane_file("/device:GPU:1"));
  ASSERT_EQ(profile.trace.kernels.size(), 1U) << "other lines repeat the kernels";
  const spool::Kernel& kernel = profile.trace.kernels[0];
  EXPECT_EQ(kernel.end - kernel.start, 25'000U);
  EXPECT_EQ(kernel.stream, 13U);
  EXPECT_EQ(kernel.device, 1U);
  const spool::Kind& kind = profile.trace.kind(kernel.kind);
  EXPECT_EQ(profile.trace.text(kind.name), "loop_fusion");
  EXPECT_EQ(kind.grid[1], 2U);
  EXPECT_EQ(profile.trace.text(profile.trace.place(kind.place).module), "jit_step") << "a text by reference";
  ASSERT_EQ(profile.trace.copies.size(), 1U);
  EXPECT_EQ(profile.trace.copies[0].bytes, 4096U);
  EXPECT_EQ(profile.trace.copies[0].start - kernel.end, 23'000U);
}

TEST(Xplane, TheCostOfAnOperationIsThatOfItsKernel) {
  const ImportedProfile profile = import_text("step.xplane.pb", xplane_file("/device:GPU:0"));
  ASSERT_EQ(profile.trace.models.size(), 1U);
  const ProcessTrace::Model& model = profile.trace.models.begin()->second;
  EXPECT_EQ(model.source, WorkSource::modelled);
  EXPECT_EQ(model.work.total_flops(), 6000);
  EXPECT_EQ(model.work.bytes.at(Level::hbm).total(), 2000);
  const std::string second = event_of(4, 90'000'000, 1'000'000, text_value(1, "fusion.3") + reference_value(2, 9));
  EXPECT_TRUE(import_text("step.xplane.pb", xplane_file("/device:GPU:0", second)).trace.models.empty())
      << "the cost of an operation of two kernels is of neither";
}

TEST(Xplane, WithoutAGpuItIsRefused) {
  EXPECT_THAT(refusal_of("step.xplane.pb", xplane_file("/device:TPU:0")), HasSubstr("/device:TPU:0"));
}

TEST(Xplane, OtherDevicesAreNamed) {
  using testing::Contains;
  const std::string gpu = xplane_file("/device:GPU:0");
  EXPECT_THAT(import_text("step.xplane.pb", gpu + xplane_file("/device:TPU:0")).notes,
              Contains(HasSubstr("/device:TPU:0")));
  EXPECT_THAT(import_text("step.xplane.pb", gpu).notes, testing::Not(Contains(HasSubstr("/device:TPU"))));
}

TEST(Xplane, WhatIsBrokenIsRefused) {
  const std::string sums = bytes_field(4, number_field(1, 1) + number_field(5, 3) + number_field(3, 1000));
  EXPECT_THAT(refusal_of("step.xplane.pb", xplane_file("/device:GPU:0", sums)), HasSubstr("byte"));
  EXPECT_THAT(refusal_of("step.xplane.pb", xplane_file("/device:GPU:0", event_of(77, 0, 1000, ""))), HasSubstr("77"));
  const std::string whole = xplane_file("/device:GPU:0");
  for (std::size_t size = 20; size < whole.size(); ++size) {
    const std::string refusal = refusal_of("step.xplane.pb", whole.substr(0, size));
    EXPECT_THAT(refusal, HasSubstr("byte")) << size;
  }
}

}  // namespace
}  // namespace roofline
