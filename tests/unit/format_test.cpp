// Numbers for people: known answers, carries at the edges of a prefix, and absent values.
#include "text/format.hpp"

#include <gtest/gtest.h>

#include <limits>

#include "tests/support/values.hpp"

namespace roofline {
namespace {

TEST(Format, SiChoosesThePrefix) {
  EXPECT_EQ(si(4.671e12, "B/s"), "4.67 TB/s");
  EXPECT_EQ(si(798e12, "FLOP/s"), "798 TFLOP/s");
  EXPECT_EQ(si(1.9e-6, "s"), "1.9 µs");
  EXPECT_EQ(si(1.24e15, "FLOP/s"), "1.24 PFLOP/s");
  EXPECT_EQ(si(63.4, "FLOP/s"), "63.4 FLOP/s");
  EXPECT_EQ(si(-1.5e3, "B"), "-1.5 kB");
  EXPECT_EQ(si(1360, ""), "1.36 k");
  EXPECT_EQ(si(12, ""), "12");
}

TEST(Format, RoundingCarriesIntoTheNextPrefix) {
  EXPECT_EQ(si(999.4, "B"), "999 B");
  EXPECT_EQ(si(999.6, "B"), "1 kB");
  EXPECT_EQ(si(999.96e9, "B/s", 4), "1 TB/s");
  EXPECT_EQ(si(0.9996e-6, "s"), "1 µs");
}

TEST(Format, EdgesOfThePrefixes) {
  EXPECT_EQ(si(0, "s"), "0 s");
  EXPECT_EQ(si(-0.0, "s"), "0 s");
  EXPECT_EQ(si(1e-15, "s"), "0.001 ps");
  EXPECT_EQ(si(2.5e21, "B"), "2500 EB");
  EXPECT_EQ(si(kNaN, "s"), "–");
  EXPECT_EQ(si(kInfinity, "s"), "∞ s");
}

TEST(Format, NumberDropsTrailingZeros) {
  EXPECT_EQ(number(682.6667), "682.7");
  EXPECT_EQ(number(0.125), "0.125");
  EXPECT_EQ(number(0.08333333, 3), "0.0833");
  EXPECT_EQ(number(512), "512");
  EXPECT_EQ(number(123456, 3), "123000");
  EXPECT_EQ(number(1e20), "1e+20");
  EXPECT_EQ(number(kNaN), "–");
}

TEST(Format, IntensitiesAsTheFieldQuotesThem) {
  EXPECT_EQ(intensity(0.125), "0.125");
  EXPECT_EQ(intensity(1.2497), "1.25");
  EXPECT_EQ(intensity(4096.0 / 6), "682.7");
  EXPECT_EQ(intensity(4096.0 / 3), "1365.3");
  EXPECT_EQ(intensity(1024), "1024");
  EXPECT_EQ(intensity(2.5e6), "2.5 M");
  EXPECT_EQ(intensity(0), "0");
  EXPECT_EQ(intensity(kInfinity), "∞");
  EXPECT_EQ(intensity(kNaN), "–");
}

TEST(Format, RatesByKind) {
  EXPECT_EQ(rate(4.671e12, CeilingKind::bandwidth), "4.67 TB/s");
  EXPECT_EQ(rate(798.2e12, CeilingKind::compute), "798 TFLOP/s");
  EXPECT_EQ(rate(526e3, CeilingKind::overhead), "526 k launches/s");
  EXPECT_EQ(rate(12, CeilingKind::overhead), "12 launches/s");
}

TEST(Format, IntegersDoNoFlops) {
  EXPECT_EQ(ceiling_value(1.92e15, CeilingKind::compute, Pipe::tensor_int8), "1.92 POP/s");
  EXPECT_EQ(ceiling_value(640e9, CeilingKind::compute, Pipe::int8), "640 GOP/s");
  EXPECT_EQ(ceiling_value(33.3e12, CeilingKind::compute, Pipe::int32), "33.3 TOP/s");
  EXPECT_EQ(ceiling_value(798e12, CeilingKind::compute, Pipe::tensor_bf16), "798 TFLOP/s");
  EXPECT_EQ(ceiling_value(4.67e12, CeilingKind::bandwidth, {}), "4.67 TB/s");
}

TEST(Format, EnergyOfWhatACeilingCounts) {
  Ceiling ceiling;
  ceiling.kind = CeilingKind::compute;
  ceiling.pipe = Pipe::tensor_bf16;
  EXPECT_EQ(energy(ceiling), "");
  ceiling.power.joules_per_unit = 0.811e-12;
  EXPECT_EQ(energy(ceiling), "0.811 pJ/FLOP");
  ceiling.pipe = Pipe::int32;
  EXPECT_EQ(energy(ceiling), "0.811 pJ/OP") << "integers are no floating point";
  ceiling.kind = CeilingKind::bandwidth;
  ceiling.pipe.reset();
  EXPECT_EQ(energy(ceiling), "0.811 pJ/B");
}

TEST(Format, Durations) {
  EXPECT_EQ(duration(0.0241), "24.1 ms");
  EXPECT_EQ(duration(59.94), "59.9 s");
  EXPECT_EQ(duration(59.96), "1 min 0 s");
  EXPECT_EQ(duration(72), "1 min 12 s");
  EXPECT_EQ(duration(3720), "1 h 2 min");
  EXPECT_EQ(duration(kNaN), "–");
}

TEST(Format, BinaryBytes) {
  EXPECT_EQ(binary_bytes(60.0 * 1024 * 1024), "60 MiB");
  EXPECT_EQ(binary_bytes(139.8 * 1024 * 1024 * 1024), "140 GiB");
  EXPECT_EQ(binary_bytes(1023), "1023 B");
  EXPECT_EQ(binary_bytes(1023.9), "1 KiB");
  EXPECT_EQ(binary_bytes(0), "0 B");
  EXPECT_EQ(binary_bytes(kNaN), "–");
}

TEST(Format, Percentages) {
  EXPECT_EQ(percent(0.865), "86.5 %");
  EXPECT_EQ(percent(0.96), "96.0 %");
  EXPECT_EQ(percent(1.034), "103.4 %");  // never clamped
  EXPECT_EQ(percent(0.0004), "0.04 %");
  EXPECT_EQ(percent(0), "0.0 %");
  EXPECT_EQ(percent(23), "2300 %");
  EXPECT_EQ(percent(kNaN), "–");
}

TEST(Format, IntervalsRelativeToTheValue) {
  EXPECT_EQ(plus_minus(100, {99.7, 100.3}), "±0.3 %");
  EXPECT_EQ(plus_minus(100, {99.99, 100.01}), "<±0.1 %");
  EXPECT_EQ(plus_minus(100, {80, 130}), "±25 %");
  EXPECT_EQ(plus_minus(100, {}), "–");
  EXPECT_EQ(plus_minus(0, {0, 0}), "–");
}

TEST(Format, FactorsAndCounts) {
  EXPECT_EQ(factor(1.92), "1.9×");
  EXPECT_EQ(factor(1.034), "1.03×");
  EXPECT_EQ(factor(12.34), "12.3×");
  EXPECT_EQ(count(1048576), "1,048,576");
  EXPECT_EQ(count(-1000), "-1,000");
  EXPECT_EQ(count(-100), "-100");
  EXPECT_EQ(count(0), "0");
}

}  // namespace
}  // namespace roofline
