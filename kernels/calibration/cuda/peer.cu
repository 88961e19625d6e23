// The link between two GPUs: this one reads from and writes to the memory of the next GPU that it can reach, by loads
// and stores of its SMs or by its copy engines, whichever is faster.
#include <fmt/core.h>

#include <algorithm>
#include <vector>

#include "device/cuda/check.hpp"
#include "device/cuda/handles.hpp"
#include "device/cuda/nvml.hpp"
#include "kernels/blocks/cuda/element.cuh"
#include "kernels/calibration/cuda/probe.cuh"
#include "kernels/calibration/cuda/stream.cuh"
#include "kernels/calibration/probes.hpp"
#include "op/registry.hpp"

namespace roofline {
namespace {

constexpr std::int64_t kBytes = std::int64_t{256} << 20;
constexpr int kThreads = 512;
constexpr int kInFlight = 4;

int gpu_count() {
  int count = 0;
  check(cudaGetDeviceCount(&count), "counting the GPUs");
  return count;
}

/// The next GPU, in the order of their numbers and round to the first, whose memory this one can reach; or -1.
int find_peer(int device) {
  const int count = gpu_count();
  for (int i = 1; i < count; ++i) {
    const int peer = (device + i) % count;
    int reachable = 0;
    check(cudaDeviceCanAccessPeer(&reachable, device, peer), "asking for peer access");
    if (reachable != 0) return peer;
  }
  return -1;
}

std::optional<std::string> unsupported(const Device& device) {
  const CudaDevice& cuda = as_cuda(device);
  if (gpu_count() < 2) return "only one GPU";
  if (find_peer(cuda.properties().index) < 0) return "no other GPU's memory can be reached from this one";
  const auto links = cuda.nvml() != nullptr ? cuda.nvml()->nvlinks() : std::nullopt;
  if (links && links->links == 0) return "no NVLink is up: the GPUs are linked by PCIe";
  return std::nullopt;
}

/// Lets this GPU into the memory of another, for as long as it lives.
class PeerAccess {
 public:
  explicit PeerAccess(int peer) : peer_(peer) {
    const cudaError_t status = cudaDeviceEnablePeerAccess(peer, 0);
    ours_ = status != cudaErrorPeerAccessAlreadyEnabled;
    if (ours_) check(status, "enabling peer access");
    static_cast<void>(cudaGetLastError());  // of access that somebody else has enabled
  }
  ~PeerAccess() {
    if (ours_) static_cast<void>(cudaDeviceDisablePeerAccess(peer_));  // NCCL keeps its own for good
  }
  PeerAccess(const PeerAccess&) = delete;
  PeerAccess& operator=(const PeerAccess&) = delete;

 private:
  int peer_;
  bool ours_ = true;
};

/// Memory here and there, of `vectors` 16-byte vectors each.
struct Pair {
  explicit Pair(int other) : peer(other), access(other) {}

  int peer;
  PeerAccess access;
  std::int64_t vectors = 0;
  std::shared_ptr<Buffer> here;
  DeviceMemory there;

