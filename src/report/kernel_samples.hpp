// Samples of a kernel's instructions: where its warps were found, and what they waited for.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace roofline {

/// What a warp was found waiting for. `issuing` and `ready` are no waits.
enum class WaitFor : std::uint8_t {
  issuing,        ///< its instruction was issued
  ready,          ///< it could have issued; another warp did
  global_load,    ///< data from global memory
  global_store,   ///< room for a store to global memory, or stores before the end
  global_atomic,  ///< an atomic operation on global memory, or room for one
  local_memory,   ///< a thread's own memory: spilled registers, arrays indexed at run time
  shared_load,    ///< data from shared memory, or room for such a load
  shared_store,   ///< room for a store to shared memory
  shared_atomic,  ///< an atomic operation on shared memory
  constant,       ///< constant memory
  texture,        ///< the texture unit
  async_copy,     ///< asynchronous copies into shared memory
  exchange,       ///< shuffles and votes within a warp
  special,        ///< special functions: exponentials, reciprocals, roots
  conversion,     ///< conversions between integers and floating point
  division,       ///< a division or remainder, or a function that replaces one instruction
  fp64,           ///< double precision arithmetic
  arithmetic,     ///< another pipe of arithmetic that is busy
  tensor,         ///< tensor cores
  result,         ///< the result of the instruction before, with a fixed latency
  barrier,        ///< other warps of the block
  fence,          ///< earlier memory accesses to be visible to others
  branch,         ///< the target of a branch
  code,           ///< instructions to be fetched
  sleep,          ///< the time that it asked to sleep
  other,
  immediate  ///< a constant that an instruction names, which its cache does not have yet
};
std::string_view to_string(WaitFor what);
std::optional<WaitFor> parse_wait_for(std::string_view text);
/// "data from global memory".
std::string_view description_of(WaitFor what);

/// One kind of wait in one kernel.
struct SampledWait {
  WaitFor what = WaitFor::other;
  double share = 0;  ///< of all samples of the kernel
  std::string line;  ///< "kernel.cu:41": with most of them, of the instruction that is waited for; empty: not known
  std::string used_line;  ///< the line that waits for it, if it is another one
  double line_share = 0;  ///< of all samples, those with `line`
};

/// What the samples of its kernel say about a row; kernels of several rows are sampled together.
struct SampledKind {
  std::int64_t samples = 0;
  std::vector<SampledWait> waits;  ///< the largest first
};

struct WaitCount {
  WaitFor what = WaitFor::other;
  std::int64_t samples = 0;
};

/// Why a warp did not go on, as the GPU has it: "long_scoreboard".
struct ReasonCount {
  std::string reason;
  std::int64_t samples = 0;
};

/// A source line of a kernel.
struct SampledLine {
  std::string file;  ///< as the compiler wrote it; empty: instructions without a line
  std::int64_t line = 0;
  std::string text;  ///< of the source, where it could be read when the program ran
  std::int64_t samples = 0;
  std::vector<WaitCount> waits;  ///< the largest first
};

/// An instruction that has samples, or that is waited for.
struct SampledInstruction {
  std::int64_t offset = 0;  ///< bytes from the kernel's start
  std::string name;         ///< "LDG"; "?" where it is not known
  int line = -1;            ///< in SampledKernel::lines; -1: without a line
  std::int64_t samples = 0;
  std::vector<ReasonCount> reasons;     ///< the largest first
  std::vector<std::int64_t> waits_for;  ///< offsets, the nearest first
};

struct SampledKernel {
  std::string name;  ///< demangled, as ProfiledKind::full_name
  std::int64_t samples = 0;
  std::vector<ReasonCount> reasons;              ///< the largest first
  std::vector<SampledWait> waits;                ///< the largest first
  std::vector<SampledLine> lines;                ///< the most samples first
  std::vector<SampledInstruction> instructions;  ///< by offset
};

/// The samples of a program's kernels, the most samples first.
struct KernelSamples {
  std::string by;              ///< the other tool that took them ("ncu 2025.3.1"), while it ran launches by themselves
  double seconds = 0;          ///< in which samples were taken; 0 of other tools
  std::int64_t samples = 0;    ///< all that GPUs took then
  std::int64_t dropped = 0;    ///< of them
  std::int64_t elsewhere = 0;  ///< of them, in code of which nothing is known
  std::int64_t period = 0;     ///< cycles from sample to sample of an SM
  std::vector<SampledKernel> kernels;

  bool empty() const { return kernels.empty(); }
  const SampledKernel* find(std::string_view full_name) const;
};

}  // namespace roofline
