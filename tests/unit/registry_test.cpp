// The registry against the folders of kernels/: nothing there may be missing here.
#include "op/registry.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <set>
#include <tuple>

#include "model/error.hpp"
#include "tests/support/mentions.hpp"
#include "tests/support/repository.hpp"

namespace roofline {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::IsSupersetOf;
using ::testing::Not;

std::set<std::string> op_folders() {
  std::set<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(ROOFLINE_SOURCE_DIR "/kernels")) {
    const std::string name = entry.path().filename().string();
    if (entry.is_directory() && name != "blocks" && name != "calibration") names.insert(name);
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
    const auto ops = all_ops();
    const bool has_one = std::any_of(ops.begin(), ops.end(), [&](const Op* op) {
      return source_of_op(op->name()).find("kernels/" + folder + "/") != std::string_view::npos;
    });
    EXPECT_TRUE(has_one) << "kernels/" << folder << " registers no op";
  }
}

TEST(Registry, ListsOpsInTheOrderOfTheirNames) {
  const auto names = op_names();
  EXPECT_TRUE(std::is_sorted(names.begin(), names.end()));
  for (const auto& name : names) EXPECT_EQ(find_op(name)->name(), name);
  EXPECT_EQ(find_op("gem"), nullptr);
}

TEST(Registry, EveryOpDescribesItself) {
  for (const Op* op : all_ops()) {
    EXPECT_THAT(op->summary(), Not(IsEmpty())) << op->name();
    EXPECT_THAT(op->parameters(), Not(IsEmpty())) << op->name();
    for (const DeviceKind device : {DeviceKind::cpu, DeviceKind::cuda}) {
      std::set<std::string> names;
      for (const auto& implementation : implementations_of(*op, device)) {
        EXPECT_TRUE(names.insert(implementation.name).second)
            << op->name() << " has two implementations named " << implementation.name;
        EXPECT_THAT(implementation.dtypes, Not(IsEmpty())) << op->name() << ' ' << implementation.name;
        EXPECT_THAT(implementation.summary, Not(IsEmpty())) << op->name() << ' ' << implementation.name;
      }
    }
  }
}

/// Whether its tensors lie with several devices, which CPUs are not.
bool is_among_ranks(const Op& op) {
  const auto parameters = op.parameters();
  return std::any_of(parameters.begin(), parameters.end(), [](const auto& each) { return each.name == "ranks"; });
}

/// A plain implementation and a fast one at least, in every floating-point type that a CPU stores. Matrix units do not
/// count: not every CPU has them.
TEST(Registry, EveryOpOfTheRepositoryRunsOnACpuInEveryFloatingPointType) {
  for (const Op* op : repository_ops()) {
    if (op->name() == "transfer" || is_among_ranks(*op)) continue;  // there is no link to cross on a CPU
    const auto ladder = implementations_of(*op, DeviceKind::cpu);
    for (const DType dtype : {DType::fp32, DType::fp64, DType::fp16, DType::bf16}) {
      const auto implementations =
          std::count_if(ladder.begin(), ladder.end(), [&](const Implementation& implementation) {
            return !implementation.unsupported && std::find(implementation.dtypes.begin(), implementation.dtypes.end(),
                                                            dtype) != implementation.dtypes.end();
          });
      EXPECT_GE(implementations, 2) << op->name() << ' ' << to_string(dtype);
    }
  }
}

TEST(Registry, KnowsTheFileOfEachOp) {
  EXPECT_THAT(std::string(source_of_op("maximum")), EndsWith("kernels/reduction/reduction.cpp"));
  EXPECT_EQ(source_of_op("gem"), "");
  EXPECT_THAT(repository_ops(), Contains(find_op("relu")));
}

/// Tests run at these shapes, so each must be one that a suite may name.
TEST(Registry, ShapesWorthTestingAreValid) {
  for (const Op* op : all_ops()) {
    for (const DeviceKind device : {DeviceKind::cpu, DeviceKind::cuda}) {
      if (implementations_of(*op, device).empty()) continue;
      const auto shapes = op->test_shapes(device);
      EXPECT_THAT(shapes, Not(IsEmpty())) << op->name();
      for (const Shape& shape : shapes) {
        EXPECT_EQ(op->invalid(shape), std::nullopt) << op->name();
        for (const ShapeParameter& p : op->parameters()) {
          if (!shape.contains(p.name)) continue;
          EXPECT_GE(shape[p.name], p.minimum) << op->name() << ' ' << p.name;
          EXPECT_LE(shape[p.name], p.maximum) << op->name() << ' ' << p.name;
        }
      }
    }
  }
}

