// A kernel that fails costs its own row and no other: an op whose implementations each fail in their own
// way, run through analyze() on the CPU. An executable of its own, so that no other test sees this op.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <csignal>
#include <stdexcept>
#include <thread>

#include "analyze/analyze.hpp"
#include "analyze/reference_probe.hpp"
#include "device/cpu/placement.hpp"
#include "device/cpu/thread_pool.hpp"
#include "host/interrupt.hpp"
#include "model/error.hpp"
#include "op/registry.hpp"
#include "report/roof_share.hpp"

namespace roofline {
namespace {

/// y = x.
class Fault final : public Op {
 public:
  std::string_view name() const override { return "fault"; }
  std::string_view summary() const override { return "y = x, in ways that go wrong"; }
  std::string_view family() const override { return "elementwise"; }
  std::vector<ShapeParameter> parameters() const override { return {{.name = "n", .meaning = "elements"}}; }
  std::vector<TensorSpec> tensors(const Workload& workload) const override {
    const std::int64_t n = workload.shape["n"];
    return {{"x", TensorRole::input, n, workload.dtype}, {"y", TensorRole::output, n, workload.dtype}};
  }
  Work work(const Workload& workload, DeviceKind device) const override {
    const auto n = static_cast<double>(workload.shape["n"]);
    Work work;
    work.flops[Pipe::fp32] = n;
    work.bytes[main_memory(device)] = {.read = 4 * n, .write = 4 * n};
    return work;
  }
  void reference(const Workload&, std::span<const HostTensor> inputs, std::span<const std::int64_t> indices,
                 std::span<double> expected) const override {
    for (std::size_t i = 0; i < indices.size(); ++i) expected[i] = inputs[0][indices[i]];
  }
  double reference_cost(const Workload&) const override { return 1; }
  Tolerance tolerance(const Workload&) const override { return {.relative = 1e-6, .magnitude = 1}; }
  std::vector<Implementation> implementations() const override;
};

/// Whether "moody" is so now: seen by all processes that a test starts.
std::atomic<bool>& mood() {
  static void* const shared =
      ::mmap(nullptr, sizeof(std::atomic<bool>), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  static auto* const mood = new (shared) std::atomic<bool>(true);
  return *mood;
}

/// Half a millisecond, or for ten launches that and for ten the double.
void be_moody() {
  static int launches = 0;
  using namespace std::chrono_literals;
  const bool slow = mood() && launches++ / 10 % 2 == 1;
  const auto end = std::chrono::steady_clock::now() + (slow ? 1000us : 500us);
  while (std::chrono::steady_clock::now() < end) {
  }
}

using Run = std::function<void(const float* x, float* y, std::int64_t n)>;

Implementation implementation(const std::string& name, Run run) {
  return {.name = name,
          .summary = name,
          .device = DeviceKind::cpu,
          .dtypes = {DType::fp32},
          .unsupported = {},
          .prepare = [run](const Workload& workload, Device&) -> Kernel {
            const std::int64_t n = workload.shape["n"];
            return [run, n](std::span<void* const> tensors) {
              run(static_cast<const float*>(tensors[0]), static_cast<float*>(tensors[1]), n);
            };
          }};
}

std::vector<Implementation> Fault::implementations() const {
  const auto copy = [](const float* x, float* y, std::int64_t n) { std::copy(x, x + n, y); };
  Implementation elsewhere = implementation("elsewhere", copy);
  elsewhere.unsupported = [](const Workload&, const Device&) { return "needs n <= 7"; };
  return {implementation("good", copy),
          implementation("crashes", [](const float*, float*, std::int64_t) { ::raise(SIGKILL); }),
          implementation("hangs",
                         [](const float*, float*, std::int64_t) {
                           for (;;) ::pause();
                         }),
          implementation("stops", [](const float*, float*, std::int64_t) { ::kill(::getpid(), SIGSTOP); }),
          implementation("exits", [](const float*, float*, std::int64_t) { ::_exit(3); }),
          implementation("poisons",
                         [](const float*, float*, std::int64_t) { throw PoisonedDevice("illegal memory access"); }),
          implementation("throws", [](const float*, float*, std::int64_t) { throw std::runtime_error("no luck"); }),
          implementation("wrong",
                         [copy](const float* x, float* y, std::int64_t n) {
                           copy(x, y, n);
                           y[n / 2] += 0.5F;
                         }),
          implementation("moody",
                         [copy](const float* x, float* y, std::int64_t n) {
                           be_moody();
                           copy(x, y, n);
                         }),
          implementation("lazy", [copy](const float* x, float* y, std::int64_t n) { copy(x, y, n - 1); }),
          elsewhere};
}

const OpRegistrar kRegistrar(std::make_unique<Fault>());

Suite suite_of(const std::vector<std::string>& implementations) {
  std::string text = "name: faults\nworkloads:\n";
  for (const std::string& name : implementations) text += "  - {op: fault, impl: " + name + ", shape: {n: 4096}}\n";
  return parse_suite(text, "faults.yaml", DeviceKind::cpu);
}

AnalyzeOptions fast_options() {
  AnalyzeOptions options;
  options.device.options.threads = 1;
  options.sampler.warm_up_s = 0.001;
  options.sampler.min_time_s = 0.001;
  options.sampler.max_time_s = 0.05;
  return options;
}

TEST(AnalyzeFaults, EachFailureCostsItsOwnRow) {
  const Suite suite = suite_of({"good", "crashes", "good", "poisons", "exits", "wrong", "lazy", "throws", "good"});
  const Report report = analyze(suite, Machine{}, fast_options());
  ASSERT_EQ(report.points.size(), suite.entries.size());
  const std::vector<std::pair<std::size_t, std::string>> reasons = {{1, "signal 9"},    {3, "illegal memory access"},
                                                                    {4, "exit code 3"}, {5, "wrong"},
                                                                    {6, "not written"}, {7, "no luck"}};
  for (const auto& [row, reason] : reasons) {
    const Point& point = report.points[row];
    EXPECT_EQ(point.status, PointStatus::failed) << point.workload.label;
    EXPECT_NE(point.reason.find(reason), std::string::npos) << point.workload.label << ": " << point.reason;
    EXPECT_FALSE(point.time) << "what fails never gets a time";
  }
  for (const std::size_t row : {0U, 2U, 8U}) {
    EXPECT_EQ(report.points[row].status, PointStatus::ok) << report.points[row].reason;
    EXPECT_TRUE(report.points[row].time);
    EXPECT_TRUE(report.points[row].verification && report.points[row].verification->passed);
  }
  EXPECT_FALSE(report.cancelled);
}

/// As when a GPU falls off its bus: no process can open it, neither the next.
TEST(AnalyzeFaults, ADeviceThatIsGoneEndsTheRunWithWhatThereIs) {
  AnalyzeOptions options = fast_options();
  options.device.kind = DeviceKind::cuda;
  options.device.index = 9999;
  std::size_t rows = 0;
  options.on_row = [&](const Report& report) { rows = report.points.size(); };
  const Report report = analyze(suite_of({"good", "good", "good", "good", "good"}), Machine{}, options);
  ASSERT_EQ(report.points.size(), 5U);
  EXPECT_EQ(rows, 5U);
  EXPECT_EQ(report.points[0].status, PointStatus::failed);
  EXPECT_EQ(report.points[1].status, PointStatus::failed) << "a fresh process has tried";
  for (std::size_t row = 2; row < 5; ++row) {
    EXPECT_EQ(report.points[row].status, PointStatus::skipped);
    EXPECT_NE(report.points[row].reason, "");
  }
  ASSERT_EQ(report.notes.size(), 1U);
  EXPECT_THAT(report.notes[0], testing::HasSubstr("row 2 of 5"));
}

TEST(AnalyzeFaults, KernelsThatCrashAreNoSignThatTheDeviceIsGone) {
  const Report report =
      analyze(suite_of({"crashes", "crashes", "poisons", "crashes", "good"}), Machine{}, fast_options());
  EXPECT_EQ(report.points[4].status, PointStatus::ok) << report.points[4].reason;
}

TEST(AnalyzeFaults, ARowThatHangsFailsAtTheLimitAndTheRunGoesOn) {
  AnalyzeOptions options = fast_options();
  options.row_limit_s = 2;
  const Report report = analyze(suite_of({"good", "hangs", "stops", "good"}), Machine{}, options);
  EXPECT_EQ(report.points[0].status, PointStatus::ok) << report.points[0].reason;
  for (const std::size_t row : {1U, 2U}) {
    EXPECT_EQ(report.points[row].status, PointStatus::failed);
    EXPECT_THAT(report.points[row].reason, testing::HasSubstr("2 s"));
  }
  EXPECT_EQ(report.points[3].status, PointStatus::ok) << report.points[3].reason;
  EXPECT_TRUE(report.complete);
}

TEST(AnalyzeFaults, WhatADeviceCanNotRunIsSkippedWithItsReason) {
  const Report report = analyze(suite_of({"good", "elsewhere"}), Machine{}, fast_options());
  EXPECT_EQ(report.points[1].status, PointStatus::skipped);
  EXPECT_EQ(report.points[1].reason, "needs n <= 7");
  EXPECT_EQ(report.points[1].implementation_summary, "elsewhere");
  EXPECT_EQ(report.points[1].work.flops.at(Pipe::fp32), 4096);
}

/// Of its own choice; what the suite has named is skipped, as above.
TEST(AnalyzeFaults, TheLadderIsClimbedDownToWhatTheDeviceRuns) {
  const Op& op = *find_op("fault");
  const auto implementation = [&](const char* name) { return *find_implementation(op, DeviceKind::cpu, name); };
  Suite suite = suite_of({"elsewhere", "elsewhere"});
  suite.entries[0].below = {implementation("elsewhere"), implementation("good"), implementation("wrong")};
  suite.entries[1].below = {implementation("elsewhere")};
  const Report report = analyze(suite, Machine{}, fast_options());
  const Point& ran = report.points[0];
  EXPECT_EQ(ran.status, PointStatus::ok) << ran.reason;
  EXPECT_EQ(ran.workload.implementation, "good");
  EXPECT_EQ(ran.implementation_summary, "good");
  EXPECT_EQ(report.points[1].status, PointStatus::skipped);
  EXPECT_EQ(report.points[1].reason, "needs n <= 7") << "where none runs, the best one's reason";
}

TEST(AnalyzeFaults, TheReportIsCompleteAfterEachRow) {
  std::vector<std::size_t> sizes;
  AnalyzeOptions options = fast_options();
  options.on_row = [&](const Report& report) {
    sizes.push_back(report.points.size());
    EXPECT_FALSE(report.complete);
    EXPECT_EQ(report.rows_planned, 3);
  };
  EXPECT_TRUE(analyze(suite_of({"good", "crashes", "good"}), Machine{}, options).complete);
  EXPECT_EQ(sizes, (std::vector<std::size_t>{1, 2, 3}));
}

/// Another program, on the CPU that the one worker of these tests is pinned to.
class Neighbour {
 public:
  Neighbour() : pid_(::fork()) {
    if (pid_ != 0) return;
    const ThreadPool pool({place_threads(host_topology(), {.threads = 1}).cpus.front()});
    const ThreadPool::PinnedCaller pinned(pool);
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    for (volatile unsigned spin = 0;;) spin = spin + 1;
  }
  ~Neighbour() { leave(); }
  Neighbour(const Neighbour&) = delete;
  Neighbour& operator=(const Neighbour&) = delete;

  void leave() {
    if (pid_ <= 0) return;
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
    pid_ = -1;
  }

 private:
  pid_t pid_;
};

AnalyzeOptions patient_options() {
  AnalyzeOptions options = fast_options();
  options.sampler.min_time_s = 0.4;
  options.sampler.max_time_s = 0.5;
  return options;
}

std::ptrdiff_t notes_of_contention(const Report& report) {
  return std::count_if(report.notes.begin(), report.notes.end(),
                       [](const std::string& note) { return note.find("other programs") != std::string::npos; });
}

TEST(AnalyzeDisturbed, ARowThatIsDisturbedEachTimeStaysAndSaysSo) {
  Neighbour neighbour;
  std::vector<double> first;
  AnalyzeOptions options = patient_options();
  options.on_row = [&](const Report& report) { first.push_back(report.points.back().time->median); };
  const Report report = analyze(suite_of({"good", "good"}), Machine{}, options);
  for (std::size_t row = 0; row < 2; ++row) {
    const Point& point = report.points[row];
    if (!point.contention && (point.attempts == 1 || badly_measured(point)))
      GTEST_SKIP() << "this system doesn't tell what disturbs a thread";
    ASSERT_TRUE(point.contention);
    EXPECT_GT(point.contention->others_s + point.contention->waited_s, 0.1);
    EXPECT_EQ(point.attempts, 2);
    EXPECT_EQ(point.time->median, first[row]);
  }
  EXPECT_EQ(notes_of_contention(report), 1);
  EXPECT_FALSE(report.cancelled);
}

TEST(AnalyzeDisturbed, ARowIsReplacedWhenTheDisturbanceHasPassed) {
  Neighbour neighbour;
  double first = 0;
  AnalyzeOptions options = patient_options();
  options.on_row = [&](const Report& report) {
    first = report.points.back().time->median;
    neighbour.leave();
  };
  const Report report = analyze(suite_of({"good"}), Machine{}, options);
  const Point& point = report.points[0];
  if (point.attempts == 1) GTEST_SKIP() << "this system doesn't tell what disturbs a thread";
  EXPECT_EQ(point.attempts, 2);
  if (point.contention) GTEST_SKIP() << "this machine is busy itself";
  EXPECT_NE(point.time->median, first);
  EXPECT_EQ(notes_of_contention(report), 0);
}

/// This machine with roofs that are that many times what their probes reach right now, so that its pace is one over it.
Machine machine_with_roofs(double times) {
  const std::unique_ptr<Device> device = open_device(DeviceKind::cpu, 0, fast_options().device.options);
  Machine machine;
  machine.device = device->info();
  for (const Probe* probe : all_probes(DeviceKind::cpu)) {
    if (probe->name != "dram.copy" && probe->name != "fp32") continue;
    Ceiling& ceiling = machine.ceilings.emplace_back();
    ceiling.name = probe->name;
    ceiling.kind = probe->kind;
    ceiling.level = probe->level;
    ceiling.pattern = probe->pattern;
    ceiling.pipe = probe->pipe;
    ceiling.variant = probe->make(*device, {}, 0)->variant;
    ceiling.value = 1;
  }
  const ReferenceRates rates = ReferenceProbe(machine, *device).latest().value();
  for (Ceiling& ceiling : machine.ceilings) ceiling.value = times * (ceiling.pipe ? rates.arithmetic : rates.copy);
  return machine;
}

TEST(AnalyzePace, ARowOfASlowMachineSaysSo) {
  const Report report = analyze(suite_of({"good"}), machine_with_roofs(100), fast_options());
  const Point& point = report.points[0];
  ASSERT_TRUE(point.reference_rates);
  ASSERT_TRUE(reference_rate_of_roof(point)) << "nothing is less than any number";
  EXPECT_LT(*reference_rate_of_roof(point), kSlowReference);
  // A row that has pairs is known at any speed of the machine.
  EXPECT_TRUE(point.attempts == 2 || point.paired);
  EXPECT_TRUE(std::any_of(report.notes.begin(), report.notes.end(), [&](const std::string& note) {
    return point.contention || note.find(fmt::format("{:.2f}", *reference_rate_of_roof(point))) != std::string::npos;
  }));
}

/// A machine that is busy gives reasons of its own to time a row again: disturbed, or badly measured. Its pace is none.
TEST(AnalyzePace, ARowOfAFastMachineIsTimedOnce) {
  bool other_reasons = false;
  AnalyzeOptions options = fast_options();
  options.on_row = [&](const Report& report) {
    const Point& first = report.points.back();
    other_reasons = first.contention || badly_measured(first);
  };
  const Report report = analyze(suite_of({"good"}), machine_with_roofs(0.01), options);
  const Point& point = report.points[0];
  ASSERT_TRUE(point.reference_rates);
  EXPECT_GE(reference_rate_of_roof(point).value_or(1), kSlowReference);
  EXPECT_TRUE(point.attempts == 1 || other_reasons);
}

/// Its fraction is from the probe beside it, whatever the calibrated value is.
TEST(AnalyzePairs, ARowIsPairedWithTheProbeOfItsLimitingRoof) {
  std::vector<double> fractions;
  for (const double times : {1.0, 100.0}) {
    const Report report = analyze(suite_of({"good"}), machine_with_roofs(times), fast_options());
    const Point& point = report.points[0];
    ASSERT_TRUE(point.time) << point.reason;
    if (!point.paired) GTEST_SKIP() << "other programs on this CPU, or no memory for the probe";
    EXPECT_EQ(point.paired->ceiling, point.bound.limiting_ceiling);
    EXPECT_GE(point.paired->pairs, kFewestForInterval);
    EXPECT_LE(point.paired->ci95.low, point.paired->fraction);
    EXPECT_GE(point.paired->ci95.high, point.paired->fraction);
    fractions.push_back(point.fraction_of_roof());
  }
  EXPECT_GT(fractions[1] / fractions[0], 0.1);
  EXPECT_LT(fractions[1] / fractions[0], 10);
}

TEST(AnalyzePairs, ThereAreNoneUnderTheRoofsOfAnotherMachineOrWithoutAny) {
  Machine machine = machine_with_roofs(1);
  machine.device.identity += "-of-another-kind";
  EXPECT_FALSE(analyze(suite_of({"good"}), machine, fast_options()).points[0].paired);
  EXPECT_FALSE(analyze(suite_of({"good"}), Machine{}, fast_options()).points[0].paired);
  machine = machine_with_roofs(1);
  for (Ceiling& ceiling : machine.ceilings) ceiling.variant = "of an earlier version";
  const Report report = analyze(suite_of({"good"}), machine, fast_options());
  EXPECT_TRUE(report.points[0].time) << report.points[0].reason;
  EXPECT_FALSE(report.points[0].paired) << "its variant is not made any more";
}

TEST(AnalyzeBadlyMeasured, ARowIsReplacedByABetterOneOnly) {
  for (const bool settles : {false, true}) {
    bool replaced = false, disturbed = true;
    for (int tries = 0; tries < 20 && (disturbed || replaced != settles); ++tries) {
      double first = 0;
      AnalyzeOptions options = patient_options();
      options.on_row = [&](const Report& report) {
        const Point& point = report.points.back();
        ASSERT_TRUE(point.time) << point.reason;
        EXPECT_TRUE(badly_measured(point));
        first = point.time->median;
        disturbed = is_under_contention(point);
        mood() = !settles;
      };
      mood() = true;
      const Report report = analyze(suite_of({"moody"}), Machine{}, options);
      EXPECT_EQ(report.points[0].attempts, 2);
      replaced = report.points[0].time->median != first;
      EXPECT_TRUE(disturbed || !replaced || !badly_measured(report.points[0]));
    }
    if (disturbed) GTEST_SKIP() << "this machine is busy itself";
    EXPECT_EQ(replaced, settles);
  }
}

TEST(AnalyzePace, ThereIsNoneUnderTheRoofsOfAnotherMachine) {
  Machine machine = machine_with_roofs(1);
  machine.device.identity += "-of-another-kind";
  EXPECT_FALSE(analyze(suite_of({"good"}), machine, fast_options()).points[0].reference_rates);
  EXPECT_FALSE(analyze(suite_of({"good"}), Machine{}, fast_options()).points[0].reference_rates);
}

TEST(AnalyzeFaultsInterrupt, KeepsWhatThereIsAndMarksTheRest) {
  catch_interrupts();
  AnalyzeOptions options = fast_options();
  options.on_row = [&](const Report& report) {
    if (report.points.size() == 2) ::raise(SIGINT);
  };
  const Report report = analyze(suite_of({"good", "good", "good", "good", "good", "good"}), Machine{}, options);
  EXPECT_TRUE(report.cancelled);
  ASSERT_EQ(report.points.size(), 6U);
  EXPECT_EQ(report.points[0].status, PointStatus::ok);
  EXPECT_EQ(report.points[5].status, PointStatus::skipped);
  EXPECT_EQ(report.points[5].reason, "cancelled");
}

}  // namespace
}  // namespace roofline
