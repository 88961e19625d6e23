// What one launch of a kernel has to do: operations by pipe and bytes by level. Amounts, never rates.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "model/names.hpp"

namespace roofline {

/// Bytes that cross one level, split by direction: roofs of different read/write mixes differ by 10 %.
struct Traffic {
  double read = 0;   ///< bytes
  double write = 0;  ///< bytes
  double total() const { return read + write; }
};

/// A collective that a launch takes part in, with all others of its ranks.
struct Collective {
  std::string name;        ///< as its ceiling has it behind "nccl.": "all_reduce"
  std::int64_t ranks = 0;  ///< that work together
};

/// The work of one launch, from the op's model: on one rank where several work together.
struct Work {
  /// Operations that the field counts as the op's FLOPs; arithmetic intensity and FLOP/s use their sum.
  std::map<Pipe, double> flops;
  /// Operations that occupy a pipe but that the convention leaves out of the FLOP count (attention's
  /// softmax). They take time on their pipe, and so enter the bound, but not the intensity.
  std::map<Pipe, double> uncounted;
  /// Compulsory traffic: each input read once, each output written once. At Level::network the bytes that bus bandwidth
  /// counts (model/collective.hpp).
  std::map<Level, Traffic> bytes;
  /// What the implementation moves through main memory besides, by its design: intermediate results that no cache
  /// holds, second passes over the data. Explains measured traffic; the intensity and the bound leave it out.
  Traffic extra;
  std::int64_t launches = 1;  ///< kernel launches (or parallel regions on a CPU)
  /// What moves the bytes at Level::network; nothing where there are none.
  std::optional<Collective> collective = {};

  double total_flops() const;
};

/// The pipe that most of the counted FLOPs run on, or nothing when there are none.
std::optional<Pipe> dominant_pipe(const Work& work);

/// Sum of the counted FLOPs over the bytes that cross `level`, in FLOP/byte; infinite where no byte
/// crosses it, NaN where there are neither.
double arithmetic_intensity(const Work& work, Level level);

}  // namespace roofline