/// The least that an op is, to be registered under a name.
class Nothing : public Op {
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

TEST(Registry, RefusesASecondOpOfAName) {
  try {
    OpRegistrar(std::make_unique<Nothing>("relu"));
    FAIL();
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), AllOf(HasSubstr("'relu'"), HasSubstr("relu.cpp"), HasSubstr("registry_test.cpp")));
  }
}

/// m must be a multiple of n, and only k may be 0.
class Divisible final : public Nothing {
 public:
  Divisible() : Nothing("divisible") {}
  std::vector<ShapeParameter> parameters() const override {
    return {{.name = "m", .meaning = "", .default_value = 4096, .minimum = 4},
            {.name = "n", .meaning = "", .default_value = 64, .minimum = 2, .maximum = 64},
            {.name = "k", .meaning = "", .default_value = 0, .minimum = 0}};
  }
  std::optional<std::string> invalid(const Shape& s) const override {
    return s["m"] % s["n"] == 0 ? std::nullopt : std::optional<std::string>("m must be a multiple of n");
  }
  Work work(const Workload& w, DeviceKind device) const override {
    Work work;
    work.bytes[main_memory(device)] = {.read = 64.0 * static_cast<double>(w.shape["m"] * w.shape["n"]), .write = 0};
    return work;
  }
};

TEST(OpTestShapes, AreTheLeastOddAndLargeOnesThatAreValid) {
  const auto on = [](DeviceKind device) { return Divisible().test_shapes(device); };
  const auto shape = [](std::int64_t m, std::int64_t n) { return Shape{{"m", m}, {"n", n}, {"k", 0}}; };
  // The default is 16 MiB of traffic, which is what a GPU gets; a CPU 1 MiB.
  EXPECT_THAT(on(DeviceKind::cuda), IsSupersetOf({shape(4, 2), shape(31, 31), shape(4096, 64)}));
  EXPECT_THAT(on(DeviceKind::cpu), IsSupersetOf({shape(4, 2), shape(31, 31), shape(256, 64)}));
  EXPECT_THAT(on(DeviceKind::cpu), Not(Contains(shape(4096, 64))));
}

/// Divisible, with extents that can't be made small, or not without becoming invalid.
class Unwieldy final : public Nothing {
 public:
  Unwieldy(std::int64_t least, bool only_default) : Nothing("unwieldy"), least_(least), only_default_(only_default) {}
  std::vector<ShapeParameter> parameters() const override {
    return {{.name = "m", .meaning = "", .default_value = 1 << 20, .minimum = least_}};
  }
  std::optional<std::string> invalid(const Shape& s) const override {
    return only_default_ && s["m"] != 1 << 20 ? std::optional<std::string>("m must be 2^20") : std::nullopt;
  }
  Work work(const Workload& w, DeviceKind device) const override {
    Work work;
    work.bytes[main_memory(device)] = {.read = 64.0 * static_cast<double>(w.shape["m"]), .write = 0};
    return work;
  }

 private:
  std::int64_t least_;
  bool only_default_;
};

TEST(OpTestShapes, AreTheSmallestThereIsWhereThatIsLarge) {
  EXPECT_THAT(Unwieldy(1 << 19, false).test_shapes(DeviceKind::cpu), ElementsAre(Shape{{"m", 1 << 19}}));
}

TEST(OpTestShapes, AreTheDefaultWhereNoSmallerOneIsValid) {
  EXPECT_THAT(Unwieldy(1, true).test_shapes(DeviceKind::cpu), ElementsAre(Shape{{"m", 1 << 20}}));
}

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
    EXPECT_THAT(error.what(), mentions("'q'"));
    EXPECT_EQ(error.hint(), "it has: m, n, k");
  }
}

}  // namespace
}  // namespace roofline
