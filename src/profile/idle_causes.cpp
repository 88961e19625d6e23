#include "profile/idle_causes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <set>
#include <tuple>

#include "measure/statistics.hpp"
#include "profile/actions.hpp"
#include "profile/causes/detectors.hpp"
#include "profile/idle/eager_programs.hpp"
#include "profile/idle/idle_gaps.hpp"
#include "profile/idle/idle_sums.hpp"
#include "profile/idle/item_loops.hpp"
#include "profile/idle/memory_returns.hpp"
#include "profile/idle/thread_samples.hpp"
#include "profile/rows.hpp"
#include "text/format.hpp"

namespace roofline {
namespace {

/// Gaps that are alike, from the narrowest set to the widest: samples of all of them say what the host did in each.
struct AlikeKey {
  int process = 0;
  std::uint32_t thread = 0;
  bool full_speed = false, input_copy = false;
  int length = 0;       ///< of the host's time, as a power of four; 0 in wider sets
  spool::Id place = 0;  ///< 0 in wider sets

  auto operator<=>(const AlikeKey&) const = default;
};
constexpr int kWidths = 3;

AlikeKey key_of(const IdleGap& gap, const Recording& recording, int width) {
  AlikeKey key = {.process = gap.process,
                  .thread = gap.thread,
                  .full_speed = gap.work.full_speed,
                  .input_copy = gap.work.input_copy};
  if (width < 2) key.length = 1 + static_cast<int>(std::log2(1.0 + static_cast<double>(gap.host.length())) / 2);
  if (width < 1) key.place = recording.place(*gap.next).id;
  return key;
}

/// Samples of a set of gaps.
struct Evidence {
  struct Share {
    double weight = 0;
    std::map<std::string, double> lines;  ///< weight of each
    std::string fact;                     ///< what the samples show besides the line
  };
  std::map<std::tuple<SavingCause, CauseDetail, std::string>, Share> causes;  ///< with the function
  double weight = 0;
  std::int64_t samples = 0;
};

/// One key for all lines of a function.
std::string function_at(const HostPlace& place) { return place.file + ":" + place.function; }

class IdleAttribution {
 public:
  IdleAttribution(const Recording& recording, const std::vector<Span>& steps, const HostSamples& samples)
      : recording_(recording), samples_(samples, recording), activities_(recording, steps) {
    for (const ProcessTrace& trace : recording.traces) calls_.emplace_back(trace);
    gaps_ = idle_gaps(recording, calls_, steps);
    memory_returns_ = MemoryReturns(recording, steps);
    eager_ = EagerPrograms(activities_);
    small_copies_ = places_of_small_copies(activities_);
    repeated_copies_ = repeated_copies(activities_);
    for (const OptimizerRun& run : optimizer_runs(activities_)) {
      for (const StepActivity* launch : run.launches) optimizer_.insert(launch->activity);
    }
    find_first_launches();
    find_rates();
    find_reloading(steps);
  }

  std::vector<IdlePart> parts() {
    collect_samples();
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
      keep_waits_for_requests(gap);
      for (const KnownPart& part : gap.known) {
        if (part.seconds > 0) add_known(gap, part);
      }
      if (gap.rest_s > 0) add_rest(gap);
    }
    find_purposes();
    sums_.gather_at_lines_of(CauseDetail::saved_state);
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

  /// The first launch of a kernel by a process may load its code: it says nothing about the rate of launches.
  void find_first_launches() {
    std::set<std::pair<int, std::string_view>> known;
    for (const Activity& activity : recording_.activities) {
      if (activity.what != ActivityKind::kernel || activity.graph >= 0) continue;
      const std::string_view kernel = recording_.groups[static_cast<std::size_t>(activity.group)].symbol;
      if (known.emplace(activity.process, kernel).second) first_launches_.insert(&activity);
    }
  }

  /// Finds the time of kernels and of their launches by the host, for each device.
  void find_rates() {
    std::map<int, std::vector<double>> kernels, intervals;
    std::map<std::pair<int, std::uint32_t>, std::uint64_t> launched;
    for (const StepActivity& entry : activities_.all) {
      if (entry.activity->what == ActivityKind::kernel) kernels[entry.activity->device].push_back(entry.seconds);
      const spool::Launch* const launch = entry.activity->launch;
      if (launch == nullptr) continue;
      std::uint64_t& last = launched[{entry.activity->process, launch->thread}];
      constexpr std::uint64_t kNoPause = 200'000;
      if (last != 0 && launch->start > last && launch->start - last < kNoPause &&
          !waited(entry, {last, launch->start})) {
        intervals[entry.activity->device].push_back(seconds(launch->start - last));
      }
      last = launch->start;
    }
    find_loops();
    item_loops_ = ItemLoops(activities_);
    for (auto& [device, times] : kernels) kernel_s_[device] = median(std::move(times));
    for (auto& [device, times] : intervals) launch_s_[device] = median(std::move(times));
  }

