// One counter for each event and thread; a memory controller's counters for each socket.
#include "device/cpu/perf_counters.hpp"

#include <fmt/format.h>
#include <linux/perf_event.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <utility>

#include "host/files.hpp"
#include "model/error.hpp"
#include "model/find.hpp"

namespace roofline {
namespace {

namespace fs = std::filesystem;
constexpr double kLineBytes = 64;
constexpr double kMebi = 1048576;

std::string cpu_vendor() {
  std::ifstream in("/proc/cpuinfo");
  for (std::string line; std::getline(in, line);) {
    if (line.starts_with("vendor_id")) return line.substr(line.find(':') + 2);
  }
  return {};
}

/// Retired floating-point operations by width; a fused multiply-add counts twice.
void add_flops(std::vector<PerfEvent>& events) {
  const std::string vendor = cpu_vendor();
  if (vendor == "GenuineIntel") {
    // FP_ARITH_INST_RETIRED, event C7: one mask a width (Intel SDM, volume 3, "Performance Monitoring Events").
    constexpr std::array<std::pair<const char*, std::pair<std::uint64_t, double>>, 8> kWidths = {{
        {"fp64.ops", {0x01C7, 1}},
        {"fp32.ops", {0x02C7, 1}},
        {"fp64.ops", {0x04C7, 2}},
        {"fp32.ops", {0x08C7, 4}},
        {"fp64.ops", {0x10C7, 4}},
        {"fp32.ops", {0x20C7, 8}},
        {"fp64.ops", {0x40C7, 8}},
        {"fp32.ops", {0x80C7, 16}},
    }};
    for (const auto& [id, event] : kWidths) events.push_back({id, PERF_TYPE_RAW, event.first, event.second});
  }
  // Retired SSE/AVX FLOPs, event 03, all masks: precisions together (AMD PPR for family 19h).
  if (vendor == "AuthenticAMD") events.push_back({"fp.ops", PERF_TYPE_RAW, 0x0F03, 1});
}

/// "event=0x04,umask=0x03" as a raw config of Intel's memory controllers; std::nullopt for other forms.
std::optional<std::uint64_t> uncore_config(const std::string& text) {
  std::uint64_t config = 0;
  for (const auto& [key, shift] : {std::pair("event=0x", 0), std::pair("umask=0x", 8)}) {
    const std::size_t at = text.find(key);
    if (at == std::string::npos) return std::nullopt;
    std::uint64_t value = 0;
    const char* begin = text.data() + at + std::strlen(key);
    if (std::from_chars(begin, text.data() + text.size(), value, 16).ec != std::errc()) return std::nullopt;
    config |= value << static_cast<unsigned>(shift);
  }
  return config;
}

void add_memory_controllers(std::vector<PerfEvent>& events) {
  std::error_code error;
  for (const auto& device : fs::directory_iterator("/sys/bus/event_source/devices", error)) {
    const std::string name = device.path().filename();
    if (!name.starts_with("uncore_imc") || name.find("free_running") != std::string::npos) continue;
    const std::string type = first_line(device.path() / "type");
    for (const auto& [id, event] :
         {std::pair("dram.read_bytes", "cas_count_read"), std::pair("dram.write_bytes", "cas_count_write")}) {
      const fs::path file = device.path() / "events" / event;
      const auto config = uncore_config(first_line(file));
      if (!config || type.empty()) continue;
      const std::string scale = first_line(file.string() + ".scale");  // in MiB, as its .unit says
      const double factor = scale.empty() ? kLineBytes : std::stod(scale) * kMebi;
      events.push_back({id, static_cast<std::uint32_t>(std::stoul(type)), *config, factor, true});
    }
  }
}

/// One open counter.
class Counter {
 public:
  Counter(const PerfEvent& event, pid_t thread, int cpu) {
    perf_event_attr attributes = {};
    attributes.size = sizeof(attributes);
    attributes.type = event.type;
    attributes.config = event.config;
    attributes.disabled = 1;
    attributes.exclude_kernel = event.per_socket ? 0 : 1;
    attributes.exclude_hv = event.per_socket ? 0 : 1;
    attributes.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
    file_ = static_cast<int>(syscall(SYS_perf_event_open, &attributes, thread, cpu, -1, PERF_FLAG_FD_CLOEXEC));
    error_ = file_ < 0 ? errno : 0;
  }
  ~Counter() {
    if (file_ >= 0) close(file_);
  }
  Counter(Counter&& other) noexcept : file_(std::exchange(other.file_, -1)), error_(other.error_) {}
  Counter(const Counter&) = delete;
  Counter& operator=(const Counter&) = delete;
  Counter& operator=(Counter&&) = delete;

