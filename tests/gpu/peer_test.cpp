// The links between two GPUs, and several devices in one process. Skipped where there is one GPU.
#include <fmt/format.h>

#include <iostream>
#include <thread>

#include "calibrate/device_thread.hpp"
#include "calibrate/node_devices.hpp"
#include "device/cuda/topology.hpp"
#include "op/link_probe.hpp"
#include "probe_rate.hpp"

namespace roofline {
namespace {

class PeerTest : public GpuTest {
 protected:
  void SetUp() override {
    GpuTest::SetUp();
    if (IsSkipped()) return;
    const std::vector<DeviceListing> gpus = list_cuda_devices();
    if (gpus.size() < 2 || !gpus[1].usable) GTEST_SKIP() << "only one usable GPU";
    describe_cuda_topology(std::vector<int>{0, 1}, node_);
  }

  const Link& link() const { return *node_.link(0, 1); }

  /// The best rate of all variants of that probe of the link from GPU 0 to GPU 1, each verified.
  double best(const std::string& name) {
    for (const LinkProbe& known : link_probes(DeviceKind::cuda)) {
      if (known.name != name) continue;
      const Probe probe = known.to(1, link().kind);
      double best = 0;
      for (int variant = 0;; ++variant) {
        const auto made = probe.make(gpu(), ProbeRequest{}, variant);
        if (!made) break;
        const double rate = rate_of(gpu(), *made);
        std::cout << fmt::format("  {}: {:.4g}/s, {}\n", name, rate, made->variant);
        best = std::max(best, rate);
      }
      return best;
    }
    throw Error("no link probe is called " + name);
  }

  Node node_;
};

TEST_F(PeerTest, TheSystemTellsHowTheyAreLinked) {
  ASSERT_EQ(node_.topology.places.size(), 2U);
  ASSERT_EQ(node_.links.size(), 2U);
  EXPECT_NE(node_.topology.places[0].pci_address, node_.topology.places[1].pci_address);
  std::cout << fmt::format("  {} x {}, PCIe across {}\n", to_string(link().kind), link().nvlinks,
                           link().across ? to_string(*link().across) : "unknown");
}

TEST_F(PeerTest, EveryVariantMovesWhatItSaysAndBothWaysLieBetweenOneAndTwo) {
  if (link().kind == LinkKind::none) GTEST_SKIP() << "no peer access";
  const double read = best("link.read");
  const double write = best("link.write");
  const double both = best("link.both");
  EXPECT_GT(both, 0.95 * std::max(read, write));
  EXPECT_LT(both, 1.05 * (read + write));
  EXPECT_GT(1 / best("link.latency"), 0.2e-6) << "less than a GPU's own L2 takes";
}

TEST_F(PeerTest, ANextGpuOfARoofIsAPairOfANode) {
  if (link().kind != LinkKind::nvlink) GTEST_SKIP() << "linked by PCIe";
  EXPECT_NEAR(best("link.read") / best_rate(gpu(), "nvlink.read"), 1, 0.03);
}

TEST_F(PeerTest, TwoDevicesComputeTheRightThingSideBySide) {
  NodeDevices devices([](int index) { return open_device(DeviceKind::cuda, index, {}); }, node_.topology);
  for (const char* name : {"hbm.copy", "fp32", "tensor.bf16", "l1.read", "pcie.duplex"}) {
    const Probe& probe = probe_named(name);
    if (probe.unsupported && probe.unsupported(gpu())) continue;
    std::vector<std::string> wrong(2);
    std::vector<std::future<void>> done;
    for (const int index : {0, 1}) {
      done.push_back(devices[index].run([&, index](Device& device) {
        const auto made = probe.make(device, ProbeRequest{.quick = true, .scale = 1}, 0);
        const auto timer = device.timer([&](std::int64_t) { made->run(); });
        for (int i = 0; i < 20; ++i) static_cast<void>(timer->time(8));
        wrong[static_cast<std::size_t>(index)] = made->verify ? made->verify().value_or("") : "";
      }));
    }
    for (auto& one : done) one.get();
    EXPECT_EQ(wrong[0], "") << name;
    EXPECT_EQ(wrong[1], "") << name;
  }
}

}  // namespace
}  // namespace roofline
