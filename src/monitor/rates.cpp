// Names of quantities are those of the table in sample.cpp; reasons travel under the same names.
#include "monitor/rates.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "text/format.hpp"

namespace roofline {
namespace {

constexpr const char* kFirstReading = "a rate needs two readings";
constexpr const char* kCounterReset = "the counter was reset";

/// Fills one sample.
class Filling {
 public:
  Filling(const Watched& watched, double seconds) {
    sample_.device = watched.device;
    sample_.kind = watched.info.kind;
    sample_.name = watched.info.name;
    sample_.uuid = watched.uuid;
    sample_.pci = watched.pci;
    sample_.seconds = std::max(0.0, seconds);
    if (watched.roofs) {
      sample_.roofs_measured_at = watched.roofs->measured_at;
    } else {
      sample_.absent["roofs"] =
          fmt::format("no calibration is stored for this device: roofline calibrate --device {}", watched.device);
    }
  }

  DeviceSample& sample() { return sample_; }

  void put(const char* quantity, const std::optional<double>& value, const std::string& why) {
    if (value && std::isfinite(*value)) {
      sample_.values[quantity] = *value;
    } else if (!why.empty()) {
      sample_.absent[quantity] = why;
    }
  }

  /// `distance` over the sample's time.
  void put_rate(const char* quantity, const std::optional<double>& distance, const std::string& why, double per = 1) {
    if (sample_.seconds <= 0) {
      sample_.absent[quantity] = why.empty() || distance ? kFirstReading : why;
    } else {
      put(quantity, distance ? std::optional(*distance / sample_.seconds / per) : std::nullopt, why);
    }
  }

  void add_roof(const char* resource, const Ceiling* roof, double per_s, std::string basis = {}) {
    if (roof != nullptr) add_roof(resource, *roof, roof->value, per_s, std::move(basis));
  }
  void add_roof(const char* resource, const MixRoof& roof, double per_s, std::string basis = {}) {
    add_roof(resource, *roof.nearest, roof.value, per_s, std::move(basis));
  }

 private:
  void add_roof(const char* resource, const Ceiling& named, double roof_per_s, double per_s, std::string basis) {
    if (roof_per_s <= 0) return;
    sample_.roofs.push_back({resource, ceiling_label(named), per_s, roof_per_s, std::move(basis)});
  }