  int error() const { return error_; }
  void start() const {
    ioctl(file_, PERF_EVENT_IOC_RESET, 0);
    ioctl(file_, PERF_EVENT_IOC_ENABLE, 0);
  }
  void stop() const { ioctl(file_, PERF_EVENT_IOC_DISABLE, 0); }
  /// Scaled up where the event had to share its counter with others; std::nullopt if it never ran.
  std::optional<double> value() const {
    std::array<std::uint64_t, 3> raw = {};
    if (read(file_, raw.data(), sizeof(raw)) != static_cast<ssize_t>(sizeof(raw))) return std::nullopt;
    const auto [count, enabled, running] = raw;
    if (running == 0) return enabled == 0 ? std::optional(0.0) : std::nullopt;
    return static_cast<double>(count) * static_cast<double>(enabled) / static_cast<double>(running);
  }

 private:
  int file_ = -1;
  int error_ = 0;
};

std::vector<pid_t> own_threads() {
  std::vector<pid_t> threads;
  for (const auto& task : fs::directory_iterator("/proc/self/task")) {
    threads.push_back(static_cast<pid_t>(std::stol(task.path().filename())));
  }
  return threads;
}

/// One CPU of each socket.
std::vector<int> socket_cpus() {
  std::vector<int> cpus;
  std::vector<std::string> seen;
  for (int cpu = 0;; ++cpu) {
    const std::string package =
        first_line(fmt::format("/sys/devices/system/cpu/cpu{}/topology/physical_package_id", cpu));
    if (package.empty()) return cpus;
    if (contains(seen, package)) continue;
    seen.push_back(package);
    cpus.push_back(cpu);
  }
}

int paranoid_level() {
  const std::string text = first_line("/proc/sys/kernel/perf_event_paranoid");
  return text.empty() ? 2 : std::stoi(text);
}

class PerfReader final : public CounterReader {
 public:
  explicit PerfReader(std::span<const PerfEvent> events) {
    const std::vector<pid_t> threads = own_threads();
    const std::vector<int> sockets = socket_cpus();
    int error = 0;
    for (const PerfEvent& event : events) {
      std::vector<Counter> counters;
      if (event.per_socket) {
        for (const int cpu : sockets) counters.emplace_back(event, -1, cpu);
      } else {
        for (const pid_t thread : threads) counters.emplace_back(event, thread, -1);
      }
      const auto failed =
          std::find_if(counters.begin(), counters.end(), [](const Counter& one) { return one.error() != 0; });
      if (failed != counters.end()) {
        error = failed->error();
        missing_[event.id] = perf_refusal(error, paranoid_level());
        continue;
      }
      open_.push_back({event, std::move(counters)});
    }
    if (open_.empty()) {
      const std::string reason = "no hardware event can be counted: " + perf_refusal(error, paranoid_level());
      if (error == EACCES || error == EPERM) throw PermissionError(reason);
      throw Error(reason);
    }
  }

  std::vector<Counters> count(const std::vector<LaunchFunction>& launches) override {
    std::vector<Counters> all;
    all.reserve(launches.size());
    for (const LaunchFunction& launch : launches) all.push_back(count_one(launch));
    return all;
  }

