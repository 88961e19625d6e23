// The rules: every one fires on values just past its thresholds, stays silent on this side of each of them, and speaks
// only of quantities that there are.
#include "report/diagnosis/diagnosis.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <map>
#include <regex>
#include <set>

#include "host/files.hpp"
#include "report/diagnosis/cause_lines.hpp"
#include "report/diagnosis/counted.hpp"
#include "report/json/json.hpp"
#include "tests/support/sample_report.hpp"

namespace roofline {
namespace {

double holding(const Condition& condition) {
  switch (condition.relation) {
    case Relation::below:
      return condition.threshold * 0.99;
    case Relation::above:
      return condition.threshold * 1.01;
    case Relation::is:
      return condition.threshold;
  }
  return 0;
}

double failing(const Condition& condition) {
  switch (condition.relation) {
    case Relation::below:
      return condition.threshold * 1.01;
    case Relation::above:
      return condition.threshold * 0.99;
    case Relation::is:
      return 1 - condition.threshold;
  }
  return 0;
}

/// The names in braces of a rule's texts.
std::vector<std::string> placeholders(const Rule& rule) {
  static const std::regex kPlaceholder(R"(\{([^}:]*)[^}]*\})");
  std::vector<std::string> names;
  for (const std::string_view text : {rule.finding, rule.next}) {
    const std::string line(text);
    for (auto it = std::sregex_iterator(line.begin(), line.end(), kPlaceholder); it != std::sregex_iterator(); ++it) {
      names.push_back((*it)[1].str());
    }
  }
  return names;
}

Quantities holding_all(const Rule& rule) {
  Quantities quantities;
  for (const Condition& condition : rule.conditions) {
    const std::string name(condition.quantity);
    // Two conditions on one quantity make a range: its middle.
    const auto known = quantities.find(name);
    const double value = holding(condition);
    quantities[name] = known == quantities.end() ? value : (known->second + value) / 2;
  }
  for (const std::string& name : placeholders(rule)) quantities.try_emplace(name, 0.5);
  return quantities;
}

TEST(Rules, FireOnTheirConditionsAndOnNothingLess) {
  for (const Rule& rule : rules()) {
    ASSERT_FALSE(rule.conditions.empty()) << rule.id;
    EXPECT_TRUE(fires(rule, holding_all(rule))) << rule.id;
    for (const Condition& condition : rule.conditions) {
      Quantities broken = holding_all(rule);
      broken[std::string(condition.quantity)] = failing(condition);
      EXPECT_FALSE(fires(rule, broken)) << rule.id << " without " << condition.quantity;
      broken.erase(std::string(condition.quantity));
      EXPECT_FALSE(fires(rule, broken)) << rule.id << " knowing nothing of " << condition.quantity;
    }
  }
}

TEST(Rules, AreComplete) {
  std::set<std::pair<std::string_view, DeviceKind>> told;
  for (const Rule& rule : rules()) {
    for (const DeviceKind kind : {DeviceKind::cpu, DeviceKind::cuda}) {
      if (!rule.is_for(kind)) continue;
      EXPECT_TRUE(told.insert({rule.id, kind}).second) << rule.id << " stands twice for " << to_string(kind);
    }
    EXPECT_FALSE(rule.source.empty()) << rule.id;
    EXPECT_FALSE(rule.next.empty()) << rule.id;
    // Of a CPU only loops of programs are in libraries.
    const bool may_be_of_library = !rule.is_for(DeviceKind::cpu) || rule.id.ends_with("loop");
    EXPECT_TRUE(rule.for_library.empty() || may_be_of_library) << rule.id;
    for (const Condition& condition : rule.conditions) {
      EXPECT_NE(find_quantity(condition.quantity), nullptr) << rule.id << ": " << condition.quantity;
    }
    for (const std::string& name : placeholders(rule)) {
      const QuantitySpec* spec = find_quantity(name);
      ASSERT_NE(spec, nullptr) << rule.id << ": " << name;
      EXPECT_NE(spec->unit, QuantityUnit::flag) << rule.id << " writes a flag";
    }
  }
}

TEST(Rules, AreSilentWhenTheyCanNotSayTheirFigures) {
  static const std::regex kOptional(R"(\[[^\]]*\])");
  for (const Rule& rule : rules()) {
    const std::string needed = std::regex_replace(std::string(rule.finding) + std::string(rule.next), kOptional, "");
    for (const std::string& name : placeholders(rule)) {
      Quantities quantities = holding_all(rule);
      quantities.erase(name);
      const bool condition = std::any_of(rule.conditions.begin(), rule.conditions.end(),
                                         [&](const Condition& one) { return one.quantity == name; });
      const bool required = condition || needed.find("{" + name + "}") != std::string::npos ||
                            needed.find("{" + name + ":") != std::string::npos;
      EXPECT_EQ(fires(rule, quantities), !required) << rule.id << " without " << name;
    }
  }
}

TEST(Rules, LeaveOutTheOptionalPartThatTheyHaveNoFigureFor) {
  Quantities quantities = holding_all(*find_rule("occupancy-registers", DeviceKind::cuda));
  quantities["registers.next"] = 80;
  quantities["registers.occupancy"] = 0.375;
  const auto finding = [&] {
    for (const Advice& advice : diagnose(quantities, DeviceKind::cuda)) {
      if (advice.rule == "occupancy-registers") return advice.finding;
    }
    return std::string("not said");
  };
  const std::string with = finding();
  EXPECT_NE(with.find("; 80 allow 37.5 %."), std::string::npos) << with;
  quantities.erase("registers.next");
  EXPECT_EQ(finding(), with.substr(0, with.find(';')) + ".");
}

/// All that a device is told when a rule fires on it.
std::string told_of(const Rule& rule, DeviceKind kind) {
  Quantities quantities = holding_all(rule);
  for (const Advice& advice : diagnose(quantities, kind)) {
    if (advice.rule == rule.id) return advice.finding + " " + advice.next + " (" + advice.source + ")";
  }
  return "";
}

/// Neither kind of device is spoken of in words of the other.
TEST(Rules, SpeakOfTheDeviceThatTheyAreFor) {
  const std::regex gpu_words(
      R"(warp|occupancy|\bSMs?\b|registers (a|per) thread|shared memory|tensor core|sector|bank|wgmma|\bmma\b|TMA|\bgrid\b|blocks of|split-K|kernel launch|graph|global memory|GPU|CUDA|Nsight|Triton|page-locked)",
      std::regex::icase);
  const std::regex cpu_words(R"(\bcores?\b|vectors?\b|\bthe caches\b|\bpages\b|start\w* .*threads|every thread\b|AVX)",
                             std::regex::icase);
  int of_cpus = 0, of_gpus = 0;
  for (const Rule& rule : rules()) {
    if (rule.is_for(DeviceKind::cpu)) {
      const std::string text = told_of(rule, DeviceKind::cpu);
      EXPECT_NE(text, "") << rule.id;
      EXPECT_FALSE(std::regex_search(text, gpu_words)) << rule.id << " on a CPU: " << text;
      ++of_cpus;
    }
    if (rule.is_for(DeviceKind::cuda)) {
      std::string text = told_of(rule, DeviceKind::cuda);
      EXPECT_NE(text, "") << rule.id;
      text = std::regex_replace(text, std::regex("tensor cores|CUDA cores", std::regex::icase), "");
      EXPECT_FALSE(std::regex_search(text, cpu_words)) << rule.id << " on a GPU: " << text;
      ++of_gpus;
    }
  }
  EXPECT_GE(of_cpus, 9);
  EXPECT_GE(of_gpus, 30);
}

/// What the machine did comes first, and then nothing is said of the kernel: not that it waits for latency.
TEST(Diagnosis, OfARowOnASlowMachineIsNotOfItsKernel) {
  const Quantities latency = {
      {"compute.utilization", 0.1}, {"levels.utilization", 0.2}, {"busy.sum", 0.3}, {"counted", 1},
      {"loop.counted", 0},          {"roof.fraction", 0.2}};
  const auto ids = [](const Quantities& quantities) {
    std::vector<std::string> found;
    for (const Advice& advice : diagnose(quantities, DeviceKind::cpu)) found.push_back(advice.rule);
    return found;
  };
  EXPECT_EQ(ids(latency), std::vector<std::string>{"latency"});
  Quantities slow = latency;
  slow.insert({{"pace", 0.45}, {"pace.copy", 0.45}, {"pace.arithmetic", 0.98}});
  EXPECT_EQ(ids(slow), std::vector<std::string>{"slow-machine"});
  Quantities disturbed = latency;
  disturbed["time.lost"] = 0.4;
  disturbed["experiment.proven"] = 0;
  EXPECT_EQ(ids(disturbed), std::vector<std::string>{"disturbed"});
  disturbed["experiment.proven"] = 1;
  EXPECT_EQ(ids(disturbed), std::vector<std::string>{"latency"}) << "a change shows what helps";
  Quantities at_the_pace = latency;
  at_the_pace.insert({{"roof.at_pace", 0.95}, {"pace", 0.7}});
  EXPECT_EQ(ids(at_the_pace), std::vector<std::string>{"at-the-pace"});
  at_the_pace["pace"] = 0.99;
  EXPECT_EQ(ids(at_the_pace), std::vector<std::string>{"latency"}) << "the machine has taken nothing from it";
  Quantities at_its_roof = slow;
  at_its_roof["roof.fraction"] = 0.95;
  EXPECT_EQ(ids(at_its_roof).front(), "good-enough");
}

/// Whatever is known of a kernel on a CPU, counts of a GPU among it, no rule of a GPU speaks of it.
TEST(Diagnosis, OfACpuHasNoRulesOfAGpu) {
  for (const Rule& rule : rules()) {
    for (const Advice& advice : diagnose(holding_all(rule), DeviceKind::cpu)) {
      EXPECT_TRUE(std::any_of(rules().begin(), rules().end(), [&](const Rule& other) {
        return other.id == advice.rule && other.is_for(DeviceKind::cpu);
      })) << advice.rule;
    }
  }
}

TEST(Diagnosis, FillsInTheFigures) {
  const std::vector<Advice> advice = diagnose({{"load.excess", 8.0},
                                               {"load.sectors", 32.0},
                                               {"load.share", 0.9},
                                               {"levels.utilization", 0.5},
                                               {"excess.costs", 1.0}},
                                              DeviceKind::cuda);
  ASSERT_EQ(advice.size(), 1U);
  EXPECT_EQ(advice[0].rule, "uncoalesced-loads");
  EXPECT_THAT(advice[0].finding, testing::HasSubstr("8\u00d7"));
  EXPECT_THAT(advice[0].finding, testing::HasSubstr("32 sectors"));
  ASSERT_EQ(advice[0].evidence.size(), 4U);
  EXPECT_EQ(advice[0].evidence[0].first, "load.excess");
}

TEST(Diagnosis, StopsWhereThereIsNothingLeftToGain) {
  const std::vector<Advice> advice =
      diagnose({{"roof.fraction", 0.97}, {"compute.utilization", 0.1}, {"levels.utilization", 0.1}}, DeviceKind::cpu);
  ASSERT_EQ(advice.size(), 1U);
  EXPECT_EQ(advice[0].rule, "good-enough");
}

/// What is a sum of other findings, or none, is heard where there is no other.
TEST(Diagnosis, LooksForTheRestWhereNothingWasFound) {
  Quantities quantities = {{"roof.fraction", 0.5}, {"counted", 1},
                           {"roof.missing", 0.5},  {"pipe", 1},
                           {"level", 0},           {"compute.utilization", 0.7},
                           {"busy.sum", 0.9},      {"levels.utilization", 0.2},
                           {"warps.ready", 0},     {"issue.busy", 0}};
  const auto first = [&] { return diagnose(quantities, DeviceKind::cuda).front(); };
  EXPECT_EQ(first().rule, "unexplained");
  EXPECT_THAT(first().finding, testing::HasSubstr("50.0 %"));
  quantities["compute.utilization"] = 0.3;
  EXPECT_EQ(first().rule, "latency");
  EXPECT_EQ(diagnose(quantities, DeviceKind::cuda).size(), 1U);
  quantities.insert({{"stall.barrier.share", 0.5}});
  EXPECT_EQ(first().rule, "barrier-stalls");
  EXPECT_EQ(diagnose(quantities, DeviceKind::cuda).size(), 1U);
}

std::vector<std::string> rules_in_order(const Quantities& quantities) {
  std::vector<std::string> ids;
  for (const Advice& advice : diagnose(quantities, DeviceKind::cuda)) ids.push_back(advice.rule);
  return ids;
}

/// Of causes with a known share of the time the largest comes first; loads before the barrier where warps are late.
TEST(Diagnosis, CausesAreSortedByWhatTheyExplain) {
  Quantities quantities = {{"library", 0},         {"roof.reached", 0},         {"roof.fraction", 0.5},
                           {"roof.known", 1},      {"load.excess", 8},          {"load.sectors", 32},
                           {"load.share", 0.9},    {"levels.utilization", 0.5}, {"excess.costs", 1},
                           {"load.explains", 0.5}, {"wait.barrier.share", 0.4}, {"wait.local_memory.share", 0.3}};
  EXPECT_THAT(rules_in_order(quantities),
              testing::ElementsAre("uncoalesced-loads", "barrier-waits", "local-memory-waits"));
  quantities["load.explains"] = 0.1;
  EXPECT_THAT(rules_in_order(quantities),
              testing::ElementsAre("barrier-waits", "local-memory-waits", "uncoalesced-loads"));
  // Without samples of it an access pattern comes first.
  quantities.erase("load.explains");
  EXPECT_EQ(rules_in_order(quantities).front(), "uncoalesced-loads");
}

/// Atomic operations wait for their fences, products for loads; idle threads cost time where warps do not wait.
TEST(Diagnosis, AtomicsLoadsOfProductsAndIdleThreadsComeBeforeWhatFollowsFromThem) {
  const Quantities common = {
      {"library", 0}, {"roof.reached", 0}, {"roof.fraction", 0.3}, {"roof.known", 1}, {"levels.utilization", 0.4}};
  const auto first = [&common](Quantities quantities) {
    quantities.insert(common.begin(), common.end());
    return rules_in_order(quantities).front();
  };
  const Quantities atomics = {{"wait.global_atomic.share", 0.2}, {"atomic.explains", 0.4}, {"wait.fence.share", 0.2}};
  EXPECT_EQ(first(atomics), "global-atomic-waits");
  EXPECT_EQ(first({{"wait.global_atomic.share", 0.02}, {"atomic.explains", 0.4}, {"wait.fence.share", 0.2}}),
            "fence-waits")
      << "few atomics behind a fence";
  const auto product = [&first](double active, double loads) {
    return first({{"tensor.active", active},
                  {"wait.global_load.share", loads},
                  {"feed.explains", loads + 0.3},
                  {"wait.barrier.share", 0.3}});
  };
  EXPECT_EQ(product(0.36, 0.4), "product-waits-for-loads");
  EXPECT_EQ(product(0, 0.4), "barrier-waits");
  EXPECT_EQ(product(0.36, 0.2), "barrier-waits") << "few loads";
  const auto divergent = [&first](double explains) {
    return first(
        {{"lanes.active", 8}, {"blocks.per_sm", 8}, {"lanes.explains", explains}, {"wait.special.share", 0.5}});
  };
  EXPECT_EQ(divergent(0.7), "divergence");
  EXPECT_EQ(divergent(0.1), "special-waits");
}

/// Samples are of SMs with a block: 90 % waits for loads are 35 % of the time if SMs are active in 39 % of it.
TEST(Diagnosis, IdleSmsComeBeforeWhatIsSampledOnOthers) {
  const auto first = [](double active, double loads) {
    const Quantities quantities = {
        {"roof.fraction", 0.2}, {"waves", 100},       {"sm.active.share", active}, {"sm.idle.share", 1 - active},
        {"load.excess", 5},     {"load.sectors", 10}, {"load.queue", 1},           {"load.explains", loads},
        {"gpu.units", 0},       {"roof.reached", 0}};
    return diagnose(quantities, DeviceKind::cuda).front().rule;
  };
  EXPECT_EQ(first(0.39, 0.9), "idle-sms");
  EXPECT_EQ(first(0.6, 0.9), "scattered-loads") << "most SMs are active most of the time";
}

/// What crosses a full roof for no use is found; what caches serve is none of its bytes.
TEST(Diagnosis, AtTheRoofOnlyBytesOfMainMemoryAreExcess) {
  Quantities quantities = {{"roof.fraction", 0.98}, {"roof.known", 1},    {"store.excess", 8},
                           {"store.sectors", 32},   {"store.share", 0.9}, {"levels.utilization", 0.98},
                           {"excess.costs", 1}};
  EXPECT_THAT(rules_in_order(quantities), testing::ElementsAre("uncoalesced-stores", "good-enough"));
  quantities["excess.costs"] = 0;
  EXPECT_THAT(rules_in_order(quantities), testing::ElementsAre("good-enough"));
}

/// Warps that multiply wait for those that load, by design. Atomic operations are the caller's choice.
TEST(Diagnosis, WaitsInALibraryKernelAreNoCause) {
  for (const char* wait : {"wait.barrier.share", "wait.local_memory.share", "wait.fence.share", "wait.special.share",
                           "wait.conversion.share", "wait.shared.share", "wait.latency.share"}) {
    Quantities quantities = {{"library", 1},    {"roof.reached", 0},       {"roof.fraction", 0.5},
                             {"roof.known", 1}, {"wait.ready.share", 0.0}, {"shared.counted", 0},
                             {wait, 0.6}};
    EXPECT_TRUE(diagnose(quantities, DeviceKind::cuda).empty()) << wait;
    quantities["library"] = 0;
    EXPECT_FALSE(diagnose(quantities, DeviceKind::cuda).empty()) << wait;
  }
  const std::vector<Advice> atomics = diagnose({{"library", 1},
                                                {"roof.reached", 0},
                                                {"roof.known", 1},
                                                {"wait.global_atomic.share", 0.5},
                                                {"atomic.explains", 0.5}},
                                               DeviceKind::cuda);
  ASSERT_EQ(atomics.size(), 1U);
  EXPECT_THAT(atomics[0].next, testing::HasSubstr("bincount"));
}

TEST(Diagnosis, SavesTheShareOfACauseThatFillsItsRoof) {
  const Quantities quantities = {
      {"traffic.needless", 0.78}, {"wait.local_memory.share", 0.8}, {"fp64.needless", 0.5}, {"products.needless", 0.6}};
  EXPECT_DOUBLE_EQ(saved_share("uncoalesced-stores", quantities), 0.78);
  EXPECT_DOUBLE_EQ(saved_share("local-memory-waits", quantities), 0.8);
  EXPECT_DOUBLE_EQ(saved_share("double-precision", quantities), 0.5);
  EXPECT_DOUBLE_EQ(saved_share("barrier-waits", quantities), 0) << "at most what it lacks of its roof";
  EXPECT_DOUBLE_EQ(saved_share("spills", {}), 0) << "not known";
  EXPECT_DOUBLE_EQ(most_saved("tail", {{"tail.share", 0.2}}), 0.2);
  EXPECT_DOUBLE_EQ(most_saved("idle-sms", {{"sm.idle.share", 0.7}}), 0.7);
  EXPECT_DOUBLE_EQ(most_saved("barrier-waits", {{"tail.share", 0.2}}), 1);
}

TEST(Diagnosis, TellsCallersOfALibraryWhatTheyCanDo) {
  Quantities quantities = {{"matrix.work", 1}, {"tensor.executed", 1}, {"tensor.active", 0.3}, {"library", 0}};
  const std::string own = diagnose(quantities, DeviceKind::cuda).front().next;
  quantities["library"] = 1;
  const std::string of_library = diagnose(quantities, DeviceKind::cuda).front().next;
  EXPECT_NE(own, of_library);
  EXPECT_THAT(of_library, testing::HasSubstr("Library kernel"));
}

TEST(Quantities, AreWrittenAsRangesWhereRowsDiffer) {
  EXPECT_EQ(quantity_range_text("clock", 1.36e9, 1.75e9), "1.36\u20131.75 GHz");
  EXPECT_EQ(quantity_range_text("clock", 0.95e9, 1.75e9), "950 MHz\u20131.75 GHz");
  EXPECT_EQ(quantity_range_text("occupancy", 0.125, 0.125), "12.5 %");
  EXPECT_EQ(quantity_range_text("blocks", 1, 97), "1\u201397");
}

TEST(Quantities, OfSeveralRowsHaveOneLimit) {
  const std::vector<Quantities> rows = {{{"time.lost", 0.113}}, {{"time.lost", 0.553}}};
  EXPECT_EQ(filled_by_all("{time.lost}", rows), "11.3\u201355.3 %");
  EXPECT_EQ(filled_by_all("{time.lost:most}", rows), "55.3 %");
  EXPECT_EQ(filled_by_all("{time.lost:least}", rows), "11.3 %");
}

/// Counted in two passes, all slots can come out as more than all.
TEST(Quantities, NoOccupancyIsMoreThanFull) {
  EXPECT_EQ(quantity_text("occupancy", 1.015), "full");
  EXPECT_EQ(quantity_text("occupancy", 0.5), "50.0 %");
}

TEST(Diagnosis, SaysNothingWithoutEvidence) { EXPECT_TRUE(diagnose({}, DeviceKind::cuda).empty()); }

/// A bf16 product of the sample report, with counts as an H200 gave them for the kernel named.
Quantities with_counts(Counters counters, const std::string& label_part) {
  const Report report = example::sample_report();
  for (const Point& point : report.points) {
    if (point.time && point.workload.label.find(label_part) != std::string::npos) {
      return quantities_of(point, report.machine, &counters);
    }
  }
  return {};
}

TEST(Quantities, ATiledProductOnCudaCoresHasIdleTensorCores) {
  Counters counters;
  counters.values = {{"tensor.mma_bf16_ops", 0}, {"tensor.wgmma_bf16_ops", 0}, {"tensor.active", 0}};
  const Quantities quantities = with_counts(counters, "gemm bf16");
  ASSERT_FALSE(quantities.empty());
  EXPECT_EQ(quantities.at("matrix.work"), 1);
  EXPECT_EQ(quantities.at("tensor.executed"), 0);
  std::set<std::string> fired;
  for (const Advice& advice : diagnose(quantities, DeviceKind::cuda)) fired.insert(advice.rule);
  EXPECT_TRUE(fired.contains("no-tensor-cores") || fired.contains("good-enough"));
  EXPECT_FALSE(fired.contains("mma-sync"));
}

/// Every second thread takes the other branch: each instruction of the branches is executed for 16 threads.
TEST(Diagnosis, DivergentWarpsAreCounted) {
  const auto fired = [](double active, double memory) {
    Counters counters;
    counters.values = {{"warp.instructions", 1e6}, {"thread.instructions", active * 1e6}};
    Quantities quantities = with_counts(counters, "gemm");
    EXPECT_DOUBLE_EQ(quantities.at("lanes.active"), active);
    quantities.insert_or_assign("levels.utilization", memory);
    quantities.insert_or_assign("roof.fraction", 0.3);
    quantities.insert_or_assign("blocks.per_sm", 8);
    const std::vector<std::string> rules = rules_in_order(quantities);
    return std::find(rules.begin(), rules.end(), "divergence") != rules.end();
  };
  EXPECT_TRUE(fired(17.5, 0.1));
  EXPECT_FALSE(fired(31, 0.1));
  EXPECT_FALSE(fired(17.5, 0.8)) << "memory limits it";
}

/// Several frameworks call CUB: without a module, its name does not tell which.
TEST(CauseLines, ALibraryKernelIsFusedByTheToolOfItsFramework) {
  const auto tool = [](const std::string& name, const std::string& module) {
    ProfiledKind kernel;
    kernel.full_name = name;
    kernel.module = module;
    const std::optional<double> found = fusing_tool_of(kernel);
    return found ? quantity_text("fusing.tool", *found) : "";
  };
  EXPECT_EQ(tool("cupy_multiply__float32_float32_float32", ""), "cupy.fuse");
  EXPECT_TRUE(is_library_kernel("cupyx_scipy_special_erf__float32_float32"));
  EXPECT_EQ(tool("void at::native::reduce_kernel<512, 1>(int)", ""), "torch.compile");
  EXPECT_EQ(tool("void cub::DeviceReduceKernel<float>(int)", "head"), "torch.compile");
  EXPECT_EQ(tool("void cub::DeviceReduceKernel<float>(int)", ""), "");
}

/// Where stores conflict, loads wait behind them; where loads do, stores hardly wait.
TEST(CauseLines, BankConflictsAreAtTheStoreThatWaits) {
  const auto line = [](double store, double load) {
    Point point;
    point.profiled.emplace().sampled.emplace().waits = {
        {.what = WaitFor::shared_load, .share = load, .line = "a.cu:2", .used_line = {}, .line_share = load},
        {.what = WaitFor::shared_store, .share = store, .line = "a.cu:1", .used_line = {}, .line_share = store}};
    const SampledWait* const wait = wait_behind(point, "bank-conflicts");
    return wait == nullptr ? "" : wait->line;
  };
  EXPECT_EQ(line(0.11, 0.14), "a.cu:1");
  EXPECT_EQ(line(0.16, 0.52), "a.cu:2");
  EXPECT_EQ(line(0.01, 0.02), "");
}

TEST(Quantities, TheLastWaveOfBlocks) {
  Counters counters;
  KernelLaunch kernel;
  kernel.blocks = 150;
  kernel.threads = 256;
  kernel.blocks_per_sm = 1;
  kernel.waves = 1.25;
  counters.kernels = {kernel};
  const Quantities quantities = with_counts(counters, "gemm");
  EXPECT_NEAR(quantities.at("tail.idle"), 0.75, 1e-12);
  kernel.waves = 2;
  counters.kernels = {kernel};
  EXPECT_NEAR(with_counts(counters, "gemm").at("tail.idle"), 0, 1e-12);
}

TEST(Quantities, NothingIsInventedWithoutCounters) {
  const Report report = example::sample_report();
  const Quantities quantities = quantities_of(report.points[0], report.machine, nullptr);
  EXPECT_TRUE(quantities.contains("roof.fraction"));
  for (const char* name : {"occupancy", "dram.over_model", "load.excess", "tensor.active"}) {
    EXPECT_FALSE(quantities.contains(name)) << name;
  }
}

/// What the rules say of the run that is in the repository, with the counts of an H200, by label and implementation.
std::map<std::string, std::vector<std::string>> recorded_diagnoses() {
  const std::string path = std::string(ROOFLINE_SOURCE_DIR) + "/reports/reference/h200-ops/report.json";
  const Report report = parse_report(read_file(path), path);
  std::map<std::string, std::vector<std::string>> rules_of;
  for (const Point& point : report.points) {
    EXPECT_TRUE(point.counters.has_value()) << point.workload.label;
    std::vector<std::string>& fired = rules_of[point.workload.op + " " + std::string(to_string(point.workload.dtype)) +
                                               " " + point.workload.implementation];
    for (const Advice& advice : advice_for(point, report.machine)) fired.push_back(advice.rule);
  }
  return rules_of;
}

TEST(Diagnosis, OfARecordedRun) {
  const auto rules_of = recorded_diagnoses();
  using testing::Contains;
  using testing::ElementsAre;
  using testing::Not;
  for (const char* streaming : {"relu fp32 vectorized", "reduction fp32 vectorized", "softmax fp32 registers"}) {
    EXPECT_THAT(rules_of.at(streaming), ElementsAre("good-enough")) << streaming;
  }
  // fp32 has no tensor pipe; what runs on one runs by wgmma.
  EXPECT_THAT(rules_of.at("gemm fp32 tiled"), Not(Contains("no-tensor-cores")));
  for (const char* tensor : {"gemm bf16 wgmma", "gemm fp16 cublaslt", "conv2d fp16 wgmma", "attention bf16 wgmma"}) {
    EXPECT_THAT(rules_of.at(tensor), Not(Contains("no-tensor-cores"))) << tensor;
    EXPECT_THAT(rules_of.at(tensor), Not(Contains("mma-sync"))) << tensor;
  }
  // Attention on CUDA cores has so many registers that few of its blocks fit on an SM.
  EXPECT_THAT(rules_of.at("attention fp32 fused"), ElementsAre("level-beside", "occupancy-registers"));
  // A product that the power limit slows down is told so, also where it is at the roof of its clock.
  EXPECT_THAT(rules_of.at("gemm fp16 cublaslt"), ElementsAre("throttled", "good-enough"));
  EXPECT_THAT(rules_of.at("conv2d fp16 wgmma"), ElementsAre("throttled", "tensor-gaps"));
  for (const auto& [kernel, fired] : rules_of) {
    EXPECT_THAT(fired, Not(Contains("uncoalesced-loads"))) << kernel;
    EXPECT_THAT(fired, Not(Contains("launch-bound"))) << kernel;
    EXPECT_THAT(fired, Not(Contains("spills"))) << kernel;
  }
}

}  // namespace
}  // namespace roofline
