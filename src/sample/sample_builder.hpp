// Collects samples: every frame and every stack once. Native frames get their names at the end.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "sample/code_modules.hpp"
#include "sample/host_samples.hpp"
#include "sample/python_process.hpp"

namespace roofline {

class SampleBuilder {
 public:
  /// The index of a stack: native frames, innermost first, and Python's around them, and the kernel's if it ran there.
  /// -1: there are none.
  int stack(const std::vector<CodePlace>& native, const std::vector<PythonFrame>& python, bool kernel = false);
  int add_thread(HostThread thread);
  HostThread& thread(int index) { return samples_.threads[static_cast<std::size_t>(index)]; }
  /// True: there are so many that every second sample of each thread was merged with the next one; sample half as
  /// often.
  bool add(const HostSample& sample);

  /// Adds memory of a process, and the places where it grew. Both are thinned or dropped above a limit.
  void add(const HostMemorySample& sample);
  void add(const HostMemoryRise& rise);

  /// An instruction that a thread ran. Where there are many, each second one of a thread is left out.
  void add_code(std::uint64_t time, int thread, const std::optional<CodePlace>& place);
  /// Begins samples of instructions, or records why there are none.
  void sample_code(double period_s, const std::string& why_none);

  /// Names the native frames.
  HostSamples finish(const CodeModules& modules);

 private:
  struct Frame {
    CodePlace place;                         ///< of a native one
    std::shared_ptr<const PythonCode> code;  ///< of a Python one
    int line = 0;
  };
  struct HashOfStack {
    std::size_t operator()(const std::vector<int>& stack) const;
  };
  struct HashOfPair {
    std::size_t operator()(const std::pair<std::uint64_t, std::uint64_t>& pair) const;
  };
  int frame(std::uint64_t owner, std::uint64_t place, const Frame& frame);
  void thin_out();
  void thin_out_code();

  HostSamples samples_;
  std::uint64_t memory_period_ = 0;
  std::unordered_map<std::int64_t, std::uint64_t> memory_of_;  ///< by process, when it was last kept
  std::map<CodePlace, int> known_code_;
  std::uint64_t code_step_ = 1;                ///< each so many samples of a thread are kept
  std::vector<std::uint64_t> code_of_thread_;  ///< samples so far
  std::vector<Frame> frames_;
  std::unordered_map<std::pair<std::uint64_t, std::uint64_t>, int, HashOfPair> known_frames_;
  std::unordered_map<std::vector<int>, int, HashOfStack> known_stacks_;
};

}  // namespace roofline
