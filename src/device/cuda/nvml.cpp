// Clocks, power, temperature, memory and errors of one GPU.
#include "device/cuda/nvml.hpp"

#include <array>
#include <chrono>
#include <span>
#include <utility>

#include "device/cuda/nvml_library.hpp"

namespace roofline {
namespace {

constexpr unsigned kClockSm = 1;
constexpr unsigned kClockMemory = 2;
constexpr unsigned kTemperatureGpu = 0;
constexpr unsigned kFieldMemoryTemperature = 82;
constexpr int kTotalPowerSamples = 0;
constexpr int kPowerPolicy = 0;
constexpr int kThermalPolicy = 1;

constexpr std::array<std::pair<unsigned long long, std::string_view>, 6> kReasons = {{
    {0x2, "applications clocks"},
    {0x4, kPowerCap},
    {0x8, "hardware slowdown"},
    {0x20, "software thermal"},
    {0x40, "hardware thermal"},
    {0x80, "power brake"},
}};

}  // namespace

double nvml_clock_s() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

std::optional<std::string> Nvml::driver_version() const {
  std::array<char, 96> text{};
  if (state_->driver_version == nullptr || state_->driver_version(text.data(), text.size()) != nvml::kSuccess) {
    return std::nullopt;
  }
  return std::string(text.data());
}

std::optional<double> Nvml::sm_clock_hz() const { return state_->value<unsigned>(1e6, state_->clock, kClockSm); }

std::optional<double> Nvml::memory_clock_hz() const {
  return state_->value<unsigned>(1e6, state_->clock, kClockMemory);
}

std::optional<double> Nvml::temperature_c() const {
  return state_->value<unsigned>(1, state_->temperature, kTemperatureGpu);
}

std::optional<double> Nvml::power_limit_w() const { return state_->value<unsigned>(1e-3, state_->power_limit); }
std::optional<double> Nvml::energy_j() const { return state_->value<unsigned long long>(1e-3, state_->energy); }

std::vector<PowerSample> Nvml::power_samples(double since_s) const {
  const auto since_us = static_cast<unsigned long long>(since_s * 1e6);
  int type = 0;
  unsigned count = 0;
  if (!state_->ask(state_->samples, kTotalPowerSamples, since_us, &type, &count, nullptr) || count == 0) return {};
  std::vector<nvml::RawSample> raw(count);
  if (!state_->ask(state_->samples, kTotalPowerSamples, since_us, &type, &count, raw.data())) return {};
  std::vector<PowerSample> samples;
  if (type != nvml::kUnsignedValue) return samples;
  for (const nvml::RawSample& sample : std::span(raw).first(std::min<std::size_t>(count, raw.size()))) {
    samples.push_back({.time_s = static_cast<double>(sample.time_us) * 1e-6, .watts = sample.value.small * 1e-3});
  }
  return samples;
}

std::optional<std::vector<std::string>> Nvml::clock_event_reasons() const {
  unsigned long long bits = 0;
  if (!state_->ask(state_->reasons, &bits)) return std::nullopt;
  std::vector<std::string> names;
  for (const auto& [bit, name] : kReasons) {
    if ((bits & bit) != 0) names.emplace_back(name);
  }
  return names;
}

std::optional<bool> Nvml::mig_enabled() const {
  unsigned current = 0;
  unsigned pending = 0;
  if (!state_->ask(state_->mig_mode, &current, &pending)) return std::nullopt;
  return current != 0;
}

std::optional<double> Nvml::thermal_slowdown_s() const { return state_->violated_s(kThermalPolicy); }
std::optional<double> Nvml::power_slowdown_s() const { return state_->violated_s(kPowerPolicy); }

std::optional<double> Nvml::max_sm_clock_hz() const {
  return state_->value<unsigned>(1e6, state_->max_clock, kClockSm);
}

std::optional<double> Nvml::power_w() const { return state_->value<unsigned>(1e-3, state_->power); }

std::optional<double> Nvml::memory_temperature_c() const {
  const auto field = state_->field(kFieldMemoryTemperature);
  return field ? std::optional(nvml::number_of(*field)) : std::nullopt;
}

std::optional<double> Nvml::busy_fraction() const {
  nvml::RawRates rates{};
  return state_->ask(state_->rates, &rates) ? std::optional(rates.gpu_percent * 0.01) : std::nullopt;
}

std::optional<double> Nvml::encoder_fraction() const { return state_->fraction(state_->encoder); }
std::optional<double> Nvml::decoder_fraction() const { return state_->fraction(state_->decoder); }
std::optional<double> Nvml::fan_fraction() const { return state_->value<unsigned>(0.01, state_->fan); }

std::optional<MemoryUse> Nvml::memory() const {
  nvml::RawMemory memory;
  if (!state_->ask(state_->memory_info, &memory)) return std::nullopt;
  return MemoryUse{static_cast<double>(memory.used), static_cast<double>(memory.total)};
}

std::optional<double> Nvml::ecc_errors(bool corrected) const {
  constexpr int kSinceLoaded = 0;
  return state_->value<unsigned long long>(1, state_->ecc, corrected ? 0 : 1, kSinceLoaded);
}

}  // namespace roofline
