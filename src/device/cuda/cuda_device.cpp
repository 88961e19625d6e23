// Memory, stream and timers of one GPU.
#include "device/cuda/cuda_device.hpp"

#include <cuda_profiler_api.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <map>
#include <utility>

#include "device/cuda/cublas.hpp"
#include "device/cuda/graph_timer.hpp"
#include "device/cuda/handles.hpp"
#include "device/cuda/nccl.hpp"
#include "device/cuda/nvml.hpp"
#include "device/cuda/topology.hpp"
#include "device/energy_meter.hpp"
#include "host/rendezvous.hpp"
#include "model/error.hpp"

namespace roofline {
namespace {

class CudaBuffer final : public Buffer {
 public:
  CudaBuffer(DeviceMemory memory, std::size_t bytes) : memory_(std::move(memory)), bytes_(bytes) {}
  void* data() override { return memory_.get(); }
  std::size_t size() const override { return bytes_; }

 private:
  DeviceMemory memory_;
  std::size_t bytes_;
};

}  // namespace

struct CudaDevice::State {
  std::shared_ptr<Rendezvous> together;  ///< with other processes; null where this one has all ranks
  CudaProperties properties;
  std::unique_ptr<Nvml> nvml;
  EnergyMeter energy;
  DeviceInfo info;
  Stream stream;
  std::shared_ptr<Buffer> scratch;
  std::unique_ptr<CublasHandle> cublas;               // after the stream: it must go before it
  std::map<int, std::unique_ptr<CudaDevice>> others;  ///< by rank
  std::map<int, std::unique_ptr<Communicators>>
      communicators;  ///< by the number of ranks; destroyed before the other members
};

CudaDevice::CudaDevice(int index, std::shared_ptr<Rendezvous> others) : state_(std::make_unique<State>()) {
  state_->together = std::move(others);
  try {
    check(cudaSetDevice(index), "opening the GPU");
    state_->properties = cuda_properties(index);
    state_->nvml = Nvml::open(pci_address(index));
    state_->info = describe_cuda_device(state_->properties, state_->nvml.get());
    state_->stream = make_stream();
  } catch (const Error& error) {
    throw DeviceError(fmt::format("CUDA device {} can't be opened: {}", index, error.what()), error.hint());
  }
}

CudaDevice::~CudaDevice() = default;

const DeviceInfo& CudaDevice::info() const { return state_->info; }
cudaStream_t CudaDevice::stream() const { return state_->stream.get(); }
const CudaProperties& CudaDevice::properties() const { return state_->properties; }
const Nvml* CudaDevice::nvml() const { return state_->nvml.get(); }

CublasHandle& CudaDevice::cublas() {
  const CurrentDevice guard(properties().index);
  if (!state_->cublas) state_->cublas = std::make_unique<CublasHandle>(stream());
  return *state_->cublas;
}

std::shared_ptr<Buffer> CudaDevice::scratch(std::size_t bytes) {
  if (state_->scratch == nullptr || state_->scratch->size() < bytes) {
    state_->scratch.reset();
    state_->scratch = allocate(bytes);
  }
  return state_->scratch;
}

int CudaDevice::ranks() const {
  if (state_->together) return state_->together->world().size;
  int count = 0;
  check(cudaGetDeviceCount(&count), "counting the GPUs");
  return count;
}

bool CudaDevice::holds(int rank) const {
  return state_->together ? rank == state_->together->world().rank : Device::holds(rank);
}

std::vector<std::string> CudaDevice::exchange(int ranks, const std::string& mine) {
  return state_->together ? state_->together->exchange(ranks, mine) : Device::exchange(ranks, mine);
}

Device& CudaDevice::rank(int number) {
  if (state_->together) {
    if (!holds(number)) throw Error(fmt::format("rank {} belongs to another process", number));
    return *this;
  }
  if (number == 0) return *this;
  const int count = ranks();
  if (number < 0 || number >= count)
    throw Error(fmt::format("rank {} needs {} GPUs: there are {}", number, number + 1, count));
  std::unique_ptr<CudaDevice>& other = state_->others[number];
  if (!other) {
    const CurrentDevice guard(properties().index);  // which opening another one changes
    other = std::make_unique<CudaDevice>((properties().index + number) % count);
  }
  return *other;
}

Communicators& CudaDevice::communicators(int ranks) {
  std::unique_ptr<Communicators>& made = state_->communicators[ranks];
  if (!made && state_->together) {
    const int me = state_->together->world().rank;
    const std::vector<std::string> ids = exchange(ranks, me == 0 ? new_nccl_id() : "");
    made = std::make_unique<Communicators>(*this, me, ranks, ids.front());
  }
  if (!made) {
    std::vector<CudaDevice*> devices;
    for (int number = 0; number < ranks; ++number) devices.push_back(&as_cuda(rank(number)));
    made = std::make_unique<Communicators>(devices);
  }
  return *made;
}

std::unique_ptr<Buffer> CudaDevice::allocate(std::size_t bytes) {
  const CurrentDevice guard(properties().index);
  void* memory = nullptr;
  const cudaError_t status = cudaMalloc(&memory, bytes == 0 ? 1 : bytes);
  if (status == cudaErrorMemoryAllocation) {
    static_cast<void>(cudaGetLastError());  // reported here, and not sticky
    throw Error(fmt::format("{} has less than {:.3f} GB of free memory: {:.3f} of {:.3f} GB", info().name,
                            static_cast<double>(bytes) * 1e-9, free_memory_bytes() * 1e-9, info().memory_bytes * 1e-9),
                "choose a smaller size, or stop other programs that use this GPU");
  }
  check(status, "allocating device memory");
  return std::make_unique<CudaBuffer>(DeviceMemory(memory), bytes);
}

double CudaDevice::free_memory_bytes() const {
  const CurrentDevice guard(properties().index);
  std::size_t free = 0;
  std::size_t total = 0;
  check(cudaMemGetInfo(&free, &total), "reading the free memory");
  return static_cast<double>(free);
}

void CudaDevice::upload(void* device, const void* host, std::size_t bytes) {
  const CurrentDevice guard(properties().index);
  check(cudaMemcpyAsync(device, host, bytes, cudaMemcpyHostToDevice, stream()), "copying to the GPU");
  synchronize();
}

void CudaDevice::download(void* host, const void* device, std::size_t bytes) {
  const CurrentDevice guard(properties().index);
  check(cudaMemcpyAsync(host, device, bytes, cudaMemcpyDeviceToHost, stream()), "copying from the GPU");
  synchronize();
}

void CudaDevice::copy(void* to, const void* from, std::size_t bytes) {
  const CurrentDevice guard(properties().index);
  check(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToDevice, stream()), "copying on the GPU");
  synchronize();
}

