// The registry against the folders of kernels/: nothing there may be missing here.
#include "op/registry.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <tuple>

#include <algorithm>
#include <filesystem>
#include <set>

#include "model/error.hpp"

namespace roofline {
namespace {

using ::testing::Contains;
using ::testing::IsEmpty;
using ::testing::Not;

std::set<std::string> op_folders() {
  std::set<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(ROOFLINE_SOURCE_DIR "/kernels")) {
    if (entry.is_directory() && entry.path().filename() != "calibration")
      names.insert(entry.path().filename().string());
  }
  return names;
}

std::vector<std::string> op_names() {
  std::vector<std::string> names;
  for (const Op* op : all_ops()) names.emplace_back(op->name());
  return names;
}

TEST(Registry, FindsEveryFolder) {
  const auto folders = op_folders();
  ASSERT_THAT(folders, Not(IsEmpty()));
  for (const auto& folder : folders) {
    EXPECT_THAT(op_names(), Contains(folder)) << "kernels/" << folder << " registers no op of that name";
  }
}

TEST(Registry, ListsOpsInTheOrderOfTheirNames) {
  const auto names = op_names();
  EXPECT_TRUE(std::is_sorted(names.begin(), names.end()));
  for (const auto& name : names) EXPECT_EQ(find_op(name)->name(), name);
  EXPECT_EQ(find_op("gem"), nullptr);
}

TEST(Registry, EveryOpRunsOnACpuInFp32AndDescribesItself) {
  for (const Op* op : all_ops()) {
    EXPECT_THAT(op->summary(), Not(IsEmpty())) << op->name();
    EXPECT_THAT(op->parameters(), Not(IsEmpty())) << op->name();
    if (op->name() == "transfer") continue;  // there is no link to cross on a CPU
    const auto ladder = implementations_of(*op, DeviceKind::cpu);
    ASSERT_THAT(ladder, Not(IsEmpty())) << op->name();
    std::set<std::string> names;
    for (const auto& rung : ladder) {
      EXPECT_TRUE(names.insert(rung.name).second) << op->name() << " has two rungs named " << rung.name;
      EXPECT_THAT(rung.dtypes, Contains(DType::fp32)) << op->name() << ' ' << rung.name;
      EXPECT_THAT(rung.summary, Not(IsEmpty())) << op->name() << ' ' << rung.name;
    }
  }
}

/// The least that an op is, to be registered under a name.
class Nothing final : public Op {
 public:
  explicit Nothing(std::string name) : name_(std::move(name)) {}
  std::string_view name() const override { return name_; }
  std::string_view summary() const override { return "does nothing"; }
  std::string_view family() const override { return "test"; }
  std::vector<ShapeParameter> parameters() const override { return {}; }
  std::vector<TensorSpec> tensors(const Workload&) const override { return {}; }
  Work work(const Workload&, DeviceKind) const override { return {}; }
  void reference(const Workload&, std::span<const HostTensor>, std::span<const std::int64_t>,
                 std::span<double>) const override {}
  double reference_cost(const Workload&) const override { return 1; }
  Tolerance tolerance(const Workload&) const override { return {}; }
  std::vector<Implementation> implementations() const override {
    return {{.name = "own", .summary = "", .dtypes = {}, .prepare = {}}};
  }

 private:
  std::string name_;
};

TEST(Registry, RefusesASecondOpOfAName) { EXPECT_THROW(OpRegistrar(std::make_unique<Nothing>("relu")), Error); }

TEST(Registry, JoinsImplementationsRegisteredElsewhere) {
  const ImplementationRegistrar registrar(
      "nothing", {{.name = "gpu", .summary = "", .device = DeviceKind::cuda, .dtypes = {}, .prepare = {}},
                  {.name = "fast", .summary = "", .dtypes = {}, .prepare = {}}});
  const Nothing op("nothing");
  const auto cpu = implementations_of(op, DeviceKind::cpu);
  ASSERT_EQ(cpu.size(), 2U);
  EXPECT_EQ(cpu[0].name, "own");
  EXPECT_EQ(cpu[1].name, "fast");
  const auto cuda = implementations_of(op, DeviceKind::cuda);
  ASSERT_EQ(cuda.size(), 1U);
  EXPECT_EQ(cuda[0].name, "gpu");
}

TEST(Registry, ProbesComeInTheOrderOfTheVocabularies) {
  const auto probes = all_probes(DeviceKind::cpu);
  // Roofs first, then what is only for comparison, then sweeps; of each, kinds in their declared order.
  const auto key = [](const Probe* probe) { return std::tuple(probe->sweep.has_value(), probe->role, probe->kind); };
  for (std::size_t i = 1; i < probes.size(); ++i) EXPECT_LE(key(probes[i - 1]), key(probes[i]));
}

TEST(Shape, FindsExtentsByName) {
  Shape shape{{"m", 3}, {"n", 4}};
  EXPECT_EQ(shape["n"], 4);
  shape.set("n", 5);
  shape.set("k", 6);
  EXPECT_EQ(shape, (Shape{{"m", 3}, {"n", 5}, {"k", 6}}));
  EXPECT_FALSE(shape.contains("q"));
  try {
    shape["q"];
    FAIL();
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "the shape has no extent 'q'");
    EXPECT_EQ(error.hint(), "it has: m, n, k");
  }
}

}  // namespace
}  // namespace roofline
