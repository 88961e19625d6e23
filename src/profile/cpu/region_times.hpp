// Time of each loop of a CPU program, from samples of its instructions. Pure.
#pragma once

#include <cstdint>
#include <vector>

#include "model/ceiling.hpp"
#include "sample/code_samples.hpp"

namespace roofline {

struct RegionTime {
  std::int64_t samples = 0;
  double thread_s = 0;        ///< of all threads together
  Interval thread_ci95 = {};  ///< binomial, thread by thread
  double elapsed_s = 0;       ///< in which at least one thread was in it
  std::int64_t threads = 0;
  double busiest = 0;  ///< time of the thread with the most over the mean of its threads; 0: not known
};

/// Threads of the program that ran at the same time, at most, in 5 % of its time or more.
std::int64_t threads_at_once(const CodeSamples& samples);

/// Times of `count` regions. `of_code`: by index of CodeSamples::code.
std::vector<RegionTime> region_times(const CodeSamples& samples, const std::vector<int>& of_code, std::size_t count);

}  // namespace roofline
