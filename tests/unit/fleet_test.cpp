// Many machines: nothing found where there is nothing, planted faults found and explained, files of any kind survived.
#include <fmt/format.h>
#include <unistd.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <functional>
#include <nlohmann/json.hpp>
#include <random>

#include "calibrate/machine_store.hpp"
#include "fleet/fleet.hpp"
#include "fleet/read_fleet.hpp"
#include "measure/audit.hpp"
#include "model/error.hpp"
#include "render/fleet/fleet_render.hpp"
#include "report/json/json.hpp"
#include "tests/support/mentions.hpp"

namespace roofline {
namespace {

namespace fs = std::filesystem;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

using Noise = std::function<double(std::mt19937_64&)>;

double gaussian(std::mt19937_64& random) { return std::normal_distribution(0.0, 0.003)(random); }
/// Student's t with three degrees of freedom, half of it within 0.03 %: of 2,000 machines and 40 ceilings the furthest
/// is 2 % off.
double heavy(std::mt19937_64& random) { return 0.0004 * std::student_t_distribution(3.0)(random); }
/// Neighbours make machines slower and never faster.
double skewed(std::mt19937_64& random) {
  return std::normal_distribution(0.0, 0.001)(random) - std::exponential_distribution(1 / 0.002)(random);
}

MachineSummary summary_of(std::size_t number) {
  MachineSummary summary;
  summary.file = fmt::format("node{}.json", number);
  summary.host = fmt::format("node{}", number);
  summary.host_recorded = true;
  summary.kind = DeviceKind::cuda;
  summary.name = "Some GPU";
  summary.uuid = fmt::format("GPU-{:08x}", number);
  summary.units = 132;
  summary.memory_bytes = 150e9;
  summary.measured_at = "2026-01-15T09:32:10Z";
  summary.facts = {
      {"driver", "580.1"}, {"power limit", "700 W"}, {"ECC", "on"}, {"PCIe link", "generation 5, 16 lanes"}};
  return summary;
}

CeilingSummary ceiling_of(std::string_view label, double value) {
  return {
      .label = label, .kind = CeilingKind::bandwidth, .audit = CheckStatus::pass, .value = value, .core_hz = 1.98e9F};
}

/// Machines with that many ceilings, of which a third share their noise, as they share a clock.
std::vector<MachineSummary> fleet_with(std::size_t machines, const Noise& noise, std::uint64_t seed,
                                       int ceilings = 40) {
  std::mt19937_64 random(seed);
  std::vector<MachineSummary> summaries;
  for (std::size_t i = 0; i < machines; ++i) {
    MachineSummary& summary = summaries.emplace_back(summary_of(i));
    const double shared = noise(random);
    for (int k = 0; k < ceilings; ++k) {
      const double own = noise(random);
      summary.ceilings.push_back(
          ceiling_of(interned(fmt::format("hbm.{}", k)), 1e12 * (k + 1) * std::exp(k % 3 == 0 ? shared : own)));
    }
  }
  return summaries;
}

const Outlier* outlier_of(const Fleet& fleet, const std::string& host) {
  for (const FleetGroup& group : fleet.groups) {
    for (const Outlier& outlier : group.outliers) {
      if (fleet.machines[outlier.machine].host == host) return &outlier;
    }
  }
  return nullptr;
}

TEST(Fleet, MachinesThatAreEqualHaveNoOutlier) {
  for (const std::size_t machines : {5U, 8U, 60U, 700U}) {
    const Fleet fleet = fleet_of(fleet_with(
        machines, [](auto&) { return 0.0; }, 1));
    ASSERT_EQ(fleet.groups.size(), 1U);
    EXPECT_TRUE(fleet.groups[0].judged());
    EXPECT_EQ(fleet.outliers(), 0U);
    EXPECT_EQ(fleet.groups[0].norms[2].median, 3e12);
  }
}

TEST(Fleet, OfFewMachinesNobodyCanTellWhoIsNormal) {
  for (const std::size_t machines : {1U, 2U, 4U}) {
    std::vector<MachineSummary> summaries = fleet_with(machines, gaussian, 1);
    summaries[0].ceilings[0].value *= 0.5;
    const Fleet fleet = fleet_of(std::move(summaries));
    EXPECT_EQ(fleet.outliers(), 0U);
    EXPECT_FALSE(fleet.groups[0].judged());
    EXPECT_THAT(fleet.groups[0].notes, ElementsAre(HasSubstr("too few")));
    EXPECT_THAT(fleet_headline(fleet), HasSubstr("too few"));
  }
}

/// Half a false alarm is wanted of 2,000 machines; over several fleets there are at most a few.
TEST(Fleet, NoiseOfAnyShapeRaisesAtMostOneFalseAlarmInTwoThousandMachines) {
  for (const auto& [name, noise] :
       {std::pair<const char*, Noise>{"gaussian", gaussian}, {"heavy", heavy}, {"skewed", skewed}}) {
    std::size_t alarms = 0;
    constexpr std::uint64_t kFleets = 6;
    for (std::uint64_t seed = 1; seed <= kFleets; ++seed) {
      const std::vector<MachineSummary> summaries = fleet_with(2000, noise, seed);
      FleetGroup group = groups_of(summaries).front();
      judge(group, summaries);
      alarms += group.outliers.size();
    }
    EXPECT_LE(alarms, kFleets) << name;
  }
}

TEST(Fleet, SmallGroupsRaiseFewFalseAlarmsToo) {
  for (const auto& [name, noise] :
       {std::pair<const char*, Noise>{"gaussian", gaussian}, {"heavy", heavy}, {"skewed", skewed}}) {
    std::size_t alarms = 0;
    for (std::uint64_t seed = 1; seed <= 250; ++seed) {
      const std::vector<MachineSummary> summaries = fleet_with(8, noise, seed);
      FleetGroup group = groups_of(summaries).front();
      judge(group, summaries);
      alarms += group.outliers.size();
    }
    EXPECT_LE(alarms, 1U) << name << ": of 250 groups of 8";
  }
}

/// In how many of `times` fleets the planted fault is found, in a machine and a ceiling that change each time.
int found(std::size_t machines, const Noise& noise, double fault, int times) {
  int hits = 0;
  for (int time = 0; time < times; ++time) {
    std::vector<MachineSummary> summaries = fleet_with(machines, noise, 100 + static_cast<std::uint64_t>(time));
    const std::size_t bad = static_cast<std::size_t>(7 * time + 3) % machines;
    CeilingSummary& ceiling = summaries[bad].ceilings[static_cast<std::size_t>(5 * time + 1) % 40];
    ceiling.value *= 1 - fault;
    FleetGroup group = groups_of(summaries).front();
    judge(group, summaries);
    for (const Outlier& outlier : group.outliers) {
      if (outlier.machine == bad && outlier.slow.front().label == ceiling.label) ++hits;
    }
  }
  return hits;
}

TEST(Fleet, PlantedFaultsAreFound) {
  EXPECT_EQ(found(2000, gaussian, 0.05, 10), 10);
  EXPECT_EQ(found(2000, heavy, 0.05, 10), 10);
  EXPECT_EQ(found(2000, skewed, 0.05, 10), 10);
  EXPECT_GE(found(2000, gaussian, 0.03, 20), 14);
  for (const Noise& noise : {Noise(gaussian), Noise(heavy), Noise(skewed)}) {
    EXPECT_EQ(found(8, noise, 0.10, 40), 40);
    EXPECT_EQ(found(10000, noise, 0.10, 1), 1);
  }
  EXPECT_EQ(found(10000, gaussian, 0.05, 1), 1);
  EXPECT_GE(found(8, gaussian, 0.05, 40), 26);
}

TEST(Fleet, ManyBadMachinesDoNotHideEachOther) {
  std::vector<MachineSummary> summaries = fleet_with(1000, gaussian, 5);
  for (std::size_t i = 0; i < 60; ++i) {
    for (CeilingSummary& ceiling : summaries[i].ceilings) ceiling.value *= 0.9;
  }
  EXPECT_EQ(fleet_of(std::move(summaries)).outliers(), 60U);
}

TEST(Fleet, OnlyCeilingsWhoseAuditPassedCount) {
  std::vector<MachineSummary> summaries = fleet_with(20, gaussian, 1);
  summaries[3].ceilings[7].value *= 0.5;
  summaries[3].ceilings[7].audit = CheckStatus::fail;
  summaries[4].ceilings[7].value *= 0.5;
  summaries[4].ceilings[7].role = Role::reference;
  const Fleet fleet = fleet_of(std::move(summaries));
  std::size_t suspects = 0;
  for (const CeilingNorm& norm : fleet.groups[0].norms) suspects += norm.suspects.size();
  EXPECT_EQ(suspects, 1U);
  EXPECT_EQ(outlier_of(fleet, "node3"), nullptr);
  EXPECT_THAT(render_fleet_terminal(fleet, {}, 20), HasSubstr("1 roof "));
}

/// CPUs with four roofs of main memory and one pipe.
std::vector<MachineSummary> cpus_with_memory(std::size_t machines, CheckStatus memory_audit) {
  std::vector<MachineSummary> summaries;
  for (std::size_t i = 0; i < machines; ++i) {
    MachineSummary& summary = summaries.emplace_back(summary_of(i));
    summary.kind = DeviceKind::cpu;
    for (const char* label : {"dram.read", "dram.write", "dram.copy", "dram.triad"}) {
      summary.ceilings.push_back(ceiling_of(label, 5e10));
      summary.ceilings.back().audit = memory_audit;
    }
    summary.ceilings.push_back(ceiling_of("fp32", 1e12));
    summary.ceilings.back().kind = CeilingKind::compute;
  }
  return summaries;
}

TEST(Fleet, MainMemoryThatIsSuspectOnAllMachinesIsNotGreen) {
  const Fleet fleet = fleet_of(cpus_with_memory(6, CheckStatus::fail));
  ASSERT_EQ(fleet.groups.size(), 1U);
  const FleetGroup& group = fleet.groups[0];
  EXPECT_TRUE(group.judged()) << "by its pipe";
  EXPECT_EQ(fleet.outliers(), 0U);
  ASSERT_EQ(group.gaps.size(), 1U);
  EXPECT_TRUE(group.gaps[0].main_memory);
  EXPECT_EQ(group.gaps[0].judged, 0U);
  ASSERT_EQ(group.worst_gap(), &group.gaps[0]);
  EXPECT_THAT(fleet_headline(fleet), HasSubstr("main memory judged on 0 of 6 machines"));
  EXPECT_THAT(render_fleet_terminal(fleet, {}, 20), HasSubstr("main memory judged on 0 of 6 machines"));
  EXPECT_THAT(render_fleet_html(fleet), HasSubstr("main memory judged on 0 of 6 machines"));
  const auto json = nlohmann::json::parse(render_fleet_json(fleet));
  EXPECT_EQ(json["groups"][0]["judged_in_part"][0]["judged"], 0);
}

TEST(Fleet, MainMemoryThatIsMissingOnAllMachinesIsNotGreenEither) {
  std::vector<MachineSummary> summaries = cpus_with_memory(6, CheckStatus::pass);
  for (MachineSummary& summary : summaries)
    summary.ceilings.erase(summary.ceilings.begin(), summary.ceilings.end() - 1);
  const Fleet fleet = fleet_of(std::move(summaries));
  ASSERT_NE(fleet.groups[0].worst_gap(), nullptr);
  EXPECT_EQ(fleet.groups[0].worst_gap()->judged, 0U);
}

TEST(Fleet, MainMemoryThatIsFineHasNoGap) {
  std::vector<MachineSummary> summaries = cpus_with_memory(6, CheckStatus::pass);
  summaries[2].ceilings[0].audit = CheckStatus::fail;  // judged by its other three patterns
  const Fleet fleet = fleet_of(std::move(summaries));
  EXPECT_THAT(fleet.groups[0].gaps, IsEmpty());
  EXPECT_THAT(fleet_headline(fleet), Not(HasSubstr("judged")));
  EXPECT_EQ(nlohmann::json::parse(render_fleet_json(fleet))["groups"][0]["judged_in_part"].size(), 0U);
}

TEST(Fleet, AGapOfFewMachinesIsListedAndNotInTheHeadline) {
  std::vector<MachineSummary> summaries = cpus_with_memory(6, CheckStatus::pass);
  for (CeilingSummary& ceiling : summaries[2].ceilings) {
    if (ceiling.kind == CeilingKind::bandwidth) ceiling.audit = CheckStatus::fail;
  }
  const Fleet fleet = fleet_of(std::move(summaries));
  ASSERT_EQ(fleet.groups[0].gaps.size(), 1U);
  EXPECT_EQ(fleet.groups[0].gaps[0].judged, 5U);
  EXPECT_EQ(fleet.groups[0].worst_gap(), nullptr);
}

TEST(Fleet, AGroupWithoutAConfirmedRoofIsNotCalledTooSmall) {
  std::vector<MachineSummary> summaries = cpus_with_memory(6, CheckStatus::fail);
  for (MachineSummary& summary : summaries) summary.ceilings.back().audit = CheckStatus::fail;
  const Fleet fleet = fleet_of(std::move(summaries));
  EXPECT_FALSE(fleet.groups[0].judged());
  EXPECT_EQ(fleet.groups[0].gaps.size(), 2U);
  EXPECT_THAT(fleet_headline(fleet), Not(HasSubstr("too few machines")));
}

TEST(Fleet, SaysWhatDiffersAndBearsOnIt) {
  std::vector<MachineSummary> summaries = fleet_with(40, gaussian, 1, 6);
  for (MachineSummary& summary : summaries) {
    summary.ceilings.push_back(ceiling_of("pcie.h2d", 5e10));
    summary.ceilings.push_back(ceiling_of("tensor.bf16 (sustained)", 8e14));
    summary.ceilings.back().kind = CeilingKind::compute;
    summary.ceilings.back().temperature_c = 60;
    summary.ceilings.back().limiter = "";
  }
  const auto slow = [&](std::size_t machine, std::size_t ceiling) -> CeilingSummary& {
    summaries[machine].ceilings[ceiling].value *= 0.8;
    return summaries[machine].ceilings[ceiling];
  };
  slow(1, 6);
  summaries[1].facts[3].value = "generation 5, 8 lanes";
  summaries[1].facts[0].value = "570.2";
  slow(2, 7).core_hz = 1.41e9F;
  summaries[2].facts[1].value = "400 W";
  CeilingSummary& hot = slow(3, 7);
  hot.temperature_c = 87;
  hot.limiter = "thermal";
  slow(4, 2).contention = "other programs used 1.1 of 2 cores";
  slow(5, 2);
  summaries[5].facts = {};
  const Fleet fleet = fleet_of(std::move(summaries));
  ASSERT_EQ(fleet.groups.size(), 1U) << "one power limit of 40 is no class of its own";
  ASSERT_EQ(fleet.outliers(), 5U);
  EXPECT_THAT(outlier_of(fleet, "node1")->why,
              ElementsAre(mentions("PCIe link", "generation 5, 8 lanes", "generation 5, 16 lanes")));
  EXPECT_THAT(outlier_of(fleet, "node1")->also, ElementsAre(mentions("driver 570.2", "580.1")));
  EXPECT_THAT(outlier_of(fleet, "node2")->why,
              ElementsAre(mentions("power limit 400 W", "700 W"),
                          mentions("core clock 1410 MHz", "tensor.bf16 (sustained)", "1980 MHz")));
  EXPECT_THAT(outlier_of(fleet, "node3")->why, ElementsAre(mentions("thermal"), mentions("87 °C", "60 °C")));
  EXPECT_THAT(outlier_of(fleet, "node4")->why, ElementsAre(mentions("other programs used 1.1 of 2 cores", "hbm.2")));
  EXPECT_THAT(outlier_of(fleet, "node5")->why, IsEmpty());
  EXPECT_THAT(outlier_of(fleet, "node5")->unrecorded, Contains("power limit"));
  EXPECT_THAT(fleet_reason(*outlier_of(fleet, "node5")), HasSubstr("power limit"));
}

TEST(Fleet, GroupsEqualHardware) {
  std::vector<MachineSummary> summaries = fleet_with(100, gaussian, 1, 2);
  for (std::size_t i = 0; i < 30; ++i) summaries[i].facts[1].value = "400 W";
  for (std::size_t i = 30; i < 40; ++i) summaries[i].name = "Other GPU";
  for (std::size_t i = 40; i < 46; ++i) summaries[i].memory_bytes = 80e9;
  for (std::size_t i = 46; i < 50; ++i) summaries[i].memory_bytes *= 1.001;
  for (std::size_t i = 46; i < 50; ++i) summaries[i].facts[0].value = "570.2";
  const std::vector<FleetGroup> groups = groups_of(summaries);
  std::vector<std::size_t> sizes;
  for (const FleetGroup& group : groups) sizes.push_back(group.machines.size());
  EXPECT_THAT(sizes, ElementsAre(54, 30, 10, 6));
  EXPECT_THAT(groups[0].notes, ElementsAre("driver 580: 50, 570: 4"));
}

TEST(Fleet, TheLatestCalibrationCountsAndChangesHaveADate) {
  std::vector<MachineSummary> summaries;
  for (int week = 0; week < 8; ++week) {
    for (MachineSummary& summary : fleet_with(
             6, [](auto&) { return 0.0; }, 1, 3)) {
      summary.file = fmt::format("{}-{}", week, summary.file);
      summary.measured_at = fmt::format("2026-01-{:02}T00:00:00Z", 1 + 3 * week);
      if (summary.host == "node2" && week >= 5) {
        summary.ceilings[1].value *= 0.9;
        summary.facts[0].value = "590.1";
      }
      if (summary.host == "node3") summary.ceilings[2].value *= 1 - 0.01 * week;
      summaries.push_back(summary);
    }
  }
  summaries.push_back(summaries.back());
  summaries.back().file = "again.json";
  const Fleet fleet = fleet_of(std::move(summaries));
  EXPECT_EQ(fleet.machines.size(), 6U);
  ASSERT_EQ(fleet.left_out.size(), 1U);
  EXPECT_THAT(fleet.left_out[0].reason, HasSubstr("node5"));
  ASSERT_EQ(fleet.drifts.size(), 2U);
  EXPECT_TRUE(fleet.drifts[0].step);
  EXPECT_THAT(fleet_drift(fleet.drifts[0]),
              mentions("hbm.1", "10.0 %", "2026-01-13", "2026-01-16", "driver 580.1", "590.1"));
  EXPECT_EQ(fleet.machines[fleet.drifts[1].machine].host, "node3");
  EXPECT_FALSE(fleet.drifts[1].step);
  EXPECT_THAT(fleet_drift(fleet.drifts[1]), mentions("hbm.2", "7.0 %"));
}

TEST(Fleet, FilesOfAnyKindAreListedAndNeverFatal) {
  const fs::path folder = fs::temp_directory_path() / fmt::format("roofline-fleet-{}", ::getpid());
  Machine machine;
  machine.device.kind = DeviceKind::cuda;
  machine.device.name = "Some GPU";
  machine.device.units = 132;
  machine.device.attributes = {{"UUID", "GPU-360f7906-7754"}, {"host name", "node7"}, {"power limit", "700 W"}};
  machine.measured_at = "2026-01-15T09:32:10Z";
  machine.ceilings.resize(2);
  for (Ceiling& ceiling : machine.ceilings) {
    ceiling.name = "fp32";
    ceiling.kind = CeilingKind::compute;
    ceiling.pipe = Pipe::fp32;
    ceiling.value = 6e13;
    ceiling.audit.checks = {{std::string(kResultCheck), CheckStatus::pass, "right"}};
  }
  machine.ceilings[1].regime = Regime::sustained;
  machine.ceilings[1].power.temperature_c = 61;
  machine.ceilings[1].power.limiter = "power cap";
  const std::string whole = machine_to_json(machine).dump(2);
  const auto write = [&](const std::string& name, const std::string& text) {
    fs::create_directories((folder / name).parent_path());
    std::ofstream(folder / name) << text;
  };
  write("deep/er/good.json", whole);
  write("half.json", whole.substr(0, whole.size() / 2));
  write("empty.json", "");
  write("foreign.json", R"({"schema": "another/1", "device": 3})");
  write("list.json", "[1, 2, 3]");
  write("text.json", "hello");
  write("object.json", "{}");
  write("notes.txt", "not looked at");
  write("wrong.json", R"({"schema": "roofline.machine/1", "device": {"name": 3}})");
  machine.quick = true;
  write("quick.json", machine_to_json(machine).dump(2));
  fs::create_directory_symlink(folder, folder / "loop");
  FleetFiles files = read_fleet({folder.string()});
  EXPECT_EQ(files.files, 9U);
  const Fleet fleet = fleet_of(std::move(files.summaries), std::move(files.left_out));
  ASSERT_EQ(fleet.machines.size(), 1U);
  EXPECT_EQ(fleet_machine(fleet.machines[0]), "node7 GPU 0 (360f7906)");
  EXPECT_EQ(*fleet.machines[0].fact(AttributeKey::power_limit), "700 W");
  ASSERT_NE(fleet.machines[0].find("fp32 (sustained)"), nullptr);
  EXPECT_EQ(fleet.machines[0].find("fp32 (sustained)")->limiter, "power cap");
  std::vector<std::string> reasons;
  for (const LeftOut& left : fleet.left_out) {
    reasons.push_back(fs::path(left.file).filename().string() + ": " + left.reason);
  }
  EXPECT_THAT(reasons, ElementsAre(mentions("empty.json: "), mentions("foreign.json: schema: ", "another/1"),
                                   mentions("half.json: "), mentions("list.json: "), mentions("object.json: "),
                                   mentions("quick.json: ", "--quick"), mentions("text.json: ", "byte 1"),
                                   mentions("wrong.json: device.name: ")));
  EXPECT_THROW(read_fleet({(folder / "nowhere").string()}), UsageError);
  fs::remove_all(folder);
}

TEST(Fleet, NamesFromOutsideAreEscaped) {
  std::vector<MachineSummary> summaries = fleet_with(8, gaussian, 1, 3);
  summaries[2].host = "<script>alert(1)</script>\x1b[31m";
  summaries[2].ceilings[1].value *= 0.5;
  const Fleet fleet = fleet_of(std::move(summaries), {{"<b>.json", "</td><script>"}});
  ASSERT_EQ(fleet.outliers(), 1U);
  EXPECT_THAT(render_fleet_html(fleet), Not(HasSubstr("<script")));
  EXPECT_THAT(render_fleet_terminal(fleet, {}, 20), Not(HasSubstr("\x1b")));
}

TEST(Fleet, SharedFilesAreNamedByHostAndDevice) {
  DeviceInfo device;
  EXPECT_EQ(shared_file_name(device, "node017.cluster"), "node017.cluster-cpu.json");
  device.kind = DeviceKind::cuda;
  device.index = 3;
  EXPECT_EQ(shared_file_name(device, "../a b"), "-.-a-b-gpu3.json");
  device.attributes = {{"UUID", "GPU-360f7906-7754-f037"}};
  EXPECT_EQ(shared_file_name(device, ""), "host-gpu3-360f7906.json");
}

}  // namespace
}  // namespace roofline
