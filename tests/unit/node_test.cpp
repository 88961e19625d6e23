// Nodes of 2 to 16 devices: which pairs are measured when, what is found where something is wrong, and nothing where
// nothing is; their file; and what a fleet makes of it.
#include "model/node.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <numeric>
#include <set>

#include "calibrate/machine_store.hpp"
#include "device/numa_place.hpp"
#include "fleet/fleet.hpp"
#include "fleet/machine_summary.hpp"
#include "host/files.hpp"
#include "model/error.hpp"
#include "render/node/node_chart.hpp"
#include "render/node/node_render.hpp"
#include "report/json/node_json.hpp"
#include "report/node_findings.hpp"
#include "report/node_view.hpp"
#include "tests/support/fake_node.hpp"
#include "tests/support/mentions.hpp"

namespace roofline {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;

std::vector<int> first_devices(int count) {
  std::vector<int> devices(static_cast<std::size_t>(count));
  std::iota(devices.begin(), devices.end(), 0);
  return devices;
}

class NodePairs : public testing::TestWithParam<int> {};

TEST_P(NodePairs, EveryOrderedPairOnceAndNoDeviceTwiceInARound) {
  const int n = GetParam();
  const auto rounds = schedule_pairs(first_devices(n), [](DevicePair) { return false; });
  std::set<std::pair<int, int>> seen;
  for (const auto& round : rounds) {
    std::set<int> busy;
    for (const DevicePair& pair : round) {
      EXPECT_NE(pair.from, pair.to);
      EXPECT_TRUE(seen.insert({pair.from, pair.to}).second) << pair.from << " to " << pair.to;
      EXPECT_TRUE(busy.insert(pair.from).second && busy.insert(pair.to).second) << pair.from << " to " << pair.to;
    }
  }
  EXPECT_EQ(seen.size(), static_cast<std::size_t>(n * (n - 1)));
  EXPECT_EQ(rounds.size(), static_cast<std::size_t>(n < 2 ? 0 : 2 * (n % 2 == 0 ? n - 1 : n)));
}

TEST_P(NodePairs, OfAPathThatIsSharedOnePairAtATime) {
  const int n = GetParam();
  const auto rounds = schedule_pairs(first_devices(n), [](DevicePair) { return true; });
  EXPECT_EQ(rounds.size(), static_cast<std::size_t>(n * (n - 1)));
  for (const auto& round : rounds) EXPECT_THAT(round, SizeIs(1));
}

INSTANTIATE_TEST_SUITE_P(Sizes, NodePairs, testing::Values(0, 1, 2, 3, 4, 7, 8, 16));

TEST(NodePairs, OnlyThoseThatShareAreAlone) {
  // Two boards of four, each with NVLink among its own, and PCIe between them.
  const auto rounds = schedule_pairs(first_devices(8), [](DevicePair pair) { return pair.from / 4 != pair.to / 4; });
  std::size_t pairs = 0;
  for (const auto& round : rounds) {
    pairs += round.size();
    const bool shares =
        std::any_of(round.begin(), round.end(), [](const DevicePair& pair) { return pair.from / 4 != pair.to / 4; });
    if (shares) {
      EXPECT_THAT(round, SizeIs(1));
    }
  }
  EXPECT_EQ(pairs, 56U);
  EXPECT_LE(rounds.size(), 14U + 32U);
}

class NodeFindings : public testing::TestWithParam<int> {};

TEST_P(NodeFindings, NothingWhereNothingIsWrong) { EXPECT_THAT(node_findings(fake_node(GetParam())), IsEmpty()); }

TEST_P(NodeFindings, ASlowPairIsNamedAndNoOther) {
  const int last = GetParam() - 1;
  Node node = fake_node(GetParam());
  slow_down(link_between(node, 0, last), 0.5);
  const Findings found = node_findings(node);
  ASSERT_THAT(found, SizeIs(1));
  EXPECT_THAT(found[0], finding(FindingKind::slow_link, "0\u2013" + std::to_string(last) + " ", "GPU 0 1"));
}

TEST_P(NodeFindings, ADeviceThatFallsWhenAllWorkIsNamedWithItsCause) {
  Node node = fake_node(GetParam());
  SharedCeiling& shared = node.together.back();
  shared.together.value *= 0.88;
  shared.together.ci95 = {shared.together.value * 0.99, shared.together.value * 1.01};
  shared.together.core_hz = 1.74e9;
  shared.together.limiter = "power cap";
  const Findings found = node_findings(node);
  ASSERT_THAT(found, SizeIs(1));
  EXPECT_THAT(found[0], finding(FindingKind::shared_drop, "GPU " + std::to_string(GetParam() - 1), " 12", "tensor.bf16",
                                "power cap", "1.98 GHz", "1.74 GHz"));
}

INSTANTIATE_TEST_SUITE_P(Sizes, NodeFindings, testing::Values(2, 3, 4, 8, 16));

TEST(NodeFindings, APortOfADeviceIsToldFromAPair) {
  Node node = fake_node(8);
  for (int other = 0; other < 8; ++other) {
    if (other == 5) continue;
    slow_down(link_between(node, 5, other), 0.6);
    slow_down(link_between(node, other, 5), 0.6);
  }
  const Findings found = node_findings(node);
  ASSERT_THAT(found, SizeIs(1));
  EXPECT_THAT(found[0], finding(FindingKind::slow_device_links, "GPU 5", "59.9 %"));
}

TEST(NodeFindings, NoiseIsNoFinding) {
  Node node = fake_node(8);
  // Far below, and nobody knows how far: the interval reaches back.
  Ceiling& ceiling = link_between(node, 2, 3).ceilings.front();
  ceiling.value *= 0.85;
  ceiling.ci95 = {0.6 * ceiling.value, 1.2 * ceiling.value};
  // 5 % is not worth an operator's time, for all that it is certain.
  slow_down(link_between(node, 6, 7), 0.95);
  EXPECT_THAT(node_findings(node), IsEmpty());
}

TEST(NodeFindings, PathsOfAnotherKindAreNotHeldAgainstEachOther) {
  Node node = fake_node(8);
  for (Link& link : node.links) {
    link.kind = LinkKind::pcie;
    link.nvlinks = 0;
    const bool far = (link.from < 4) != (link.to < 4);
    link.across = far ? PciePath::interconnect : PciePath::one_switch;
    slow_down(link, far ? 0.04 : 0.07);
  }
  EXPECT_THAT(node_findings(node), IsEmpty());
  slow_down(link_between(node, 1, 6), 0.5);
  EXPECT_THAT(node_findings(node), ElementsAre(finding(FindingKind::slow_link, "1\u20136")));
}

TEST(NodeFindings, WhatAllLoseIsOneSentence) {
  Node node = fake_node(8);
  for (int i = 0; i < 8; ++i)
    node.together.push_back(fake_shared(i, "pcie.h2d", CeilingKind::bandwidth, 54e9, i < 4 ? 0.5 : 0.52));
  EXPECT_THAT(node_findings(node), ElementsAre(finding(FindingKind::shared_drop, "pcie.h2d", "48.0 %", "50.0 %")));
}

TEST(NodeFindings, ADeviceThatIsSlowAloneAndWhatIsMissing) {
  Node node = fake_node(4);
  node.machines[2].ceilings[1].value *= 0.9;
  node.machines[2].ceilings[1].ci95 = {4.1e12, 4.3e12};
  node.unmeasured = {{"cuda:4", "its compute mode is 'prohibited'"}, {"cuda:1 fp32 together", "left out"}};
  for (Link& link : node.links) {
    if (link.from + link.to == 1) link.kind = LinkKind::none, link.ceilings.clear();
  }
  EXPECT_THAT(node_findings(node),
              ElementsAre(finding(FindingKind::not_measured, "cuda:4", "its compute mode is 'prohibited'"),
                          finding(FindingKind::no_peer_access, " 0\u20131."),
                          finding(FindingKind::slow_device, "GPU 2", "hbm.read", "9.9 %")));
}

TEST(NodeJson, ComesBackAsItWas) {
  Node node = fake_node(3);
  node.unmeasured = {{"cuda:3", "lost"}};
  node.links[0].unmeasured = {{"link.latency", "no access"}};
  node.links[1].kind = LinkKind::pcie;
  node.links[1].across = PciePath::host_bridge;
  node.topology.places[1].numa_node = std::nullopt;
  node.cancelled = true;
  const std::string text = render_node_json(node);
  EXPECT_TRUE(is_node(text));
  EXPECT_EQ(render_node_json(parse_node(text, "node.json")), text);
  const auto json = nlohmann::json::parse(text);
  EXPECT_EQ(json["schema"], "roofline.node/1");
  EXPECT_EQ(json["machines"][0]["schema"], "roofline.machine/1");
  EXPECT_NEAR(json["together"][1]["ratio"].get<double>(), 0.998, 1e-9);
}

std::string complaint(const std::string& text) {
  try {
    parse_node(text, "node.json");
  } catch (const UsageError& error) {
    return error.what();
  }
  return "";
}

TEST(NodeJson, MistakesHaveTheirPlace) {
  auto json = node_to_json(fake_node(2));
  json["links"][1]["to"] = json["links"][1]["from"];
  EXPECT_THAT(complaint(json.dump()), mentions("node.json", "links[1].to"));
  json["links"][1]["kind"] = "string and cans";
  EXPECT_THAT(complaint(json.dump()), mentions("links[1].kind", "'string and cans'"));
  json["schema"] = "roofline.node/9";
  EXPECT_THAT(complaint(json.dump()), mentions("'roofline.node/1'"));
  EXPECT_THAT(complaint(render_node_json(fake_node(2)).substr(0, 900)), mentions("node.json"));
}

TEST(NodeJson, GivesTheMachineOfADevice) {
  const std::string text = render_node_json(fake_node(3));
  DeviceInfo device = fake_gpu(2).device;
  device.index = 0;  // where others are hidden from the process
  EXPECT_EQ(parse_machine_of(device, text, "node.json").device.identity, device.identity);
  device.identity = "cuda-another";
  EXPECT_EQ(parse_machine_of(device, text, "node.json").device.index, 0) << "the first of that name";
  EXPECT_THROW(parse_machine_of(device, render_node_json(Node{}), "node.json"), UsageError);
}

TEST(NodeRender, EveryFormTellsTheSame) {
  Node node = fake_node(8);
  node.host_name = "no<de>|x";
  slow_down(link_between(node, 2, 5), 0.5);
  node.unmeasured = {{"cuda:8", "a <reason>"}};
  const std::string terminal = render_node_terminal(node, {.color = false, .unicode = true, .columns = 100});
  EXPECT_THAT(terminal, AllOf(HasSubstr("Link 2\u20135"), HasSubstr("GPU 7"), HasSubstr("390"),
                              HasSubstr("cuda:8: a <reason>"), HasSubstr("NV18")));
  const std::string markdown = render_node_markdown(node);
  EXPECT_THAT(markdown, AllOf(HasSubstr("Link 2\u20135"), HasSubstr("**"), Not(HasSubstr("<reason>"))));
  const std::string html = render_node_html(node);
  EXPECT_THAT(html, AllOf(HasSubstr("Link 2\u20135"), HasSubstr("class=\"off\""), HasSubstr("no&lt;de&gt;"),
                          Not(HasSubstr("<reason>"))));
  const std::string svg = render_node_svg(node);
  EXPECT_THAT(svg, AllOf(HasSubstr("GPU 0"), HasSubstr("GPU 7"), HasSubstr("</svg>"), Not(HasSubstr("nan"))));
  EXPECT_THAT(svg, AllOf(HasSubstr("reads another"), HasSubstr("390")));
  EXPECT_THAT(render_node_png(node), ::testing::StartsWith("\x89PNG"));
  // A line a figure: 2 roofs a device, 4 ceilings a link, 2 pairs of rates a device; and the head.
  const std::string csv = render_node_csv(node);
  EXPECT_EQ(std::count(csv.begin(), csv.end(), '\n'), 1 + 8 * 2 + 8 * 4 + 56 * 4);
}

/// Names of roofs stand clear of the slope that leads up to them.
TEST(NodeRender, NoNameCrossesASlope) {
  Node node = fake_node(2);
  for (Machine& machine : node.machines) {
    for (const double part : {0.5, 0.1, 0.05}) {
      Ceiling pipe = machine.ceilings.front();
      ASSERT_EQ(pipe.kind, CeilingKind::compute);
      pipe.name = "a.pipe.of.long.name";
      pipe.value *= part;
      machine.ceilings.push_back(pipe);
    }
  }
  const Scene scene = node_scene(node, NodeParts::roofs);
  ASSERT_GT(scene.width, 0);
  int names = 0;
  for (const Text* text : scene.texts()) {
    if (text->anchor != Anchor::end) continue;
    ++names;
    for (const Group& group : scene.layers.front().groups) {
      for (const Item& item : group.items) {
        const Line* line = std::get_if<Line>(&item);
        const bool slope = line != nullptr && line->points.size() == 2 && line->points[0].y != line->points[1].y;
        if (slope) {
          EXPECT_FALSE(overlap(text->box(), Quad::stroke(line->points[0], line->points[1], 1))) << text->text;
        }
      }
    }
  }
  EXPECT_GE(names, 4);
}

TEST(NodeRender, ANodeOfNothingIsNoCrash) {
  Node node;
  node.cancelled = true;
  node.machines.push_back(fake_gpu(0));
  node.machines[0].ceilings.clear();
  EXPECT_THAT(render_node_terminal(node, {}), HasSubstr("cancelled"));
  EXPECT_THAT(render_node_html(node), HasSubstr("</html>"));
  EXPECT_EQ(render_node_svg(node), "");
  EXPECT_EQ(render_node_png(node), "");
}

TEST(NodeOfFleet, ASheetADeviceWithItsLinksAndWhatItHasLeft) {
  const std::vector<MachineSummary> summaries = read_machine_summaries(render_node_json(fake_node(8)), "node017.json");
  ASSERT_THAT(summaries, SizeIs(8));
  std::set<std::string> keys;
  for (const MachineSummary& summary : summaries) {
    keys.insert(summary.key());
    EXPECT_EQ(summary.host, "node017");
    ASSERT_NE(summary.find("hbm.read (together)"), nullptr);
    ASSERT_NE(summary.find("link.read"), nullptr);
    EXPECT_NEAR(summary.find("link.read")->value, 390e9, 4e9);
    EXPECT_EQ(summary.find("link.latency")->role, Role::reference);
    EXPECT_EQ(summary.find("link.latency")->kind, CeilingKind::latency);
  }
  EXPECT_EQ(keys.size(), 8U);
  EXPECT_EQ(summaries[3].index, 3);
  EXPECT_THAT(summaries[3].uuid, HasSubstr("GPU-0000abc3"));
}

TEST(NodeOfFleet, ASlowLinkIsThatOfItsTwoEndsAndASlowPortThatOfOneDevice) {
  Node pair = fake_node(8);
  slow_down(link_between(pair, 2, 5), 0.5);
  slow_down(link_between(pair, 5, 2), 0.5);
  for (const MachineSummary& summary : read_machine_summaries(render_node_json(pair), "a.json")) {
    const bool end = summary.index == 2 || summary.index == 5;
    EXPECT_EQ(summary.find("link.read (slowest)")->value < 300e9, end) << summary.index;
    EXPECT_GT(summary.find("link.read")->value, 380e9);
  }
  Node port = fake_node(8);
  for (int other = 0; other < 8; ++other) {
    if (other == 5) continue;
    slow_down(link_between(port, 5, other), 0.5);
    slow_down(link_between(port, other, 5), 0.5);
  }
  for (const MachineSummary& summary : read_machine_summaries(render_node_json(port), "a.json")) {
    EXPECT_EQ(summary.find("link.read")->value < 300e9, summary.index == 5) << summary.index;
    EXPECT_EQ(summary.find("link.read (slowest)")->value < 300e9, summary.index == 5) << summary.index;
  }
}

TEST(NodeOfFleet, HalfAFileIsNoSheet) {
  const std::string text = render_node_json(fake_node(4));
  for (const double part : {0.1, 0.5, 0.9, 0.999}) {
    EXPECT_THROW(
        read_machine_summaries(text.substr(0, static_cast<std::size_t>(part * static_cast<double>(text.size()))), "a"),
        UsageError)
        << part;
  }
  EXPECT_THROW(read_machine_summaries(render_node_json(Node{}), "a"), UsageError);
  auto json = node_to_json(fake_node(2));
  json["machines"][1]["schema"] = "another.machine/1";
  EXPECT_THROW(read_machine_summaries(json.dump(), "a"), UsageError);
}

class NodeStore : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::temp_directory_path() / ("roofline-node-" + std::to_string(::getpid()));
    fs::remove_all(folder_);
    ::setenv("XDG_CACHE_HOME", folder_.c_str(), 1);
  }
  void TearDown() override {
    fs::remove_all(folder_);
    ::unsetenv("XDG_CACHE_HOME");
  }
  fs::path folder_;
  std::vector<std::string> said_;
};

