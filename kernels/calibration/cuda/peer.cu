// The link between two GPUs: one reads from and writes to the memory of the other, by loads and stores of its SMs or
// by its copy engines, whichever is faster; both write to each other at once; one waits for single accesses. These
// are ceilings of a device (nvlink.read) for the next peer, and of a node (link.read) for every pair.
#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <mutex>
#include <utility>
#include <vector>

#include "device/cuda/check.hpp"
#include "device/cuda/handles.hpp"
#include "device/cuda/nvml.hpp"
#include "device/cuda/topology.hpp"
#include "kernels/blocks/cuda/element.cuh"
#include "kernels/calibration/cuda/chase.cuh"
#include "kernels/calibration/cuda/probe.cuh"
#include "kernels/calibration/cuda/stream.cuh"
#include "kernels/calibration/probes.hpp"
#include "op/link_probe.hpp"
#include "op/registry.hpp"

namespace roofline::peer_cuda {
namespace {

constexpr std::int64_t kBytes = std::int64_t{256} << 20;
constexpr int kThreads = 512;
constexpr int kInFlight = 4;

int gpu_count() {
  int count = 0;
  check(cudaGetDeviceCount(&count), "counting the GPUs");
  return count;
}

/// The next GPU in cyclic order that is a peer of this one; or -1.
int find_peer(int device) {
  const int count = gpu_count();
  for (int i = 1; i < count; ++i) {
    const int peer = (device + i) % count;
    if (reaches(device, peer)) return peer;
  }
  return -1;
}

std::optional<std::string> no_next_gpu(const Device& device) {
  const CudaDevice& cuda = as_cuda(device);
  if (gpu_count() < 2) return "only one GPU";
  if (find_peer(cuda.properties().index) < 0) return "no peer access to another GPU";
  const auto links = cuda.nvml() != nullptr ? cuda.nvml()->nvlinks() : std::nullopt;
  if (links && links->links == 0) return "no active NVLink: the GPUs are connected by PCIe";
  return std::nullopt;
}

/// Keeps peer access enabled while any of these objects exists: the first of several cases to end must not disable
/// it for the others, and without NVSwitch a GPU may have eight peers at a time.
class PeerAccess {
 public:
  PeerAccess(int device, int peer) : way_(device, peer) {
    const std::lock_guard lock(mutex());
    int& users = users_of()[way_];
    if (users == 0) {
      const CurrentDevice guard(device);
      const cudaError_t status = cudaDeviceEnablePeerAccess(peer, 0);
      if (status == cudaErrorPeerAccessAlreadyEnabled) {
        static_cast<void>(cudaGetLastError());
        ++users;  // enabled by someone else; not to be disabled
      } else {
        check(status, "enabling peer access");
      }
    }
    ++users;
  }
  ~PeerAccess() {
    const std::lock_guard lock(mutex());
    if (--users_of()[way_] > 0) return;
    int before = 0;
    static_cast<void>(cudaGetDevice(&before));
    static_cast<void>(cudaSetDevice(way_.first));
    static_cast<void>(cudaDeviceDisablePeerAccess(way_.second));
    static_cast<void>(cudaSetDevice(before));
  }
  PeerAccess(const PeerAccess&) = delete;
  PeerAccess& operator=(const PeerAccess&) = delete;

 private:
  using Way = std::pair<int, int>;  // from a GPU to its peer
  static std::mutex& mutex() {
    static std::mutex instance;
    return instance;
  }
  static std::map<Way, int>& users_of() {
    static std::map<Way, int> instance;
    return instance;
  }

  Way way_;
};

/// Memory on a peer GPU.
class PeerBuffer final : public Buffer {
 public:
  PeerBuffer(int device, int peer, std::size_t bytes) : access_(device, peer), bytes_(bytes) {
    const CurrentDevice guard(peer);
    memory_ = make_device_memory(bytes);
  }
  void* data() override { return memory_.get(); }
  std::size_t size() const override { return bytes_; }

 private:
  PeerAccess access_;
  DeviceMemory memory_;
  std::size_t bytes_;
};

/// Memory on both GPUs, of `vectors` 16-byte vectors each.
struct Pair {
  int peer = 0;
  std::int64_t vectors = 0;
  std::shared_ptr<Buffer> here, there;

