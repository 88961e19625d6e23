// One reading: NVML's values and the sampled activity, with a reason for each value that is refused.
#include "device/gpu_sensors.hpp"

#include <cuda_runtime_api.h>
#include <fmt/format.h>

#include <utility>

#include "device/cuda/check.hpp"
#include "device/cuda/nvml.hpp"
#include "device/cuda/pm_sampler.hpp"
#include "host/files.hpp"
#include "host/host.hpp"
#include "model/one_line.hpp"
#include "text/text.hpp"

namespace roofline {
namespace {

constexpr double kRetrySeconds = 10;  // a profiler that holds the counters may end

class NvidiaSensors final : public GpuSensors {
 public:
  NvidiaSensors(GpuAddress address, std::optional<double> sample_s)
      : address_(std::move(address)), sample_s_(sample_s) {
    open_nvml();
    if (sample_s_) open_activity();
  }

  void collect() override {
    if (!sampler_) return;
    try {
      sampler_->collect();
    } catch (const Error& error) {
      lose_activity(one_line(error));
    }
  }

  GpuReading read() override {
    GpuReading reading;
    reading.time_s = wall_seconds();
    if (!nvml_) open_nvml();
    if (nvml_) {
      read_nvml(reading);
      const bool answers = reading.core_hz || reading.power_w || reading.memory_total_bytes;
      if (!answers) nvml_.reset();  // a GPU that comes back is another one to the driver
    } else {
      reading.absent["nvml"] = nvml_refused_;
    }
    if (sample_s_) read_activity(reading);
    return reading;
  }

 private:
  void open_nvml() try { nvml_ = Nvml::require(address_.pci); } catch (const Error& error) {
    nvml_refused_ = one_line(error);
  }

  void open_activity() {
    tried_s_ = wall_seconds();
    if (!address_.cuda_index) {
      activity_refused_ = "CUDA does not show this GPU";
      return;
    }
    try {
      int count = 0;
      check(cudaGetDeviceCount(&count), "starting CUDA");  // starts the driver, makes no context
      sampler_ = sample_cuda_activity(*address_.cuda_index, *sample_s_);
    } catch (const Error& error) {
      activity_refused_ = one_line(error);
    }
  }

  void lose_activity(const std::string& reason) {
    sampler_.reset();
    activity_refused_ = reason;
    tried_s_ = wall_seconds();
  }

  void read_activity(GpuReading& reading) {
    if (!sampler_ && wall_seconds() - tried_s_ >= kRetrySeconds) open_activity();
    collect();
    if (sampler_) reading.activity = sampler_->take();
    if (!reading.activity) {
      reading.absent["activity"] = sampler_ ? "no hardware sample is complete yet" : activity_refused_;
    }
  }

  void read_nvml(GpuReading& reading) {
    const auto put = [&](const char* name, auto& field, auto value) {
      if (value) {
        field = std::move(*value);
      } else {
        reading.absent[name] = nvml_->refusal();
      }
    };
    put("core_hz", reading.core_hz, nvml_->sm_clock_hz());
    put("memory_hz", reading.memory_hz, nvml_->memory_clock_hz());
    put("max_core_hz", reading.max_core_hz, nvml_->max_sm_clock_hz());
    put("power_w", reading.power_w, nvml_->power_w());
    put("power_limit_w", reading.power_limit_w, nvml_->power_limit_w());
    put("energy_j", reading.energy_j, nvml_->energy_j());
    put("temperature_c", reading.temperature_c, nvml_->temperature_c());
    put("memory_temperature_c", reading.memory_temperature_c, nvml_->memory_temperature_c());
    put("power_capped_s", reading.power_capped_s, nvml_->power_slowdown_s());
    put("thermal_capped_s", reading.thermal_capped_s, nvml_->thermal_slowdown_s());
    put("limiters", reading.limiters, nvml_->clock_event_reasons());
    put("busy_fraction", reading.busy_fraction, nvml_->busy_fraction());
    put("encoder_fraction", reading.encoder_fraction, nvml_->encoder_fraction());
    put("decoder_fraction", reading.decoder_fraction, nvml_->decoder_fraction());
    put("fan_fraction", reading.fan_fraction, nvml_->fan_fraction());
    if (const auto memory = nvml_->memory()) {
      reading.memory_used_bytes = memory->used_bytes;
      reading.memory_total_bytes = memory->total_bytes;
    } else {
      reading.absent["memory_used_bytes"] = nvml_->refusal();
    }
    if (const auto link = nvml_->pcie_link()) {
      reading.pcie_generation = link->generation;
      reading.pcie_lanes = link->lanes;
    } else {
      reading.absent["pcie_generation"] = nvml_->refusal();
    }
    reading.pcie_rx_bytes = nvml_->pcie_bytes(Direction::received);
    reading.pcie_tx_bytes = nvml_->pcie_bytes(Direction::transmitted);
    if (!reading.pcie_rx_bytes || !reading.pcie_tx_bytes) {
      put("pcie_rx_bytes_per_second", reading.pcie_rx_bytes_per_second,
          nvml_->pcie_bytes_per_second(Direction::received));
      put("pcie_tx_bytes_per_second", reading.pcie_tx_bytes_per_second,
          nvml_->pcie_bytes_per_second(Direction::transmitted));
    }
    // Which links are up takes a question for each of them, and hardly ever changes.
    if (links_asked_s_ == 0 || reading.time_s - links_asked_s_ > kRetrySeconds) {
      links_ = nvml_->nvlinks();
      links_asked_s_ = reading.time_s;
    }
    if (links_) reading.nvlink_links = links_->links;
    if (links_ && links_->links > 0) {
      put("nvlink_rx_bytes", reading.nvlink_rx_bytes, nvml_->nvlink_bytes(Direction::received));
      put("nvlink_tx_bytes", reading.nvlink_tx_bytes, nvml_->nvlink_bytes(Direction::transmitted));
    } else {
      reading.absent["nvlink_rx_bytes"] = reading.absent["nvlink_tx_bytes"] = "no NVLink is up";
    }
    put("ecc_corrected", reading.ecc_corrected, nvml_->ecc_errors(true));
    put("ecc_uncorrected", reading.ecc_uncorrected, nvml_->ecc_errors(false));
    // The driver takes a sample of each process about once a second, and keeps a minute of them.
    constexpr double kProcessWindow = 2;
    put("processes", reading.processes, nvml_->processes(nvml_clock_s() - kProcessWindow));
    if (!reading.processes) return;
    for (GpuProcess& process : *reading.processes) {
      process.name = clean_line(first_line(fmt::format("/proc/{}/comm", process.pid)));
    }
  }

  GpuAddress address_;
  std::optional<double> sample_s_;
  std::unique_ptr<Nvml> nvml_;
  std::string nvml_refused_;
  std::unique_ptr<ActivitySampler> sampler_;
  std::string activity_refused_;
  double tried_s_ = 0;
  std::optional<NvLinks> links_;
  double links_asked_s_ = 0;
};

}  // namespace

std::vector<GpuIdentity> monitored_gpus() { return Nvml::list(); }

std::unique_ptr<GpuSensors> open_gpu_sensors(const GpuAddress& address, std::optional<double> sample_s) {
  return std::make_unique<NvidiaSensors>(address, sample_s);
}

}  // namespace roofline
