// The link between host and GPU: copies from and to pinned memory in either direction and in both at once, and, for
// reference, pageable memory, which the driver stages through its own buffer.
#include <fmt/core.h>

#include <cstring>
#include <memory>

#include "device/cuda/check.hpp"
#include "device/cuda/handles.hpp"
#include "device/cuda/nvml.hpp"
#include "device/pcie.hpp"
#include "kernels/calibration/cuda/probe.cuh"
#include "kernels/calibration/probes.hpp"
#include "op/registry.hpp"

namespace roofline::pcie_cuda {
namespace {

// Pinning costs 0.3 ms per MiB, and from 16 MiB on the rate grows by less than 1 %.
constexpr std::int64_t kBytes = std::int64_t{32} << 20;
constexpr std::uint64_t kSeed = 7;

enum class HostMemory { pinned, pageable };

/// Host memory of either kind, and device memory of the same size, initially with the same random numbers.
struct Link {
  PinnedMemory pinned;
  std::unique_ptr<std::byte[]> pageable;
  std::shared_ptr<Buffer> device;
  std::size_t bytes = 0;

  std::byte* host() const { return pageable ? pageable.get() : static_cast<std::byte*>(pinned.get()); }
};

std::unique_ptr<Link> make_link(CudaDevice& device, HostMemory memory, double scale) {
  auto link = std::make_unique<Link>();
  link->bytes = static_cast<std::size_t>(static_cast<double>(kBytes) * scale);
  if (memory == HostMemory::pinned) {
    link->pinned = make_pinned_memory(link->bytes);
  } else {
    link->pageable = std::make_unique_for_overwrite<std::byte[]>(link->bytes);
  }
  link->device = shared_buffer(device, static_cast<std::int64_t>(link->bytes));
  fill_random<float>(device, link->device->data(), static_cast<std::int64_t>(link->bytes / 4), kSeed);
  device.download(link->host(), link->device->data(), link->bytes);
  return link;
}

__global__ void wrong_words_kernel(const float* words, std::int64_t n, unsigned* wrong) {
  const std::int64_t stride = std::int64_t{gridDim.x} * blockDim.x;
  for (std::int64_t i = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < n; i += stride) {
    if (words[i] != random_value(kSeed, static_cast<std::uint64_t>(i))) atomicAdd(wrong, 1u);
  }
}

std::optional<std::string> check_words(CudaDevice& device, const void* words, std::size_t bytes, const char* where) {
  const auto counter = device.allocate(sizeof(unsigned));
  device.fill(counter->data(), std::byte{0}, counter->size());
  const auto n = static_cast<std::int64_t>(bytes / sizeof(float));
  wrong_words_kernel<<<256, 256, 0, device.stream()>>>(static_cast<const float*>(words), n,
                                                       static_cast<unsigned*>(counter->data()));
  check_launch("checking kernel");
  unsigned wrong = 0;
  device.download(&wrong, counter->data(), sizeof wrong);
  if (wrong == 0) return std::nullopt;
  return fmt::format("{} of {} words received {} are wrong", wrong, n, where);
}

/// Data received on the host is copied back to other GPU memory for the check.
std::optional<std::string> check_arrival(CudaDevice& device, const Link& link, Pattern pattern) {
  if (pattern == Pattern::h2d) return check_words(device, link.device->data(), link.bytes, "on the GPU");
  const auto back = device.allocate(link.bytes);
  device.upload(back->data(), link.host(), link.bytes);
  return check_words(device, back->data(), link.bytes, "on the host");
}

/// Poison at the destination.
void poison(CudaDevice& device, const Link& link, Pattern pattern) {
  if (pattern == Pattern::h2d) {
    device.fill(link.device->data(), std::byte{0xFF}, link.bytes);
  } else {
    std::memset(link.host(), 0xFF, link.bytes);
  }
}

void copy(const Link& link, Pattern pattern, cudaStream_t stream) {
  void* const device = link.device->data();
  const bool down = pattern == Pattern::h2d;
  check(cudaMemcpyAsync(down ? device : link.host(), down ? link.host() : device, link.bytes,
                        down ? cudaMemcpyHostToDevice : cudaMemcpyDeviceToHost, stream),
        "copying over the link");
}

/// Pageable copies cannot be captured into a graph, and the host takes part in them: they are timed between events,
/// as a program would see them.
Reading time_copies(const Link& link, Pattern pattern, cudaStream_t stream, std::int64_t launches) {
  const Event start = make_event();
  const Event stop = make_event();
  check(cudaStreamSynchronize(stream), "preparing a timed batch");
  check(cudaEventRecord(start.get(), stream), "recording the start");
  for (std::int64_t i = 0; i < launches; ++i) copy(link, pattern, stream);
  check(cudaEventRecord(stop.get(), stream), "recording the stop");
  check(cudaEventSynchronize(stop.get()), "waiting for a timed batch");
  float milliseconds = 0;
  check(cudaEventElapsedTime(&milliseconds, start.get(), stop.get()), "reading the time of a batch");
  return {.seconds = static_cast<double>(milliseconds) * 1e-3, .clock_hz = std::nullopt};
}

/// As seen by the host: data to the device is written, data from the device is read.
Traffic traffic(Pattern pattern, double bytes) {
  if (pattern == Pattern::duplex) return {.read = bytes / 2, .write = bytes / 2};
  return pattern == Pattern::h2d ? Traffic{.read = 0, .write = bytes} : Traffic{.read = bytes, .write = 0};
}

ProbeCase one_way_case(CudaDevice& device, Pattern pattern, HostMemory memory, double scale) {
  const std::shared_ptr<Link> link = make_link(device, memory, scale);
  poison(device, *link, pattern);
  ProbeCase made;
  made.variant = fmt::format("{} MiB of {} memory, back-to-back copies", link->bytes >> 20,
                             memory == HostMemory::pinned ? "page-locked" : "pageable");
  made.amount = static_cast<double>(link->bytes);
  made.working_set_bytes = made.amount;
  made.work.bytes[Level::pcie] = traffic(pattern, made.amount);
  made.run = [=, stream = device.stream()] { copy(*link, pattern, stream); };
  if (memory == HostMemory::pageable) {
    made.batch = [=, stream = device.stream()](std::int64_t launches) {
      return time_copies(*link, pattern, stream, launches);
    };
  }
  made.verify = [=, &device] { return check_arrival(device, *link, pattern); };
  return made;
}

/// To the device in the device's stream and from it in another one, which starts with it and is joined.
struct Duplex {
  std::unique_ptr<Link> down, up;
  Stream other = make_stream();
  Event fork = make_event();
  Event join = make_event();

