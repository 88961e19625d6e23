// The table of rates by compute capability.
#include "device/cuda/throughput.hpp"

#include <array>

namespace roofline {
namespace {

/// Per SM and cycle. Lanes count results, a multiply-add as one; tensor columns dense operations, a multiply-add as
/// two, with fp32 (int32, fp64) accumulation. 0: unknown here, or not the same on all parts of that capability.
struct Rates {
  int major;
  int minor;
  std::array<double, 13> of_pipe;  ///< by the Pipe; fp16 and bf16 packed
  double l1_kib;
};

// 8.6's and 8.9's GeForce parts halve the tensor rate with fp32 accumulation, and professional parts of the same
// capability don't: left out, like 12.0's, for a limit that half of the devices can't reach proves nothing.
// GA100 alone has twice the packed fp16 rate, and not of bf16: 78 and 39 TFLOP/s (A100 whitepaper, table 1).
constexpr std::array kTable = {
    // int8 is dp4a, which no probe measures.
    //     cc      fp64 fp32 fp16 bf16 int32 int8 sfu  fp64 tf32  fp16  bf16  fp8   int8   KiB of L1
    Rates{8, 0, {32, 64, 256, 128, 64, 0, 16, 128, 1024, 2048, 2048, 0, 4096}, 192},
    Rates{8, 6, {2, 128, 128, 128, 64, 0, 16, 0, 0, 0, 0, 0, 2048}, 128},
    Rates{8, 7, {2, 128, 128, 128, 64, 0, 16, 0, 1024, 2048, 2048, 0, 4096}, 192},
    Rates{8, 9, {2, 128, 128, 128, 64, 0, 16, 0, 0, 0, 0, 0, 2048}, 128},
    Rates{9, 0, {64, 128, 256, 256, 64, 0, 16, 256, 2048, 4096, 4096, 8192, 8192}, 256},
    Rates{10, 0, {64, 128, 0, 0, 0, 0, 16, 128, 4096, 8192, 8192, 16384, 0}, 256},
    Rates{12, 0, {2, 128, 0, 0, 0, 0, 16, 0, 0, 0, 0, 0, 0}, 128},
};

const Rates* find(int major, int minor) {
  for (const Rates& row : kTable) {
    if (row.major == major && row.minor == minor) return &row;
  }
  return nullptr;
}

double rate(const Rates& row, Pipe pipe) {
  return row.of_pipe.at(static_cast<std::size_t>(pipe)) * (pipe < Pipe::sfu ? 2 : 1);
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
