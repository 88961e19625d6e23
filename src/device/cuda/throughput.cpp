// The table of rates by compute capability.
#include "device/cuda/throughput.hpp"

#include <array>

namespace roofline {
namespace {

/// Per SM and cycle. Lanes count FMAs, tensor columns dense FLOP with fp32 accumulation; 0 means unknown here.
struct Rates {
  int major;
  int minor;
  double fp32_lanes;
  double fp64_lanes;
  double sfu_lanes;
  double tensor_16bit;  ///< fp16 and bf16
  double tensor_tf32;
  double l1_kib;
};

// 8.6 and 8.9 halve their tensor rate with fp32 accumulation on consumer parts, and a professional part of
// the same capability does not: the higher figure is the limit. 12.0's parts differ in the same way and
// are left out.
constexpr std::array kTable = {
    Rates{8, 0, 64, 32, 16, 2048, 1024, 192},  Rates{8, 6, 128, 2, 16, 1024, 512, 128},
    Rates{8, 7, 128, 2, 16, 2048, 1024, 192},  Rates{8, 9, 128, 2, 16, 1024, 512, 128},
    Rates{9, 0, 128, 64, 16, 4096, 2048, 256}, Rates{10, 0, 128, 64, 16, 8192, 4096, 256},
    Rates{12, 0, 128, 2, 16, 0, 0, 128},
};

const Rates* find(int major, int minor) {
  for (const Rates& row : kTable) {
    if (row.major == major && row.minor == minor) return &row;
  }
  return nullptr;
}

double rate(const Rates& row, Pipe pipe) {
  switch (pipe) {
    case Pipe::fp32:
      return 2 * row.fp32_lanes;
    case Pipe::fp64:
      return 2 * row.fp64_lanes;
    case Pipe::sfu:
      return row.sfu_lanes;
    case Pipe::tensor_fp16:
    case Pipe::tensor_bf16:
      return row.tensor_16bit;
    case Pipe::tensor_tf32:
      return row.tensor_tf32;
    default:
      return 0;
  }
}

}  // namespace

std::optional<double> flops_per_cycle(int major, int minor, Pipe pipe) {
  const Rates* row = find(major, minor);
  if (row == nullptr || rate(*row, pipe) == 0) return std::nullopt;
  return rate(*row, pipe);
}

std::optional<double> l1_bytes(int major, int minor) {
  const Rates* row = find(major, minor);
  if (row == nullptr) return std::nullopt;
  return row->l1_kib * 1024;
}

}  // namespace roofline
