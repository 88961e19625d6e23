// Copies between host and GPU that wait: from pageable memory, of the same data in every step, many small ones.
#include <fmt/format.h>

#include <cmath>
#include <map>
#include <tuple>

#include "profile/causes/detectors.hpp"
#include "text/format.hpp"

namespace roofline {
namespace {

bool of_host(spool::Memory memory) { return memory == spool::Memory::pageable || memory == spool::Memory::pinned; }

Saving copy_saving(SavingCause cause, const FaultyActivities& copies) {
  Saving saving;
  saving.kind = SavingKind::copies;
  saving.cause = cause;
  saving.line = copies.line();
  saving.seconds = copies.seconds;
  return saving;
}

struct Copies {
  FaultyActivities sum;
  std::set<const Activity*> activities;
  double bytes = 0;
  double total_s = 0;

  void add(const StepActivities& steps, const StepActivity& entry, double copied) {
    sum.add(steps, entry, entry.alone_s);
    activities.insert(entry.activity);
    bytes += copied;
    total_s += entry.seconds;
  }
  std::string size() const { return binary_bytes(bytes / static_cast<double>(sum.count)); }
};

bool is_small_copy_in(const spool::Copy& copy) {
  return copy.bytes <= kSmallCopy && of_host(copy.from) && !of_host(copy.to);
}

}  // namespace

std::vector<CopySources> copy_sources(const Recording& recording) {
  std::vector<CopySources> sources(recording.traces.size());
  for (std::size_t i = 0; i < sources.size(); ++i) {
    for (const spool::CopySource& source : recording.traces[i].copy_sources) sources[i][source.correlation] = &source;
  }
  return sources;
}

std::set<CopyPlace> places_of_small_copies(const StepActivities& steps) {
  constexpr double kMany = 16;     // in a step that has any
  constexpr double kMostly = 0.9;  // of the copies of that place
  struct Seen {
    FaultyActivities small;
    std::int64_t all = 0;
  };
  std::map<CopyPlace, Seen> places;
  for (const StepActivity& entry : steps.all) {
    if (entry.activity->what != ActivityKind::copy) continue;
    Seen& seen = places[{entry.activity->process, entry.place.id}];
    ++seen.all;
    if (is_small_copy_in(steps.copy(entry))) seen.small.add(steps, entry, entry.seconds);
  }
  std::set<CopyPlace> found;
  for (const auto& [place, seen] : places) {
    const double steps_with_any = seen.small.share_of_steps() * static_cast<double>(steps.steps.size());
    const auto small = static_cast<double>(seen.small.count);
    const bool many = small >= kMany * steps_with_any && small >= kMostly * static_cast<double>(seen.all);
    if (seen.small.count > 0 && many) found.insert(place);
  }
  return found;
}

std::vector<FoundCause> find_small_copies(const CauseInputs& inputs) {
  const StepActivities& steps = inputs.steps;
  const std::set<CopyPlace> places = places_of_small_copies(steps);
  std::map<std::string, Copies> lines;
  for (const StepActivity& entry : steps.all) {
    if (entry.activity->what != ActivityKind::copy || !inputs.free(entry)) continue;
    const spool::Copy& copy = steps.copy(entry);
    if (!is_small_copy_in(copy) || !places.contains({entry.activity->process, entry.place.id})) continue;
    lines[steps.line(entry)].add(steps, entry, static_cast<double>(copy.bytes));
  }
  std::vector<FoundCause> found;
  for (auto& [line, copies] : lines) {
    Saving saving = copy_saving(SavingCause::copies, copies.sum);
    const double in_a_step = static_cast<double>(copies.sum.count) / static_cast<double>(steps.steps.size());
    saving.what = "Many small copies instead of one";
    saving.evidence = fmt::format("{} copies of {}, {} in each step, {}", count(copies.sum.count), copies.size(),
                                  count(std::llround(in_a_step)), duration(copies.total_s));
    saving.action = action_against(SavingCause::copies, inputs.framework, CauseDetail::small_copies);
    found.push_back({std::move(saving), std::move(copies.activities)});
  }
  return found;
}

/// Copies of tensors that nearly every step copies, each tensor's by itself. `wanted`: which copies count.
template <typename Wanted>
std::vector<Copies> repeated_tensors(const StepActivities& steps, Wanted&& wanted) {
  constexpr std::size_t kFewestSteps = 3;
  if (steps.steps.size() < kFewestSteps) return {};
  const std::vector<CopySources> sources = copy_sources(steps.recording);
  // One tensor: the same contents, sent to one device from one line.
  std::map<std::tuple<int, int, spool::Id, std::uint64_t, std::uint64_t>, Copies> tensors;
  for (const StepActivity& entry : steps.all) {
    if (entry.activity->what != ActivityKind::copy || !wanted(entry)) continue;
    const spool::Copy& copy = steps.copy(entry);
    const auto process = static_cast<std::size_t>(entry.activity->process);
    const auto source = sources[process].find(copy.correlation);
    if (source == sources[process].end() || source->second->digest == 0) continue;
    tensors[{entry.activity->process, entry.activity->device, entry.place.line, source->second->digest, copy.bytes}]
        .add(steps, entry, static_cast<double>(copy.bytes));
  }
  std::vector<Copies> repeated;
  for (auto& [key, tensor] : tensors) {
    if (tensor.sum.in_nearly_all_steps()) repeated.push_back(std::move(tensor));
  }
  return repeated;
}

std::set<const Activity*> repeated_copies(const StepActivities& steps) {
  std::set<const Activity*> all;
  for (Copies& tensor : repeated_tensors(steps, [](const StepActivity&) { return true; })) all.merge(tensor.activities);
  return all;
}

std::vector<FoundCause> find_repeated_copies(const CauseInputs& inputs) {
  const StepActivities& steps = inputs.steps;
  std::map<std::string, std::pair<Copies, int>> lines;  // with the number of tensors
  for (Copies& tensor : repeated_tensors(steps, [&](const StepActivity& entry) { return inputs.free(entry); })) {
    auto& [all, count] = lines[tensor.sum.line()];
    ++count;
    all.sum.seconds += tensor.sum.seconds;
    all.sum.count += tensor.sum.count;
    all.sum.lines.merge(tensor.sum.lines);
    all.activities.merge(tensor.activities);
    all.bytes += tensor.bytes;
    all.total_s += tensor.total_s;
  }
  std::vector<FoundCause> found;
  for (auto& [line, of] : lines) {
    auto& [copies, tensors_of_line] = of;
    Saving saving = copy_saving(SavingCause::repeated_copy, copies.sum);
    saving.what = fmt::format("{} copied to the GPU in every step with the same contents",
                              tensors_of_line == 1 ? "A tensor is" : fmt::format("{} tensors are", tensors_of_line));
    saving.evidence = fmt::format("{} copies of {} in {} steps, {}", count(copies.sum.count), copies.size(),
                                  steps.steps.size(), duration(copies.total_s));
    saving.action = action_against(SavingCause::repeated_copy, inputs.framework);
    found.push_back({std::move(saving), std::move(copies.activities)});
  }
  return found;
}

std::vector<FoundCause> find_pageable_copies(const CauseInputs& inputs) {
  const StepActivities& steps = inputs.steps;
  std::map<std::pair<std::string, bool>, Copies> places;
  for (const StepActivity& entry : steps.all) {
    if (entry.activity->what != ActivityKind::copy || !inputs.free(entry)) continue;
    const spool::Copy& copy = steps.copy(entry);
    const bool pageable = copy.from == spool::Memory::pageable || copy.to == spool::Memory::pageable;
    if (!pageable || copy.bytes < kSmallCopy || (of_host(copy.from) && of_host(copy.to))) continue;
    places[{steps.line(entry), copy.from == spool::Memory::pageable}].add(steps, entry,
                                                                          static_cast<double>(copy.bytes));
  }
  std::vector<FoundCause> found;
  for (auto& [place, copies] : places) {
    Saving saving = copy_saving(SavingCause::pageable_copy, copies.sum);
    const CauseDetail detail = place.second ? CauseDetail::none : CauseDetail::readback;
    saving.what = place.second ? "Copies from pageable memory" : what_is_lost(SavingCause::pageable_copy, detail);
    saving.evidence =
        fmt::format("{} copies of {} in {}, {}; no kernel runs in {} of it", count(copies.sum.count), copies.size(),
                    duration(copies.total_s), rate(copies.bytes / copies.total_s, CeilingKind::bandwidth),
                    percent(copies.sum.seconds / copies.total_s));
    saving.action = action_against(SavingCause::pageable_copy, inputs.framework, detail);
    found.push_back({std::move(saving), std::move(copies.activities)});
  }
  return found;
}

}  // namespace roofline
