// NCCL collectives between the GPUs of a process: the bus bandwidth of large ones among all of them, and their times
// from a few bytes to a gigabyte among two, four and more, from which latency and rate are fitted.
#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "device/cuda/check.hpp"
#include "device/cuda/nccl.hpp"
#include "kernels/calibration/cuda/probe.cuh"
#include "kernels/calibration/probes.hpp"
#include "kernels/collectives/collective.hpp"
#include "kernels/collectives/nccl_ranks.hpp"
#include "model/collective.hpp"
#include "op/registry.hpp"

namespace roofline::network_cuda {
namespace {

/// Bytes of a rank's larger buffer, for a ceiling: latency is 0.1 % of its time.
constexpr double kLargeBytes = std::int64_t{2} << 30;
/// The same for the last point of a sweep, less on GPUs with little memory.
constexpr double kLastBytes = std::int64_t{1} << 30;

/// The buffers of all ranks.
struct RankMemory {
  CollectiveShape shape;
  CudaDevice& device;
  std::vector<std::shared_ptr<Buffer>> before, after;

  RankMemory(CudaDevice& first, const CollectiveShape& wanted) : shape(wanted), device(first) {
    for (std::int64_t rank = 0; rank < shape.ranks; ++rank) {
      CudaDevice& where = as_cuda(device.rank(static_cast<int>(rank)));
      before.push_back(shared_buffer(where, shape.n * 4));
      after.push_back(shared_buffer(where, shape.n * 4));
      fill_random<float>(where, before.back()->data(), shape.n, seed(rank));
      where.fill(after.back()->data(), std::byte{0xFF}, static_cast<std::size_t>(shape.n) * 4);
    }
  }

  static std::uint64_t seed(std::int64_t rank) { return static_cast<std::uint64_t>(rank) + 1; }

  CollectiveCall call(std::vector<const void*>& send, std::vector<void*>& receive) const {
    for (const auto& buffer : before) send.push_back(buffer->data());
    for (const auto& buffer : after) receive.push_back(buffer->data());
    return {.collective = shape.collective, .dtype = DType::fp32, .n = shape.n, .send = send, .receive = receive};
  }

