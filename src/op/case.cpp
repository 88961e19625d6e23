// The steps of a case: allocate, fill, verify, time. Tensors of a megabyte or more get their own buffers, so that a
// device can place each near its threads; smaller ones share a slab over all sets.
#include "op/case.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <utility>
#include <vector>

#include "device/device.hpp"
#include "host/host.hpp"
#include "op/buffer_pool.hpp"
#include "op/compare.hpp"
#include "op/layout.hpp"
#include "op/suite_op.hpp"

namespace roofline {
namespace {

constexpr std::int64_t kOwnBufferBytes = std::int64_t{1} << 20;

/// Not periodic, and unlikely as a result of a kernel.
std::array<std::byte, kGuardBytes> guard_pattern() {
  std::array<std::byte, kGuardBytes> pattern{};
  for (std::size_t i = 0; i < pattern.size(); ++i)
    pattern[i] = static_cast<std::byte>((0x5A + 167 * i + i * i / 3) & 0xFF);
  return pattern;
}

std::uint64_t tensor_seed(std::uint64_t seed, std::size_t tensor) { return seed * 0x9E3779B97F4A7C15U + tensor + 1; }

}  // namespace

struct Case::State {
  const Op& op;
  Workload workload;
  Device& device;
  CasePlacement placement;
  std::vector<TensorSpec> specs;
  int ranks = 1;
  int members = 1;             /// ranks that exist
  bool alone = true;           /// this process holds all ranks
  bool leads_batches = false;  /// others time the batches that this process's sampler requests
  std::int64_t sets = 1;
  double resident = 0;
  std::vector<std::unique_ptr<Buffer>> buffers;
  std::vector<std::vector<void*>> pointers;           ///< [set][tensor]
  std::vector<HostTensor> inputs;                     /// on the host until they have been compared
  std::vector<std::unique_ptr<Buffer>> first_values;  ///< [tensor] of an inout: what it holds before the first launch
  std::int64_t launches_since_restored = 0;
  std::int64_t next_set = 0;    ///< of the next batch's first launch
  std::size_t checked_set = 0;  ///< the set that is verified
  Kernel kernel;
  std::unique_ptr<Timer> timer;
  bool verified = false;

  State(const Op& the_op, const Workload& the_workload, Device& the_device, CasePlacement where)
      : op(the_op),
        workload(the_workload),
        device(the_device),
        placement(std::move(where)),
        specs(op.tensors(workload)) {
    ranks = ranks_of(specs);
    members = std::min(ranks, device.ranks());
    for (int rank = 0; rank < members; ++rank) alone = alone && device.holds(rank);
  }
  ~State() {
    // Following processes would otherwise wait for the next batch.
    if (!leads_batches) return;
    try {
      device.exchange(members, "0");
    } catch (const std::exception&) {
      // They have already ended.
    }
  }
  State(const State&) = delete;
  State& operator=(const State&) = delete;

  /// Whether this process holds the tensor, and the device whose memory it is in.
  bool holds(std::size_t t) const { return device.holds(specs[t].rank); }
  Device& device_of(std::size_t t) const { return device.rank(specs[t].rank); }

  /// Bytes between two sets of the tensor: with guards and offset, a multiple of 256.
  std::int64_t stride(std::size_t t) const {
    return guarded_bytes(specs[t]) + (placement.offset(t) + kGuardBytes - 1) / kGuardBytes * kGuardBytes;
  }

