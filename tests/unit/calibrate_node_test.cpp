// Several devices in one process, on fakes: all really work at once, a device that dies costs its own part, and
// whatever is missing has its reason.
#include "calibrate/calibrate_node.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <thread>

#include "calibrate/together.hpp"
#include "host/interrupt.hpp"
#include "model/error.hpp"
#include "tests/support/fake_device.hpp"
#include "tests/support/fake_node.hpp"

namespace roofline {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::Field;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

/// Of the thread that has it open, as with CUDA.
thread_local int this_device = -1;
/// How many devices are within a batch.
std::atomic<int> busy = 0;

/// What every batch takes for each launch, by device and by how many work at that moment.
using Seconds = std::function<double(int device, int working)>;

/// A batch that lasts long enough for another thread's to overlap it.
ProbeCase case_of(std::string variant, const Seconds& seconds) {
  ProbeCase made;
  made.variant = std::move(variant);
  made.amount = 1e6;
  made.working_set_bytes = 1e9;
  made.work.flops[Pipe::fp32] = made.amount;
  made.run = [] {};
  made.batch = [seconds](std::int64_t launches) {
    ++busy;
    std::this_thread::sleep_for(std::chrono::microseconds(500));
    const int working = busy;
    std::this_thread::sleep_for(std::chrono::microseconds(500));
    --busy;
    return Reading{.seconds = seconds(this_device, working) * static_cast<double>(launches), .clock_hz = 1e9};
  };
  return made;
}

Probe fake_probe(const char* name, const Seconds& seconds) {
  Probe probe;
  probe.name = name;
  probe.kind = CeilingKind::compute;
  probe.pipe = Pipe::fp32;
  probe.scalable = false;
  probe.make = [seconds](Device&, const ProbeRequest&, int variant) -> std::optional<ProbeCase> {
    if (variant > 1) return std::nullopt;
    return case_of(variant == 0 ? "plain" : "tuned", seconds);
  };
  return probe;
}

/// A link whose rate is that of its two ends.
LinkProbe fake_link(
    const char* name, const std::function<void(int from, int to)>& before = [](int, int) {}) {
  return {.name = name, .device = DeviceKind::cpu, .to = [name = std::string(name), before](int peer, LinkKind) {
            Probe probe = fake_probe(name.c_str(), [](int, int) { return 1e-3; });
            probe.make = [peer, before](Device&, const ProbeRequest&, int variant) -> std::optional<ProbeCase> {
              if (variant > 0) return std::nullopt;
              before(this_device, peer);
              return case_of("link", [peer](int from, int) { return 1e-3 / (1 + from + 10 * peer); });
            };
            return probe;
          }};
}

class CalibrateNode : public testing::Test {
 protected:
  void options_for(int devices) {
    for (int i = 0; i < devices; ++i) options_.devices.push_back(i);
    options_.effort.quick = true;
    options_.calibrate_alone = [](int device) {
      Machine machine = fake_gpu(device);
      for (Ceiling& ceiling : machine.ceilings) ceiling.variant = "tuned";
      return machine;
    };
    options_.describe_topology = [](std::span<const int> present, Node& node) {
      for (const int from : present) {
        node.topology.places.push_back({.device = from, .pci_address = "", .numa_node = {}, .cpus = ""});
        for (const int to : present) {
          if (from != to) node.links.push_back({.from = from, .to = to, .kind = LinkKind::nvlink});
        }
      }
    };
    options_.open = [](int device) {
      this_device = device;
      return std::make_unique<FakeDevice>();
    };
    // Alone all are alike; together device 1 loses a fifth.
    hbm_ = fake_probe("hbm.read", [](int device, int working) { return device == 1 && working > 1 ? 1.25e-3 : 1e-3; });
    tensor_ = fake_probe("tensor.bf16", [](int, int) { return 1e-3; });
    options_.probes = {&tensor_, &hbm_};
    options_.link_probes = {fake_link("link.read")};
  }

  static const SharedCeiling* shared(const Node& node, int device, const std::string& name) {
    for (const SharedCeiling& known : node.together) {
      if (known.device == device && known.name == name) return &known;
    }
    return nullptr;
  }

  static auto missing(const std::string& name, const std::string& reason) {
    return Contains(AllOf(Field(&Unmeasured::name, HasSubstr(name)), Field(&Unmeasured::reason, HasSubstr(reason))));
  }