  /// Checks the first and the last elements that every rank received.
  std::optional<std::string> wrong() const {
    constexpr std::int64_t kEnds = 1024;
    const std::int64_t count = std::min(kEnds, shape.length());
    std::vector<float> got(static_cast<std::size_t>(count));
    for (std::int64_t rank = 0; rank < shape.ranks; ++rank) {
      for (const std::int64_t first : {std::int64_t{0}, shape.length() - count}) {
        device.rank(static_cast<int>(rank))
            .download(got.data(), static_cast<const float*>(after[static_cast<std::size_t>(rank)]->data()) + first,
                      got.size() * 4);
        for (std::int64_t i = 0; i < count; ++i) {
          double expected = 0;
          for_each_term(shape, rank, first + i, [&](std::int64_t from, std::int64_t index) {
            expected += static_cast<double>(random_value(seed(from), static_cast<std::uint64_t>(index)));
          });
          const auto value = static_cast<double>(got[static_cast<std::size_t>(i)]);
          if (std::abs(value - expected) <= 1e-6 * static_cast<double>(shape.ranks)) continue;
          return fmt::format("rank {}: {:.9g} at {}, expected {:.9g}", rank, value, first + i, expected);
        }
      }
    }
    return std::nullopt;
  }
};

ProbeCase case_of(CudaDevice& device, const CollectiveShape& shape) {
  const auto memory = std::make_shared<RankMemory>(device, shape);
  Communicators& communicators = device.communicators(static_cast<int>(shape.ranks));
  ProbeCase made;
  made.variant = fmt::format("NCCL {}, fp32, {} ranks", nccl_version(), shape.ranks);
  const Traffic bus = network_traffic(shape.collective, shape.n, DType::fp32, shape.ranks);
  made.amount = bus.total();
  made.work.bytes[Level::network] = bus;
  made.work.bytes[Level::hbm] = memory_traffic(shape.collective, shape.n, DType::fp32, shape.ranks, false);
  made.work.collective = {.name = std::string(shape.collective), .ranks = shape.ranks};
  made.working_set_bytes = made.work.bytes[Level::hbm].total();
  made.x = made.amount;
  made.ranks = shape.ranks;
  made.run = [memory, &communicators] {
    std::vector<const void*> send;
    std::vector<void*> receive;
    communicators.enqueue(memory->call(send, receive));
  };
  const std::shared_ptr<Timer> timer =
      device.timer_of_ranks([run = made.run](std::int64_t) { run(); }, static_cast<int>(shape.ranks));
  made.batch = [timer](std::int64_t launches) { return timer->time(launches); };
  made.verify = [memory] { return memory->wrong(); };
  return made;
}

/// Elements of that many bytes, a whole number per rank.
std::int64_t elements_of(double bytes, std::int64_t ranks) {
  return std::max<std::int64_t>(1, std::llround(bytes / 4 / static_cast<double>(ranks))) * ranks;
}

/// Two buffers of that size leave most of the memory free.
double most_bytes(const CudaDevice& device) { return device.free_memory_bytes() / 8; }

std::optional<ProbeCase> make_large(Device& device, const ProbeRequest& request, int variant,
                                    std::string_view collective) {
  if (variant > 0) return std::nullopt;
  CudaDevice& cuda = as_cuda(device);
  const std::int64_t ranks = device.ranks();
  const double bytes = std::min(kLargeBytes, most_bytes(cuda)) * request.scale;
  return case_of(cuda, {.collective = collective, .n = elements_of(bytes, ranks), .ranks = ranks});
}

/// 2, 4, 8, … and all.
std::vector<std::int64_t> rank_counts(std::int64_t all) {
  std::vector<std::int64_t> counts;
  for (std::int64_t ranks = 2; ranks < all; ranks *= 2) counts.push_back(ranks);
  counts.push_back(all);
  return counts;
}

/// From four bytes per rank, doubling.
std::optional<ProbeCase> make_point(Device& device, const ProbeRequest&, int variant, std::string_view collective) {
  CudaDevice& cuda = as_cuda(device);
  const double last = std::min(kLastBytes, most_bytes(cuda));
  for (const std::int64_t ranks : rank_counts(device.ranks())) {
    const int sizes = static_cast<int>(std::log2(last / (4 * static_cast<double>(ranks)))) + 1;
    if (variant < sizes) {
      return case_of(cuda, {.collective = collective, .n = ranks << variant, .ranks = ranks});
    }
    variant -= sizes;
  }
  return std::nullopt;
}

std::optional<std::string> network_unsupported(const Device& device) {
  if (device.ranks() < 2) return "only one GPU";
  return ranks_unsupported(2, device);
}

/// What a rank receives crosses its links. If the switch computes sums, fewer bytes arrive than bus bandwidth
/// counts.
std::optional<Limit> network_limit(const Device& device, std::string_view collective) {
  if (adds_up(collective)) return std::nullopt;
  return nvlink_limit(device);
}

std::vector<Probe> network_probes() {
  std::vector<Probe> probes;
  for (const std::string_view name : kCollectives) {
    Probe probe = bandwidth_probe(DeviceKind::cuda, fmt::format("nccl.{}", name), Level::network, Pattern::duplex);
    probe.origin = "NCCL";
    probe.unsupported = network_unsupported;
    Probe sweep = probe;
    probe.make = [name](Device& device, const ProbeRequest& request, int variant) {
      return make_large(device, request, variant, name);
    };
    probe.limit = [name](const Device& device, std::optional<double>) { return network_limit(device, name); };
    sweep.name = fmt::format("sweep.nccl.{}", name);
    sweep.role = Role::reference;
    sweep.sweep = SweepAxis::message;
    sweep.scalable = false;
    sweep.make = [name](Device& device, const ProbeRequest& request, int variant) {
      return make_point(device, request, variant, name);
    };
    probes.push_back(std::move(probe));
    probes.push_back(std::move(sweep));
  }
  return probes;
}

const ProbeRegistrar kRegistrar(network_probes());

}  // namespace
}  // namespace roofline::network_cuda
