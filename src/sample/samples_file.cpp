#include "sample/samples_file.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "sample/bytes.hpp"

namespace roofline {
namespace {

constexpr std::string_view kMagicBytes = "RFHOSTS5";
// Signatures of earlier versions.
constexpr std::string_view kWithoutSleeps = "RFHOSTS4", kWithoutCpu = "RFHOSTS3", kWithoutCode = "RFHOSTS2",
                           kWithoutMemory = "RFHOSTS1";
constexpr std::size_t kMostNameText = 1 << 16;

class FileWriter {
 public:
  template <typename Number>
  void number(Number value) {
    bytes.append(reinterpret_cast<const char*>(&value), sizeof value);
  }
  void count(std::size_t size) { number(static_cast<std::uint32_t>(size)); }
  void text(std::string_view value) {
    value = value.substr(0, kMostNameText);
    count(value.size());
    bytes += value;
  }
  std::string bytes = std::string(kMagicBytes);
};

/// The number of elements that follow; std::nullopt if the bytes that are left can't hold so many.
std::optional<std::size_t> read_count(ByteCursor& cursor, std::size_t bytes_each) {
  const std::size_t count = cursor.number<std::uint32_t>();
  return cursor.good() && count <= cursor.left() / bytes_each ? std::optional(count) : std::nullopt;
}

std::string read_name(ByteCursor& cursor) {
  const std::size_t size = cursor.number<std::uint32_t>();
  return std::string(cursor.bytes(size));
}

bool read_frames(ByteCursor& cursor, std::vector<HostFrame>& frames) {
  constexpr std::size_t kLeast = 14;
  const std::optional<std::size_t> count = read_count(cursor, kLeast);
  for (std::size_t i = 0; count && i < *count; ++i) {
    HostFrame frame;
    frame.function = read_name(cursor);
    frame.file = read_name(cursor);
    frame.line = cursor.number<std::int32_t>();
    frame.python = cursor.byte() != 0;
    frame.own = cursor.byte() != 0;
    frames.push_back(std::move(frame));
  }
  return count && cursor.good();
}

bool read_stacks(ByteCursor& cursor, HostSamples& samples) {
  const std::optional<std::size_t> count = read_count(cursor, sizeof(std::uint32_t));
  for (std::size_t i = 0; count && i < *count; ++i) {
    const std::optional<std::size_t> depth = read_count(cursor, sizeof(std::int32_t));
    std::vector<int> stack;
    for (std::size_t j = 0; depth && j < *depth; ++j) {
      const auto frame = cursor.number<std::int32_t>();
      if (frame < 0 || static_cast<std::size_t>(frame) >= samples.frames.size()) return false;
      stack.push_back(frame);
    }
    if (stack.empty()) return false;
    samples.stacks.push_back(std::move(stack));
  }
  return count && cursor.good();
}

bool read_threads(ByteCursor& cursor, std::vector<HostThread>& threads) {
  constexpr std::size_t kLeast = 33;
  const std::optional<std::size_t> count = read_count(cursor, kLeast);
  for (std::size_t i = 0; count && i < *count; ++i) {
    HostThread thread;
    thread.pid = cursor.number<std::int64_t>();
    thread.tid = cursor.number<std::int64_t>();
    thread.parent = cursor.number<std::int64_t>();
    thread.name = read_name(cursor);
    thread.command = read_name(cursor);
    thread.main = cursor.byte() != 0;
    threads.push_back(std::move(thread));
  }
  return count && cursor.good();
}

bool read_memory(ByteCursor& cursor, HostSamples& samples) {
  constexpr std::size_t kBytesOfSample = 32, kBytesOfRise = 24;
  samples.memory_bytes = cursor.number<std::uint64_t>();
  const std::optional<std::size_t> count = read_count(cursor, kBytesOfSample);
  for (std::size_t i = 0; count && i < *count; ++i) {
    HostMemorySample sample;
    sample.time = cursor.number<std::uint64_t>();
    sample.pid = cursor.number<std::int64_t>();
    sample.resident = cursor.number<std::uint64_t>();
    sample.shared = std::min(cursor.number<std::uint64_t>(), sample.resident);
    samples.memory.push_back(sample);
  }
  const std::optional<std::size_t> rises = read_count(cursor, kBytesOfRise);
  for (std::size_t i = 0; rises && i < *rises; ++i) {
    HostMemoryRise rise;
    rise.time = cursor.number<std::uint64_t>();
    rise.thread = cursor.number<std::int32_t>();
    rise.stack = cursor.number<std::int32_t>();
    rise.bytes = cursor.number<std::uint64_t>();
    const bool known = rise.thread >= 0 && static_cast<std::size_t>(rise.thread) < samples.threads.size() &&
                       rise.stack >= 0 && static_cast<std::size_t>(rise.stack) < samples.stacks.size();
    if (!known) return false;
    samples.rises.push_back(rise);
  }
  return count && rises && cursor.good();
}

bool read_code(ByteCursor& cursor, HostSamples& samples) {
  constexpr std::size_t kBytesOfPlace = 12, kBytesOfSample = 16;
  CodeSamples& code = samples.code;
  code.period_s = cursor.number<double>();
  code.why_none = read_name(cursor);
  const std::optional<std::size_t> modules = read_count(cursor, sizeof(std::uint32_t));
  for (std::size_t i = 0; modules && i < *modules; ++i) code.modules.push_back(read_name(cursor));
  const std::optional<std::size_t> places = read_count(cursor, kBytesOfPlace);
  for (std::size_t i = 0; places && i < *places; ++i) {
    SampledCode place;
    place.module = cursor.number<std::int32_t>();
    place.address = cursor.number<std::uint64_t>();
    if (place.module < -1 || place.module >= static_cast<std::int64_t>(code.modules.size())) return false;
    code.code.push_back(place);
  }
  const std::optional<std::size_t> count = read_count(cursor, kBytesOfSample);
  for (std::size_t i = 0; count && i < *count; ++i) {
    CodeSample sample;
    sample.time = cursor.number<std::uint64_t>();
    sample.thread = cursor.number<std::int32_t>();
    sample.code = cursor.number<std::int32_t>();
    const bool known = sample.thread >= 0 && static_cast<std::size_t>(sample.thread) < samples.threads.size() &&
                       sample.code >= 0 && static_cast<std::size_t>(sample.code) < code.code.size();
    if (!known) return false;
    code.samples.push_back(sample);
  }
  return modules && places && count && cursor.good() && std::isfinite(code.period_s) && code.period_s >= 0;
}

bool is_valid(const HostSample& sample, const HostSamples& samples) {
  const auto below = [](int index, std::size_t count) {
    return index >= -1 && (index < 0 || static_cast<std::size_t>(index) < count);
  };
  return sample.thread >= 0 && below(sample.thread, samples.threads.size()) &&
         below(sample.stack, samples.stacks.size()) && below(sample.gil_holder, samples.threads.size()) &&
         static_cast<std::size_t>(sample.state) < kThreadStates.size() && std::isfinite(sample.seconds) &&
         sample.seconds >= 0;
}

}  // namespace

std::string write_host_samples(const HostSamples& samples) {
  FileWriter file;
  file.number(samples.rate_hz);
  file.number(samples.cost_s);
  file.number(samples.start);
  file.number(samples.end);
  file.number(samples.usage.user_s);
  file.number(samples.usage.system_s);
  file.number(samples.usage.page_faults);
  file.number(samples.usage.sleeps);
  file.text(samples.why_none);
  file.text(samples.why_no_native);
  file.count(samples.frames.size());
  for (const HostFrame& frame : samples.frames) {
    file.text(frame.function);
    file.text(frame.file);
    file.number(static_cast<std::int32_t>(frame.line));
    file.number(static_cast<std::uint8_t>(frame.python));
    file.number(static_cast<std::uint8_t>(frame.own));
  }
  file.count(samples.stacks.size());
  for (const std::vector<int>& stack : samples.stacks) {
    file.count(stack.size());
    for (const int frame : stack) file.number(static_cast<std::int32_t>(frame));
  }
  file.count(samples.threads.size());
  for (const HostThread& thread : samples.threads) {
    file.number(thread.pid);
    file.number(thread.tid);
    file.number(thread.parent);
    file.text(thread.name);
    file.text(thread.command);
    file.number(static_cast<std::uint8_t>(thread.main));
  }
  file.number(samples.memory_bytes);
  file.count(samples.memory.size());
  for (const HostMemorySample& sample : samples.memory) {
    file.number(sample.time);
    file.number(sample.pid);
    file.number(sample.resident);
    file.number(sample.shared);
  }
  file.count(samples.rises.size());
  for (const HostMemoryRise& rise : samples.rises) {
    file.number(rise.time);
    file.number(static_cast<std::int32_t>(rise.thread));
    file.number(static_cast<std::int32_t>(rise.stack));
    file.number(rise.bytes);
  }
  file.number(samples.code.period_s);
  file.text(samples.code.why_none);
  file.count(samples.code.modules.size());
  for (const std::string& module : samples.code.modules) file.text(module);
  file.count(samples.code.code.size());
  for (const SampledCode& place : samples.code.code) {
    file.number(place.module);
    file.number(place.address);
  }
  file.count(samples.code.samples.size());
  for (const CodeSample& sample : samples.code.samples) {
    file.number(sample.time);
    file.number(sample.thread);
    file.number(sample.code);
  }
  for (const HostSample& sample : samples.samples) {
    file.number(sample.time);
    file.number(static_cast<std::int32_t>(sample.thread));
    file.number(static_cast<std::int32_t>(sample.stack));
    file.number(static_cast<std::int32_t>(sample.gil_holder));
    file.number(sample.seconds);
    file.number(static_cast<std::uint8_t>(sample.state));
  }
  return std::move(file.bytes);
}

std::optional<HostSamples> read_host_samples(std::string_view bytes) {
  const bool with_sleeps = bytes.starts_with(kMagicBytes);
  const bool with_cpu = with_sleeps || bytes.starts_with(kWithoutSleeps);
  const bool with_code = with_cpu || bytes.starts_with(kWithoutCpu);
  const bool with_memory = with_code || bytes.starts_with(kWithoutCode);
  if (!with_memory && !bytes.starts_with(kWithoutMemory)) return std::nullopt;
  ByteCursor cursor(bytes, kMagicBytes.size());
  HostSamples samples;
  samples.rate_hz = cursor.number<double>();
  samples.cost_s = cursor.number<double>();
  samples.start = cursor.number<std::uint64_t>();
  samples.end = cursor.number<std::uint64_t>();
  ProcessUsage& usage = samples.usage;
  for (double* const used : {&usage.user_s, &usage.system_s, &usage.page_faults, &usage.sleeps}) {
    if (used == &usage.sleeps ? with_sleeps : with_cpu) *used = cursor.number<double>();
    if (!std::isfinite(*used) || *used < 0) return std::nullopt;
  }
  samples.why_none = read_name(cursor);
  samples.why_no_native = read_name(cursor);
  if (!cursor.good() || !read_frames(cursor, samples.frames) || !read_stacks(cursor, samples) ||
      !read_threads(cursor, samples.threads) || (with_memory && !read_memory(cursor, samples)) ||
      (with_code && !read_code(cursor, samples))) {
    return std::nullopt;
  }
  constexpr double kLowestRate = 1e-6, kHighestRate = 1e9;  // 0: unknown
  const bool rate = samples.rate_hz == 0 || (samples.rate_hz >= kLowestRate && samples.rate_hz <= kHighestRate);
  if (!rate || !std::isfinite(samples.cost_s) || samples.end < samples.start) return std::nullopt;
  while (!cursor.at_end()) {
    HostSample sample;
    sample.time = cursor.number<std::uint64_t>();
    sample.thread = cursor.number<std::int32_t>();
    sample.stack = cursor.number<std::int32_t>();
    sample.gil_holder = cursor.number<std::int32_t>();
    sample.seconds = cursor.number<float>();
    sample.state = static_cast<ThreadState>(cursor.byte());
    if (!cursor.good() || !is_valid(sample, samples)) break;
    samples.samples.push_back(sample);
  }
  return samples;
}

}  // namespace roofline
