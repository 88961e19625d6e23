#include "profile/idle_causes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>
#include <set>
#include <tuple>

#include "profile/actions.hpp"
#include "profile/causes/detectors.hpp"
#include "profile/idle/gap_evidence.hpp"
#include "profile/idle/idle_gaps.hpp"
#include "profile/idle/idle_sums.hpp"
#include "profile/idle/launch_rates.hpp"
#include "profile/idle/memory_returns.hpp"
#include "profile/idle/thread_samples.hpp"
#include "profile/rows.hpp"
#include "text/format.hpp"
#include "text/source_place.hpp"

namespace roofline {
namespace {

class IdleAttribution {
 public:
  IdleAttribution(const Recording& recording, const std::vector<Span>& steps, const HostSamples& samples)
      : recording_(recording),
        samples_(samples, recording),
        activities_(recording, steps),
        calls_(recording.traces.begin(), recording.traces.end()),
        rates_(recording, activities_, calls_),
        evidence_(recording, samples_) {
    gaps_ = idle_gaps(recording, calls_, steps);
    memory_returns_ = MemoryReturns(recording, steps);
    object_lines_ = samples_.lines_of_objects();
    samples_.find_communicators(steps);
    describe_communicators(steps);
    small_copies_ = places_of_small_copies(activities_);
    repeated_copies_ = repeated_copies(activities_);
    find_reloading(steps);
  }

  std::vector<IdlePart> parts() {
    evidence_.collect(gaps_);
    find_requests();
    for (IdleGap& gap : gaps_) {
      if (const SampledCause* const compiler = compiler_at(gap)) {
        const HostPlace& place = compiler->place;
        add(gap, compiler->cause, function_at(place), place.text(), gap.seconds, compiler->detail);
        continue;
      }
      if (ends_in_cpu_collective(gap)) {
        const HostPlace& place = cpu_collectives_of(gap.process);
        const std::string line = place.known() ? place.text() : next_line(gap);
        add(gap, SavingCause::wait_network, place.known() ? function_at(place) : line, line, gap.seconds,
            CauseDetail::cpu_collective)
            .facts["the thread that ends it does collectives on the CPU"] += gap.seconds;
        continue;
      }
      keep_requests_and_results(gap);
      for (const KnownPart& part : gap.known) {
        if (part.seconds > 0) add_known(gap, part);
      }
      if (gap.rest_s > 0) add_rest(gap);
    }
    find_purposes();
    sums_.gather_at_lines_of(CauseDetail::saved_state);
    sums_.join_host_code();
    return sums_.parts();
  }

 private:
  const ProcessTrace& trace(const IdleGap& gap) const {
    return recording_.traces[static_cast<std::size_t>(gap.process)];
  }
  const std::string& line_at(const IdleGap& gap, spool::Id place) {
    const auto [found, added] = lines_.try_emplace({gap.process, place});
    if (added) found->second = line_text(trace(gap), trace(gap).place(place).line);
    return found->second;
  }
  std::string function_of_next(const IdleGap& gap) const {
    const ProcessTrace& of = trace(gap);
    const spool::Line& line = of.line(recording_.place(*gap.next).line);
    return fmt::format("{}:{}", of.text(line.file), of.text(line.function));
  }
  const std::string& next_line(const IdleGap& gap) { return line_at(gap, recording_.place(*gap.next).id); }

  /// True if the gap is one between many small copies: then what the host did in it is the making of the next copy.
  bool before_small_copy(const IdleGap& gap, SavingCause cause) const {
    constexpr double kOneCopy = 200e-6;  // seconds of the host: a framework's way to a copy takes less
    const bool of_host = cause == SavingCause::launch_rate || cause == SavingCause::data_loading ||
                         cause == SavingCause::host_python || cause == SavingCause::host_native ||
                         cause == SavingCause::copies || cause == SavingCause::pageable_copy;
    return of_host && gap.next->what == ActivityKind::copy && gap.launch_interval_s <= kOneCopy &&
           small_copies_.contains({gap.process, recording_.place(*gap.next).id});
  }