TEST_F(NodeStore, FindsWhatItKeptAndNoLesserOneReplacesIt) {
  const auto say = [this](const std::string& line) { said_.push_back(line); };
  EXPECT_FALSE(find_node("node017", say));
  Node node = fake_node(2);
  EXPECT_TRUE(keep_node(node));
  node.quick = true;
  EXPECT_FALSE(keep_node(node));
  ASSERT_TRUE(find_node("node017", say));
  EXPECT_FALSE(find_node("node017", say)->quick);
  EXPECT_FALSE(find_node("node018", say)) << "a cache may be shared by hosts";
  EXPECT_FALSE(find_machine_named("another")) << "a node in the folder is no machine";
  write_file(node_path("node017"), "half a fi");
  EXPECT_FALSE(find_node("node017", say));
  EXPECT_FALSE(said_.empty());
  EXPECT_TRUE(fs::exists(node_path("node017").string() + ".broken"));
}

TEST_F(NodeStore, NamesFilesByHostAndByWhatIsInThem) {
  Node node = fake_node(2);
  EXPECT_EQ(shared_file_name(node, true), "node017-node.json");
  EXPECT_EQ(shared_file_name(node, false), "node017-0000abc0-0000abc1.json");
  node.host_name = "../a b";
  EXPECT_EQ(shared_file_name(node, true), "-.-a-b-node.json");
  node.host_name.clear();
  EXPECT_EQ(shared_file_name(node, true), "host-node.json");
}

