// The work of one launch of a kernel: operations by pipe and bytes by level. Amounts, never rates.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "model/names.hpp"

namespace roofline {

/// Bytes that cross one level, split by direction: roofs of different read/write mixes differ by 10 %.
struct Traffic {
  double read = 0;        ///< bytes
  double write = 0;       ///< bytes
  bool in_place = false;  ///< all written bytes lie where the kernel also reads; otherwise or unknown: false
  bool unsplit = false;   ///< the directions are not known: `read` has all bytes, for the roof of reads
  double total() const { return read + write; }
};

/// Bytes of which it is not known how many are read and how many written.
inline Traffic unsplit_traffic(double bytes) { return {.read = bytes, .write = 0, .in_place = false, .unsplit = true}; }

/// A collective in which a launch takes part with the other ranks.
struct Collective {
  std::string name;        ///< name in its ceiling, after "nccl.": "all_reduce"
  std::int64_t ranks = 0;  ///< participating ranks
};

/// The work of one launch, from the op's model: of one rank if several work together.
struct Work {
  /// Operations that the field counts as the op's FLOPs; arithmetic intensity and FLOP/s use their sum.
  std::map<Pipe, double> flops;
  /// Operations that occupy a pipe but that the convention does not count as FLOPs (attention's softmax). The
  /// bound includes them, the intensity does not.
  std::map<Pipe, double> uncounted;
  /// Compulsory traffic: each input read once, each output written once. At Level::network the bytes that bus bandwidth
  /// counts (model/collective.hpp).
  std::map<Level, Traffic> bytes;
  /// Additional main-memory traffic of the implementation by design: intermediate results that no cache holds,
  /// second passes over the data. Explains measured traffic; intensity and bound exclude it.
  Traffic extra;
  std::int64_t launches = 1;  ///< kernel launches (or parallel regions on a CPU)
  /// The collective that moves the bytes at Level::network; std::nullopt if there is none.
  std::optional<Collective> collective = {};
  /// On a CPU, the threads that do it; 0: all of the run. One alone is compared with ceilings of one core.
  std::int64_t threads = 0;
  /// The cache whose ceilings bound the bytes of main memory, because a hot row finds them there (see
  /// Machine::cache_for). Nothing: main memory's ceilings do.
  std::optional<Level> cache = {};
  /// Written bytes of buffers that are only written; std::nullopt if unknown.
  std::optional<double> write_only = {};

  double total_flops() const;
  /// Counted and uncounted ones.
  std::map<Pipe, double> operations() const;
};

/// The pipe with most of the counted FLOPs; std::nullopt if there are none.
std::optional<Pipe> dominant_pipe(const Work& work);

/// Sum of the counted FLOPs over the bytes that cross `level`, in FLOP/byte; infinite where no byte
/// crosses it, NaN where there are neither.
double arithmetic_intensity(const Work& work, Level level);

}  // namespace roofline