  /// A part of one gap, at a line.
  IdleSums::Sum& add(const IdleGap& gap, SavingCause cause, const std::string& group, const std::string& line,
                     double time, CauseDetail detail = CauseDetail::none) {
    const auto number = static_cast<std::size_t>(&gap - gaps_.data());
    // What the line of a communicator's first collective or end calls, launches and waits for is a part of it.
    if (cause == SavingCause::new_communicators || is_of_communicators(line)) {
      IdleSums::Sum& sum = sums_.add(
          {gap.device, SavingCause::new_communicators, CauseDetail::none, "", line, time, number, gap.seconds});
      sum.facts[communicators_.at(static_cast<std::size_t>(gap.process))] += time;
      return sum;
    }
    if (before_small_copy(gap, cause)) {
      const std::string& copied_at = next_line(gap);
      // Operations outside of jit send their scalars: nobody wrote these copies.
      if (copied_at.empty() && rates_.eager().in_process(gap.process)) {
        return sums_.add({gap.device, rates_.cause_of(*gap.next, gap.device), CauseDetail::eager_programs, "", "", time,
                          number, gap.seconds});
      }
      return sums_.add({gap.device, SavingCause::copies, CauseDetail::small_copies, copied_at, copied_at, time, number,
                        gap.seconds});
    }
    // What a collective of objects launches, waits for and computes is all its own.
    if (!line.empty() && object_lines_.contains(line_of_place(line))) {
      return sums_.add(
          {gap.device, SavingCause::host_python, CauseDetail::object_messages, line, line, time, number, gap.seconds});
    }
    if (cause == SavingCause::launch_rate && rates_.is_first(*gap.next)) {
      IdleSums::Sum& sum =
          sums_.add({gap.device, SavingCause::unknown_idle, detail, "", line, time, number, gap.seconds});
      sum.facts["each ends with the first launch of a kernel"] += time;
      return sum;
    }
    const bool launching = cause == SavingCause::launch_rate;
    const bool graph = launching && rates_.by_graph(*gap.next);
    if (graph) detail = CauseDetail::graph_launches;
    if (launching && !graph) {
      cause = rates_.cause_of(*gap.next, gap.device);
      if (cause != SavingCause::unfused_optimizer) detail = rates_.loop_of(*gap.next, gap.device);
    }
    // Launches have lines all over the program, and one cause; a loop is a cause of its own.
    const bool one_part = launching || cause == SavingCause::late_stream || cause == SavingCause::unknown_idle;
    const bool loop = detail == CauseDetail::item_loop || detail == CauseDetail::grouped_loop ||
                      detail == CauseDetail::collective_loop;
    std::string part = loop ? function_of_next(gap) : one_part ? std::string() : group;
    IdleSums::Sum& sum = sums_.add({gap.device, cause, detail, std::move(part), line, time, number, gap.seconds});
    if (!launching || graph || cause == SavingCause::unfused_optimizer) return sum;
    if (const auto fact = rates_.fact(gap.device)) sum.facts[*fact] += time;
    return sum;
  }

  bool is_of_communicators(const std::string& line) const { return samples_.is_of_communicators(line_of_place(line)); }

  /// Says how many communicators each process makes, and at which lines.
  void describe_communicators(const std::vector<Span>& steps) {
    constexpr std::size_t kMostNamed = 3;
    std::vector<std::pair<double, std::string>> lines;
    for (const auto& [line, of] : samples_.communicator_lines()) lines.emplace_back(-of.communicators, line);
    std::sort(lines.begin(), lines.end());
    lines.resize(std::min(lines.size(), kMostNamed));
    std::string where;
    for (const auto& [seconds, line] : lines) where += (where.empty() ? "at " : ", ") + line;
    for (const ProcessTrace& trace : recording_.traces) {
      std::set<spool::Id> made;  // each has its first collective in the steps
      for (const spool::Collective& call : trace.collectives) {
        if (call.sequence == 0 && span_at(steps, call.start) < steps.size()) made.insert(call.communicator);
      }
      const double per_step =
          static_cast<double>(made.size()) / static_cast<double>(std::max<std::size_t>(1, steps.size()));
      communicators_.push_back(made.empty() ? where
                                            : fmt::format("new communicators per step: {:.3g}, {}", per_step, where));
    }
  }

  /// Code that is loaded from one line in several steps is other code each time, or the same one again.
  bool loads_again(const IdleGap& gap, const KnownPart& part) const {
    return part.cause == SavingCause::module_load && part.call != 0 && reloading_.contains({gap.process, part.place});
  }

