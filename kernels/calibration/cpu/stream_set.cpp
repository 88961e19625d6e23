// Geometry of the sets, their contents before the first launch, and the expected contents after the last.
#include "kernels/calibration/cpu/stream_set.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <mutex>
#include <utility>

#include "device/cpu/cpu_device.hpp"
#include "device/cpu/mapped_buffer.hpp"
#include "model/error.hpp"

namespace roofline {
namespace {

constexpr std::uint64_t kOdd = 0x9e3779b97f4a7c15ULL;  // word i derives from (i + set) · kOdd: no two alike
constexpr std::uint64_t kPoison = 0xfff8dead0000beefULL;
constexpr double kTriadFactor = 3;
// Arrays at the same offset within a page would map to the same L1 sets, and loads would wait for stores whose
// address differs in high bits only. From DRAM, offsets from 0 to 68 KiB differ by less than 1 %.
constexpr std::int64_t kStagger = 2176;

std::int64_t rounded(double bytes) {
  return std::max<std::int64_t>(1, std::llround(bytes / kStreamGrain)) * kStreamGrain;
}

/// One array of a set, cut into slices of about one chunk of a launch; the set is rounded to whole slices.
struct Geometry {
  std::int64_t slice_bytes = 0;
  std::int64_t slices = 1;
  std::int64_t units = 1;
  std::int64_t min_chunk = 1;  ///< units that a worker fetches at once, at least

