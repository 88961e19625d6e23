#include "profile/idle/thread_samples.hpp"

#include <algorithm>
#include <iterator>

#include "model/find.hpp"
#include "text/source_place.hpp"
#include "text/text.hpp"

namespace roofline {

ThreadSamples::ThreadSamples(const HostSamples& samples, const Recording& recording) : samples_(samples) {
  constexpr double kUsualRate = 99;
  period_ = static_cast<std::uint64_t>(1e9 / (samples.rate_hz > 0 ? samples.rate_hz : kUsualRate));
  by_thread_.resize(samples.threads.size());
  for (std::size_t i = 0; i < samples.samples.size(); ++i) {
    const int thread = samples.samples[i].thread;
    if (thread >= 0 && static_cast<std::size_t>(thread) < by_thread_.size()) {
      by_thread_[static_cast<std::size_t>(thread)].push_back(static_cast<int>(i));
    }
  }
  for (std::size_t i = 0; i < samples.threads.size(); ++i) {
    threads_[{samples.threads[i].pid, samples.threads[i].tid}] = static_cast<int>(i);
    parents_[samples.threads[i].pid] = samples.threads[i].parent;
  }
  for (const ProcessTrace& trace : recording.traces) {
    find_readbacks(trace);
    std::set<std::uint32_t> ids;
    for (const spool::Launch& launch : trace.launches) {
      ids.insert(launch.thread);
      launches_[trace.process.pid].push_back(launch.start);
      const spool::Line& line = trace.line(trace.place(trace.kind(launch.kind).place).line);
      if (line.id != 0)
        launching_lines_.insert({std::string(last_path_part(trace.text(line.file))), static_cast<int>(line.number)});
    }
    for (const std::uint32_t id : ids) {
      if (const int found = thread(trace.process.pid, id); found >= 0) launching_[trace.process.pid].push_back(found);
    }
    // A runtime may launch from a thread of its own what the main thread gives it.
    const int main = thread(trace.process.pid, trace.process.pid);
    if (main >= 0 && !ids.contains(trace.process.pid)) launching_[trace.process.pid].push_back(main);
  }
  for (auto& [pid, times] : launches_) std::sort(times.begin(), times.end());
  find_workers();
  for (std::size_t i = 0; i < samples.stacks.size() && !traces_anomalies_; ++i) {
    const StackView frames(samples, static_cast<int>(i));
    traces_anomalies_ = frames.traces_anomalies() && !frames.compiles();
  }
}

namespace {

/// A function by the name that its recorded calls and its samples share: "Loader.next" and "next" are one.
std::pair<std::string, std::string> function_key(std::string_view file, std::string_view function) {
  return {std::string(last_path_part(file)), std::string(without_class(function))};
}

}  // namespace

void ThreadSamples::find_readbacks(const ProcessTrace& trace) {
  constexpr std::uint64_t kArray = 64;  // less is a number or two
  const auto add = [&](spool::Id place, std::set<int> FunctionLines::*to) {
    const spool::Line& line = trace.line(trace.place(place).line);
    if (line.id == 0) return;
    FunctionLines& lines = lines_[function_key(trace.text(line.file), trace.text(line.function))];
    (lines.*to).insert(static_cast<int>(line.number));
  };
  std::set<spool::Id> launching;
  for (const spool::Launch& launch : trace.launches) launching.insert(trace.kind(launch.kind).place);
  for (const spool::Id place : launching) add(place, &FunctionLines::work);
  for (const spool::Copy& copy : trace.copies) {
    const bool to_host = copy.to == spool::Memory::pageable || copy.to == spool::Memory::pinned;
    const bool readback = copy.from == spool::Memory::device && to_host && copy.bytes >= kArray;
    add(copy.place, readback ? &FunctionLines::readbacks : &FunctionLines::work);
  }
}

bool ThreadSamples::works_on_results(const HostPlace& place, const StackView& frames) const {
  const auto found = lines_.find(function_key(place.file, place.function));
  if (found != lines_.end() && !found->second.readbacks.empty() && place.line >= *found->second.readbacks.begin()) {
    return true;
  }
  const auto follows_readback = [this](const HostPlace& caller) {
    const auto of = lines_.find(function_key(caller.file, caller.function));
    if (of == lines_.end()) return false;
    const auto behind = of->second.readbacks.upper_bound(caller.line);
    if (behind == of->second.readbacks.begin()) return false;
    const auto work = of->second.work.upper_bound(*std::prev(behind));
    return work == of->second.work.end() || *work > caller.line;
  };
  return std::ranges::any_of(frames.python_places(), follows_readback);
}

int ThreadSamples::thread(std::int64_t pid, std::int64_t tid) const {
  const auto found = threads_.find({pid, tid});
  return found == threads_.end() ? -1 : found->second;
}

std::span<const int> ThreadSamples::within(int thread, const Span& time) const {
  if (thread < 0) return {};
  const std::vector<int>& all = by_thread_[static_cast<std::size_t>(thread)];
  const auto earlier = [this](int index, std::uint64_t moment) { return sample(index).time < moment; };
  const auto first = std::lower_bound(all.begin(), all.end(), time.start, earlier);
  const auto last = std::lower_bound(first, all.end(), time.end, earlier);
  return {first, last};
}

double ThreadSamples::seconds_of(int index) const {
  const auto of = static_cast<double>(sample(index).seconds);
  return of > 0 ? of : seconds(period_);
}

double ThreadSamples::weight(int index, const Span& time) const {
  // A thread that waits for long is not read each time; what was before this time is not part of it.
  return std::min(seconds_of(index), seconds(std::max(time.length(), period_)));
}

int ThreadSamples::nearest(int thread, std::uint64_t time) const {
  if (thread >= 0) {
    const std::vector<int>& all = by_thread_[static_cast<std::size_t>(thread)];
    const auto next = std::lower_bound(all.begin(), all.end(), time,
                                       [this](int index, std::uint64_t moment) { return sample(index).time < moment; });
    if (next != all.end() && seconds(sample(*next).time - time) <= seconds_of(*next)) return *next;
  }
  const std::uint64_t reach = 2 * period_;
  int best = -1;
  std::uint64_t best_distance = reach;
  for (const int index : within(thread, {time > reach ? time - reach : 0, time + reach})) {
    const std::uint64_t at = sample(index).time;
    const std::uint64_t distance = at > time ? at - time : time - at;
    if (distance < best_distance) {
      best = index;
      best_distance = distance;
    }
  }
  return best;
}

int ThreadSamples::running_for(int index) const {
  const HostSample& waiting = sample(index);
  const auto found = launching_.find(about(waiting.thread).pid);
  if (found == launching_.end()) return -1;
  for (const int other : found->second) {
    if (other == waiting.thread) continue;
    const int at = nearest(other, waiting.time);
    if (at >= 0 && (on_cpu(sample(at).state) || sample(at).state == ThreadState::gil)) return at;
  }
  return -1;
}

bool ThreadSamples::awaits_queue(int index) const {
  const ThreadState state = sample(index).state;
  const bool waits = state == ThreadState::lock || state == ThreadState::read || state == ThreadState::poll ||
                     state == ThreadState::network || state == ThreadState::request || state == ThreadState::other;
  return waits && stack(index).awaits_queue();
}

/// Includes the server from which multiprocessing forks workers.
bool ThreadSamples::descends(std::int64_t process, std::int64_t from) const {
  constexpr int kMostGenerations = 8;
  for (int generation = 0; generation < kMostGenerations; ++generation) {
    const auto parent = parents_.find(process);
    if (parent == parents_.end()) return false;
    process = parent->second;
    if (process == from) return true;
  }
  return false;
}

// A worker is a child process, or another thread of the process, that has made an item at least once.
void ThreadSamples::find_workers() {
  for (const auto& [pid, launching] : launching_) {
    std::vector<std::uint64_t> waits;
    std::vector<int> waiting;
    for (const int thread : launching) {
      for (const int index : by_thread_[static_cast<std::size_t>(thread)]) {
        if (awaits_queue(index)) waiting.push_back(index);
      }
    }
    if (waiting.empty()) continue;
    std::sort(waiting.begin(), waiting.end());  // samples are sorted by time
    waits.reserve(waiting.size());
    for (const int index : waiting) waits.push_back(sample(index).time);
    std::vector<Worker> processes;
    WorkerActivity& activity = workers_[pid];
    std::map<HostPlace, double> places;
    double seen = 0, busy = 0, running = 0, ready = 0;
    for (std::size_t other = 0; other < by_thread_.size(); ++other) {
      const HostThread& about_other = samples_.threads[other];
      const bool child = about_other.main && descends(about_other.pid, pid);
      const bool sibling = about_other.pid == pid &&
                           std::find(launching.begin(), launching.end(), static_cast<int>(other)) == launching.end();
      if (!child && !sibling) continue;
      const std::vector<int>& all = by_thread_[other];
      const bool works = std::any_of(all.begin(), all.end(), [this](int i) { return stack(i).works_for_loader(); });
      if (!works) continue;
      ++activity.workers;
      const bool looped = std::any_of(all.begin(), all.end(), [this](int i) { return stack(i).in_worker(); });
      if (child && looped) processes.push_back(worker_of(static_cast<int>(other)));
      for (const int index : all) {
        const std::uint64_t time = sample(index).time;
        const auto wait = std::lower_bound(waits.begin(), waits.end(), time > period_ ? time - period_ : 0);
        if (wait == waits.end() || *wait > time + period_) continue;
        const double time_s = seconds_of(index);
        seen += time_s;
        running += on_cpu(sample(index).state) ? time_s : 0;
        ready += sample(index).state == ThreadState::runnable ? time_s : 0;
        if (!stack(index).works_for_loader()) continue;
        busy += time_s;
        places[stack(index).place_in_worker()] += time_s;
      }
    }
    if (seen > 0) {
      activity.busy = busy / seen;
      activity.on_cpu = running / seen;
      activity.ready = ready / seen;
    }
    activity.place = key_of_largest(places);
    find_beginnings(pid, std::move(processes), waiting);
  }
}

bool ThreadSamples::is_autograd(int thread) const {
  return thread >= 0 && about(thread).name.starts_with("pt_autograd");
}

std::set<std::string, std::less<>> ThreadSamples::lines_of_objects() const {
  constexpr double kMostly = 0.5;
  std::map<std::string, std::pair<double, double>, std::less<>> weights;  // of objects, and all
  for (const auto& [process, threads] : launching_) {
    for (const int thread : threads) {
      for (const int index : by_thread_[static_cast<std::size_t>(thread)]) {
        const StackView frames = stack(index);
        if (!frames.in_program()) continue;
        auto& [objects, all] = weights[std::string(line_of_place(frames.place().text()))];
        const double time_s = seconds_of(index);
        if (frames.sends_objects()) objects += time_s;
        all += time_s;
      }
    }
  }
  std::set<std::string, std::less<>> lines;
  for (const auto& [line, weight] : weights) {
    if (weight.first > kMostly * weight.second) lines.insert(line);
  }
  return lines;
}

void ThreadSamples::find_communicators(const std::vector<Span>& steps) {
  constexpr std::size_t kSeveral = 3, kLeast = 2;
  const std::size_t several = std::max(kLeast, std::min(kSeveral, steps.size()));
  std::map<std::string, std::set<std::size_t>> in_steps;
  communicator_lines_.clear();
  for (const auto& [process, threads] : launching_) {
    for (const int thread : threads) {
      for (const int index : by_thread_[static_cast<std::size_t>(thread)]) {
        const std::size_t step = span_at(steps, sample(index).time);
        const StackView frames = stack(index);
        if (step == steps.size() || !frames.in_program()) continue;
        const std::string line(line_of_place(frames.place().text()));
        LineSeconds& of_line = communicator_lines_[line];
        of_line.all += seconds_of(index);
        if (!frames.connects_ranks()) continue;
        of_line.communicators += seconds_of(index);
        in_steps[line].insert(step);
      }
    }
  }
  std::erase_if(communicator_lines_, [&](const auto& line) { return in_steps[line.first].size() < several; });
}

bool ThreadSamples::is_of_communicators(std::string_view line) const {
  constexpr double kMostly = 0.5;
  const auto found = communicator_lines_.find(line);
  return found != communicator_lines_.end() && found->second.communicators > kMostly * found->second.all;
}

bool ThreadSamples::does_cpu_collectives(int thread) const {
  if (thread < 0 || about(thread).main) return false;
  const std::vector<int>& all = by_thread_[static_cast<std::size_t>(thread)];
  return about(thread).name.starts_with("pt_gloo") || std::any_of(all.begin(), all.end(), [this](int index) {
           return stack(index).in_cpu_collective() && !stack(index).in_program();
         });
}

const WorkerActivity& ThreadSamples::workers(int thread) const {
  static const WorkerActivity kNone;
  const auto found = thread < 0 ? workers_.end() : workers_.find(about(thread).pid);
  return found == workers_.end() ? kNone : found->second;
}

SampledCause ThreadSamples::wait_for_workers(int index) const {
  constexpr double kMostly = 0.5, kMuchReady = 0.25;
  if (waits_for_beginning_.contains(index)) {
    return {SavingCause::data_loading, stack(index).place(), CauseDetail::workers_started};
  }
  const WorkerActivity& activity = workers(sample(index).thread);
  if (activity.workers > 0 && activity.busy >= kMostly) {
    return {SavingCause::few_workers, activity.place.known() ? activity.place : stack(index).place(),
            activity.ready > kMuchReady * activity.on_cpu ? CauseDetail::busy_cpus : CauseDetail::none};
  }
  return {SavingCause::wait_queue, stack(index).place()};
}

int ThreadSamples::main_beside(int index) const {
  const HostSample& of = sample(index);
  const std::int64_t pid = about(of.thread).pid;
  return nearest(thread(pid, pid), of.time);
}

bool ThreadSamples::is_profiler(int index) const {
  if (stack(index).in_profiler()) return true;
  const int main = on_cpu(sample(index).state) ? -1 : main_beside(index);
  return main >= 0 && stack(main).in_profiler();
}

bool ThreadSamples::compiles(int index) const {
  const StackView frames = stack(index);
  if (frames.compiles() || frames.in_program()) return frames.compiles();
  // A runtime's threads compile and tune what the main thread asked for.
  const int main = main_beside(index);
  return main >= 0 && stack(main).compiles();
}

HostPlace ThreadSamples::place_in_program(int index) const {
  const StackView frames = stack(index);
  const int main = frames.in_program() ? -1 : main_beside(index);
  return main >= 0 && stack(main).in_program() ? stack(main).place() : frames.place();
}

HostPlace ThreadSamples::holder_of_gil(int index) const {
  const HostSample& of = sample(index);
  if (of.gil_holder < 0 || static_cast<std::size_t>(of.gil_holder) >= by_thread_.size()) return {};
  const int at = nearest(of.gil_holder, of.time);
  return at < 0 ? HostPlace() : stack(at).place();
}

SampledCause ThreadSamples::compilation(int index) const {
  const StackView frames = stack(index);
  return {SavingCause::recompilation, place_in_program(index),
          frames.compiles() ? frames.compiler() : stack(main_beside(index)).compiler()};
}

SampledCause ThreadSamples::ran(int index, const NextWork& next) const {
  const StackView frames = stack(index);
  const HostPlace place = place_in_program(index);
  if (frames.traces_anomalies()) return {SavingCause::item_sync, place, CauseDetail::anomaly_mode};
  if (frames.prints_tensor()) return {SavingCause::logging_sync, place};
  if (frames.profiles()) return {SavingCause::profiler_on, place};
  if (frames.starts_workers()) return {SavingCause::data_loading, place, CauseDetail::workers_started};
  if (frames.copies_deeply()) return {SavingCause::host_python, place, CauseDetail::deep_copies};
  if (frames.decompresses()) return {SavingCause::data_loading, place, CauseDetail::decompression};
  if (frames.loads_data()) return {SavingCause::data_loading, place};
  if (next.full_speed && (frames.empty() || frames.dispatches() ||
                          launching_lines_.contains({std::string(last_path_part(place.file)), place.line}))) {
    return {SavingCause::launch_rate, place};
  }
  if (frames.saves_state()) return {SavingCause::host_native, place, CauseDetail::saved_state};
  if (frames.sends_objects()) return {SavingCause::host_python, place, CauseDetail::object_messages};
  if (!next.full_speed && frames.picks_items()) return {SavingCause::host_python, place, CauseDetail::host_picks};
  if (!next.full_speed && frames.draws_random()) return {SavingCause::host_native, place, CauseDetail::host_random};
  // A model's forward already has its input.
  if (next.input_copy && frames.in_model()) return {SavingCause::host_native, place, CauseDetail::made_on_host};
  const SavingCause runs = frames.native() || frames.empty() ? SavingCause::host_native : SavingCause::host_python;
  if (!next.full_speed && frames.prepares_shards()) return {runs, place, CauseDetail::shard_copies};
  if (!next.full_speed && works_on_results(place, frames)) return {runs, place, CauseDetail::host_results};
  if (next.input_copy && !is_autograd(sample(index).thread)) {
    return {SavingCause::data_loading, place, frames.gathers_rows() ? CauseDetail::host_gather : CauseDetail::none};
  }
  if (!next.full_speed && frames.computes_on_cpu()) return {SavingCause::host_native, place, CauseDetail::cpu_tensors};
  return {runs, place};
}

SampledCause ThreadSamples::cause_of(int index, const NextWork& next) const {
  const StackView frames = stack(index);
  if (frames.imports()) return {SavingCause::module_load, place_in_program(index), CauseDetail::imports};
  if (compiles(index)) return compilation(index);
  if (frames.connects_ranks() && communicator_lines_.contains(line_of_place(frames.place().text()))) {
    return {SavingCause::new_communicators, frames.place()};
  }
  if (frames.starts_workers())
    return {SavingCause::data_loading, place_in_program(index), CauseDetail::workers_started};
  if (awaits_queue(index)) return wait_for_workers(index);
  const HostPlace place = place_in_program(index);
  if (frames.in_cpu_collective()) {
    if (frames.in_barrier()) return {SavingCause::barrier, place};
    if (frames.sends_objects()) return {SavingCause::host_python, place, CauseDetail::object_messages};
    return {SavingCause::wait_network, place, CauseDetail::cpu_collective};
  }
  if (frames.runs_program()) return {SavingCause::wait_queue, place, CauseDetail::subprocess};
  switch (sample(index).state) {
    case ThreadState::running:
    case ThreadState::runnable:
      return ran(index, next);
    case ThreadState::gil:
      return {SavingCause::gil, holder_of_gil(index)};
    case ThreadState::lock: {
      if (frames.awaits_team()) return ran(index, next);
      const int other = running_for(index);
      if (other >= 0 && sample(other).state == ThreadState::gil) return {SavingCause::gil, holder_of_gil(other)};
      if (other >= 0) return compiles(other) ? compilation(other) : ran(other, next);
      const int main = main_beside(index);
      if (main >= 0 && (sample(main).state != ThreadState::lock || awaits_queue(main))) return cause_of(main, next);
      // Both wait: one hands over to the other.
      const bool backward = frames.awaits_backward();
      if (next.full_speed && (backward || (main >= 0 && main != index))) return {SavingCause::launch_rate, place};
      if (backward) return {SavingCause::unknown_idle, place};
      return {SavingCause::wait_lock, place};
    }
    case ThreadState::network:
      return {SavingCause::wait_network, place};
    case ThreadState::request:
      return {SavingCause::wait_network, place, CauseDetail::requests};
    case ThreadState::poll:
      return {frames.talks_to_network() ? SavingCause::wait_network : SavingCause::wait_queue, place};
    case ThreadState::read:
    case ThreadState::child:
      return {SavingCause::wait_queue, place};
    case ThreadState::disk:
      if (frames.saves_state()) return {SavingCause::host_native, place, CauseDetail::saved_state};
      return {SavingCause::wait_disk, place};
    case ThreadState::sleep:
      return {SavingCause::sleep, place};
    case ThreadState::gpu:
      if (next.full_speed) return {SavingCause::launch_rate, place};
      return {SavingCause::synchronize, place};
    case ThreadState::other:
      break;
  }
  return {SavingCause::unknown_idle, place};
}

}  // namespace roofline