  void find_reloading(const std::vector<Span>& steps) {
    constexpr std::size_t kSeveral = 3;
    std::map<std::pair<int, spool::Id>, std::set<std::size_t>> loads;  // steps
    for (std::size_t process = 0; process < recording_.traces.size(); ++process) {
      for (const spool::Call& call : recording_.traces[process].calls) {
        if (call.kind != spool::CallKind::load) continue;
        const std::size_t step = span_at(steps, call.start);
        if (step < steps.size()) loads[{static_cast<int>(process), call.place}].insert(step);
      }
    }
    for (const auto& [place, in] : loads) {
      if (in.size() >= kSeveral) reloading_.insert(place);
    }
  }

  /// The times at which a thread was seen in a compiler.
  const std::map<std::uint64_t, SampledCause>& compilers_of(int thread) {
    const auto [found, added] = compilers_.try_emplace(thread);
    if (added) {
      for (const int index : samples_.within(thread, {0, std::numeric_limits<std::uint64_t>::max()})) {
        const SampledCause cause = samples_.cause_of(index, {});
        if (cause.cause == SavingCause::recompilation) found->second.emplace(samples_.sample(index).time, cause);
      }
    }
    return found->second;
  }

  /// A compiler tries kernels, loads code and allocates: short gaps are its own, whatever call they end with. Null: no
  /// compiler was at work.
  const SampledCause* compiler_at(const IdleGap& gap) {
    if (gap.seconds >= 2 * seconds(samples_.period())) return nullptr;  // it has samples of its own
    const auto pid = static_cast<std::int64_t>(trace(gap).process.pid);
    for (const std::int64_t tid : {pid, static_cast<std::int64_t>(gap.thread)}) {
      const auto& times = compilers_of(samples_.thread(pid, tid));
      const auto sample = times.lower_bound(gap.next->start);  // stands for the time before it
      if (sample != times.end() && sample->first - gap.next->start < samples_.period()) return &sample->second;
    }
    return nullptr;
  }

  /// Gloo's threads copy a tensor from the GPU, and its result back.
  bool ends_in_cpu_collective(const IdleGap& gap) {
    const int thread = samples_.thread(trace(gap).process.pid, gap.thread);
    const auto [found, added] = does_collectives_.try_emplace(thread);
    if (added) found->second = samples_.does_cpu_collectives(thread);
    return found->second;
  }

  /// Where the main thread waits most for collectives on the CPU; unknown: it does not wait.
  const HostPlace& cpu_collectives_of(int process) {
    const auto [found, added] = cpu_collectives_.try_emplace(process);
    if (!added) return found->second;
    const auto pid = static_cast<std::int64_t>(recording_.traces[static_cast<std::size_t>(process)].process.pid);
    std::map<std::string, std::pair<double, HostPlace>> places;
    double most = 0;
    for (const int index : samples_.within(samples_.thread(pid, pid), {0, std::numeric_limits<std::uint64_t>::max()})) {
      const SampledCause cause = samples_.cause_of(index, {});
      if (cause.detail != CauseDetail::cpu_collective) continue;
      auto& [weight, place] = places[cause.place.text()];
      weight += samples_.sample(index).seconds;
      place = cause.place;
      if (weight <= most) continue;
      most = weight;
      found->second = place;
    }
    return found->second;
  }

  void add_known(const IdleGap& gap, const KnownPart& part) {
    const bool returned = part.cause == SavingCause::allocation && part.detail == CauseDetail::none &&
                          memory_returns_.concerns(gap.process, part.place);
    const spool::Id place = returned ? memory_returns_.place(gap.process) : part.place;
    const std::string line = place != 0 ? line_at(gap, place) : std::string();
    const bool checks = part.cause == SavingCause::item_sync && samples_.traces_anomalies() &&
                        trace(gap).place(part.place).backward != 0;
    const SavingCause cause = loads_again(gap, part) ? SavingCause::recompilation : part.cause;
    const CauseDetail detail = checks     ? CauseDetail::anomaly_mode
                               : returned ? CauseDetail::memory_returns
                                          : part.detail;
    IdleSums::Sum& sum = add(gap, cause, line, line, part.seconds, detail);
    if (part.call != 0 && !is_of_communicators(line))
      sum.calls[fmt::format("in or after {}", trace(gap).text(part.call))] += part.seconds;
  }