  void run(cudaStream_t stream) const {
    check(cudaEventRecord(fork.get(), stream), "forking");
    check(cudaStreamWaitEvent(other.get(), fork.get(), 0), "forking");
    copy(*down, Pattern::h2d, stream);
    copy(*up, Pattern::d2h, other.get());
    check(cudaEventRecord(join.get(), other.get()), "joining");
    check(cudaStreamWaitEvent(stream, join.get(), 0), "joining");
  }
};

ProbeCase duplex_case(CudaDevice& device, double scale) {
  const auto duplex = std::make_shared<Duplex>();
  duplex->down = make_link(device, HostMemory::pinned, scale);
  duplex->up = make_link(device, HostMemory::pinned, scale);
  poison(device, *duplex->down, Pattern::h2d);
  poison(device, *duplex->up, Pattern::d2h);
  ProbeCase made;
  made.variant = fmt::format("{} MiB of pinned memory, both directions at once", duplex->down->bytes >> 20);
  made.amount = static_cast<double>(duplex->down->bytes + duplex->up->bytes);
  made.working_set_bytes = made.amount;
  made.work.bytes[Level::pcie] = traffic(Pattern::duplex, made.amount);
  made.run = [duplex, stream = device.stream()] { duplex->run(stream); };
  made.verify = [duplex, &device] {
    auto wrong = check_arrival(device, *duplex->down, Pattern::h2d);
    return wrong ? wrong : check_arrival(device, *duplex->up, Pattern::d2h);
  };
  return made;
}

/// The highest link generation that this GPU can train to in this slot, because an idle link may be slower at the
/// moment, and the trained number of lanes. Packet overhead (about 12 %) is not subtracted.
std::optional<Limit> link_limit(const Device& device, int directions) {
  const Nvml* const nvml = as_cuda(device).nvml();
  if (nvml == nullptr) return std::nullopt;
  const auto now = nvml->pcie_link();
  const auto best = nvml->best_pcie_link();
  if (!now || !best) return std::nullopt;
  const auto lane = pcie_lane(best->generation);
  if (!lane) return std::nullopt;
  return Limit{.value = directions * now->lanes * lane->bytes_per_s(),
               .basis = fmt::format("{}PCIe {}: {} lanes x {:g} GT/s x {}/{} / 8",
                                    directions == 2 ? "2 directions x " : "", best->generation, now->lanes,
                                    lane->transfers_per_s * 1e-9, lane->payload_bits, lane->sent_bits)};
}

Probe pcie_probe(const char* name, Pattern pattern, HostMemory memory) {
  Probe probe = bandwidth_probe(DeviceKind::cuda, name, Level::pcie, pattern);
  const bool roof = memory == HostMemory::pinned && pattern != Pattern::duplex;
  probe.role = roof ? Role::roof : Role::reference;
  probe.least_of_limit = roof ? 0.75 : 0;
  probe.make = [=](Device& device, const ProbeRequest& request, int variant) -> std::optional<ProbeCase> {
    if (variant > 0) return std::nullopt;
    if (pattern == Pattern::duplex) return duplex_case(as_cuda(device), request.scale);
    return one_way_case(as_cuda(device), pattern, memory, request.scale);
  };
  probe.limit = [directions = pattern == Pattern::duplex ? 2 : 1](const Device& device, std::optional<double>) {
    return link_limit(device, directions);
  };
  return probe;
}

const ProbeRegistrar kRegistrar({pcie_probe("pcie.h2d", Pattern::h2d, HostMemory::pinned),
                                 pcie_probe("pcie.d2h", Pattern::d2h, HostMemory::pinned),
                                 pcie_probe("pcie.duplex", Pattern::duplex, HostMemory::pinned),
                                 pcie_probe("pcie.h2d.pageable", Pattern::h2d, HostMemory::pageable),
                                 pcie_probe("pcie.d2h.pageable", Pattern::d2h, HostMemory::pageable)});

}  // namespace
}  // namespace roofline::pcie_cuda
