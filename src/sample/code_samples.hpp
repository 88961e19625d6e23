// Where the threads of a program ran, by instruction: samples of user code at a high rate, without stacks. Plain data.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace roofline {

/// An instruction: its address as it is linked in a module's file.
struct SampledCode {
  std::int32_t module = -1;  ///< index into CodeSamples::modules; -1: in no known mapping
  std::uint64_t address = 0;
  bool operator==(const SampledCode&) const = default;
};

struct CodeSample {
  std::uint64_t time = 0;   ///< ns of CLOCK_MONOTONIC
  std::int32_t thread = 0;  ///< index into HostSamples::threads
  std::int32_t code = 0;    ///< index into CodeSamples::code
  bool operator==(const CodeSample&) const = default;
};

/// Each sample stands for `period_s` of its thread's time in user code.
struct CodeSamples {
  std::vector<std::string> modules;  ///< paths; empty: memory of no file
  std::vector<SampledCode> code;
  std::vector<CodeSample> samples;
  double period_s = 0;   ///< 0: not sampled
  std::string why_none;  ///< empty where there are samples, and where none were requested
};

}  // namespace roofline