  std::string first_word(const std::string& mine) const;
  void all_do(const std::function<void()>& step) const;
  Verification verdict_of_all(Verification mine) const;
  Reading time(std::int64_t launches);
  void allocate();
  void fill(std::size_t t, HostTensor& tensor) const;
  void make_inputs();
  void repeat_inputs();
  void upload_inputs();
  void repeat_in_all_sets(std::size_t t);
  void keep_first_values();
  void copy_first_values();
  void restore_inouts();
  void arm();
  std::string broken_guards();
  std::string changed_inputs();
  std::vector<HostTensor> download_outputs();
};

/// The first non-empty text of the ranks' processes.
std::string Case::State::first_word(const std::string& mine) const {
  if (alone) return mine;
  for (const std::string& text : device.exchange(members, mine.substr(0, Device::kMostExchanged))) {
    if (!text.empty()) return text;
  }
  return {};
}

/// A step that all ranks' processes complete, or none: a process that continued alone would wait for the others
/// forever.
void Case::State::all_do(const std::function<void()>& step) const {
  if (alone) return step();
  std::string problem;
  try {
    step();
  } catch (const PoisonedDevice&) {
    throw;
  } catch (const std::exception& error) {
    problem = error.what();
  }
  if (const std::string word = first_word(problem); !word.empty()) throw Error(word);
}

/// Combines the verification results of all processes, each of which checked its own outputs.
Verification Case::State::verdict_of_all(Verification mine) const {
  if (alone) return mine;
  const std::string text =
      fmt::format("{} {:a} {} {} {}", mine.passed ? 1 : 0, mine.error, mine.checked, mine.outputs, mine.failure);
  Verification all = mine;
  all.passed = true;
  all.error = 0;
  all.checked = all.outputs = 0;
  all.failure.clear();
  for (const std::string& found : device.exchange(members, text.substr(0, Device::kMostExchanged))) {
    int passed = 0, at = 0;
    double error = 0;
    long long checked = 0, outputs = 0;
    if (std::sscanf(found.c_str(), "%d %la %lld %lld %n", &passed, &error, &checked, &outputs, &at) != 4)
      throw Error("no verification result from a rank's process");
    all.passed = all.passed && passed == 1;
    all.error = std::isnan(all.error) || std::isnan(error) ? std::nan("") : std::max(all.error, error);
    all.checked += checked;
    all.outputs += outputs;
    const std::string failure = found.substr(static_cast<std::size_t>(at));
    if (!failure.empty()) all.failure += (all.failure.empty() ? "" : "; ") + failure;
  }
  all.reference = fmt::format("fp64 on the CPU, {} of {} elements, verified by each rank", all.checked, all.outputs);
  return all;
}

Reading Case::State::time(std::int64_t launches) {
  // Restoring takes about as long as a launch, so doing it once in several launches per set is a small part of a
  // measurement.
  constexpr std::int64_t kLaunchesOnASet = 16;
  if (launches_since_restored >= kLaunchesOnASet * sets) restore_inouts();
  launches_since_restored += launches;
  const Reading reading = timer->time(launches);
  next_set = (next_set + launches) % sets;
  return reading;
}

void Case::State::allocate() {
  sets = roofline::buffer_sets(specs, workload.cache,
                               {.bytes = device.last_level_cache_bytes(),
                                .device = device.info().kind,
                                .free_memory_bytes = std::min(device.free_memory_bytes(), placement.most_free_bytes)});
  pointers.assign(static_cast<std::size_t>(sets), std::vector<void*>(specs.size()));
  for (std::size_t t = 0; t < specs.size(); ++t) {
    if (!holds(t)) continue;
    const std::int64_t stride = this->stride(t);
    const std::int64_t per_buffer = stride >= kOwnBufferBytes ? 1 : sets;
    for (std::int64_t set = 0; set < sets; ++set) {
      if (set % per_buffer == 0) {
        const auto bytes = static_cast<std::size_t>(stride * per_buffer);
        buffers.push_back(placement.pool != nullptr ? placement.pool->take(device_of(t), bytes)
                                                    : device_of(t).allocate(bytes));
        resident += static_cast<double>(stride * per_buffer);
      }
      auto* base = static_cast<std::byte*>(buffers.back()->data());
      pointers[static_cast<std::size_t>(set)][t] = base + set % per_buffer * stride + kGuardBytes + placement.offset(t);
    }
  }
}

void Case::State::fill(std::size_t t, HostTensor& tensor) const {
  const std::uint64_t seed = tensor_seed(workload.seed, t);
  const SuiteOp* own = as_suite_op(op);
  if (own != nullptr) {
    own->fill(workload, t, seed, tensor);
  } else {
    tensor.fill_random(seed);
  }
}

void Case::State::make_inputs() {
  inputs.clear();
  for (std::size_t t = 0; t < specs.size(); ++t) {
    if (is_read(specs[t].role)) fill(t, inputs.emplace_back(specs[t]));
  }
}

void Case::State::upload_inputs() {
  auto input = inputs.begin();
  for (std::size_t t = 0; t < specs.size(); ++t) {
    if (!is_read(specs[t].role)) continue;
    const auto bytes = input++->bytes();
    if (!holds(t)) continue;
    device_of(t).upload(pointers[0][t], bytes.data(), bytes.size());
    repeat_in_all_sets(t);
  }
}

/// Fills the inputs of all sets with a random start, doubled on the device until it covers them. Indices of a suite's
/// own kernel would point elsewhere: they are filled completely.
void Case::State::repeat_inputs() {
  constexpr std::int64_t kBeginning = std::int64_t{1} << 22;  // elements
  for (std::size_t t = 0; t < specs.size(); ++t) {
    if (!is_read(specs[t].role) || !holds(t)) continue;
    TensorSpec beginning = specs[t];
    const SuiteOp* own = as_suite_op(op);
    if (own == nullptr || own->start_repeats(t)) beginning.elements = std::min(beginning.elements, kBeginning);
    HostTensor values(beginning);
    fill(t, values);
    auto* tensor = static_cast<std::byte*>(pointers[0][t]);
    device_of(t).upload(tensor, values.bytes().data(), values.bytes().size());
    for (std::int64_t made = beginning.bytes(); made < specs[t].bytes(); made *= 2) {
      device_of(t).copy(tensor + made, tensor, static_cast<std::size_t>(std::min(made, specs[t].bytes() - made)));
    }
    repeat_in_all_sets(t);
  }
}

/// Copies tensor `t` of set 0 to the others. A slab is doubled from its start, because 4096 small copies would take
/// longer than the measurement.
void Case::State::repeat_in_all_sets(std::size_t t) {
  const std::int64_t stride = this->stride(t);
  if (stride >= kOwnBufferBytes) {
    const auto bytes = static_cast<std::size_t>(specs[t].bytes());
    for (std::size_t set = 1; set < pointers.size(); ++set) device_of(t).copy(pointers[set][t], pointers[0][t], bytes);
    return;
  }
  auto* slab = static_cast<std::byte*>(pointers[0][t]) - kGuardBytes - placement.offset(t);
  for (std::int64_t made = 1; made < sets; made *= 2) {
    const std::int64_t more = std::min(made, sets - made);
    device_of(t).copy(slab + made * stride, slab, static_cast<std::size_t>(more * stride));
  }
}

void Case::State::keep_first_values() {
  first_values.resize(specs.size());
  for (std::size_t t = 0; t < specs.size(); ++t) {
    if (specs[t].role != TensorRole::inout || !holds(t)) continue;
    const auto bytes = static_cast<std::size_t>(specs[t].bytes());
    first_values[t] = device_of(t).allocate(bytes);
    resident += static_cast<double>(bytes);
  }
  copy_first_values();
}

void Case::State::copy_first_values() {
  for (std::size_t t = 0; t < specs.size(); ++t) {
    if (specs[t].role != TensorRole::inout || !holds(t)) continue;
    device_of(t).copy(first_values[t]->data(), pointers[0][t], static_cast<std::size_t>(specs[t].bytes()));
  }
}

/// Inout data continues from the previous launch; over many launches it may overflow, or become subnormal, which a
/// CPU computes a hundred times slower.
void Case::State::restore_inouts() {
  for (std::size_t t = 0; t < specs.size(); ++t) {
    if (specs[t].role != TensorRole::inout || !holds(t)) continue;
    device_of(t).copy(pointers[0][t], first_values[t]->data(), static_cast<std::size_t>(specs[t].bytes()));
    repeat_in_all_sets(t);
  }
  device.synchronize();
  launches_since_restored = 0;
}

/// Prepares the verified launch: patterned guards, poisoned outputs.
void Case::State::arm() {
  const auto pattern = guard_pattern();
  for (std::size_t t = 0; t < specs.size(); ++t) {
    if (!holds(t)) continue;
    auto* tensor = static_cast<std::byte*>(pointers[checked_set][t]);
    const auto bytes = static_cast<std::size_t>(specs[t].bytes());
    Device& where = device_of(t);
    if (specs[t].role == TensorRole::output) where.fill(tensor, kPoison, bytes);
    where.upload(tensor - kGuardBytes, pattern.data(), pattern.size());
    where.upload(tensor + bytes, pattern.data(), pattern.size());
  }
}

std::string Case::State::broken_guards() {
  const auto pattern = guard_pattern();
  std::array<std::byte, kGuardBytes> found{};
  std::string text;
  const auto check = [&](std::size_t t, const std::byte* guard, std::string_view where) {
    device_of(t).download(found.data(), guard, found.size());
    const auto broken = std::mismatch(pattern.begin(), pattern.end(), found.begin()).first;
    if (broken == pattern.end()) return;
    text += fmt::format("{}out-of-bounds write {} of '{}' (guard byte {})", text.empty() ? "" : "; ", where,
                        specs[t].name, broken - pattern.begin());
  };
  for (std::size_t t = 0; t < specs.size(); ++t) {
    if (!holds(t)) continue;
    const auto* tensor = static_cast<const std::byte*>(pointers[checked_set][t]);
    check(t, tensor - kGuardBytes, "before the start");
    check(t, tensor + specs[t].bytes(), "past the end");
  }
  return text;
}

/// A kernel that works in place would be verified once and then timed on its own results.
std::string Case::State::changed_inputs() {
  std::string text;
  std::vector<std::byte> chunk;
  auto input = inputs.begin();
  for (std::size_t t = 0; t < specs.size(); ++t) {
    if (!is_read(specs[t].role)) continue;
    const auto expected = std::as_const(*input++).bytes();
    if (is_written(specs[t].role) || !holds(t)) continue;
    chunk.resize(std::min(expected.size(), std::size_t{1} << 22));
    for (std::size_t begin = 0; begin < expected.size(); begin += chunk.size()) {
      const std::size_t count = std::min(chunk.size(), expected.size() - begin);
      device_of(t).download(chunk.data(), static_cast<const std::byte*>(pointers[checked_set][t]) + begin, count);
      if (std::memcmp(chunk.data(), expected.data() + begin, count) == 0) continue;
      const auto at = std::mismatch(chunk.begin(), chunk.begin() + static_cast<std::ptrdiff_t>(count),
                                    expected.begin() + static_cast<std::ptrdiff_t>(begin))
                          .first -
                      chunk.begin();
      const auto element = (static_cast<std::int64_t>(begin) + at) / element_size(specs[t].dtype);
      text += fmt::format("{}the kernel modified its input {}[{}]", text.empty() ? "" : "; ", specs[t].name, element);
      break;
    }
  }
  return text;
}

std::vector<HostTensor> Case::State::download_outputs() {
  std::vector<HostTensor> outputs;
  for (std::size_t t = 0; t < specs.size(); ++t) {
    if (!is_written(specs[t].role) || !holds(t)) continue;
    const auto bytes = outputs.emplace_back(specs[t]).bytes();
    device_of(t).download(bytes.data(), pointers[checked_set][t], bytes.size());
  }
  return outputs;
}

Case::Case(const Op& op, const Implementation& implementation, const Workload& workload, Device& device,
           InputValues values, CasePlacement placement)
    : state_(std::make_unique<State>(op, workload, device, std::move(placement))) {
  State& state = *state_;
  const auto refused = implementation.unsupported ? implementation.unsupported(workload, device) : std::nullopt;
  if (const std::string reason = state.first_word(refused.value_or("")); !reason.empty()) throw Unsupported(reason);
  state.all_do([&] {
    state.allocate();
    if (values == InputValues::repeated) {
      state.repeat_inputs();
    } else {
      state.make_inputs();
      state.upload_inputs();
    }
    state.keep_first_values();
  });
  state.all_do([&] { state.kernel = implementation.prepare(workload, device); });
}

Case::~Case() = default;

Verification Case::verify() { return check_launch(/*with_work=*/true); }

Verification Case::check_launch(bool with_work) {
  auto& state = *state_;
  state.verified = false;
  if (state.inputs.empty()) {
    state.make_inputs();
    state.upload_inputs();
  }
  state.restore_inouts();
  state.arm();
  state.device.synchronize();
  state.device.run_as_timed([&] { state.kernel(state.pointers[state.checked_set]); });
  state.device.synchronize();
  const SuiteOp* own = as_suite_op(state.op);
  Verification result;
  if (own != nullptr && !own->has_reference()) {
    result.passed = true;
    result.reference = "none (unverified, as set in the suite)";
    for (const TensorSpec& spec : state.specs) result.outputs += is_written(spec.role) ? spec.elements : 0;
  } else {
    if (own != nullptr) own->prepare_reference(state.workload, state.device, state.inputs);
    std::int64_t before = 0;
    for (std::size_t t = 0; t < state.specs.size() && !state.alone; ++t) {
      if (state.holds(t) && is_written(state.specs[t].role)) break;
      if (is_written(state.specs[t].role)) before += state.specs[t].elements;
    }
    result = compare(state.op, state.workload, state.inputs, state.download_outputs(), before);
    if (own != nullptr && with_work && result.passed) result.work = own->work_bounds(state.workload, state.inputs);
    if (own != nullptr) result.reference = own->reference_name() + result.reference.substr(result.reference.find(','));
  }
  for (const auto& fault : {state.broken_guards(), state.changed_inputs()}) {
    if (fault.empty()) continue;
    result.failure += (result.failure.empty() ? "" : "; ") + fault;
    result.passed = false;
  }
  result = state.verdict_of_all(std::move(result));
  state.inputs.clear();
  state.inputs.shrink_to_fit();
  state.verified = result.passed;
  return result;
}

Verification Case::verify_again() {
  auto& state = *state_;
  state.workload.seed = tensor_seed(state.workload.seed, 0);
  state.checked_set = state.pointers.size() - 1;
  state.make_inputs();
  state.upload_inputs();
  state.copy_first_values();
  for (std::size_t t = 0; t < state.specs.size() && state.checked_set > 0; ++t) {
    if (!is_read(state.specs[t].role) || !state.holds(t)) continue;
    state.device_of(t).fill(state.pointers[0][t], kPoison, static_cast<std::size_t>(state.specs[t].bytes()));
  }
  return check_launch(/*with_work=*/false);
}

Bench Case::bench() {
  auto& state = *state_;
  if (!state.verified) {
    throw Error(fmt::format("'{}' is not verified and is not timed", state.workload.label));
  }
  return bench_unverified();
}

Bench Case::bench_unverified() {
  auto& state = *state_;
  state.timer =
      state.device.timer_of_ranks([this](std::int64_t number) { launch(state_->next_set + number); }, state.ranks);
  state.restore_inouts();
  state.next_set = 0;
  // Graph launches on a GPU have their sets recorded. On a CPU a sample of all sets could take seconds, so each
  // continues where the previous one stopped.
  const bool recorded = state.device.info().kind == DeviceKind::cuda;
  state.leads_batches = !state.alone && state.device.holds(0);
  return {.batch =
              [&state](std::int64_t launches) {
                if (state.leads_batches) state.device.exchange(state.members, fmt::to_string(launches));
                return state.time(launches);
              },
          .now = wall_seconds,
          .timer_resolution_s = resolution_among(state.ranks, state.device),
          .launch_quantum = recorded ? state.sets : 1};
}

int ranks_of(std::span<const TensorSpec> tensors) {
  int ranks = 1;
  for (const TensorSpec& tensor : tensors) ranks = std::max(ranks, tensor.rank + 1);
  return ranks;
}

double resolution_among(int ranks, const Device& device) {
  constexpr double kForkAndJoin = 10e-6;
  return ranks > 1 ? std::max(kForkAndJoin, device.timer_resolution_s()) : device.timer_resolution_s();
}

void Case::follow() {
  for (;;) {
    const std::int64_t launches =
        std::strtoll(state_->device.exchange(state_->members, "").front().c_str(), nullptr, 10);
    if (launches < 1) return;
    static_cast<void>(state_->time(launches));
  }
}

void Case::launch(std::int64_t number) {
  state_->kernel(state_->pointers[static_cast<std::size_t>(number % state_->sets)]);
}

std::vector<std::span<std::byte>> Case::tensors() const {
  std::vector<std::span<std::byte>> found;
  for (std::size_t t = 0; t < state_->specs.size(); ++t) {
    if (!state_->holds(t)) continue;
    found.emplace_back(static_cast<std::byte*>(state_->pointers[0][t]),
                       static_cast<std::size_t>(state_->specs[t].bytes()));
  }
  return found;
}

std::int64_t Case::buffer_sets() const { return state_->sets; }
double Case::resident_bytes() const { return state_->resident; }

}  // namespace roofline