  std::int64_t bytes() const { return vectors * kVectorBytes; }
};

Pair make_pair(CudaDevice& device, int peer, double scale) {
  constexpr std::int64_t kChunk = kThreads * kInFlight;
  Pair pair;
  pair.peer = peer;
  pair.vectors = static_cast<std::int64_t>(static_cast<double>(kBytes) * scale) / (kChunk * kVectorBytes) * kChunk;
  pair.here = shared_buffer(device, pair.bytes());
  pair.there = std::make_shared<PeerBuffer>(device.properties().index, peer, static_cast<std::size_t>(pair.bytes()));
  return pair;
}

ProbeCase base_case(const Pair& pair, Level level, Traffic traffic, std::string how) {
  ProbeCase made;
  made.variant = fmt::format("{} MiB of GPU {}, {}", pair.bytes() >> 20, pair.peer, how);
  made.amount = traffic.total();
  made.work.bytes[level] = traffic;
  made.working_set_bytes = made.amount;
  return made;
}

Traffic reads(const Pair& pair) { return {.read = static_cast<double>(pair.bytes()), .write = 0}; }
Traffic writes(const Pair& pair) { return {.read = 0, .write = static_cast<double>(pair.bytes())}; }
Traffic both_ways(const Pair& pair) { return {.read = reads(pair).read, .write = writes(pair).write}; }

ProbeCase read_by_sms(CudaDevice& device, const Pair& pair, Level level) {
  fill_random<float>(device, pair.there->data(), pair.vectors * 4, 1);
  const auto blocks = static_cast<unsigned>(device.properties().sm_count * 4);
  const std::shared_ptr<Buffer> sums = shared_buffer(device, blocks * sizeof(unsigned));
  ProbeCase made = base_case(pair, level, reads(pair),
                             fmt::format("{} x 16 B in flight, 4 blocks of {} per SM", kInFlight, kThreads));
  made.instruction = "LDG.E.128";
  made.code = looks_for(read_kernel<kThreads, kInFlight>, made.instruction);
  made.run = [=, stream = device.stream()] {
    read_kernel<kThreads, kInFlight><<<blocks, kThreads, 0, stream>>>(static_cast<const uint4*>(pair.there->data()),
                                                                      pair.vectors / (kThreads * kInFlight),
                                                                      static_cast<unsigned*>(sums->data()));
    check_launch("peer reading kernel");
  };
  made.verify = [=, &device] { return check_read(device, *sums, pair.there->data(), pair.vectors); };
  return made;
}

void launch_writes(Buffer& to, std::int64_t vectors, cudaStream_t stream) {
  const auto blocks = static_cast<unsigned>(ceil_div(vectors, kThreads));
  write_kernel<<<blocks, kThreads, 0, stream>>>(static_cast<uint4*>(to.data()), vectors);
  check_launch("peer writing kernel");
}

ProbeCase write_by_sms(CudaDevice& device, const Pair& pair, Level level) {
  device.fill(pair.there->data(), std::byte{0xFF}, pair.there->size());
  ProbeCase made = base_case(pair, level, writes(pair), fmt::format("16 B per thread, blocks of {}", kThreads));
  made.instruction = "STG.E.128";
  made.code = looks_for(write_kernel, made.instruction);
  made.run = [=, stream = device.stream()] { launch_writes(*pair.there, pair.vectors, stream); };
  made.verify = [=, &device] {
    return check_written(device, Expect::written, pair.there->data(), nullptr, nullptr, pair.vectors);
  };
  return made;
}

void enqueue_copy(Buffer& to, Buffer& from, cudaStream_t stream) {
  check(cudaMemcpyAsync(to.data(), from.data(), to.size(), cudaMemcpyDeviceToDevice, stream), "copying between GPUs");
}

/// Random words in `from`, poison in `to`.
void prepare_copy(CudaDevice& device, const Pair& pair, Buffer& to, Buffer& from) {
  fill_random<float>(device, from.data(), pair.vectors * 4, 1);
  device.fill(to.data(), std::byte{0xFF}, to.size());
}

ProbeCase by_copy_engine(CudaDevice& device, const Pair& pair, Pattern pattern, Level level) {
  const bool pulls = pattern == Pattern::read;
  const std::shared_ptr<Buffer> to = pulls ? pair.here : pair.there;
  const std::shared_ptr<Buffer> from = pulls ? pair.there : pair.here;
  prepare_copy(device, pair, *to, *from);
  ProbeCase made = base_case(pair, level, pulls ? reads(pair) : writes(pair), "copy engine");
  made.run = [=, stream = device.stream()] { enqueue_copy(*to, *from, stream); };
  made.verify = [=, &device] {
    return check_written(device, Expect::copied, to->data(), from->data(), nullptr, pair.vectors);
  };
  return made;
}

/// A stream of the other GPU that starts with this GPU's stream and is joined by it.
struct PeerStream {
  explicit PeerStream(int number) : peer(number), fork(make_event()) {
    const CurrentDevice guard(peer);
    stream = make_stream();
    join = make_event();
  }