  NodeOptions options_;
  Probe hbm_, tensor_;
};

TEST_F(CalibrateNode, AloneTogetherAndLinks) {
  options_for(3);
  const Node node = calibrate_node(options_);
  EXPECT_THAT(node.unmeasured, IsEmpty());
  EXPECT_FALSE(node.cancelled);
  EXPECT_THAT(node.machines, SizeIs(3));
  ASSERT_THAT(node.together, SizeIs(6));
  // Only a device that really had others beside it, for most of its samples, has lost anything.
  ASSERT_NE(shared(node, 1, "hbm.read"), nullptr);
  EXPECT_NEAR(shared(node, 1, "hbm.read")->ratio(), 0.8, 1e-6);
  EXPECT_TRUE(shared(node, 1, "hbm.read")->falls());
  EXPECT_NEAR(shared(node, 0, "hbm.read")->ratio(), 1, 1e-6);
  EXPECT_FALSE(shared(node, 2, "tensor.bf16")->falls());
  for (const SharedCeiling& known : node.together) EXPECT_EQ(known.variant, "tuned") << "that of the device's own roof";
  ASSERT_THAT(node.links, SizeIs(6));
  for (const Link& link : node.links) {
    ASSERT_NE(link.find("link.read"), nullptr);
    EXPECT_NEAR(link.find("link.read")->value, 1e9 * (1 + link.from + 10 * link.to), 1e3) << link.from << link.to;
  }
}

TEST_F(CalibrateNode, ADeviceThatIsLostCostsItsOwnPart) {
  options_for(3);
  hbm_.make = [](Device&, const ProbeRequest&, int variant) -> std::optional<ProbeCase> {
    if (this_device == 2) throw PoisonedDevice("an illegal access");
    return variant > 0 ? std::nullopt : std::optional(case_of("tuned", [](int, int) { return 1e-3; }));
  };
  const Node node = calibrate_node(options_);
  EXPECT_THAT(node.unmeasured, missing("cuda:2 hbm.read together", "an illegal access"));
  EXPECT_EQ(shared(node, 2, "tensor.bf16"), nullptr) << "a lost device is left out from then on";
  for (const int device : {0, 1}) {
    EXPECT_NE(shared(node, device, "hbm.read"), nullptr);
    EXPECT_NE(shared(node, device, "tensor.bf16"), nullptr);
  }
}

TEST_F(CalibrateNode, AProbeThatKillsItsProcessCostsThatProbe) {
  options_for(2);
  hbm_.make = [](Device&, const ProbeRequest&, int) -> std::optional<ProbeCase> { ::_exit(7); };
  const Node node = calibrate_node(options_);
  EXPECT_THAT(node.unmeasured, missing("hbm.read together", "exit code 7"));
  EXPECT_NE(shared(node, 0, "tensor.bf16"), nullptr);
  EXPECT_NE(shared(node, 1, "tensor.bf16"), nullptr);
}

TEST_F(CalibrateNode, OneWhoCannotIsLeftOutAndOneAloneIsNoPair) {
  options_for(2);
  hbm_.unsupported = [](const Device&) -> std::optional<std::string> {
    return this_device == 0 ? std::optional<std::string>("no such memory") : std::nullopt;
  };
  const Node node = calibrate_node(options_);
  EXPECT_THAT(node.unmeasured, missing("cuda:0 hbm.read together", "no such memory"));
  EXPECT_THAT(node.unmeasured, missing("cuda:1 hbm.read together", "no other device"));
}

TEST_F(CalibrateNode, APairThatKillsItsProcessCostsThatPair) {
  options_for(4);
  options_.link_probes = {fake_link("link.read", [](int from, int to) {
    if (from == 0 && to == 3) ::_exit(3);
  })};
  const Node node = calibrate_node(options_);
  for (const Link& link : node.links) {
    const bool dies = link.from == 0 && link.to == 3;
    EXPECT_EQ(link.find("link.read") == nullptr, dies) << link.from << " to " << link.to;
    EXPECT_THAT(link.ceilings, SizeIs(dies ? 0 : 1));
    if (dies) {
      EXPECT_THAT(link.unmeasured, missing("link.read", "exit code 3"));
    }
  }
}

TEST_F(CalibrateNode, ADeviceThatCannotBeCalibratedIsAnEntry) {
  options_for(3);
  const auto usual = options_.calibrate_alone;
  options_.calibrate_alone = [usual](int device) {
    if (device == 1) throw DeviceError("it fell off its bus");
    return usual(device);
  };
  const Node node = calibrate_node(options_);
  EXPECT_THAT(node.unmeasured, missing("cuda:1", "it fell off its bus"));
  EXPECT_THAT(node.machines, SizeIs(2));
  EXPECT_THAT(node.links, SizeIs(2));
  EXPECT_NE(shared(node, 2, "hbm.read"), nullptr);
}

TEST_F(CalibrateNode, OneDeviceHasNobodyToShareWith) {
  options_for(1);
  const Node node = calibrate_node(options_);
  EXPECT_THAT(node.machines, SizeIs(1));
  EXPECT_THAT(node.topology.places, SizeIs(1));
  EXPECT_THAT(node.unmeasured, AllOf(missing("together", "only one GPU"), missing("links", "only one GPU")));
}

TEST_F(CalibrateNode, WithoutTopologyThereAreNoLinksAndAReason) {
  options_for(2);
  options_.describe_topology = [](std::span<const int>, Node&) { throw Error("the driver is silent"); };
  const Node node = calibrate_node(options_);
  EXPECT_THAT(node.unmeasured, missing("topology", "the driver is silent"));
  EXPECT_THAT(node.links, IsEmpty());
  EXPECT_NE(shared(node, 0, "hbm.read"), nullptr);
}

TEST_F(CalibrateNode, WhatWasCancelledStaysWithWhatThereIs) {
  options_for(3);
  options_.calibrate_alone = [](int device) {
    Machine machine = fake_gpu(device);
    machine.cancelled = device == 1;
    return machine;
  };
  const Node node = calibrate_node(options_);
  EXPECT_TRUE(node.cancelled);
  EXPECT_THAT(node.machines, SizeIs(2));
  EXPECT_THAT(node.unmeasured, AllOf(missing("cuda:2", "cancelled"), missing("together", "cancelled")));
}

TEST_F(CalibrateNode, AnInterruptKeepsWhatThereIs) {
  options_for(2);
  options_.effort.quick = false;  // half a second for each probe and turn
  options_.effort.sustain_s = 0;
  options_.progress = [](const Progress& progress) {
    if (progress.done == 1) ::raise(SIGINT);  // in the parent, while the second probe runs
  };
  // In a process of its own, for what is interrupted once stays so.
  const pid_t child = ::fork();
  if (child == 0) {
    catch_interrupts();
    const Node node = calibrate_node(options_);
    const bool first = shared(node, 0, "hbm.read") != nullptr && shared(node, 1, "hbm.read") != nullptr;
    const bool second = shared(node, 0, "tensor.bf16") == nullptr;
    bool said = false;
    for (const Unmeasured& missing : node.unmeasured)
      said = said || (missing.name == "links" && missing.reason == "cancelled");
    ::_exit((node.cancelled ? 0 : 1) + (first ? 0 : 2) + (second ? 0 : 4) + (said ? 0 : 8));
  }
  int status = -1;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

TEST_F(CalibrateNode, OnlyChoosesOfAllParts) {
  options_for(2);
  options_.only = "link.*";
  const Node links = calibrate_node(options_);
  EXPECT_THAT(links.together, IsEmpty());
  EXPECT_NE(links.links.front().find("link.read"), nullptr);
  options_.only = "hbm.*";
  const Node memory = calibrate_node(options_);
  EXPECT_THAT(memory.together, SizeIs(2));
  EXPECT_THAT(memory.links.front().ceilings, IsEmpty());
}

TEST(SharedProbes, SustainedOnesAreThoseThatDrawPower) {
  const Probe read = fake_probe("hbm.read", {}), tensor = fake_probe("tensor.bf16", {}),
              other = fake_probe("l2.read", {});
  const std::vector<const Probe*> probes = {&other, &tensor, &read};
  const std::vector<SharedProbe> full = shared_probes(probes, {.quick = false, .sustain_s = 2}, "*");
  ASSERT_THAT(full, SizeIs(3));
  EXPECT_EQ(full[0].probe, &read);
  EXPECT_EQ(full[2].probe, &tensor);
  EXPECT_EQ(full[2].regime, Regime::sustained);
  EXPECT_THAT(shared_probes(probes, {.quick = true}, "*"), SizeIs(2));
  EXPECT_THAT(shared_probes(probes, {.quick = false, .sustain_s = 0}, "*"), SizeIs(2));
}

}  // namespace
}  // namespace roofline
