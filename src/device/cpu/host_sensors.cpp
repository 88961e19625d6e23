// proc(5), cpufreq, powercap, pressure stall information.
#include "device/cpu/host_sensors.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <sstream>

#include "device/cpu/core_clock.hpp"
#include "device/cpu/system_reading.hpp"
#include "host/files.hpp"
#include "host/host.hpp"
#include "model/error.hpp"

namespace roofline {
namespace fs = std::filesystem;
namespace {

constexpr double kKibi = 1024;

/// The mean over all CPUs that say it, in Hz.
std::optional<double> mean_frequency(const std::string& root, const std::map<int, CpuTimes>& cpus, const char* file) {
  double sum = 0;
  int count = 0;
  for (const auto& entry : cpus) {
    const auto kilohertz =
        number_in(fmt::format("{}/sys/devices/system/cpu/cpu{}/cpufreq/{}", root, entry.first, file));
    if (!kilohertz || *kilohertz <= 0) continue;
    sum += *kilohertz * 1e3;
    ++count;
  }
  return count > 0 ? std::optional(sum / count) : std::nullopt;
}

/// "MemAvailable:   1234 kB" in bytes.
std::optional<double> meminfo(const std::string& text, const std::string& key) {
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) {
    if (line.starts_with(key + ":")) return std::strtod(line.c_str() + key.size() + 1, nullptr) * kKibi;
  }
  return std::nullopt;
}

/// "some avg10=0.00 avg60=0.00 avg300=0.00 total=1234" (microseconds) in seconds.
std::optional<double> pressure_s(const fs::path& file) {
  const std::string line = first_line(file);
  const std::size_t total = line.find("total=");
  if (!line.starts_with("some") || total == std::string::npos) return std::nullopt;
  return std::strtod(line.c_str() + total + 6, nullptr) * 1e-6;
}

std::string why_no_power(const std::string& root) {
  std::error_code hidden;
  const bool zones = fs::exists(root + "/sys/class/powercap/intel-rapl:0/energy_uj", hidden);
  return zones ? "only root can read RAPL: run as root, or chmod o+r /sys/class/powercap/intel-rapl:*/energy_uj"
               : "no RAPL counters: virtual machines do not expose them";
}

}  // namespace

HostSensors::HostSensors(std::string root)
    : root_(std::move(root)), power_(root_.empty() ? "/" : root_), power_absent_(why_no_power(root_)) {
  try {
    traffic_ = std::make_unique<MemoryTraffic>();
  } catch (const Error& error) {
    traffic_absent_ = error.what();
  }
}

HostReading HostSensors::read() {
  HostReading reading;
  const SystemReading system = read_system(root_);
  reading.time_s = wall_seconds();
  reading.cpus = static_cast<int>(system.cpus.size());
  for (const auto& entry : system.cpus) {
    reading.busy_s += entry.second.busy_s;
    reading.stolen_s += entry.second.stolen_s;
  }
  reading.throttled_s = system.throttled_s;
  const auto put = [&](const char* name, std::optional<double>& field, std::optional<double> value,
                       const std::string& why) {
    field = value;
    if (!value) reading.absent[name] = why;
  };
  reading.core_hz = mean_frequency(root_, system.cpus, "scaling_cur_freq");
  if (!reading.core_hz) put("core_hz", reading.core_hz, measure_core_hz(), "this machine has no cpufreq");
  reading.max_core_hz = mean_frequency(root_, system.cpus, "cpuinfo_max_freq");
  const PowerReading power = power_.read();
  put("energy_j", reading.energy_j, power.energy_j, power_absent_);
  put("temperature_c", reading.temperature_c, power.temperature_c, "this machine exposes no package temperature");
  const std::string memory = text_of(root_ + "/proc/meminfo");
  reading.memory_total_bytes = meminfo(memory, "MemTotal");
  if (const auto available = meminfo(memory, "MemAvailable"); available && reading.memory_total_bytes) {
    reading.memory_used_bytes = *reading.memory_total_bytes - *available;
  }
  if (!reading.memory_used_bytes) reading.absent["memory_used_bytes"] = "/proc/meminfo lacks it";
  if (const auto bytes = traffic_ ? traffic_->bytes() : std::nullopt) {
    reading.dram_read_bytes = bytes->read;
    reading.dram_write_bytes = bytes->written;
  } else {
    reading.absent["dram"] = traffic_ ? "the memory controllers' counters have not run yet" : traffic_absent_;
  }
  const std::string no_pressure = "this kernel does not report pressure (CONFIG_PSI, psi=1)";
  put("cpu_pressure_s", reading.cpu_pressure_s, pressure_s(root_ + "/proc/pressure/cpu"), no_pressure);
  put("memory_pressure_s", reading.memory_pressure_s, pressure_s(root_ + "/proc/pressure/memory"), no_pressure);
  put("io_pressure_s", reading.io_pressure_s, pressure_s(root_ + "/proc/pressure/io"), no_pressure);
  put("load", reading.load, number_in(root_ + "/proc/loadavg"), "/proc/loadavg can't be read");
  return reading;
}

}  // namespace roofline