  std::int64_t array_bytes() const { return slice_bytes * slices; }
};

Geometry geometry_of(const StreamPlan& plan) {
  const double array = static_cast<double>(rounded(plan.set_bytes / arrays_of(plan.pattern)));
  const double launch = std::max<double>(kStreamGrain, plan.launch_bytes / traffic_of(plan.pattern, 1).total());
  const double piece = std::max<double>(kStreamGrain, launch / plan.chunks);
  Geometry geometry;
  // Sets that are exchanged are read whole.
  if (plan.rotate_within.empty() || array > launch)
    geometry.slices = std::max<std::int64_t>(1, std::llround(array / piece));
  // Rounded up, so that the set is not smaller than requested.
  geometry.slice_bytes = rounded(std::ceil(array / static_cast<double>(geometry.slices) / kStreamGrain) * kStreamGrain);
  const double slice = static_cast<double>(geometry.slice_bytes);
  const std::int64_t units = std::max<std::int64_t>(1, std::llround(launch / slice));
  geometry.units = units * plan.scale;
  // Passes in groups of four, as reads are checked (stream.simd.cpp).
  geometry.min_chunk = std::max<std::int64_t>(1, units / plan.chunks);
  if (geometry.slices == 1) geometry.min_chunk = std::min(units, (geometry.min_chunk + 3) / 4 * 4);
  return geometry;
}

std::int64_t array_stride(const Geometry& geometry) { return geometry.array_bytes() + kStreamGrain + kStagger; }

/// The word that a launch writes everywhere; it differs from that of the previous launch.
std::uint64_t written_word(StoreKind store, std::uint64_t launch) {
  return store == StoreKind::string ? (launch & 0xff) * 0x0101010101010101ULL : launch;
}

/// What word i of an input holds at first. Arrays differ in both halves of the word, so that none can stand for
/// another.
std::uint64_t filled_word(int set, int index, std::int64_t i) {
  return std::rotl(static_cast<std::uint64_t>(i + set) * kOdd, 8 * index);
}

/// What word i of the output holds after an update.
std::uint64_t updated_word(int set, std::int64_t i, std::uint64_t launch) {
  return (filled_word(set, 0, i) & kKeptBits) | (launch & ~kKeptBits);
}

double triad_result(std::int64_t i) { return static_cast<double>(i) + kTriadFactor * static_cast<double>(2 * i + 1); }

}  // namespace

std::string_view registers_of(const StreamPlan& plan) { return plan.sve != nullptr ? "sve" : to_string(plan.isa); }

int arrays_of(Pattern pattern) {
  if (pattern == Pattern::triad) return 3;
  return pattern == Pattern::copy || pattern == Pattern::accumulate ? 2 : 1;
}

Traffic traffic_of(Pattern pattern, double array_bytes) {
  if (pattern == Pattern::read) return {array_bytes, 0};
  const bool in_place = is_in_place(pattern);
  return {array_bytes * (arrays_of(pattern) - (in_place ? 0 : 1)), array_bytes, in_place};
}

std::size_t StreamSet::memory_bytes(const StreamPlan& plan, int workers) {
  const std::int64_t set = arrays_of(plan.pattern) * array_stride(geometry_of(plan));
  return static_cast<std::size_t>(workers * (set + 2 * kStreamGrain) / kStreamGrain * kStreamGrain);
}

double StreamSet::planned_bytes(const StreamPlan& plan, int workers) {
  return static_cast<double>(geometry_of(plan).array_bytes() * arrays_of(plan.pattern) * workers);
}

StreamSet::StreamSet(std::shared_ptr<ThreadPool> pool, std::shared_ptr<Buffer> memory, StreamPlan plan)
    : pool_(std::move(pool)),
      memory_(std::move(memory)),
      plan_(std::move(plan)),
      workers_(static_cast<std::size_t>(pool_->size())) {
  const Geometry geometry = geometry_of(plan_);
  slice_bytes_ = geometry.slice_bytes;
  slices_ = geometry.slices;
  units_ = geometry.units;
  rounds_.all = units_ * pool_->size();
  rounds_.min_chunk = geometry.min_chunk;
  rounds_.workers = pool_->size();
  if (memory_->size() < memory_bytes(plan_, pool_->size())) throw Error("buffer too small for the stream set");
  if (!plan_.rotate_within.empty() && (plan_.pattern != Pattern::read || slices_ > 1)) {
    throw Error("only reads of whole sets can rotate sets");
  }
  group_.assign(workers_.size(), -1);
  place_.assign(workers_.size(), 0);
  for (std::size_t group = 0; group < plan_.rotate_within.size(); ++group) {
    for (std::size_t place = 0; place < plan_.rotate_within[group].size(); ++place) {
      const auto worker = static_cast<std::size_t>(plan_.rotate_within[group][place]);
      group_[worker] = static_cast<int>(group);
      place_[worker] = static_cast<int>(place);
    }
  }
  pool_->run([this](int worker) { fill(worker); });
}

std::byte* StreamSet::array(int set, int index) const {
  // At the address where MappedBuffer let this worker touch the pages.
  const auto size = static_cast<std::int64_t>(memory_->size());
  const std::int64_t begin = static_partition(size, kStreamGrain, set, pool_->size()).first;
  const Geometry geometry{slice_bytes_, slices_, units_, 1};
  return static_cast<std::byte*>(memory_->data()) + begin + index * array_stride(geometry);
}

int StreamSet::set_of(int worker, std::int64_t unit) const {
  const auto index = static_cast<std::size_t>(worker);
  if (group_[index] < 0) return worker;
  const std::vector<int>& group = plan_.rotate_within[static_cast<std::size_t>(group_[index])];
  return group[(static_cast<std::size_t>(place_[index]) + static_cast<std::size_t>(unit)) % group.size()];
}

void StreamSet::fill(int set) const {
  const std::int64_t count = slice_bytes_ * slices_ / 8;
  const int arrays = arrays_of(plan_.pattern);
  for (int index = 0; index < arrays; ++index) {
    auto* words = reinterpret_cast<std::uint64_t*>(array(set, index));
    auto* doubles = reinterpret_cast<double*>(words);
    const bool is_input = index > 0 || plan_.pattern == Pattern::read || is_in_place(plan_.pattern);
    if (!is_input) {
      std::fill(words, words + count, kPoison);
    } else if (plan_.pattern == Pattern::triad) {  // whole numbers: exact with one rounding or with two
      for (std::int64_t i = 0; i < count; ++i) doubles[i] = static_cast<double>(index == 1 ? i : 2 * i + 1);
    } else {
      for (std::int64_t i = 0; i < count; ++i) words[i] = filled_word(set, index, i);
    }
  }
  if (plan_.pattern != Pattern::read) return;
  // The initialised data is dirty in the last-level cache. Reading the set once evicts it if it does not fit, so
  // that no write-back happens while a read is timed.
  std::uint64_t sum = 0;
  const auto* words = reinterpret_cast<const std::uint64_t*>(array(set, 0));
  for (std::int64_t i = 0; i < count; i += 8) sum += words[i];
  asm volatile("" : : "r"(sum));
}

void StreamSet::run() {
  ++launches_;
  rounds_.begin();
  pool_->run([this](int worker) { stream(worker); });
}

template <typename F>
void StreamSet::for_ranges(int worker, std::int64_t unit, std::int64_t units, F&& f) const {
  if (!plan_.rotate_within.empty()) {
    for (const std::int64_t end = unit + units; unit < end; ++unit) f(set_of(worker, unit), 0, slice_bytes_, 1);
    return;
  }
  if (slices_ == 1) return f(worker, 0, slice_bytes_, units);
  while (units > 0) {
    const std::int64_t slice = unit % slices_;
    const std::int64_t count = std::min(units, slices_ - slice);
    f(worker, slice * slice_bytes_, count * slice_bytes_, 1);
    unit += count;
    units -= count;
  }
}

void StreamSet::stream(int number) {
  Worker& worker = workers_[static_cast<std::size_t>(number)];
  worker.begin += worker.units;
  worker.units = 0;
  worker.sum = 0;
  worker.chunks.clear();
  const auto take = [&](std::int64_t units) {
    worker.sum += stream(number, worker.begin + worker.units, units);
    worker.units += units;
    worker.chunks.push_back(units);
  };
  if (!plan_.rotate_within.empty()) return take(units_);
  while (worker.units < 2 * units_) {
    const std::int64_t units = rounds_.next_chunk();
    if (units == 0) return;
    take(units);
  }
}

std::uint64_t StreamSet::stream(int worker, std::int64_t begin, std::int64_t units) const {
  return with_isa(plan_.isa, [&]<Isa isa>() {
    std::uint64_t sum = 0;
    for_ranges(worker, begin, units, [&](int set, std::int64_t at, std::int64_t bytes, std::int64_t passes) {
      sum += plan_.sve != nullptr ? sve_pass(set, at, bytes, passes) : pass<isa>(set, at, bytes, passes);
    });
    return sum;
  });
}

template <Isa isa>
std::uint64_t StreamSet::pass(int set, std::int64_t begin, std::int64_t bytes, std::int64_t passes) const {
  const auto doubles = [&](int index) { return reinterpret_cast<double*>(array(set, index) + begin); };
  switch (plan_.pattern) {
    case Pattern::read:
      return stream_read<isa>(plan_.load, array(set, 0) + begin, bytes, passes);
    case Pattern::write:
      stream_write<isa>(plan_.store, array(set, 0) + begin, bytes, passes, launches_);
      return 0;
    case Pattern::copy:
      stream_copy<isa>(plan_.load, plan_.store, array(set, 0) + begin, array(set, 1) + begin, bytes, passes);
      return 0;
    case Pattern::update:
      stream_update<isa>(plan_.load, array(set, 0) + begin, bytes, passes, launches_);
      return 0;
    case Pattern::accumulate:
      stream_accumulate<isa>(plan_.load, array(set, 0) + begin, array(set, 1) + begin, bytes, passes);
      return 0;
    default:
      stream_triad<isa>(plan_.load, plan_.store, doubles(0), doubles(1), doubles(2), kTriadFactor, bytes, passes);
      return 0;
  }
}

std::uint64_t StreamSet::sve_pass(int set, std::int64_t begin, std::int64_t bytes, std::int64_t passes) const {
  const auto doubles = [&](int index) { return reinterpret_cast<double*>(array(set, index) + begin); };
  switch (plan_.pattern) {
    case Pattern::read:
      return plan_.sve->read(array(set, 0) + begin, bytes, passes);
    case Pattern::write:
      plan_.sve->write(array(set, 0) + begin, bytes, passes, launches_);
      return 0;
    case Pattern::copy:
      plan_.sve->copy(array(set, 0) + begin, array(set, 1) + begin, bytes, passes);
      return 0;
    case Pattern::update:
      plan_.sve->update(array(set, 0) + begin, bytes, passes, launches_);
      return 0;
    case Pattern::accumulate:
      plan_.sve->accumulate(array(set, 0) + begin, array(set, 1) + begin, bytes, passes);
      return 0;
    default:
      plan_.sve->triad(doubles(0), doubles(1), doubles(2), kTriadFactor, bytes, passes);
      return 0;
  }
}

std::optional<std::string> StreamSet::check() const {
  if (launches_ == 0) return "nothing was launched";
  std::mutex mutex;
  std::optional<std::string> failure;
  pool_->run([&](int worker) {
    if (auto wrong = check_share(worker)) {
      const std::lock_guard lock(mutex);
      failure = std::move(wrong);
    }
  });
  if (failure) return failure;
  std::int64_t units = 0;
  for (const Worker& worker : workers_) units += worker.units;
  const std::int64_t all = units_ * pool_->size();
  if (units != all) return fmt::format("{} chunks instead of {}", units, all);
  return std::nullopt;
}

std::uint64_t StreamSet::accumulated_word(int set, std::int64_t i, std::int64_t units) const {
  const std::int64_t slice = i * 8 / slice_bytes_;
  const auto times = static_cast<std::uint64_t>((units - slice + slices_ - 1) / slices_);
  return filled_word(set, 0, i) + times * filled_word(set, 1, i);
}

std::optional<std::string> StreamSet::check_share(int worker) const {
  const Worker& last = workers_[static_cast<std::size_t>(worker)];
  std::uint64_t sum = 0;
  std::int64_t wrong = -1;
  const auto check = [&](int set, std::int64_t begin, std::int64_t bytes, std::int64_t passes) {
    const std::int64_t first = begin / 8;
    const std::int64_t count = bytes / 8;
    const auto* words = reinterpret_cast<const std::uint64_t*>(array(set, 0) + begin);
    const auto* doubles = reinterpret_cast<const double*>(words);
    std::uint64_t columns[kStreamColumns] = {};
    for (std::int64_t i = 0; i < count; ++i) {
      bool right = true;
      if (plan_.pattern == Pattern::read) columns[i % kStreamColumns] ^= filled_word(set, 0, first + i);
      if (plan_.pattern == Pattern::write) right = words[i] == written_word(plan_.store, launches_);
      if (plan_.pattern == Pattern::copy) right = words[i] == filled_word(set, 1, first + i);
      if (plan_.pattern == Pattern::update) right = words[i] == updated_word(set, first + i, launches_);
      if (plan_.pattern == Pattern::accumulate)
        right = words[i] == accumulated_word(set, first + i, last.begin + last.units);
      if (plan_.pattern == Pattern::triad) right = doubles[i] == triad_result(first + i);
      if (!right) wrong = first + i;
    }
    for (const std::uint64_t column : columns) sum += column * static_cast<std::uint64_t>(passes);
  };
  std::int64_t unit = last.begin;
  for (const std::int64_t units : last.chunks) {
    for_ranges(worker, unit, units, check);
    unit += units;
  }
  if (wrong >= 0) return fmt::format("thread {}: word {} of the output is wrong", worker, wrong);
  if (plan_.pattern != Pattern::read || last.sum == sum) return std::nullopt;
  return fmt::format("thread {}: checksum {:#x} instead of {:#x}", worker, last.sum, sum);
}

double StreamSet::working_set_bytes() const {
  return static_cast<double>(slice_bytes_ * slices_) * arrays_of(plan_.pattern) * pool_->size();
}

Traffic StreamSet::traffic() const {
  return traffic_of(plan_.pattern, static_cast<double>(slice_bytes_ * units_) * pool_->size());
}

std::shared_ptr<StreamSet> make_stream_set(CpuDevice& cpu, const StreamPlan& plan) {
  // Non-owning: the device's pool outlives every case.
  const std::shared_ptr<ThreadPool> pool(std::shared_ptr<void>(), &cpu.pool());
  return std::make_shared<StreamSet>(pool, cpu.scratch(StreamSet::memory_bytes(plan, pool->size())), plan);
}

std::shared_ptr<StreamSet> make_stream_set(CpuDevice& cpu, const StreamPlan& plan, int threads) {
  const std::vector<int>& cpus = cpu.cpus();
  const auto pool = std::make_shared<ThreadPool>(std::vector<int>(cpus.begin(), cpus.begin() + threads));
  const std::size_t bytes = StreamSet::memory_bytes(plan, threads);
  // On one node it does not matter who touched a page first; on several, the reader must.
  const bool one_node = cpu.topology().numa_nodes.size() <= 1;
  const std::shared_ptr<Buffer> memory = one_node ? cpu.scratch(bytes) : std::make_shared<MappedBuffer>(bytes, *pool);
  return std::make_shared<StreamSet>(pool, memory, plan);
}

ProbeCase stream_case(const std::shared_ptr<StreamSet>& set, Level level, std::string variant) {
  ProbeCase probe;
  probe.variant = std::move(variant);
  probe.working_set_bytes = set->working_set_bytes();
  probe.work.bytes[level] = set->traffic();
  probe.amount = set->traffic().total();
  probe.run = [set] { set->run(); };
  probe.verify = [set] { return set->check(); };
  return probe;
}

}  // namespace roofline
