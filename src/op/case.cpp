// The steps of a case: allocate, fill, verify, time.
#include "op/case.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <utility>
#include <vector>

#include "host/host.hpp"
#include "op/case_state.hpp"
#include "op/compare.hpp"
#include "op/suite_op.hpp"

namespace roofline {

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
