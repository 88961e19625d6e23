// Time of each region of a CPU program, from instruction samples. Pure.
#pragma once

#include <cstdint>
#include <vector>

#include "model/ceiling.hpp"
#include "sample/code_samples.hpp"

namespace roofline {

struct RegionTime {
  std::int64_t samples = 0;
  double thread_s = 0;        ///< summed over threads
  Interval thread_ci95 = {};  ///< binomial, per thread
  double elapsed_s = 0;       ///< time with at least one thread in it
  std::int64_t threads = 0;
  double busiest = 0;  ///< time of the busiest thread over the mean of its threads; 0: unknown
};

/// Maximum number of program threads that ran at the same time, in at least 5 % of the time.
std::int64_t threads_at_once(const CodeSamples& samples);

/// Times of `count` regions. `of_code`: region by index of CodeSamples::code.
std::vector<RegionTime> region_times(const CodeSamples& samples, const std::vector<int>& of_code, std::size_t count);

}  // namespace roofline