void CudaDevice::fill(void* device, std::byte value, std::size_t bytes) {
  const CurrentDevice guard(properties().index);
  check(cudaMemsetAsync(device, std::to_integer<int>(value), bytes, stream()), "filling memory on the GPU");
  synchronize();
}

void CudaDevice::synchronize() { check(cudaStreamSynchronize(stream()), "waiting for the GPU"); }

void CudaDevice::run_profiled(const std::function<void()>& launch) {
  const CurrentDevice guard(properties().index);
  synchronize();
  check(cudaProfilerStart(), "starting the profiler's collection");
  launch();
  synchronize();
  check(cudaProfilerStop(), "stopping the profiler's collection");
}

std::unique_ptr<Timer> CudaDevice::timer(LaunchFunction launch) {
  const CurrentDevice guard(properties().index);
  return std::make_unique<GraphTimer>(properties().index, stream(), properties().sm_count, std::move(launch),
                                      GraphTimer::Together{});
}

std::unique_ptr<Timer> CudaDevice::timer_of_ranks(LaunchFunction launch, int ranks) {
  if (ranks == 1) return timer(std::move(launch));
  const CurrentDevice guard(properties().index);
  Communicators& all = communicators(ranks);
  return std::make_unique<GraphTimer>(
      properties().index, stream(), properties().sm_count, std::move(launch),
      GraphTimer::Together{.around = [&all](const std::function<void()>& enqueue) { all.together(enqueue); },
                           // Processes have separate clocks and one may be late: none begins before all are ready.
                           .align = state_->together ? std::function<void()>([&all] { all.align(); }) : nullptr});
}

Clocks CudaDevice::clocks() {
  Clocks clocks;
  if (nvml() != nullptr) {
    clocks.core_hz = nvml()->sm_clock_hz();
    clocks.memory_hz = nvml()->memory_clock_hz();
  }
  return clocks;
}

PowerReading CudaDevice::power() {
  PowerReading reading;
  if (nvml() == nullptr) return reading;
  const std::vector<PowerSample> samples = nvml()->power_samples(state_->energy.seen_until_s());
  reading.energy_j = state_->energy.read(nvml_clock_s(), samples, [this] { return nvml()->energy_j(); });
  reading.temperature_c = nvml()->temperature_c();
  if (const auto reasons = nvml()->clock_event_reasons())
    reading.limiter = fmt::format("{}", fmt::join(*reasons, ", "));
  return reading;
}

std::function<Contention()> CudaDevice::watch_contention(int threads) {
  if (nvml() == nullptr) return Device::watch_contention(threads);
  return [this, start_s = nvml_clock_s(), slowed_before_s = nvml()->thermal_slowdown_s()] {
    Contention seen{.wall_s = nvml_clock_s() - start_s};
    seen.others_s = seen.wall_s * nvml()->share_of_others(start_s).value_or(0);
    const auto slowed_s = nvml()->thermal_slowdown_s();
    if (slowed_s && slowed_before_s) seen.throttled_s = *slowed_s - *slowed_before_s;
    return seen;
  };
}

CudaDevice& as_cuda(Device& device) {
  return const_cast<CudaDevice&>(as_cuda(std::as_const(device)));  // not const: it came in so
}

const CudaDevice& as_cuda(const Device& device) {
  const auto* cuda = dynamic_cast<const CudaDevice*>(&device);
  if (cuda == nullptr) throw Error("a CUDA kernel needs a CUDA device");
  return *cuda;
}

}  // namespace roofline
