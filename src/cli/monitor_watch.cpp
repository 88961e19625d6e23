// The parent process never calls a driver; child processes list the GPUs and read their sensors.
#include "cli/monitor_watch.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <sstream>

#include "calibrate/machine_store.hpp"
#include "calibrate/select_device.hpp"
#include "cli/console.hpp"
#include "device/cpu/host_sensors.hpp"
#include "device/gpu_sensors.hpp"
#include "host/cache_folder.hpp"
#include "host/files.hpp"
#include "host/host.hpp"
#include "model/error.hpp"
#include "model/find.hpp"
#include "monitor/wire.hpp"

namespace roofline {
namespace {

constexpr double kStartSeconds = 60;    // without persistence mode a driver needs seconds per GPU
constexpr double kAnswerSeconds = 5;    // a hanging GPU delays the others no longer than this
constexpr double kRestartSeconds = 10;  // before a lost GPU is tried again

/// Reads the sensors of a GPU in a worker process.
class SensorHandler final : public Handler {
 public:
  SensorHandler(const GpuAddress& address, std::optional<double> sample_s)
      : sensors_(open_gpu_sensors(address, sample_s)) {}
  void idle() override { sensors_->collect(); }
  std::string reply() override { return reading_to_text(sensors_->read()); }

 private:
  std::unique_ptr<GpuSensors> sensors_;
};

class ListHandler final : public Handler {
 public:
  void idle() override {}
  std::string reply() override {
    std::string text;
    for (const GpuIdentity& gpu : monitored_gpus())
      text += fmt::format("{}\t{}\t{}\n", gpu.address.pci, gpu.uuid, gpu.name);
    return text;
  }
};

std::string attribute_of(const DeviceInfo& info, AttributeKey key) {
  const std::string* const value = find_attribute(info.attributes, key);
  return value == nullptr ? "" : *value;
}

Watched watched_of(const DeviceInfo& info) {
  Watched watched;
  watched.device = device_word(info);
  watched.info = info;
  watched.pci = attribute_of(info, AttributeKey::pci_address);
  watched.uuid = attribute_of(info, AttributeKey::uuid);
  try {
    watched.roofs = find_machine(info.identity, print_status);
    if (info.kind == DeviceKind::cuda) {
      watched.bytes = byte_check_from_json(text_of(byte_check_path(info)));
    }
  } catch (const UsageError&) {
    // No cache directory: no roofs.
  }
  return watched;
}

/// GPUs that CUDA cannot list (no driver library, or an old driver), by NVML's own indices. `refused` is the reason if
/// NVML lists none either.
std::vector<Watched> gpus_without_cuda(std::string& refused) {
  WorkerProcess worker([] { return std::make_unique<ListHandler>(); });
  WorkerProcess* const asked[] = {&worker};
  worker.request();
  WorkerProcess::wait_for(asked, kStartSeconds);
  const std::optional<std::string> answer = worker.reply();
  std::vector<Watched> gpus;
  if (!answer) {
    refused = worker.lost().empty() ? "the driver does not respond" : worker.lost();
    return gpus;
  }
  std::istringstream lines(*answer);
  for (std::string line; std::getline(lines, line);) {
    const std::size_t first = line.find('\t');
    const std::size_t second = line.find('\t', first + 1);
    Watched watched;
    watched.info.kind = DeviceKind::cuda;
    watched.info.index = static_cast<int>(gpus.size());
    watched.device = device_word(watched.info);
    watched.pci = line.substr(0, first);
    watched.uuid = line.substr(first + 1, second - first - 1);
    watched.info.name = line.substr(second + 1);
    gpus.push_back(watched);
  }
  return gpus;
}

}  // namespace

std::unique_ptr<Handler> sensor_handler(const GpuAddress& address, std::optional<double> sample_s) {
  return std::make_unique<SensorHandler>(address, sample_s);
}

std::string byte_check_path(const DeviceInfo& device) {
  return (cache_folder("checks", "") / fmt::format("monitor-check-{}.json", device.identity)).string();
}

std::vector<Watched> watched_devices(const MonitoredDevices& request) {
  std::vector<Watched> gpus;
  std::optional<Watched> cpu;
  std::string no_gpu = "no GPU found";
  for (const DeviceListing& listing : list_devices_isolated({})) {
    if (listing.info.kind == DeviceKind::cpu) {
      if (request.all() || request.cpu) cpu = watched_of(listing.info);
    } else if (!attribute_of(listing.info, AttributeKey::pci_address).empty()) {
      gpus.push_back(watched_of(listing.info));
    } else {
      no_gpu = listing.reason;
    }
  }
  const bool wants_gpus = request.all() || request.every_gpu || !request.gpus.empty();
  if (wants_gpus && gpus.empty()) {
    std::string refused;
    gpus = gpus_without_cuda(refused);
    if (!gpus.empty()) warn(fmt::format("GPUs have neither hardware counters nor roofs: {}", no_gpu));
  }
  std::vector<Watched> devices;
  for (Watched& gpu : gpus) {
    const bool wanted = request.all() || request.every_gpu || contains(request.gpus, gpu.info.index);
    if (wanted) devices.push_back(std::move(gpu));
  }
  for (const int index : request.gpus) {
    const bool there =
        std::any_of(devices.begin(), devices.end(), [&](const Watched& gpu) { return gpu.info.index == index; });
    if (!there) {
      throw DeviceError(gpus.empty() ? no_gpu : fmt::format("there is no CUDA device {}: {} found", index, gpus.size()),
                        "see: roofline devices");
    }
  }
  if (request.every_gpu && gpus.empty()) throw DeviceError(no_gpu, "watch the CPU with --device cpu");
  if (request.all() && gpus.empty()) warn(no_gpu);
  if (cpu) devices.push_back(std::move(*cpu));
  return devices;
}

struct Watch::Gpu {
  Watched watched;
  std::unique_ptr<WorkerProcess> worker;
  std::optional<GpuReading> before;
  double lost_s = -kRestartSeconds;
  std::string reason;  ///< why it was lost
};

struct Watch::Host {
  Watched watched;
  HostSensors sensors;
  std::optional<HostReading> before;
};

Watch::Watch(std::vector<Watched> devices, bool counters) : counters_(counters) {
  for (Watched& device : devices) {
    if (device.info.kind == DeviceKind::cuda) {
      gpus_.emplace_back().watched = std::move(device);
    } else {
      host_ = std::make_unique<Host>();
      host_->watched = std::move(device);
    }
  }
}

Watch::~Watch() = default;

void Watch::ask_gpus(double patience_s) {
  std::vector<WorkerProcess*> asked;
  for (Gpu& gpu : gpus_) {
    if (!gpu.worker && wall_seconds() - gpu.lost_s >= kRestartSeconds) {
      // CUPTI does not know NVML's indices.
      GpuAddress address{gpu.watched.pci, {}};
      if (!gpu.watched.info.identity.empty()) address.cuda_index = gpu.watched.info.index;
      const std::optional<double> sample_s = counters_ ? std::optional(kActivitySampleSeconds) : std::nullopt;
      gpu.worker = std::make_unique<WorkerProcess>([address, sample_s] { return sensor_handler(address, sample_s); });
    }
    if (!gpu.worker) continue;
    gpu.worker->request();
    asked.push_back(gpu.worker.get());
  }
  WorkerProcess::wait_for(asked, patience_s);
}

DeviceSample Watch::gpu(Gpu& gpu) {
  std::optional<GpuReading> now;
  if (gpu.worker) {
    if (const std::optional<std::string> answer = gpu.worker->reply()) now = reading_from_text(*answer);
  }
  if (now) {
    DeviceSample sample = gpu_sample(gpu.watched, gpu.before ? &*gpu.before : nullptr, *now);
    gpu.before = std::move(now);
    return sample;
  }
  gpu.before.reset();
  if (gpu.worker && !gpu.worker->lost().empty()) {
    gpu.reason = gpu.worker->lost();
    gpu.lost_s = wall_seconds();
    gpu.worker.reset();
  }
  if (!gpu.worker) return silent_sample(gpu.watched, fmt::format("{}; will retry soon", gpu.reason));
  return silent_sample(gpu.watched, fmt::format("its driver has not answered for {:.0f} s",
                                                wall_seconds() - gpu.worker->requested_s().value_or(wall_seconds())));
}

Sample Watch::sample(double interval_s) {
  ask_gpus(first_ ? kStartSeconds : std::min(kAnswerSeconds, std::max(1.0, interval_s)));
  first_ = false;
  Sample sample;
  sample.time = utc_now();
  sample.host = host_name();
  sample.interval_s = interval_s;
  for (Gpu& one : gpus_) sample.devices.push_back(gpu(one));
  if (host_) {
    HostReading now = host_->sensors.read();
    sample.devices.push_back(cpu_sample(host_->watched, host_->before ? &*host_->before : nullptr, now));
    host_->before = std::move(now);
  }
  return sample;
}

}  // namespace roofline