TEST_F(NodeStore, PlacesAreReadFromTheSystem) {
  write_file(folder_ / "bus/pci/devices/0000:3b:00.0/numa_node", "1\n");
  write_file(folder_ / "bus/pci/devices/0000:3b:00.0/local_cpulist", "32-63,96-127\n");
  write_file(folder_ / "bus/pci/devices/0000:5e:00.0/numa_node", "-1\n");
  write_file(folder_ / "devices/system/node/node0/distance", "10 21\n");
  write_file(folder_ / "devices/system/node/node1/distance", "21 10\n");
  write_file(folder_ / "devices/system/node/online", "0-1\n");
  const DevicePlace place = place_of(3, "0000:3B:00.0", folder_);
  EXPECT_EQ(place.device, 3);
  EXPECT_EQ(place.numa_node, 1);
  EXPECT_EQ(place.cpus, "32-63,96-127");
  EXPECT_FALSE(place_of(4, "0000:5e:00.0", folder_).numa_node);
  EXPECT_FALSE(place_of(5, "0000:00:00.0", folder_).numa_node);
  NodeTopology topology;
  read_numa_nodes(topology, folder_);
  EXPECT_THAT(topology.numa_nodes, ElementsAre(0, 1));
  EXPECT_THAT(topology.numa_distances, ElementsAre(ElementsAre(10, 21), ElementsAre(21, 10)));
}

}  // namespace
}  // namespace roofline
