// Instruction samples of a kernel: where its warps were, and what they waited for.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace roofline {

/// What a warp waited for. `issuing` and `ready` are not waits.
enum class WaitFor : std::uint8_t {
  issuing,        ///< its instruction was issued
  ready,          ///< it could have issued; another warp did
  global_load,    ///< data from global memory
  global_store,   ///< queue space for a store to global memory, or outstanding stores at exit
  global_atomic,  ///< an atomic operation on global memory, or queue space for one
  local_memory,   ///< a thread's own memory: spilled registers, arrays indexed at run time
  shared_load,    ///< data from shared memory, or queue space for such a load
  shared_store,   ///< queue space for a store to shared memory
  shared_atomic,  ///< an atomic operation on shared memory
  constant,       ///< constant memory
  texture,        ///< the texture unit
  async_copy,     ///< asynchronous copies into shared memory
  exchange,       ///< shuffles and votes within a warp
  special,        ///< special functions: exponentials, reciprocals, roots
  conversion,     ///< conversions between integers and floating point
  division,       ///< a division or remainder, or a function that replaces one instruction
  fp64,           ///< double precision arithmetic
  arithmetic,     ///< another arithmetic pipe that is busy
  tensor,         ///< tensor cores
  result,         ///< the previous instruction's result, with a fixed latency
  barrier,        ///< other warps of the block
  fence,          ///< visibility of earlier memory accesses
  branch,         ///< the target of a branch
  code,           ///< instruction fetch
  sleep,          ///< a requested sleep
  other,
  immediate,     ///< an instruction's constant that misses its cache
  reduction,     ///< the reduction of a large argument of a sine or cosine, in software
  trigonometry,  ///< sines and cosines in software: the reduction of usual arguments, and polynomials
  random_init    ///< the initialisation of a random number generator, whatever its code waits for
};
std::string_view to_string(WaitFor what);
std::optional<WaitFor> parse_wait_for(std::string_view text);
/// "data from global memory".
std::string_view description_of(WaitFor what);

/// One kind of wait in one kernel.
struct SampledWait {
  WaitFor what = WaitFor::other;
  double share = 0;       ///< fraction of all samples of the kernel
  std::string line;       ///< "kernel.cu:41": most frequent line of the awaited instruction; empty: unknown
  std::string used_line;  ///< line of the waiting instruction, if different
  double line_share = 0;  ///< fraction of all samples that have `line`
};

/// Samples of a row's kernel; rows of the same kernel share them.
struct SampledKind {
  std::int64_t samples = 0;
  std::vector<SampledWait> waits;  ///< largest first
  /// Fraction of the issued instructions that the special function unit executes; 0 with too few samples of them.
  double special = 0;
  /// The same of conversions from and to double precision.
  double double_conversions = 0;
  /// "kernel.cu:41": line of the most frequent store to global memory; empty: unknown.
  std::string store_line = {};
  /// Fraction of the issued instructions that access shared memory; 0 with too few samples of them.
  double shared = 0;
  /// Fraction of all samples in which the queue of shared memory, shuffles and special functions was full.
  double queue_full = 0;
  /// Fraction of the issued instructions that are behind a barrier, up to the next one or to the end.
  double behind_barrier = 0;
  /// "kernel.cu:118": line of the most issued instructions there; empty: unknown.
  std::string behind_line = {};
};

struct WaitCount {
  WaitFor what = WaitFor::other;
  std::int64_t samples = 0;
};

/// Stall reason by its GPU name: "long_scoreboard".
struct ReasonCount {
  std::string reason;
  std::int64_t samples = 0;
};

/// A source line of a kernel.
struct SampledLine {
  std::string file;  ///< as written by the compiler; empty: instructions without a line
  std::int64_t line = 0;
  std::string text;  ///< source text, if readable when the program ran
  std::int64_t samples = 0;
  std::vector<WaitCount> waits;  ///< largest first
};

/// An instruction with samples, or one that others wait for.
struct SampledInstruction {
  std::int64_t offset = 0;  ///< bytes from the kernel's start
  std::string name;         ///< "LDG"; "?" if unknown
  int line = -1;            ///< index into SampledKernel::lines; -1: no line
  std::int64_t samples = 0;
  std::vector<ReasonCount> reasons;     ///< largest first
  std::vector<std::int64_t> waits_for;  ///< offsets, nearest first
};

struct SampledKernel {
  std::string name;  ///< demangled, like ProfiledKind::full_name
  std::int64_t samples = 0;
  std::vector<ReasonCount> reasons;              ///< largest first
  std::vector<SampledWait> waits;                ///< largest first
  std::vector<SampledLine> lines;                ///< most samples first
  std::vector<SampledInstruction> instructions;  ///< sorted by offset
};

/// Instruction samples of a program, by kernel, most samples first.
struct KernelSamples {
  std::string by;              ///< tool that took them ("ncu 2025.3.1"), with launches in isolation; empty: roofline
  double seconds = 0;          ///< sampled time; 0 for other tools
  std::int64_t samples = 0;    ///< all samples of the GPUs in that time
  std::int64_t dropped = 0;    ///< dropped samples
  std::int64_t elsewhere = 0;  ///< samples in unknown code
  std::int64_t period = 0;     ///< cycles between two samples of an SM
  std::vector<SampledKernel> kernels;

  bool empty() const { return kernels.empty(); }
  const SampledKernel* find(std::string_view full_name) const;
};

}  // namespace roofline
