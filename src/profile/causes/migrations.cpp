// Pages of unified memory that move between host and GPU within the steps, and the kernels that wait for them.
#include <fmt/format.h>

#include <algorithm>

#include "profile/causes/detectors.hpp"
#include "text/format.hpp"

namespace roofline {
namespace {

const spool::Copy* migration_of(const StepActivities& steps, const StepActivity& entry) {
  if (entry.activity->what != ActivityKind::copy) return nullptr;
  const spool::Copy& copy = steps.trace(entry).copies[entry.activity->index];
  const bool migrates = copy.from == spool::Memory::migrating || copy.to == spool::Memory::migrating;
  return migrates ? &copy : nullptr;
}

struct Migrations {
  std::vector<std::vector<Span>> by_device;
  FaultyActivities alone;  ///< while no kernel runs
  std::set<const Activity*> activities;
  double bytes = 0;
};

Migrations migrations_of(const CauseInputs& inputs) {
  Migrations migrations;
  migrations.by_device.resize(inputs.steps.recording.devices.size());
  for (const StepActivity& entry : inputs.steps.all) {
    const spool::Copy* const copy = migration_of(inputs.steps, entry);
    if (copy == nullptr || !inputs.free(entry)) continue;
    migrations.by_device[static_cast<std::size_t>(entry.activity->device)].push_back({copy->start, copy->end});
    migrations.alone.add(inputs.steps, entry, entry.alone_s);
    migrations.activities.insert(entry.activity);
    migrations.bytes += static_cast<double>(copy->bytes);
  }
  for (std::vector<Span>& spans : migrations.by_device) spans = covered(std::move(spans));
  return migrations;
}

Saving saving_of(const CauseInputs& inputs, const Migrations& migrations, SavingKind kind, const FaultyActivities& of,
                 const std::string& line) {
  Saving saving;
  saving.kind = kind;
  saving.cause = SavingCause::copies;
  saving.line = line;
  saving.seconds = of.seconds;
  saving.point = kind == SavingKind::kernel ? of.group() : -1;
  saving.what = what_is_lost(SavingCause::copies, CauseDetail::unified_memory);
  saving.evidence = fmt::format("{} migrations, {} in {} steps; {} {}", count(migrations.alone.count),
                                binary_bytes(migrations.bytes), inputs.steps.steps.size(), duration(of.seconds),
                                kind == SavingKind::kernel ? "of them while kernels run" : "of them without a kernel");
  saving.action = action_against(SavingCause::copies, inputs.framework, CauseDetail::unified_memory);
  return saving;
}

}  // namespace

std::vector<FoundCause> find_migrations(const CauseInputs& inputs) {
  Migrations migrations = migrations_of(inputs);
  if (migrations.activities.empty()) return {};
  FaultyActivities waiting;  // a kernel beside a migration waits for it, as an upper bound
  std::set<const Activity*> kernels;
  for (const StepActivity& entry : inputs.steps.all) {
    const Activity& activity = *entry.activity;
    if (activity.what != ActivityKind::kernel || !inputs.free(entry)) continue;
    const std::vector<Span>& moving = migrations.by_device[static_cast<std::size_t>(activity.device)];
    const double time =
        std::min(entry.seconds, seconds(total_length(parts_within({activity.start, activity.end}, moving))));
    if (!(time > 0)) continue;
    waiting.add(inputs.steps, entry, time);
    kernels.insert(&activity);
  }
  const std::string line = waiting.line();
  std::vector<FoundCause> found;
  found.push_back({saving_of(inputs, migrations, SavingKind::copies, migrations.alone, line), migrations.activities});
  if (waiting.count > 0) {
    found.push_back({saving_of(inputs, migrations, SavingKind::kernel, waiting, line), std::move(kernels)});
  }
  return found;
}

}  // namespace roofline