  std::int64_t bytes() const { return vectors * kVectorBytes; }
};

std::shared_ptr<Pair> make_pair(CudaDevice& device, double scale) {
  constexpr std::int64_t kChunk = kThreads * kInFlight;
  auto pair = std::make_shared<Pair>(find_peer(device.properties().index));
  pair->vectors = static_cast<std::int64_t>(static_cast<double>(kBytes) * scale) / (kChunk * kVectorBytes) * kChunk;
  pair->here = shared_buffer(device, pair->bytes());
  const CurrentDevice guard(pair->peer);
  pair->there = make_device_memory(static_cast<std::size_t>(pair->bytes()));
  return pair;
}

ProbeCase base_case(const Pair& pair, std::string how) {
  ProbeCase made;
  made.variant = fmt::format("{} MiB of GPU {}, {}", pair.bytes() >> 20, pair.peer, how);
  made.amount = static_cast<double>(pair.bytes());
  made.working_set_bytes = made.amount;
  return made;
}

ProbeCase read_by_sms(CudaDevice& device, double scale) {
  const std::shared_ptr<Pair> pair = make_pair(device, scale);
  fill_random<float>(device, pair->there.get(), pair->vectors * 4, 1);
  const auto blocks = static_cast<unsigned>(device.properties().sm_count * 4);
  const std::shared_ptr<Buffer> sums = shared_buffer(device, blocks * sizeof(unsigned));
  ProbeCase made = base_case(*pair, fmt::format("{} x 16 B in flight, 4 blocks of {} per SM", kInFlight, kThreads));
  made.work.bytes[Level::nvlink].read = made.amount;
  made.instruction = "LDG.E.128";
  made.code = looks_for(read_kernel<kThreads, kInFlight>, made.instruction);
  made.run = [=, stream = device.stream()] {
    read_kernel<kThreads, kInFlight><<<blocks, kThreads, 0, stream>>>(static_cast<const uint4*>(pair->there.get()),
                                                                      pair->vectors / (kThreads * kInFlight),
                                                                      static_cast<unsigned*>(sums->data()));
    check_launch("peer reading kernel");
  };
  made.verify = [=, &device] { return check_read(device, *sums, pair->there.get(), pair->vectors); };
  return made;
}

ProbeCase write_by_sms(CudaDevice& device, double scale) {
  const std::shared_ptr<Pair> pair = make_pair(device, scale);
  device.fill(pair->there.get(), std::byte{0xFF}, static_cast<std::size_t>(pair->bytes()));
  ProbeCase made = base_case(*pair, fmt::format("16 B a thread, blocks of {}", kThreads));
  made.work.bytes[Level::nvlink].write = made.amount;
  made.instruction = "STG.E.128";
  made.code = looks_for(write_kernel, made.instruction);
  made.run = [=, stream = device.stream()] {
    const auto blocks = static_cast<unsigned>(ceil_div(pair->vectors, kThreads));
    write_kernel<<<blocks, kThreads, 0, stream>>>(static_cast<uint4*>(pair->there.get()), pair->vectors);
    check_launch("peer writing kernel");
  };
  made.verify = [=, &device] {
    return check_written(device, Expect::written, pair->there.get(), nullptr, nullptr, pair->vectors);
  };
  return made;
}

ProbeCase by_copy_engine(CudaDevice& device, Pattern pattern, double scale) {
  const std::shared_ptr<Pair> pair = make_pair(device, scale);
  const bool reads = pattern == Pattern::read;
  void* const to = reads ? pair->here->data() : pair->there.get();
  void* const from = reads ? pair->there.get() : pair->here->data();
  fill_random<float>(device, from, pair->vectors * 4, 1);
  device.fill(to, std::byte{0xFF}, static_cast<std::size_t>(pair->bytes()));
  ProbeCase made = base_case(*pair, "copied by the copy engine");
  (reads ? made.work.bytes[Level::nvlink].read : made.work.bytes[Level::nvlink].write) = made.amount;
  made.run = [=, stream = device.stream()] {
    check(cudaMemcpyAsync(to, from, static_cast<std::size_t>(pair->bytes()), cudaMemcpyDeviceToDevice, stream),
          "copying between GPUs");
  };
  made.verify = [=, &device] { return check_written(device, Expect::copied, to, from, nullptr, pair->vectors); };
  return made;
}

std::optional<ProbeCase> make(Device& device, const ProbeRequest& request, int variant, Pattern pattern) {
  CudaDevice& cuda = as_cuda(device);
  if (variant == 0)
    return pattern == Pattern::read ? read_by_sms(cuda, request.scale) : write_by_sms(cuda, request.scale);
  if (variant == 1) return by_copy_engine(cuda, pattern, request.scale);
  return std::nullopt;
}

Probe peer_probe(Pattern pattern) {
  Probe probe = bandwidth_probe(DeviceKind::cuda, fmt::format("nvlink.{}", to_string(pattern)), Level::nvlink, pattern);
  probe.unsupported = unsupported;
  probe.make = [pattern](Device& device, const ProbeRequest& request, int variant) {
    return make(device, request, variant, pattern);
  };
  probe.limit = [](const Device& device, std::optional<double>) { return nvlink_limit(device); };
  return probe;
}

const ProbeRegistrar kRegistrar({peer_probe(Pattern::read), peer_probe(Pattern::write)});

}  // namespace
}  // namespace roofline
