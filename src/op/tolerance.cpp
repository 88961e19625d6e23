// The constants of the IEEE formats, and the one formula made of them.
#include "op/tolerance.hpp"

namespace roofline {
namespace {

double smallest_positive(DType dtype) {
  switch (dtype) {
    case DType::fp64:
      return 0x1p-1074;
    case DType::fp32:
    case DType::tf32:
      return 0x1p-149;
    case DType::fp16:
      return 0x1p-24;
    case DType::bf16:
      return 0x1p-133;
    case DType::fp8:
      return 0x1p-9;
    case DType::int8:
    case DType::int32:
      return 1;
  }
  return 0;
}

}  // namespace

double unit_roundoff(DType dtype) {
  switch (dtype) {
    case DType::fp64:
      return 0x1p-53;
    case DType::fp32:
    case DType::tf32:
      return 0x1p-24;
    case DType::fp16:
      return 0x1p-11;
    case DType::bf16:
      return 0x1p-8;
    case DType::fp8:
      return 0x1p-4;
    case DType::int8:
    case DType::int32:
      return 0;
  }
  return 0;
}

double operand_roundoff(DType dtype) { return dtype == DType::tf32 ? 0x1p-11 : unit_roundoff(dtype); }

Tolerance storage_tolerance(DType dtype, double magnitude, double roundings) {
  const double accumulator = unit_roundoff(dtype == DType::fp64 ? DType::fp64 : DType::fp32);
  return {.relative = unit_roundoff(dtype) + smallest_positive(dtype) / (2 * magnitude) + 8 * accumulator * roundings,
          .magnitude = magnitude};
}

}  // namespace roofline