 private:
  Counters count_one(const LaunchFunction& launch) const {
    launch(0);
    for (const Opened& event : open_) {
      for (const Counter& counter : event.counters) counter.start();
    }
    launch(1);
    for (const Opened& event : open_) {
      for (const Counter& counter : event.counters) counter.stop();
    }
    Counters counters;
    counters.source = "perf_event_open";
    counters.passes = 1;
    counters.missing = missing_;
    for (const Opened& event : open_) {
      for (const Counter& counter : event.counters) {
        if (const auto value = counter.value()) {
          counters.values[event.event.id] += *value * event.event.scale;
        } else {
          counters.missing[event.event.id] = "the event was never scheduled on a hardware counter";
        }
      }
    }
    for (const auto& [id, reason] : counters.missing) counters.values.erase(id);  // a part of a sum is no sum
    return counters;
  }

  struct Opened {
    PerfEvent event;
    std::vector<Counter> counters;
  };
  std::vector<Opened> open_;
  std::map<std::string, std::string, std::less<>> missing_;
};

}  // namespace

std::vector<PerfEvent> perf_events(CounterSet set) {
  std::vector<PerfEvent> events = {
      {"cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES},
      {"instructions", PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS},
      {"l3.miss_bytes", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_MISSES, kLineBytes},
  };
  add_flops(events);
  add_memory_controllers(events);
  if (set == CounterSet::full) {
    events.push_back({"branch.misses", PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_MISSES});
    events.push_back({"stall.backend_cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_STALLED_CYCLES_BACKEND});
  }
  return events;
}

std::unique_ptr<CounterReader> make_perf_reader(std::span<const PerfEvent> events) {
  return std::make_unique<PerfReader>(events);
}

struct MemoryTraffic::State {
  std::vector<PerfEvent> events;
  std::vector<std::vector<Counter>> counters;  ///< of each event, one a socket
};

MemoryTraffic::MemoryTraffic() : state_(std::make_unique<State>()) {
  add_memory_controllers(state_->events);
  if (state_->events.empty()) {
    throw Error(
        "perf_event_open shows no known memory controllers; Intel servers have them, "
        "virtual machines don't");
  }
  for (const PerfEvent& event : state_->events) {
    std::vector<Counter>& counters = state_->counters.emplace_back();
    for (const int cpu : socket_cpus()) {
      counters.emplace_back(event, -1, cpu);
      if (counters.back().error() != 0) throw Error(perf_refusal(counters.back().error(), paranoid_level()));
    }
  }
  for (const std::vector<Counter>& counters : state_->counters) {
    for (const Counter& counter : counters) counter.start();
  }
}

MemoryTraffic::~MemoryTraffic() = default;

std::optional<MemoryTraffic::Bytes> MemoryTraffic::bytes() const {
  Bytes all;
  for (std::size_t i = 0; i < state_->events.size(); ++i) {
    double& sum = state_->events[i].id == "dram.read_bytes" ? all.read : all.written;
    for (const Counter& counter : state_->counters[i]) {
      const std::optional<double> count = counter.value();
      if (!count) return std::nullopt;
      sum += *count * state_->events[i].scale;
    }
  }
  return all;
}

std::string perf_refusal(int error, int paranoid) {
  if (error == EACCES || error == EPERM) {
    return fmt::format(
        "not permitted (kernel.perf_event_paranoid is {}): run as root or with CAP_PERFMON, or set it to 1 "
        "(to 0 for memory controllers)",
        paranoid);
  }
  if (error == ENOENT || error == EOPNOTSUPP || error == ENODEV) {
    return "this machine has no such event: a virtual machine often has no performance counters";
  }
  if (error == ENOSYS) return "this kernel was built without perf_event_open, or a sandbox forbids it";
  return fmt::format("perf_event_open: {}", std::strerror(error));
}

}  // namespace roofline