  DeviceSample sample_;
};

std::optional<double> difference(const std::optional<double>& before, const std::optional<double>& now) {
  if (!before || !now || *now < *before) return std::nullopt;
  return *now - *before;
}

/// Why a GPU's reading is absent, by the quantity derived from it.
std::string why_absent(const GpuReading& reading, std::string_view field) {
  if (const auto nvml = reading.absent.find("nvml"); nvml != reading.absent.end()) return nvml->second;
  const auto found = reading.absent.find(field);
  return found == reading.absent.end() ? std::string() : found->second;
}

void add_link_rate(Filling& filling, const char* quantity, const std::optional<WrappingCounter>& before,
                   const std::optional<WrappingCounter>& now, const std::optional<double>& rate,
                   const std::string& why) {
  if (!now) {
    filling.put(quantity, rate, why);
    return;
  }
  const auto distance = before ? advance(*before, *now) : std::nullopt;
  filling.put_rate(quantity, distance, before ? kCounterReset : kFirstReading);
}

/// Bytes of main memory: only as a check of this very chip and driver has found them right.
void add_dram_bytes(Filling& filling, const Watched& watched, const GpuActivity& activity) {
  const bool of_this = watched.bytes && watched.bytes->activity_source == activity.source &&
                       watched.bytes->driver == watched.info.driver;
  const auto source = of_this ? watched.bytes->trusted() : std::nullopt;
  const auto bytes = source ? moved_bytes(activity, *source) : std::nullopt;
  const std::string why =
      !of_this
          ? fmt::format("not yet checked against a known copy: roofline monitor --check --device {}", watched.device)
      : !source ? "failed the check against a known copy"
                : "not available on this chip";
  const auto rate = [&](double amount) { return bytes ? std::optional(amount / activity.seconds) : std::nullopt; };
  filling.put("dram_read_bytes_per_second", rate(bytes ? bytes->read : 0), why);
  filling.put("dram_write_bytes_per_second", rate(bytes ? bytes->write : 0), why);
}

void compare_dram_with_roof(Filling& filling, const Watched& watched) {
  const DeviceSample& sample = filling.sample();
  if (!watched.roofs) return;
  const auto read = sample.find("dram_read_bytes_per_second");
  const auto write = sample.find("dram_write_bytes_per_second");
  const auto roof_of = [&](const Traffic& traffic) {
    return watched.roofs->bandwidth(main_memory(sample.kind), traffic);
  };
  if (read && write) {
    if (const auto roof = roof_of({*read, *write})) filling.add_roof("dram", *roof, *read + *write);
    return;
  }
  const auto read_share = sample.find("dram_read_fraction");
  const auto write_share = sample.find("dram_write_fraction");
  if (!read_share || !write_share) return;
  const auto roof = roof_of({*read_share, *write_share});
  if (!roof || !roof->nearest->limit) return;
  const Limit& limit = *roof->nearest->limit;
  filling.add_roof("dram", *roof, (*read_share + *write_share) * limit.value,
                   fmt::format("its share of {}", limit.basis));
}

/// Pipe activity does not show the data type: the upper bound of the rate is compared with the roof of the most common
/// type.
void compare_tensor_with_roof(Filling& filling, const Watched& watched) {
  const DeviceSample& sample = filling.sample();
  const auto active = sample.find("tensor_active_fraction");
  const auto core_hz = sample.find("core_clock_hertz");
  if (!watched.roofs || !active || !core_hz) return;
  for (const auto& [pipe, type] : {std::pair(Pipe::tensor_bf16, "bf16"), std::pair(Pipe::tensor_fp16, "fp16")}) {
    const Ceiling* roof = watched.roofs->compute_at(pipe, core_hz);
    if (roof == nullptr || !roof->limit || !roof->clocks.core_hz) continue;
    const double flops_per_cycle = roof->limit->value / *roof->clocks.core_hz;
    filling.add_roof("tensor", roof, *active * *core_hz * flops_per_cycle, fmt::format("at most, if all {}", type));
    return;
  }
}

void compare_links_with_roofs(Filling& filling, const Watched& watched) {
  if (!watched.roofs) return;
  constexpr std::pair<const char*, std::pair<const char*, const char*>> kLinks[] = {
      {"pcie_rx", {"pcie_rx_bytes_per_second", "pcie.h2d"}},
      {"pcie_tx", {"pcie_tx_bytes_per_second", "pcie.d2h"}},
      {"nvlink_rx", {"nvlink_rx_bytes_per_second", "nvlink.read"}},
      {"nvlink_tx", {"nvlink_tx_bytes_per_second", "nvlink.write"}},
  };
  for (const auto& [resource, names] : kLinks) {
    if (const auto rate = filling.sample().find(names.first)) {
      filling.add_roof(resource, watched.roofs->find(names.second), *rate);
    }
  }
}

void add_activity(Filling& filling, const Watched& watched, const GpuReading& now) {
  const auto value = [&](std::string_view name) -> std::optional<double> {
    if (!now.activity) return std::nullopt;
    const auto found = now.activity->values.find(name);
    return found == now.activity->values.end() ? std::nullopt : std::optional(found->second);
  };
  const auto refused = now.absent.find("activity");
  const std::string why = refused == now.absent.end() ? "this chip does not sample it" : refused->second;
  filling.put("kernel_active_fraction", value("busy_fraction"), why);
  for (const char* name :
       {"sm_active_fraction", "tensor_active_fraction", "dram_read_fraction", "dram_write_fraction"}) {
    filling.put(name, value(name), why);
  }
  const auto read = value("dram_read_fraction");
  const auto write = value("dram_write_fraction");
  filling.put("dram_active_fraction", read && write ? std::optional(*read + *write) : value("dram_active_fraction"),
              why);
  if (const auto core_hz = value("core_hz")) filling.put("core_clock_hertz", core_hz, {});
  if (now.activity) {
    add_dram_bytes(filling, watched, *now.activity);
    if (now.activity->gap) filling.sample().notes.emplace_back("some counter samples were lost");
  } else {
    filling.put("dram_read_bytes_per_second", std::nullopt, why);
    filling.put("dram_write_bytes_per_second", std::nullopt, why);
  }
}

}  // namespace

std::optional<double> advance(const WrappingCounter& before, const WrappingCounter& now) {
  const double step = now.value - before.value;
  if (step >= 0) return step;
  if (now.modulus > 0) return step + now.modulus;
  return std::nullopt;
}

DeviceSample gpu_sample(const Watched& watched, const GpuReading* before, const GpuReading& now) {
  Filling filling(watched, before != nullptr ? now.time_s - before->time_s : 0);
  const GpuReading nothing;
  const GpuReading& then = before != nullptr ? *before : nothing;
  const auto why = [&](std::string_view field) { return why_absent(now, field); };
  filling.put("core_clock_hertz", now.core_hz, why("core_hz"));
  filling.put("core_clock_max_hertz", now.max_core_hz ? now.max_core_hz : watched.info.max_core_hz, why("max_core_hz"));
  filling.put("memory_clock_hertz", now.memory_hz, why("memory_hz"));
  filling.put("power_watts", now.power_w, why("power_w"));
  filling.put("power_limit_watts", now.power_limit_w, why("power_limit_w"));
  filling.put("energy_joules", now.energy_j, why("energy_j"));
  filling.put_rate("power_capped_fraction", difference(then.power_capped_s, now.power_capped_s), why("power_capped_s"));
  filling.put_rate("thermal_capped_fraction", difference(then.thermal_capped_s, now.thermal_capped_s),
                   why("thermal_capped_s"));
  filling.put("temperature_celsius", now.temperature_c, why("temperature_c"));
  filling.put("memory_temperature_celsius", now.memory_temperature_c, why("memory_temperature_c"));
  filling.put("fan_fraction", now.fan_fraction, why("fan_fraction"));
  filling.put("busy_fraction", now.busy_fraction, why("busy_fraction"));
  filling.put("memory_used_bytes", now.memory_used_bytes, why("memory_used_bytes"));
  filling.put("memory_total_bytes", now.memory_total_bytes, why("memory_used_bytes"));
  add_link_rate(filling, "pcie_rx_bytes_per_second", then.pcie_rx_bytes, now.pcie_rx_bytes,
                now.pcie_rx_bytes_per_second, why("pcie_rx_bytes_per_second"));
  add_link_rate(filling, "pcie_tx_bytes_per_second", then.pcie_tx_bytes, now.pcie_tx_bytes,
                now.pcie_tx_bytes_per_second, why("pcie_tx_bytes_per_second"));
  filling.put("pcie_generation", now.pcie_generation, why("pcie_generation"));
  filling.put("pcie_lanes", now.pcie_lanes, why("pcie_generation"));
  add_link_rate(filling, "nvlink_rx_bytes_per_second", then.nvlink_rx_bytes, now.nvlink_rx_bytes, std::nullopt,
                why("nvlink_rx_bytes"));
  add_link_rate(filling, "nvlink_tx_bytes_per_second", then.nvlink_tx_bytes, now.nvlink_tx_bytes, std::nullopt,
                why("nvlink_tx_bytes"));
  filling.put("nvlink_links", now.nvlink_links, why("nvlink_rx_bytes"));
  filling.put("encoder_fraction", now.encoder_fraction, why("encoder_fraction"));
  filling.put("decoder_fraction", now.decoder_fraction, why("decoder_fraction"));
  filling.put("ecc_corrected_errors", now.ecc_corrected, why("ecc_corrected"));
  filling.put("ecc_uncorrected_errors", now.ecc_uncorrected, why("ecc_uncorrected"));
  add_activity(filling, watched, now);
  compare_dram_with_roof(filling, watched);
  compare_tensor_with_roof(filling, watched);
  compare_links_with_roofs(filling, watched);
  DeviceSample& sample = filling.sample();
  sample.limited_by = now.limiters;
  if (!sample.limited_by) sample.absent["limited_by"] = why("limiters");
  sample.processes = now.processes;
  if (!sample.processes) sample.absent["processes"] = why("processes");
  return sample;
}

DeviceSample cpu_sample(const Watched& watched, const HostReading* before, const HostReading& now) {
  Filling filling(watched, before != nullptr ? now.time_s - before->time_s : 0);
  const HostReading nothing;
  const HostReading& then = before != nullptr ? *before : nothing;
  const auto why = [&](std::string_view field) {
    const auto found = now.absent.find(field);
    return found == now.absent.end() ? std::string() : found->second;
  };
  const auto difference_of = [&](double HostReading::*sum) {
    return before != nullptr ? std::optional(std::max(0.0, now.*sum - then.*sum)) : std::nullopt;
  };
  filling.put("core_clock_hertz", now.core_hz, why("core_hz"));
  filling.put("core_clock_max_hertz", now.max_core_hz ? now.max_core_hz : watched.info.max_core_hz, why("max_core_hz"));
  const auto joules = difference(then.energy_j, now.energy_j);
  filling.put_rate("power_watts", joules, why("energy_j"));
  filling.put("energy_joules", now.energy_j, why("energy_j"));
  filling.put("temperature_celsius", now.temperature_c, why("temperature_c"));
  const double cpus = std::max(1, now.cpus);
  filling.put_rate("busy_fraction", difference_of(&HostReading::busy_s), {}, cpus);
  if (auto& values = filling.sample().values; values.contains("busy_fraction")) {
    values["busy_fraction"] = std::min(1.0, values["busy_fraction"]);  // it is counted in ticks of 10 ms
  }
  filling.put_rate("stolen_fraction", difference_of(&HostReading::stolen_s), {}, cpus);
  filling.put_rate("throttled_fraction", difference_of(&HostReading::throttled_s), {});
  filling.put("memory_used_bytes", now.memory_used_bytes, why("memory_used_bytes"));
  filling.put("memory_total_bytes", now.memory_total_bytes, why("memory_used_bytes"));
  filling.put_rate("dram_read_bytes_per_second", difference(then.dram_read_bytes, now.dram_read_bytes), why("dram"));
  filling.put_rate("dram_write_bytes_per_second", difference(then.dram_write_bytes, now.dram_write_bytes), why("dram"));
  filling.put_rate("cpu_pressure_fraction", difference(then.cpu_pressure_s, now.cpu_pressure_s), why("cpu_pressure_s"));
  filling.put_rate("memory_pressure_fraction", difference(then.memory_pressure_s, now.memory_pressure_s),
                   why("memory_pressure_s"));
  filling.put_rate("io_pressure_fraction", difference(then.io_pressure_s, now.io_pressure_s), why("io_pressure_s"));
  filling.put("load_tasks", now.load, why("load"));
  compare_dram_with_roof(filling, watched);
  return filling.sample();
}

DeviceSample silent_sample(const Watched& watched, const std::string& reason) {
  Filling filling(watched, 0);
  filling.sample().absent["device"] = reason;
  return filling.sample();
}

}  // namespace roofline
