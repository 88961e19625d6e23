#include "profile/idle/gap_evidence.hpp"

#include <fmt/format.h>

#include <cmath>
#include <limits>

#include "text/format.hpp"
#include "text/text.hpp"

namespace roofline {
namespace {

void add_sample(Evidence& evidence, const SampledCause& cause, double weight) {
  Evidence::Share& share = evidence.causes[{cause.cause, cause.detail, function_at(cause.place)}];
  share.weight += weight;
  share.lines[cause.place.text()] += weight;
  evidence.weight += weight;
  ++evidence.samples;
}

bool is_unspecific(SavingCause cause, CauseDetail detail) {
  return detail == CauseDetail::none &&
         (cause == SavingCause::data_loading || cause == SavingCause::host_native || cause == SavingCause::host_python);
}

/// Samples whose native frames are missing say less than others at the same line: where these name what the function
/// does, those do the same.
void join_unspecific(Evidence& evidence) {
  constexpr double kSpecific = 0.5;  // of the samples in the function
  std::map<std::string, double> all;
  std::map<std::string, std::pair<double, std::tuple<SavingCause, CauseDetail, std::string>>> specific;
  for (const auto& [key, share] : evidence.causes) {
    const auto& [cause, detail, function] = key;
    all[function] += share.weight;
    auto& [weight, of] = specific[function];
    if (detail != CauseDetail::none && share.weight > weight) {
      weight = share.weight;
      of = key;
    }
  }
  for (auto at = evidence.causes.begin(); at != evidence.causes.end();) {
    const auto& [cause, detail, function] = at->first;
    const auto& [weight, into] = specific[function];
    if (!is_unspecific(cause, detail) || weight < kSpecific * all[function]) {
      ++at;
      continue;
    }
    Evidence::Share& share = evidence.causes[into];
    share.weight += at->second.weight;
    for (const auto& [line, of_line] : at->second.lines) share.lines[line] += of_line;
    at = evidence.causes.erase(at);
  }
}

/// What a thread does at a line that waits for the network or a disk is a part of that transfer.
void join_transfers(Evidence& evidence) {
  constexpr double kGoodPart = 0.25;  // of the samples at the line
  for (auto& [key, wait] : evidence.causes) {
    const auto& [waited, how, function] = key;
    if (how != CauseDetail::none || (waited != SavingCause::wait_network && waited != SavingCause::wait_disk)) continue;
    for (auto& [other, work] : evidence.causes) {
      if (std::get<2>(other) != function || !is_unspecific(std::get<0>(other), std::get<1>(other))) continue;
      for (auto& [line, weight] : work.lines) {
        const auto at = wait.lines.find(line);
        if (at == wait.lines.end() || at->second < kGoodPart * (at->second + weight)) continue;
        at->second += weight;
        wait.weight += weight;
        work.weight -= weight;
        weight = 0;
      }
      std::erase_if(work.lines, [](const auto& line) { return line.second <= 0; });
    }
  }
  std::erase_if(evidence.causes, [](const auto& cause) { return cause.second.lines.empty(); });
}

}  // namespace

std::string function_at(const HostPlace& place) { return place.file + ":" + place.function; }

double Evidence::share_of(CauseDetail detail) const {
  double of_detail = 0;
  for (const auto& [key, share] : causes) {
    if (std::get<CauseDetail>(key) == detail) of_detail += share.weight;
  }
  return of_detail / weight;
}

GapEvidence::AlikeKey GapEvidence::key_of(const IdleGap& gap, int width) const {
  AlikeKey key = {.process = gap.process,
                  .thread = gap.thread,
                  .full_speed = gap.work.full_speed,
                  .input_copy = gap.work.input_copy};
  if (width < 2) key.length = 1 + static_cast<int>(std::log2(1.0 + static_cast<double>(gap.host.length())) / 2);
  if (width < 1) key.place = recording_.place(*gap.next).id;
  return key;
}

int GapEvidence::thread_of(const IdleGap& gap) const {
  return samples_.thread(recording_.traces[static_cast<std::size_t>(gap.process)].process.pid, gap.thread);
}

bool GapEvidence::is_ours(const IdleGap& gap, std::span<const int> samples) const {
  double ours = 0, all = 0;
  for (const int index : samples) {
    const double weight = samples_.weight(index, gap.host);
    all += weight;
    if (samples_.is_profiler(index)) ours += weight;
  }
  return ours > 0.5 * all;
}

void GapEvidence::collect(std::vector<IdleGap>& gaps) {
  if (samples_.empty()) return;
  for (IdleGap& gap : gaps) {
    double work_s = gap.rest_s;
    for (const KnownPart& part : gap.known) work_s += part.work_delayed ? part.seconds : 0;
    if (!(work_s > 0) || gap.host.length() == 0) continue;
    const std::span<const int> samples = samples_.within(thread_of(gap), gap.host);
    if (is_ours(gap, samples)) {
      gap.known.clear();
      gap.rest_s = 0;
      continue;
    }
    // A sample in a host's time of which half made the GPU wait counts half.
    const double scale = work_s / seconds(gap.host.length());
    for (const int index : samples) {
      if (samples_.is_profiler(index)) continue;
      const SampledCause cause = samples_.cause_of(index, gap.work);
      const double weight = scale * samples_.weight(index, gap.host);
      for (int width = 0; width < kWidths; ++width) {
        add_sample(sets_[static_cast<std::size_t>(width)][key_of(gap, width)], cause, weight);
      }
    }
  }
  for (auto& sets : sets_) {
    for (auto& [key, evidence] : sets) find_facts(key, evidence);
  }
}

const Evidence* GapEvidence::of_phase(const IdleGap& gap) {
  if (gap.work.full_speed) return nullptr;
  const auto [found, added] = phase_.try_emplace(key_of(gap, kWidths - 1));
  Evidence& evidence = found->second;
  if (added) {
    const int thread = thread_of(gap);
    NextWork launching = gap.work;
    launching.full_speed = true;
    for (const int index : samples_.within(thread, {0, std::numeric_limits<std::uint64_t>::max()})) {
      if (samples_.is_profiler(index)) continue;
      if (samples_.cause_of(index, launching).cause == SavingCause::launch_rate) continue;
      add_sample(evidence, samples_.cause_of(index, gap.work), samples_.weight(index, gap.host));
    }
    find_facts(found->first, evidence);
  }
  return evidence.samples > 0 ? &evidence : nullptr;
}

const Evidence* GapEvidence::of(const IdleGap& gap) {
  constexpr std::array<std::int64_t, kWidths> kFewest = {8, 4, 1};
  for (int width = 0; width < kWidths; ++width) {
    const auto& sets = sets_[static_cast<std::size_t>(width)];
    const auto found = sets.find(key_of(gap, width));
    if (found != sets.end() && found->second.samples >= kFewest[static_cast<std::size_t>(width)]) {
      return &found->second;
    }
  }
  return of_phase(gap);
}

const std::optional<LockHolder>& GapEvidence::lock_holder(int thread) {
  const auto [found, is_new] = lock_holders_.try_emplace(thread);
  if (is_new) found->second = samples_.lock_holder(thread);
  return found->second;
}

void GapEvidence::find_facts(const AlikeKey& key, Evidence& evidence) {
  join_unspecific(evidence);
  join_transfers(evidence);
  const ProcessTrace& of = recording_.traces[static_cast<std::size_t>(key.process)];
  const int thread = samples_.thread(of.process.pid, key.thread);
  const WorkerActivity& workers = samples_.workers(thread);
  const std::string name = thread < 0 ? std::string() : samples_.about(thread).name;
  for (auto& [cause, share] : evidence.causes) {
    const bool awaited =
        std::get<0>(cause) == SavingCause::few_workers || std::get<0>(cause) == SavingCause::wait_queue;
    if (std::get<1>(cause) == CauseDetail::workers_started && !workers.beginnings.empty()) {
      share.fact = workers.beginnings;
    } else if (awaited && workers.workers > 0) {
      share.fact =
          fmt::format("{} worker{}, busy {} of the time, {} on a CPU", workers.workers, workers.workers == 1 ? "" : "s",
                      percent(workers.busy), percent(workers.on_cpu - workers.ready));
      if (workers.ready > 0) share.fact += fmt::format(", {} waiting for one", percent(workers.ready));
    } else {
      share.fact = fmt::format("{} of the samples of the launching thread{}", percent(share.weight / evidence.weight),
                               name.empty() ? "" : fmt::format(" ({})", name));
      if (std::get<0>(cause) != SavingCause::wait_lock) continue;
      if (const std::optional<LockHolder>& holder = lock_holder(thread)) {
        share.fact += fmt::format("; meanwhile thread {} runs {} ({} of the waits)", clean_line(holder->thread),
                                  holder->place.text(), percent(holder->share));
      }
    }
  }
}

}  // namespace roofline
