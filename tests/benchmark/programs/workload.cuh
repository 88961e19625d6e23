// What the CUDA C++ programs of this benchmark share: how long they work, and what they print at the end.
#pragma once

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string_view>

inline void check(cudaError_t error) {
  if (error == cudaSuccess) return;
  std::fprintf(stderr, "%s\n", cudaGetErrorString(error));
  std::exit(1);
}

/// Whether FIXED=1 asks for the program without its fault.
inline const bool kFixed = std::getenv("FIXED") != nullptr && std::string_view(std::getenv("FIXED")) == "1";

/// Calls `step` for SECONDS_OF_WORK (default: 6), waits for the GPU, and prints the number of steps and their seconds.
template <class Step>
void run_steps(Step step) {
  using Clock = std::chrono::steady_clock;
  const char* const given = std::getenv("SECONDS_OF_WORK");
  const double limit = given != nullptr ? std::atof(given) : 6;
  const Clock::time_point begin = Clock::now();
  const auto elapsed = [begin] { return std::chrono::duration<double>(Clock::now() - begin).count(); };
  long number = 0;
  for (; elapsed() < limit; ++number) step(number);
  check(cudaDeviceSynchronize());
  std::printf("steps %ld in %.3f s\n", number, elapsed());
}
