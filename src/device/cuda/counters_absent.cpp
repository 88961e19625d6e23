// Stands in for the counters in a build whose CUDA Toolkit has no headers of CUPTI's range profiler.
#include "device/cuda/open.hpp"
#include "device/cuda/pm_sampler.hpp"
#include "model/error.hpp"

namespace roofline {

std::unique_ptr<CounterReader> open_cuda_counters(Device&, CounterSet) {
  throw Error("this build has no GPU counters", "build with a CUDA Toolkit 12.6 or newer that has CUPTI's headers");
}

std::vector<std::string> sampled_on(const std::string&) { throw Error("this build has no GPU counters"); }

std::unique_ptr<ActivitySampler> sample_cuda_activity(int, double) {
  throw Error("this build has no GPU counters", "build with a CUDA Toolkit 12.6 or newer that has CUPTI's headers");
}

}  // namespace roofline