  /// Devices on which XLA runs a loop: most of what its compiled code launches in a step are a few kernels, again and
  /// again. Programs in Python repeat kernels for their layers.
  void find_loops() {
    constexpr double kOften = 64;  // times in a step
    if (framework_of(recording_) != Framework::jax || activities_.steps.empty()) return;
    std::map<int, std::map<int, double>> launches;  // by device and group
    for (const StepActivity& entry : activities_.all) {
      if (entry.activity->what == ActivityKind::kernel) ++launches[entry.activity->device][entry.activity->group];
    }
    const auto steps = static_cast<double>(activities_.steps.size());
    for (const auto& [device, groups] : launches) {
      double all = 0, often = 0;
      for (const auto& [group, count] : groups) {
        all += count;
        if (count >= kOften * steps) often += count;
      }
      if (often > 0.5 * all) loops_.insert(device);
    }
  }

  /// True if the launching thread waited for the GPU at that time.
  bool waited(const StepActivity& entry, const Span& time) const {
    const HostCalls& calls = calls_[static_cast<std::size_t>(entry.activity->process)];
    const std::span<const HostCall> within = calls.within(StepActivities::thread(entry), time);
    return std::any_of(within.begin(), within.end(), [](const HostCall& call) { return call.waited.has_value(); });
  }

  /// True if the launch of a graph started it, whatever it contains.
  bool by_graph(const Activity& activity) const {
    if (activity.what != ActivityKind::kernel) return false;
    if (activity.graph >= 0 || recording_.groups[static_cast<std::size_t>(activity.group)].graph()) return true;
    return recording_.traces[static_cast<std::size_t>(activity.process)].kernels[activity.index].graph_node != 0;
  }

  SavingCause launch_cause(const IdleGap& gap) const {
    if (optimizer_.contains(gap.next)) return SavingCause::unfused_optimizer;
    const auto kernel = kernel_s_.find(gap.device);
    const auto launch = launch_s_.find(gap.device);
    const bool tiny = kernel != kernel_s_.end() && launch != launch_s_.end() && kernel->second < launch->second;
    return tiny ? SavingCause::tiny_kernels : SavingCause::launch_rate;
  }

  CauseDetail loop_of(const IdleGap& gap) const {
    if (eager_.launched(recording_, *gap.next)) return CauseDetail::eager_programs;
    if (loops_.contains(gap.device)) return CauseDetail::kernel_loop;
    return item_loops_.of(recording_, *gap.next);
  }

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
    if (before_small_copy(gap, cause)) {
      const std::string& copied_at = next_line(gap);
      // Operations outside of jit send their scalars: nobody wrote these copies.
      if (copied_at.empty() && eager_.in_process(gap.process)) {
        return sums_.add(
            {gap.device, launch_cause(gap), CauseDetail::eager_programs, "", "", time, number, gap.seconds});
      }
      return sums_.add({gap.device, SavingCause::copies, CauseDetail::small_copies, copied_at, copied_at, time, number,
                        gap.seconds});
    }
    if (cause == SavingCause::launch_rate && first_launches_.contains(gap.next)) {
      IdleSums::Sum& sum =
          sums_.add({gap.device, SavingCause::unknown_idle, detail, "", line, time, number, gap.seconds});
      sum.facts["each ends with the first launch of a kernel"] += time;
      return sum;
    }
    const bool launching = cause == SavingCause::launch_rate;
    const bool graph = launching && by_graph(*gap.next);
    if (graph) detail = CauseDetail::graph_launches;
    if (launching && !graph) {
      cause = launch_cause(gap);
      if (cause != SavingCause::unfused_optimizer) detail = loop_of(gap);
    }
    // Launches have lines all over the program, and one cause; a loop is a cause of its own.
    const bool one_part = launching || cause == SavingCause::late_stream || cause == SavingCause::unknown_idle;
    const bool loop = detail == CauseDetail::item_loop || detail == CauseDetail::grouped_loop ||
                      detail == CauseDetail::collective_loop;
    std::string part = loop ? function_of_next(gap) : one_part ? std::string() : group;
    IdleSums::Sum& sum = sums_.add({gap.device, cause, detail, std::move(part), line, time, number, gap.seconds});
    if (launching && !graph && cause != SavingCause::unfused_optimizer && launch_s_.contains(gap.device)) {
      sum.facts[fmt::format("median kernel {}, a launch every {}", duration(kernel_s_.at(gap.device)),
                            duration(launch_s_.at(gap.device)))] += time;
    }
    return sum;
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
    if (part.call != 0) sum.calls[fmt::format("in or after {}", trace(gap).text(part.call))] += part.seconds;
  }

