#include "sample/sample_builder.hpp"

#include <algorithm>

#include "sample/kernel_frame.hpp"
#include "sample/native_names.hpp"

namespace roofline {
namespace {

constexpr std::size_t kMostSamples = std::size_t{1} << 22U;  ///< 170 MB
constexpr std::size_t kMostMemorySamples = 1 << 16, kMostRises = 1 << 16;
constexpr std::size_t kMostCodeSamples = std::size_t{1} << 22U;  ///< 67 MB
constexpr std::uint64_t kMemoryPeriod = 100'000'000;             ///< ns
constexpr int kKernelModule = -1;                                ///< of the kernel's place
constexpr std::size_t kMixer = 0x9e3779b97f4a7c15ULL;

std::size_t mixed(std::size_t hash, std::uint64_t value) {
  hash ^= value + kMixer + (hash << 6U) + (hash >> 2U);
  return hash * kMixer;
}

/// The interpreter's loop over the instructions of a Python function, and what calls it.
bool runs_python_function(const HostFrame& frame) {
  return !frame.python && (frame.function.starts_with("_PyEval_") || frame.function.starts_with("PyEval_") ||
                           frame.function.starts_with("_PyFunction_Vectorcall"));
}

/// Where a process that Python's multiprocessing forked begins: the frames around it are those of its parent.
bool begins_process(const HostFrame& frame) {
  return frame.python && frame.function.ends_with("_bootstrap") && frame.file.ends_with("multiprocessing/process.py");
}

/// Without the frames that are not part of what the thread does: native ones around a Python function that an extension
/// calls back, which is the innermost Python frame, and those of the process that forked this one.
void drop_foreign_frames(std::vector<int>& stack, const std::vector<HostFrame>& frames) {
  const auto frame = [&](int index) -> const HostFrame& { return frames[static_cast<std::size_t>(index)]; };
  const auto python = std::ranges::find_if(stack, [&](int index) { return frame(index).python; });
  if (python == stack.end()) return;
  const bool called_back = std::any_of(stack.begin(), python, [&](int i) { return runs_python_function(frame(i)); });
  if (called_back) stack.erase(stack.begin(), python);
  const auto begin = std::ranges::find_if(stack, [&](int index) { return begins_process(frame(index)); });
  if (begin != stack.end()) stack.erase(std::next(begin), stack.end());
}

}  // namespace

std::size_t SampleBuilder::HashOfStack::operator()(const std::vector<int>& stack) const {
  std::size_t hash = stack.size();
  for (const int frame : stack) hash = mixed(hash, static_cast<std::uint64_t>(frame));
  return hash;
}

std::size_t SampleBuilder::HashOfPair::operator()(const std::pair<std::uint64_t, std::uint64_t>& pair) const {
  return mixed(mixed(0, pair.first), pair.second);
}

int SampleBuilder::frame(std::uint64_t owner, std::uint64_t place, const Frame& frame) {
  const auto [known, is_new] = known_frames_.try_emplace({owner, place}, static_cast<int>(frames_.size()));
  if (is_new) frames_.push_back(frame);
  return known->second;
}

int SampleBuilder::stack(const std::vector<CodePlace>& native, const std::vector<PythonFrame>& python, bool kernel) {
  std::vector<int> stack;
  stack.reserve(native.size() + python.size() + 1);
  if (kernel) stack.push_back(frame(static_cast<std::uint64_t>(kKernelModule), 0, {{kKernelModule, 0}, nullptr, 0}));
  for (const CodePlace& place : native) {
    stack.push_back(frame(static_cast<std::uint64_t>(place.module), place.address, {place, nullptr, 0}));
  }
  for (const PythonFrame& one : python) {
    // An object's address is larger than any module's number, and the frame keeps the object.
    const auto owner = reinterpret_cast<std::uintptr_t>(one.code.get());
    stack.push_back(frame(owner, static_cast<std::uint64_t>(one.line), {{}, one.code, one.line}));
  }
  if (stack.empty()) return -1;
  const auto [known, is_new] = known_stacks_.try_emplace(std::move(stack), static_cast<int>(samples_.stacks.size()));
  if (is_new) samples_.stacks.push_back(known->first);
  return known->second;
}

int SampleBuilder::add_thread(HostThread thread) {
  samples_.threads.push_back(std::move(thread));
  return static_cast<int>(samples_.threads.size()) - 1;
}

bool SampleBuilder::add(const HostSample& sample) {
  samples_.samples.push_back(sample);
  if (samples_.samples.size() < kMostSamples) return false;
  thin_out();
  return true;
}

void SampleBuilder::add(const HostMemorySample& sample) {
  if (memory_period_ == 0) memory_period_ = kMemoryPeriod;
  std::uint64_t& last = memory_of_[sample.pid];
  if (last != 0 && sample.time < last + memory_period_) return;
  last = sample.time;
  samples_.memory.push_back(sample);
  if (samples_.memory.size() < kMostMemorySamples) return;
  memory_period_ *= 2;
  std::unordered_map<std::int64_t, bool> drop;
  std::erase_if(samples_.memory, [&](const HostMemorySample& one) {
    bool& now = drop[one.pid];
    now = !now;
    return !now;
  });
}

void SampleBuilder::add(const HostMemoryRise& rise) {
  if (rise.stack >= 0 && samples_.rises.size() < kMostRises) samples_.rises.push_back(rise);
}

/// A sample that is dropped leaves its time to the next one of its thread.
void SampleBuilder::thin_out() {
  std::vector<float> carried(samples_.threads.size(), 0);
  std::vector<bool> drop(samples_.threads.size(), false);
  std::vector<HostSample> kept;
  kept.reserve(samples_.samples.size() / 2 + carried.size());
  for (HostSample sample : samples_.samples) {
    const auto thread = static_cast<std::size_t>(sample.thread);
    drop[thread] = !drop[thread];
    if (drop[thread]) {
      carried[thread] = sample.seconds;
      continue;
    }
    sample.seconds += carried[thread];
    carried[thread] = 0;
    kept.push_back(sample);
  }
  samples_.samples = std::move(kept);
}

void SampleBuilder::sample_code(double period_s, const std::string& why_none) {
  samples_.code.period_s = why_none.empty() ? period_s : 0;
  samples_.code.why_none = why_none;
}

void SampleBuilder::add_code(std::uint64_t time, int thread, const std::optional<CodePlace>& place) {
  const auto index = static_cast<std::size_t>(thread);
  if (code_of_thread_.size() <= index) code_of_thread_.resize(index + 1);
  if (code_of_thread_[index]++ % code_step_ != 0) return;
  CodeSamples& code = samples_.code;
  const CodePlace key = place.value_or(CodePlace{-1, 0});
  const auto [known, is_new] = known_code_.try_emplace(key, static_cast<int>(code.code.size()));
  if (is_new) code.code.push_back({key.module, key.address});
  code.samples.push_back({time, thread, known->second});
  if (code.samples.size() >= kMostCodeSamples) thin_out_code();
}

void SampleBuilder::thin_out_code() {
  std::vector<std::uint8_t> drop(samples_.threads.size(), 1);
  std::erase_if(samples_.code.samples, [&](const CodeSample& sample) {
    std::uint8_t& now = drop[static_cast<std::size_t>(sample.thread)];
    now ^= 1U;
    return now != 0;
  });
  code_step_ *= 2;
  samples_.code.period_s *= 2;
}

HostSamples SampleBuilder::finish(const CodeModules& modules) {
  std::vector<CodePlace> places;
  for (const Frame& frame : frames_) {
    if (frame.code == nullptr && frame.place.module != kKernelModule) places.push_back(frame.place);
  }
  const std::vector<PlaceFrames> native = place_frames(modules, places);
  // Different instructions of one line are one frame.
  std::unordered_map<std::string, int> known;
  const auto index_of = [&](HostFrame named) {
    std::string key =
        named.function + '\n' + named.file + '\n' + std::to_string(named.line) + (named.python ? 'p' : 'n');
    const auto [place, is_new] = known.try_emplace(std::move(key), static_cast<int>(samples_.frames.size()));
    if (is_new) samples_.frames.push_back(std::move(named));
    return place->second;
  };
  std::vector<std::vector<int>> frames_of(frames_.size());  // the innermost first
  std::size_t next_native = 0;
  for (std::size_t i = 0; i < frames_.size(); ++i) {
    const Frame& frame = frames_[i];
    if (frame.code != nullptr) {
      frames_of[i] = {index_of({frame.code->function, frame.code->file, frame.line, true, frame.code->own})};
      continue;
    }
    if (frame.place.module == kKernelModule) {
      frames_of[i] = {index_of({.function = std::string(kKernelFunction), .file = {}})};
      continue;
    }
    const PlaceFrames& place = native[next_native++];
    if (place.inlined) frames_of[i].push_back(index_of(*place.inlined));
    frames_of[i].push_back(index_of(place.frame));
    for (const HostFrame& caller : place.callers) frames_of[i].push_back(index_of(caller));
  }
  std::unordered_map<std::vector<int>, int, HashOfStack> known_stacks;
  std::vector<int> stack_of;
  std::vector<std::vector<int>> stacks;
  for (const std::vector<int>& of_stack : samples_.stacks) {
    std::vector<int> stack;
    for (const int place : of_stack) {
      const std::vector<int>& frames = frames_of[static_cast<std::size_t>(place)];
      stack.insert(stack.end(), frames.begin(), frames.end());
    }
    drop_foreign_frames(stack, samples_.frames);
    const auto [place, is_new] = known_stacks.try_emplace(stack, static_cast<int>(stacks.size()));
    if (is_new) stacks.push_back(stack);
    stack_of.push_back(place->second);
  }
  samples_.stacks = std::move(stacks);
  for (HostSample& sample : samples_.samples) {
    if (sample.stack >= 0) sample.stack = stack_of[static_cast<std::size_t>(sample.stack)];
  }
  for (HostMemoryRise& rise : samples_.rises) rise.stack = stack_of[static_cast<std::size_t>(rise.stack)];
  std::ranges::stable_sort(samples_.samples, {}, &HostSample::time);
  std::ranges::stable_sort(samples_.code.samples, {}, &CodeSample::time);
  for (int module = 0; module < modules.size() && !samples_.code.code.empty(); ++module) {
    samples_.code.modules.push_back(modules[module].path);
  }
  return std::move(samples_);
}

}  // namespace roofline
