// Constants of the IEEE formats, and the tolerance formula.
#include "op/tolerance.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace roofline {
namespace {

// By type, in the order of their declaration: fp64, fp32, tf32, fp16, bf16, fp8. Integers follow.
constexpr std::array kSmallestPositive = {0x1p-1074, 0x1p-149, 0x1p-149, 0x1p-24, 0x1p-133, 0x1p-9};
constexpr std::array kUnitRoundoff = {0x1p-53, 0x1p-24, 0x1p-24, 0x1p-11, 0x1p-8, 0x1p-4};

}  // namespace

double unit_roundoff(DType dtype) { return is_integer(dtype) ? 0 : kUnitRoundoff.at(static_cast<std::size_t>(dtype)); }

double operand_roundoff(DType dtype) { return dtype == DType::tf32 ? 0x1p-11 : unit_roundoff(dtype); }

double storage_error(DType dtype, double value) {
  if (is_integer(dtype)) {
    if (value == std::floor(value)) return 0;
    return std::min(0.75, 0.5 + 0x1p-22 * std::abs(value));  // fp32 may take a fraction near a half for a half
  }
  return unit_roundoff(dtype) * std::abs(value) + kSmallestPositive.at(static_cast<std::size_t>(dtype)) / 2;
}

double flush_error(DType dtype) {
  if (is_integer(dtype) || dtype == DType::fp16 || dtype == DType::fp8) return 0;
  return dtype == DType::fp64 ? 0x1p-1022 : 0x1p-126;
}

double permitted_for(double result, DType dtype, double permitted) {
  const double flushed = flush_error(dtype);
  const bool subnormal = result != 0 && std::abs(result) < flushed;
  return subnormal && permitted >= flushed ? permitted - flushed : permitted;
}

Tolerance storage_tolerance(DType dtype, double magnitude, double roundings) {
  const double accumulator = unit_roundoff(dtype == DType::fp64 ? DType::fp64 : DType::fp32);
  const double smallest = is_integer(dtype) ? 1 : kSmallestPositive.at(static_cast<std::size_t>(dtype));
  return {.relative = unit_roundoff(dtype) + smallest / (2 * magnitude) + 8 * accumulator * roundings,
          .magnitude = magnitude};
}

}  // namespace roofline
