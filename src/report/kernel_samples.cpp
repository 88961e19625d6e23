#include "report/kernel_samples.hpp"

#include <algorithm>
#include <array>

#include "model/spelling.hpp"

namespace roofline {
namespace {

constexpr std::array<std::string_view, 30> kWaits = {
    "issuing",     "ready",        "global_load",   "global_store", "global_atomic", "local_memory",
    "shared_load", "shared_store", "shared_atomic", "constant",     "texture",       "async_copy",
    "exchange",    "special",      "conversion",    "division",     "fp64",          "arithmetic",
    "tensor",      "result",       "barrier",       "fence",        "branch",        "code",
    "sleep",       "other",        "immediate",     "reduction",    "trigonometry",  "random_init"};

constexpr std::array<std::string_view, 30> kDescriptions = {"issued an instruction",
                                                            "ready, another warp was chosen",
                                                            "loads from global memory",
                                                            "stores to global memory",
                                                            "atomic operations on global memory",
                                                            "local memory",
                                                            "loads from shared memory",
                                                            "stores to shared memory",
                                                            "atomic operations on shared memory",
                                                            "constant memory",
                                                            "the texture unit",
                                                            "asynchronous copies",
                                                            "exchange within a warp",
                                                            "special functions",
                                                            "number conversions",
                                                            "divisions",
                                                            "double precision arithmetic",
                                                            "a busy arithmetic pipe",
                                                            "tensor cores",
                                                            "the previous instruction's result",
                                                            "other warps at a barrier",
                                                            "memory fences",
                                                            "branch targets",
                                                            "instruction fetch",
                                                            "the end of a sleep",
                                                            "something else",
                                                            "instruction constants (immediate constant cache)",
                                                            "the range reduction of large arguments (sine, cosine)",
                                                            "sines and cosines in software",
                                                            "the initialisation of random number generators"};

}  // namespace

std::string_view to_string(WaitFor what) { return spell(kWaits, what); }
std::optional<WaitFor> parse_wait_for(std::string_view text) { return unspell<WaitFor>(kWaits, text); }
std::string_view description_of(WaitFor what) { return spell(kDescriptions, what); }

const SampledKernel* KernelSamples::find(std::string_view full_name) const {
  const auto found = std::find_if(kernels.begin(), kernels.end(),
                                  [full_name](const SampledKernel& kernel) { return kernel.name == full_name; });
  return found == kernels.end() ? nullptr : &*found;
}

}  // namespace roofline