  /// Checks whether the GPU is idle mostly because it waits for requests: other host work then delays responses, not
  /// the GPU.
  void find_requests() {
    double idle = 0, requests = 0;
    for (const IdleGap& gap : gaps_) {
      idle += gap.seconds;
      const Evidence* const evidence = gap.rest_s > 0 ? evidence_.of(gap) : nullptr;
      if (evidence != nullptr) requests += gap.rest_s * evidence->share_of(CauseDetail::requests);
    }
    mostly_requests_ = requests > 0.5 * idle;
  }

  /// Host work that is not due to the wait before it: a request comes when a client sends it, also to a host that did
  /// not wait, and work on results that the wait was for, or a collective of them, would have to wait in any case.
  void keep_requests_and_results(IdleGap& gap) {
    const Evidence* const evidence = gap.wait != nullptr ? evidence_.of(gap) : nullptr;
    if (evidence == nullptr) return;
    const double requests = evidence->share_of(CauseDetail::requests);
    const bool results =
        evidence->share_of(CauseDetail::host_results) + evidence->share_of(CauseDetail::cpu_collective) > 0.5;
    for (KnownPart& part : gap.known) {
      if (!part.work_delayed) continue;
      const double kept = part.seconds * (results ? 1 : requests);
      part.seconds -= kept;
      gap.rest_s += kept;
    }
  }

  void add_rest(const IdleGap& gap) {
    const Evidence* const evidence = evidence_.of(gap);
    if (evidence == nullptr) {
      add_unsampled(gap);
      return;
    }
    const bool serves = evidence->share_of(CauseDetail::requests) >= 0.5;
    for (const auto& [key, share] : evidence->causes) {
      const auto& [sampled, detail, function] = key;
      // Inputs that clients send are in no data set.
      const SavingCause cause = serves && sampled == SavingCause::data_loading ? SavingCause::host_python : sampled;
      const double time = gap.rest_s * share.weight / evidence->weight;
      // Between operations outside of jit, JAX's own threads wait for each other.
      const bool of_runtime =
          cause == SavingCause::wait_lock && gap.work.full_speed && rates_.eager().launched(recording_, *gap.next);
      if (cause == SavingCause::launch_rate || of_runtime) {
        add(gap, SavingCause::launch_rate, "", next_line(gap), time);
        continue;
      }
      const std::string copied_at = next_line(gap);  // unknown where a runtime's own thread copies
      const bool same_data = cause == SavingCause::data_loading && repeated_copies_.contains(gap.next);
      const bool answers = mostly_requests_ && (cause == SavingCause::host_python || cause == SavingCause::host_native);
      for (const auto& [line, weight] : share.lines) {
        const double part = time * weight / share.weight;
        // What the host does at the line of the copy is a part of it, such as converting an array.
        if (same_data && (copied_at.empty() || line == copied_at)) {
          add(gap, SavingCause::repeated_copy, function, line, part);
          continue;
        }
        add(gap, cause, function, line, part, answers ? CauseDetail::answers : detail).facts[share.fact] += part;
      }
    }
  }

  /// The part of the gap in which the program's main thread compiled, or waited for a compiler's threads.
  double add_compilation(const IdleGap& gap) {
    const auto pid = static_cast<std::int64_t>(trace(gap).process.pid);
    std::map<std::tuple<CauseDetail, std::string, std::string>, double> compiled;  // by compiler, function and line
    double all = 0;
    for (const int index : samples_.within(samples_.thread(pid, pid), gap.host)) {
      const SampledCause cause = samples_.cause_of(index, gap.work);
      const double weight = samples_.weight(index, gap.host);
      all += weight;
      if (cause.cause != SavingCause::recompilation) continue;
      compiled[{cause.detail, function_at(cause.place), cause.place.text()}] += weight;
    }
    double added = 0;
    for (const auto& [key, weight] : compiled) {
      const auto& [detail, function, line] = key;
      const double part = gap.rest_s * weight / all;
      add(gap, SavingCause::recompilation, function, line, part, detail).facts["the main thread compiled"] += part;
      added += part;
    }
    return added;
  }