  static void count(Evidence& evidence, const SampledCause& cause, double weight) {
    Evidence::Share& share = evidence.causes[{cause.cause, cause.detail, function_at(cause.place)}];
    share.weight += weight;
    share.lines[cause.place.text()] += weight;
    evidence.weight += weight;
    ++evidence.samples;
  }

  /// True if the profiler was at work in most of the gap. Stacks in its libraries are often cut, so that some samples
  /// show no profiler.
  bool is_ours(const IdleGap& gap, std::span<const int> samples) const {
    double ours = 0, all = 0;
    for (const int index : samples) {
      const double weight = samples_.weight(index, gap.host);
      all += weight;
      if (samples_.is_profiler(index)) ours += weight;
    }
    return ours > 0.5 * all;
  }

  void collect_samples() {
    if (samples_.empty()) return;
    for (IdleGap& gap : gaps_) {
      if (!(gap.rest_s > 0) || gap.host.length() == 0) continue;
      const std::span<const int> samples =
          samples_.within(samples_.thread(trace(gap).process.pid, gap.thread), gap.host);
      if (is_ours(gap, samples)) {
        gap.known.clear();
        gap.rest_s = 0;
        continue;
      }
      // A sample in a host's time of which half made the GPU wait counts half.
      const double scale = gap.rest_s / seconds(gap.host.length());
      for (const int index : samples) {
        if (samples_.is_profiler(index)) continue;
        const SampledCause cause = samples_.cause_of(index, gap.work);
        const double weight = scale * samples_.weight(index, gap.host);
        for (int width = 0; width < kWidths; ++width) {
          count(evidence_[static_cast<std::size_t>(width)][key_of(gap, recording_, width)], cause, weight);
        }
      }
    }
    for (auto& sets : evidence_) {
      for (auto& [key, evidence] : sets) find_facts(key, evidence);
    }
  }

  /// For gaps in which the thread was never sampled (sampling ran in another phase): all its samples except launching
  /// and waiting for the GPU.
  const Evidence* evidence_of_phase(const IdleGap& gap) {
    if (gap.work.full_speed) return nullptr;
    const auto [found, added] = phase_evidence_.try_emplace(key_of(gap, recording_, kWidths - 1));
    Evidence& evidence = found->second;
    if (added) {
      const int thread = samples_.thread(trace(gap).process.pid, gap.thread);
      NextWork launching = gap.work;
      launching.full_speed = true;
      for (const int index : samples_.within(thread, {0, std::numeric_limits<std::uint64_t>::max()})) {
        if (samples_.is_profiler(index)) continue;
        if (samples_.cause_of(index, launching).cause == SavingCause::launch_rate) continue;
        count(evidence, samples_.cause_of(index, gap.work), samples_.weight(index, gap.host));
      }
      find_facts(found->first, evidence);
    }
    return evidence.samples > 0 ? &evidence : nullptr;
  }

  /// From the narrowest set with enough samples; null if none has.
  const Evidence* evidence_for(const IdleGap& gap) {
    constexpr std::array<std::int64_t, kWidths> kFewest = {8, 4, 1};
    for (int width = 0; width < kWidths; ++width) {
      const auto& sets = evidence_[static_cast<std::size_t>(width)];
      const auto found = sets.find(key_of(gap, recording_, width));
      if (found != sets.end() && found->second.samples >= kFewest[static_cast<std::size_t>(width)]) {
        return &found->second;
      }
    }
    return evidence_of_phase(gap);
  }

  /// Fraction of the samples in which the thread waits for clients.
  static double requests_share(const Evidence& evidence) {
    double requests = 0;
    for (const auto& [key, share] : evidence.causes) {
      if (std::get<CauseDetail>(key) == CauseDetail::requests) requests += share.weight;
    }
    return requests / evidence.weight;
  }

  /// Checks whether the GPU is idle mostly because it waits for requests: other host work then delays responses, not
  /// the GPU.
  void find_requests() {
    double idle = 0, requests = 0;
    for (const IdleGap& gap : gaps_) {
      idle += gap.seconds;
      const Evidence* const evidence = gap.rest_s > 0 ? evidence_for(gap) : nullptr;
      if (evidence != nullptr) requests += gap.rest_s * requests_share(*evidence);
    }
    mostly_requests_ = requests > 0.5 * idle;
  }

