// Files of /proc, whose formats are those of proc(5). getrusage(RUSAGE_THREAD) has the same counts of context switches,
// but only for the calling thread: the files of /proc/self/task have them for all, without waking one.
#include "device/cpu/system_reading.hpp"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <system_error>

#include "device/cpu/cgroup.hpp"
#include "host/files.hpp"
#include "model/find.hpp"

namespace roofline {
namespace fs = std::filesystem;
namespace {

constexpr double kTickS = 0.01;

/// "cpu3 user nice system idle iowait irq softirq steal …", in clock ticks.
std::map<int, CpuTimes> read_cpus(const fs::path& file) {
  const auto ticks_per_s = static_cast<double>(::sysconf(_SC_CLK_TCK));
  std::map<int, CpuTimes> cpus;
  std::ifstream in(file);
  for (std::string line; std::getline(in, line) && line.starts_with("cpu");) {
    std::istringstream words(line.substr(3));
    int cpu = 0;
    double user = 0, nice = 0, system = 0, idle = 0, iowait = 0, irq = 0, softirq = 0, steal = 0;
    if (line[3] == ' ' || !(words >> cpu >> user >> nice >> system)) continue;  // the first line is the sum
    words >> idle >> iowait >> irq >> softirq >> steal;
    cpus[cpu] = {(user + nice + system) / ticks_per_s, steal / ticks_per_s};
  }
  return cpus;
}

/// Field 39 of a task's stat: the CPU that it ran on last. Its name, field 2, may contain anything but ends with the
/// last parenthesis.
int last_cpu(const std::string& stat) {
  constexpr int kFieldsBetween = 36;  // fields 3 to 38
  const std::size_t name_end = stat.rfind(')');
  if (name_end == std::string::npos) return -1;
  std::istringstream words(stat.substr(name_end + 1));
  std::string skipped;
  for (int field = 0; field < kFieldsBetween; ++field) words >> skipped;
  int cpu = -1;
  return words >> cpu ? cpu : -1;
}

/// CPU time of the process and of the children that it has waited for.
double own_cpu_s() {
  double seconds = 0;
  for (const int who : {RUSAGE_SELF, RUSAGE_CHILDREN}) {
    rusage usage{};
    if (getrusage(who, &usage) != 0) return 0;
    for (const timeval& time : {usage.ru_utime, usage.ru_stime})
      seconds += static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
  }
  return seconds;
}

std::int64_t involuntary_switches(const fs::path& status) {
  std::ifstream in(status);
  for (std::string word; in >> word;) {
    std::int64_t count = 0;
    if (word == "nonvoluntary_ctxt_switches:" && in >> count) return count;
  }
  return 0;
}

std::map<int, ThreadTimes> read_threads(const fs::path& folder) {
  std::map<int, ThreadTimes> threads;
  std::error_code hidden;
  for (const fs::directory_entry& task : fs::directory_iterator(folder, hidden)) {
    std::istringstream schedstat(text_of(task.path() / "schedstat"));  // ran, waited (ns), time slices
    double ran_ns = 0;
    double waited_ns = 0;
    if (!(schedstat >> ran_ns >> waited_ns)) continue;  // a thread that has just ended, or a kernel without it
    threads[std::atoi(task.path().filename().c_str())] = {last_cpu(text_of(task.path() / "stat")), ran_ns * 1e-9,
                                                          waited_ns * 1e-9,
                                                          involuntary_switches(task.path() / "status")};
  }
  return threads;
}

/// Deducts `own_s` from what others seem to have had, from all CPUs in the same proportion.
void deduct(std::map<int, Contention::CpuLoss>& of_cpu, double own_s) {
  double all = 0;
  for (const auto& [cpu, lost] : of_cpu) all += std::max(0.0, lost.others_s);
  if (!(all > 0)) return;
  const double kept = std::max(0.0, 1 - own_s / all);
  for (auto& [cpu, lost] : of_cpu) {
    if (lost.others_s > 0) lost.others_s *= kept;
  }
}

}  // namespace

SystemReading read_system(const std::string& root) {
  const fs::path proc = root + "/proc";
  return {.cpus = read_cpus(proc / "stat"),
          .threads = read_threads(proc / "self/task"),
          .own_s = own_cpu_s(),
          .throttled_s = read_throttled_s(root)};
}

Contention contention_between(const SystemReading& before, const SystemReading& after, double wall_s,
                              const std::vector<int>& cpus, int cores) {
  Contention seen{.wall_s = wall_s, .cpus = static_cast<std::int64_t>(cpus.size()), .cores = cores};
  std::map<int, double> own_s;                      // by the CPU that each thread ran on last
  double elsewhere_s = after.own_s - before.own_s;  // CPU time of the process on unknown CPUs: ended threads, children
  for (const auto& [id, now] : after.threads) {
    const auto found = before.threads.find(id);
    const ThreadTimes then = found == before.threads.end() ? ThreadTimes{} : found->second;
    own_s[now.cpu] += now.ran_s - then.ran_s;
    elsewhere_s -= now.ran_s - then.ran_s;
    seen.waited_s = std::max(seen.waited_s, now.waited_s - then.waited_s);
    seen.preemptions += now.preemptions - then.preemptions;
  }
  elsewhere_s = std::max(0.0, elsewhere_s);
  for (const auto& [cpu, now] : after.cpus) {
    const auto then = before.cpus.find(cpu);
    if (then == before.cpus.end()) continue;
    const double stolen = std::max(0.0, now.stolen_s - then->second.stolen_s);
    const double others = now.busy_s - then->second.busy_s - own_s[cpu];
    // A thread that ran for longer than its CPU was busy, and than was stolen from it there, was on another CPU before.
    const double moved = std::max(0.0, -others - stolen - kTickS);
    elsewhere_s += moved;
    if (!contains(cpus, cpu)) continue;
    // A thread's own time may hold what was stolen from it, so this is the least that others can have had. Without the
    // threads' own times, all that the CPUs did would seem to be the others'.
    seen.of_cpu[cpu] = {after.threads.empty() ? 0 : others + moved, stolen};
  }
  deduct(seen.of_cpu, elsewhere_s);
  seen.sum_cpus();
  seen.throttled_s = std::max(0.0, after.throttled_s - before.throttled_s);
  return seen;
}

}  // namespace roofline