  /// Calls `enqueue` with the other GPU current, between fork and join.
  template <class Enqueue>
  void run(cudaStream_t here, const Enqueue& enqueue) const {
    check(cudaEventRecord(fork.get(), here), "forking");
    check(cudaStreamWaitEvent(stream.get(), fork.get(), 0), "forking");
    const CurrentDevice guard(peer);
    enqueue(stream.get());
    check(cudaEventRecord(join.get(), stream.get()), "joining");
  }
  void wait(cudaStream_t here) const { check(cudaStreamWaitEvent(here, join.get(), 0), "joining"); }

  int peer;
  Event fork, join;
  Stream stream;
};

/// Each GPU writes to the other's memory with its SMs.
ProbeCase both_by_sms(CudaDevice& device, const Pair& pair, Level level) {
  const auto access = std::make_shared<PeerAccess>(pair.peer, device.properties().index);
  const auto other = std::make_shared<PeerStream>(pair.peer);
  device.fill(pair.here->data(), std::byte{0xFF}, pair.here->size());
  device.fill(pair.there->data(), std::byte{0xFF}, pair.there->size());
  ProbeCase made = base_case(pair, level, both_ways(pair),
                             fmt::format("both GPUs write to each other, 16 B per thread, blocks of {}", kThreads));
  made.instruction = "STG.E.128";
  made.code = looks_for(write_kernel, made.instruction);
  made.run = [=, stream = device.stream()] {
    static_cast<void>(access);  // keeps peer access enabled
    other->run(stream, [&](cudaStream_t theirs) { launch_writes(*pair.here, pair.vectors, theirs); });
    launch_writes(*pair.there, pair.vectors, stream);
    other->wait(stream);
  };
  made.verify = [=, &device] {
    auto wrong = check_written(device, Expect::written, pair.there->data(), nullptr, nullptr, pair.vectors);
    return wrong ? wrong : check_written(device, Expect::written, pair.here->data(), nullptr, nullptr, pair.vectors);
  };
  return made;
}

/// Each GPU's copy engine copies its own memory to the other.
ProbeCase both_by_copy_engines(CudaDevice& device, const Pair& there, double scale, Level level) {
  const Pair back = make_pair(device, there.peer, scale);
  const auto other = std::make_shared<PeerStream>(there.peer);
  prepare_copy(device, there, *there.there, *there.here);
  prepare_copy(device, back, *back.here, *back.there);
  ProbeCase made = base_case(there, level, both_ways(there), "both copy engines, one per direction");
  made.run = [=, stream = device.stream()] {
    other->run(stream, [&](cudaStream_t theirs) { enqueue_copy(*back.here, *back.there, theirs); });
    enqueue_copy(*there.there, *there.here, stream);
    other->wait(stream);
  };
  made.verify = [=, &device] {
    auto wrong = check_written(device, Expect::copied, there.there->data(), there.here->data(), nullptr, there.vectors);
    return wrong ? wrong
                 : check_written(device, Expect::copied, back.here->data(), back.there->data(), nullptr, back.vectors);
  };
  return made;
}

std::optional<ProbeCase> make(CudaDevice& device, int peer, Pattern pattern, Level level, const ProbeRequest& request,
                              int variant) {
  if (variant > 1) return std::nullopt;
  const Pair pair = make_pair(device, peer, request.scale);
  if (pattern == Pattern::duplex) {
    return variant == 0 ? both_by_sms(device, pair, level) : both_by_copy_engines(device, pair, request.scale, level);
  }
  if (variant == 1) return by_copy_engine(device, pair, pattern, level);
  return pattern == Pattern::read ? read_by_sms(device, pair, level) : write_by_sms(device, pair, level);
}

/// Single accesses of one thread to 2 MiB that stay in the other GPU's L2; beyond it HBM latency would be included.
ProbeCase wait_for_accesses(CudaDevice& device, int peer, double scale) {
  constexpr int kBits = 14;
  ProbeCase made = chase_case(
      device, std::make_shared<PeerBuffer>(device.properties().index, peer, std::size_t{kChaseStride} << kBits), kBits,
      static_cast<std::uint32_t>(2048 * scale));
  made.variant += fmt::format(" in the L2 of GPU {}", peer);
  made.nearer_cache_bytes = 0;
  chase_all(device, made, kBits);
  return made;
}

Probe next_gpu_probe(Pattern pattern) {
  Probe probe = bandwidth_probe(DeviceKind::cuda, fmt::format("nvlink.{}", to_string(pattern)), Level::nvlink, pattern);
  probe.unsupported = no_next_gpu;
  probe.make = [pattern](Device& device, const ProbeRequest& request, int variant) {
    CudaDevice& cuda = as_cuda(device);
    return make(cuda, find_peer(cuda.properties().index), pattern, Level::nvlink, request, variant);
  };
  probe.limit = [](const Device& device, std::optional<double>) { return nvlink_limit(device); };
  return probe;
}

std::optional<std::string> unreachable(const Device& device, int peer) {
  const int index = as_cuda(device).properties().index;
  if (reaches(index, peer)) return std::nullopt;
  return fmt::format("GPU {} has no peer access to GPU {}: transfers are staged through host memory", index, peer);
}

Level level_of(LinkKind kind) { return kind == LinkKind::nvlink ? Level::nvlink : Level::pcie; }

LinkProbe link_probe(const char* name, Pattern pattern) {
  return {.name = name, .device = DeviceKind::cuda, .to = [=](int peer, LinkKind kind) {
            const Level level = level_of(kind);
            Probe probe = bandwidth_probe(DeviceKind::cuda, name, level, pattern);
            probe.unsupported = [peer](const Device& device) { return unreachable(device, peer); };
            probe.make = [=](Device& device, const ProbeRequest& request, int variant) {
              return make(as_cuda(device), peer, pattern, level, request, variant);
            };
            if (kind == LinkKind::nvlink) {
              probe.limit = [directions = pattern == Pattern::duplex ? 2 : 1](const Device& device,
                                                                              std::optional<double>) {
                return nvlink_limit(device, directions);
              };
            }
            return probe;
          }};
}

LinkProbe link_latency_probe() {
  return {.name = "link.latency", .device = DeviceKind::cuda, .to = [](int peer, LinkKind kind) {
            Probe probe;
            probe.name = "link.latency";
            probe.device = DeviceKind::cuda;
            probe.kind = CeilingKind::latency;
            probe.level = level_of(kind);
            probe.role = Role::reference;
            probe.unsupported = [peer](const Device& device) { return unreachable(device, peer); };
            probe.make = [peer](Device& device, const ProbeRequest& request, int variant) -> std::optional<ProbeCase> {
              if (variant > 0) return std::nullopt;
              return wait_for_accesses(as_cuda(device), peer, request.scale);
            };
            return probe;
          }};
}

const ProbeRegistrar kRegistrar({next_gpu_probe(Pattern::read), next_gpu_probe(Pattern::write)});

const LinkProbeRegistrar kLinkRegistrar({link_probe("link.read", Pattern::read),
                                         link_probe("link.write", Pattern::write),
                                         link_probe("link.both", Pattern::duplex), link_latency_probe()});

}  // namespace
}  // namespace roofline::peer_cuda
