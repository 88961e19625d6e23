// Samples of threads whose work is known, for what reads them.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "sample/host_samples.hpp"

namespace roofline {

class HostSamplesBuilder {
 public:
  explicit HostSamplesBuilder(double rate_hz = 100) {
    samples_.rate_hz = rate_hz;
    samples_.start = 0;
  }

  int thread(std::int64_t pid, std::int64_t tid, const std::string& name = "python", std::int64_t parent = 1) {
    samples_.threads.push_back({pid, tid, parent, name, "python train.py", pid == tid});
    return static_cast<int>(samples_.threads.size()) - 1;
  }

  static HostFrame own(const std::string& file, int line, const std::string& function) {
    return {function, "/home/user/project/" + file, line, true, true};
  }
  static HostFrame library(const std::string& file, const std::string& function) {
    return {function, "/usr/lib/python3/site-packages/" + file, 1, true, false};
  }
  static HostFrame native(const std::string& library, const std::string& function) {
    return {function, library, 0, false, false};
  }

  /// The innermost frame first.
  int stack(const std::vector<HostFrame>& frames) {
    std::vector<int> indices;
    for (const HostFrame& frame : frames) {
      const auto known = std::find(samples_.frames.begin(), samples_.frames.end(), frame);
      indices.push_back(static_cast<int>(known - samples_.frames.begin()));
      if (known == samples_.frames.end()) samples_.frames.push_back(frame);
    }
    samples_.stacks.push_back(indices);
    return static_cast<int>(samples_.stacks.size()) - 1;
  }

  void sample(int thread, std::uint64_t time, ThreadState state, int stack, int gil_holder = -1) {
    samples_.samples.push_back({time, thread, stack, state, gil_holder, static_cast<float>(1 / samples_.rate_hz)});
    samples_.end = std::max(samples_.end, time);
  }

  HostSamples take() {
    std::stable_sort(samples_.samples.begin(), samples_.samples.end(),
                     [](const HostSample& a, const HostSample& b) { return a.time < b.time; });
    return samples_;
  }

 private:
  HostSamples samples_;
};

}  // namespace roofline
