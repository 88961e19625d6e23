// What a row costs beside its measuring: a suite of short rows from its YAML to the finished report.json. Measuring is
// what happens while there is a case: preparing, verifying, sampling; but not taking it down. A tool and not a test,
// for it tells the time.
//   roofline_row_overhead [rows] [milliseconds of sampling a row]
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <ctime>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>

#include "analyze/analyze.hpp"
#include "analyze/journal.hpp"
#include "host/host.hpp"

namespace roofline {
namespace {

/// One op at as many small extents as there are rows.
Suite suite_of(int rows) {
  std::string extents;
  for (int i = 0; i < rows; ++i) extents += fmt::format("{}{}", i > 0 ? ", " : "", 1024 + i);
  const std::string text =
      fmt::format("name: rows\nworkloads:\n  - {{ op: relu, cache: hot, shape: {{ n: [{}] }} }}\n", extents);
  return parse_suite(text, "rows.yaml", DeviceKind::cpu);
}

/// Roofs for every resource of the rows, so that each gets a bound and a diagnosis.
Machine machine_with_roofs() {
  Machine machine;
  machine.device.kind = DeviceKind::cpu;
  const auto add = [&](const std::string& name, CeilingKind kind, double value) -> Ceiling& {
    Ceiling& ceiling = machine.ceilings.emplace_back();
    ceiling.name = name;
    ceiling.kind = kind;
    ceiling.value = value;
    ceiling.ci95 = {.low = 0.99 * value, .high = 1.01 * value};
    return ceiling;
  };
  add("fp32", CeilingKind::compute, 1e11).pipe = Pipe::fp32;
  Ceiling& memory = add("dram.copy", CeilingKind::bandwidth, 2e10);
  memory.level = Level::dram;
  memory.pattern = Pattern::copy;
  return machine;
}

/// What this process and its children know together: when the case at work was begun, and how long all took.
struct Stopwatch {
  double begun = 0, cpu_begun = 0;
  double seconds = 0, cpu_seconds = 0;
};

/// CPU seconds of this process and its threads.
double cpu_seconds() {
  timespec time{};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

/// CPU seconds of the children that have ended.
double cpu_seconds_of_children() {
  rusage usage{};
  ::getrusage(RUSAGE_CHILDREN, &usage);
  const auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + 1e-6 * static_cast<double>(t.tv_usec);
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

/// Has the entry's implementation tell when its case is begun (its first question) and when it is taken down.
void watch(SuiteEntry& entry, Stopwatch& watch) {
  entry.implementation->unsupported = [&watch](const Workload&, const Device&) {
    watch.begun = wall_seconds();
    watch.cpu_begun = cpu_seconds();
    return std::optional<std::string>();
  };
  entry.implementation->prepare = [&watch, prepare = entry.implementation->prepare](const Workload& w, Device& device) {
    const std::shared_ptr<void> end(nullptr, [&watch](void*) {
      watch.seconds += wall_seconds() - watch.begun;
      watch.cpu_seconds += cpu_seconds() - watch.cpu_begun;
    });
    return [kernel = prepare(w, device), end](std::span<void* const> tensors) { kernel(tensors); };
  };
}

void run(int rows, double sampling_s) {
  void* shared = ::mmap(nullptr, sizeof(Stopwatch), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  auto& stopwatch = *new (shared) Stopwatch;
  AnalyzeOptions options;
  options.device.options.threads = 1;
  options.sampler.warm_up_s = sampling_s / 4;
  options.sampler.min_time_s = options.sampler.max_time_s = sampling_s / 2;
  options.sampler.min_sample_s = sampling_s / 40;
  const std::filesystem::path path = fmt::format("row-overhead-{}.json", ::getpid());
  Journal journal(path);
  options.on_row = [&](const Report& so_far) { journal.add_rows(so_far); };

  const double begin = wall_seconds();
  const double cpu_begin = cpu_seconds();
  Suite suite = suite_of(rows);
  const double parsed = wall_seconds();
  for (SuiteEntry& entry : suite.entries) watch(entry, stopwatch);
  const Report report = analyze(suite, machine_with_roofs(), options);
  const double analyzed = wall_seconds();
  journal.finish(report);
  const double written = wall_seconds();
  const double parent_cpu = cpu_seconds() - cpu_begin;
  const double child_cpu = cpu_seconds_of_children() - stopwatch.cpu_seconds;
  std::filesystem::remove(path);

  const auto a_row = [&](double seconds) { return 1e3 * seconds / rows; };
  const double outside = written - begin - stopwatch.seconds;
  fmt::print("{} rows in {:.2f} s; of each, {:.3f} ms are measuring and {:.3f} ms are not: {:.1f} %\n", rows,
             written - begin, a_row(stopwatch.seconds), a_row(outside), 100 * outside / (written - begin));
  fmt::print("not measuring: suite {:.3f} ms a row, rows {:.3f}, the finished report.json {:.3f}\n",
             a_row(parsed - begin), a_row(analyzed - parsed - stopwatch.seconds), a_row(written - analyzed));
  fmt::print(
      "CPU time that is not measuring, which other programs do not disturb: parent {:.3f} ms a row, child {:.3f}\n",
      a_row(parent_cpu), a_row(child_cpu));
}

}  // namespace
}  // namespace roofline

int main(int argc, char** argv) {
  roofline::run(argc > 1 ? std::stoi(argv[1]) : 10000, argc > 2 ? std::stod(argv[2]) / 1e3 : 1e-3);
}