  /// Causes visible in the trace alone.
  void add_unsampled(const IdleGap& gap) {
    constexpr double kFullSpeed = 200e-6;  // seconds: a framework's way to a launch takes less
    constexpr double kCompilation = 5e-3;  // seconds: less is no compilation
    const std::string line = next_line(gap);
    SavingCause cause = SavingCause::unknown_idle;
    if (gap.thread == 0) {  // the host's time until then is not known: only a compiler is certainly the cause
      const double rest = gap.rest_s - add_compilation(gap);
      if (rest > 0) add(gap, cause, line, line, rest).facts["the call that ended it was not recorded"] += rest;
      return;
    }
    if (gap.launch_interval_s <= kFullSpeed) {
      cause = SavingCause::launch_rate;
    } else if (gap.loads_code) {
      // Loading alone needs no more host time than the call.
      cause = seconds(gap.host.length()) >= kCompilation ? SavingCause::recompilation : SavingCause::module_load;
    } else if (gap.work.input_copy && !samples_.is_autograd(samples_.thread(trace(gap).process.pid, gap.thread))) {
      cause = SavingCause::data_loading;
    }
    IdleSums::Sum& sum = add(gap, cause, line, line, gap.rest_s);
    if (cause == SavingCause::data_loading) sum.facts["each ends in a copy from the host"] += gap.rest_s;
    if (gap.loads_code && cause != SavingCause::launch_rate) sum.facts["each loads code"] += gap.rest_s;
    if (cause == SavingCause::unknown_idle) sum.facts["the host was outside CUDA and was not sampled"] += gap.rest_s;
  }

  /// Waits within print, logging, a tracker or torch.save, by samples of the waiting threads.
  void find_purposes() {
    constexpr double kShare = 0.2;
    struct Seen {
      std::int64_t all = 0, logging = 0, saving = 0;
    };
    std::map<std::tuple<int, SavingCause, std::string>, Seen> waits;
    for (const IdleGap& gap : gaps_) {
      if (gap.wait == nullptr) continue;
      const bool value = gap.wait->waited == SavingCause::item_sync || gap.wait->waited == SavingCause::pageable_copy;
      if (!value && gap.wait->waited != SavingCause::synchronize) continue;
      Seen& seen = waits[{gap.device, *gap.wait->waited, line_at(gap, gap.wait->place)}];
      const int thread = samples_.thread(trace(gap).process.pid, gap.thread);
      for (const int index : samples_.within(thread, {gap.wait->span.start, gap.host.end})) {
        const StackView frames = samples_.stack(index);
        seen.all += frames.empty() ? 0 : 1;
        seen.logging += frames.logs() ? 1 : 0;
        seen.saving += frames.saves_state() ? 1 : 0;
      }
    }
    for (const auto& [key, seen] : waits) {
      const auto& [device, cause, line] = key;
      const auto most = kShare * static_cast<double>(seen.all);
      if (seen.saving > 0 && static_cast<double>(seen.saving) >= most) {
        sums_.rename(device, cause, line, SavingCause::host_native, CauseDetail::saved_state);
      } else if (seen.logging > 0 && static_cast<double>(seen.logging) >= most) {
        sums_.rename(device, cause, line, SavingCause::logging_sync);
      }
    }
  }

  const Recording& recording_;
  ThreadSamples samples_;
  StepActivities activities_;
  std::vector<HostCalls> calls_;
  LaunchRates rates_;
  GapEvidence evidence_;
  MemoryReturns memory_returns_;
  std::vector<IdleGap> gaps_;
  std::set<CopyPlace> small_copies_;
  std::set<const Activity*> repeated_copies_;
  std::set<std::string, std::less<>> object_lines_;                 ///< with collectives of Python objects
  std::vector<std::string> communicators_;                          ///< by process: how many, and where
  std::set<std::pair<int, spool::Id>> reloading_;                   ///< process and place
  std::map<int, std::map<std::uint64_t, SampledCause>> compilers_;  ///< by thread
  std::map<int, bool> does_collectives_;                            ///< threads
  std::map<int, HostPlace> cpu_collectives_;                        ///< by process
  std::map<std::pair<int, spool::Id>, std::string> lines_;          ///< by process and place
  bool mostly_requests_ = false;
  IdleSums sums_;
};

}  // namespace

std::vector<IdlePart> idle_parts(const Recording& recording, const std::vector<Span>& steps,
                                 const HostSamples& samples) {
  return IdleAttribution(recording, steps, samples).parts();
}

}  // namespace roofline