  /// A request comes when a client sends it, also to a host that did not wait for the GPU before.
  void keep_waits_for_requests(IdleGap& gap) {
    const Evidence* const evidence = gap.wait != nullptr ? evidence_for(gap) : nullptr;
    if (evidence == nullptr) return;
    const double requests = requests_share(*evidence);
    for (KnownPart& part : gap.known) {
      if (!part.work_delayed) continue;
      const double kept = part.seconds * requests;
      part.seconds -= kept;
      gap.rest_s += kept;
    }
  }

  void add_rest(const IdleGap& gap) {
    const Evidence* const evidence = evidence_for(gap);
    if (evidence == nullptr) {
      add_unsampled(gap);
      return;
    }
    const bool serves = requests_share(*evidence) >= 0.5;
    for (const auto& [key, share] : evidence->causes) {
      const auto& [sampled, detail, function] = key;
      // Inputs that clients send are in no data set.
      const SavingCause cause = serves && sampled == SavingCause::data_loading ? SavingCause::host_python : sampled;
      const double time = gap.rest_s * share.weight / evidence->weight;
      // Between operations outside of jit, JAX's own threads wait for each other.
      const bool of_runtime =
          cause == SavingCause::wait_lock && gap.work.full_speed && eager_.launched(recording_, *gap.next);
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

  /// Samples whose native frames are missing say less than others at the same line: where these name what the function
  /// does, those do the same.
  static void join_unspecific(Evidence& evidence) {
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
      const bool unspecific =
          detail == CauseDetail::none && (cause == SavingCause::data_loading || cause == SavingCause::host_native ||
                                          cause == SavingCause::host_python);
      const auto& [weight, into] = specific[function];
      if (!unspecific || weight < kSpecific * all[function]) {
        ++at;
        continue;
      }
      Evidence::Share& share = evidence.causes[into];
      share.weight += at->second.weight;
      for (const auto& [line, of_line] : at->second.lines) share.lines[line] += of_line;
      at = evidence.causes.erase(at);
    }
  }

  void find_facts(const AlikeKey& key, Evidence& evidence) const {
    join_unspecific(evidence);
    const ProcessTrace& of = recording_.traces[static_cast<std::size_t>(key.process)];
    const int thread = samples_.thread(of.process.pid, key.thread);
    const WorkerActivity& workers = samples_.workers(thread);
    const std::string name = thread < 0 ? std::string() : samples_.about(thread).name;
    for (auto& [cause, share] : evidence.causes) {
      const bool awaited =
          std::get<0>(cause) == SavingCause::few_workers || std::get<0>(cause) == SavingCause::wait_queue;
      if (awaited && workers.workers > 0) {
        share.fact = fmt::format("{} worker{}, busy {} of the time, {} on a CPU", workers.workers,
                                 workers.workers == 1 ? "" : "s", percent(workers.busy), percent(workers.on_cpu));
      } else {
        share.fact = fmt::format("{} of the samples of the launching thread{}", percent(share.weight / evidence.weight),
                                 name.empty() ? "" : fmt::format(" ({})", name));
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
    } else if (gap.work.input_copy) {
      cause = SavingCause::data_loading;
    }
    IdleSums::Sum& sum = add(gap, cause, line, line, gap.rest_s);
    if (cause == SavingCause::data_loading) sum.facts["each ends in a copy from the host"] += gap.rest_s;
    if (gap.loads_code && cause != SavingCause::launch_rate) sum.facts["code is loaded in each"] += gap.rest_s;
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
  std::set<int> loops_;
  ItemLoops item_loops_;
  MemoryReturns memory_returns_;
  EagerPrograms eager_;
  std::vector<IdleGap> gaps_;
  std::set<const Activity*> optimizer_, first_launches_;
  std::set<CopyPlace> small_copies_;
  std::set<const Activity*> repeated_copies_;
  std::set<std::pair<int, spool::Id>> reloading_;                   ///< process and place
  std::map<int, std::map<std::uint64_t, SampledCause>> compilers_;  ///< by thread
  std::map<int, bool> does_collectives_;                            ///< threads
  std::map<int, HostPlace> cpu_collectives_;                        ///< by process
  std::map<int, double> kernel_s_, launch_s_;                       ///< by device
  std::map<std::pair<int, spool::Id>, std::string> lines_;          ///< by process and place
  std::array<std::map<AlikeKey, Evidence>, kWidths> evidence_;
  std::map<AlikeKey, Evidence> phase_evidence_;
  bool mostly_requests_ = false;
  IdleSums sums_;
};

}  // namespace

std::vector<IdlePart> idle_parts(const Recording& recording, const std::vector<Span>& steps,
                                 const HostSamples& samples) {
  return IdleAttribution(recording, steps, samples).parts();
}

}  // namespace roofline
