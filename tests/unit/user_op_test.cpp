// The work of a suite's own kernel: its tensors' bytes or its formulas, and whether all of its writes are in place.
#include "user/user_op.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "user/binding.hpp"
#include "user/work_of_formulas.hpp"

namespace roofline {
namespace {

const Place kOpPlace{"s.yaml", 3, 10};

BufferSpec buffer(const std::string& name, TensorRole role) {
  BufferSpec spec;
  spec.name = name;
  spec.role = role;
  spec.size = Formula("n", kOpPlace);
  return spec;
}

Traffic traffic_of(std::vector<BufferSpec> buffers, const WorkSpec& work = {}) {
  KernelSpec spec;
  spec.name = "own";
  spec.extents = {"n"};
  spec.buffers = std::move(buffers);
  spec.work = work;
  const UserOp op(std::make_shared<KernelSpec>(spec), nullptr);
  Workload workload;
  workload.op = "own";
  workload.shape = {{"n", 1000}};
  return op.work(workload, DeviceKind::cpu).bytes.at(Level::dram);
}

TEST(UserOpWork, AnOutputIsWrittenElsewhere) {
  const Traffic copy = traffic_of({buffer("x", TensorRole::input), buffer("y", TensorRole::output)});
  EXPECT_EQ(copy.read, 4000);
  EXPECT_EQ(copy.write, 4000);
  EXPECT_FALSE(copy.in_place);
}

TEST(UserOpWork, OnlyInoutsAreWrittenInPlace) {
  const Traffic saxpy = traffic_of({buffer("x", TensorRole::input), buffer("y", TensorRole::inout)});
  EXPECT_EQ(saxpy.read, 8000);
  EXPECT_EQ(saxpy.write, 4000);
  EXPECT_TRUE(saxpy.in_place);
  EXPECT_FALSE(traffic_of({buffer("x", TensorRole::output), buffer("y", TensorRole::inout)}).in_place)
      << "one of two outputs is elsewhere";
  EXPECT_FALSE(traffic_of({buffer("x", TensorRole::input)}).in_place) << "nothing is written";
}

TEST(UserOpWork, AWorkspaceIsNoOutput) {
  BufferSpec workspace = buffer("scratch", TensorRole::output);
  workspace.workspace = true;
  EXPECT_TRUE(traffic_of({buffer("y", TensorRole::inout), workspace}).in_place);
}

/// Border errors are in few elements of a large output: a sample has ends of its rows.
TEST(UserOpSample, HasEndsOfRows) {
  KernelSpec spec;
  spec.name = "own";
  spec.extents = {"h", "w"};
  spec.buffers = {buffer("x", TensorRole::input), buffer("y", TensorRole::output)};
  for (BufferSpec& one : spec.buffers) one.size = Formula("h*w", kOpPlace);
  const UserOp op(std::make_shared<KernelSpec>(spec), nullptr);
  Workload workload;
  workload.op = "own";
  workload.shape = {{"h", 700}, {"w", 1100}};
  const std::vector<std::int64_t> edges = op.edges(workload);
  const auto ends = [&](std::int64_t column) {
    std::set<std::int64_t> rows;
    for (const std::int64_t index : edges) {
      if (index % 1100 == column) rows.insert(index / 1100);
    }
    return rows.size();
  };
  EXPECT_GT(ends(0), 10U);
  EXPECT_GT(ends(1099), 10U);
  EXPECT_TRUE(std::ranges::all_of(edges, [](std::int64_t index) { return index >= 0 && index < 700 * 1100; }));
}

TEST(UserOpWork, FormulasReplaceTheBytesAndNotThePlace) {
  WorkSpec half;
  half.read = Formula("2*n", kOpPlace);
  half.write = Formula("n", kOpPlace);
  const Traffic traffic = traffic_of({buffer("y", TensorRole::inout)}, half);
  EXPECT_EQ(traffic.read, 2000);
  EXPECT_EQ(traffic.write, 1000);
  EXPECT_TRUE(traffic.in_place);
}

/// The work of y (fp32) by that formula of x (fp32) and k (int32).
WorkBounds work_of(const std::string& formula) {
  constexpr std::int64_t kElements = 100;
  KernelSpec spec;
  spec.name = "own";
  spec.extents = {"n"};
  spec.buffers = {buffer("x", TensorRole::input), buffer("k", TensorRole::input), buffer("y", TensorRole::output)};
  spec.buffers[1].dtype = DType::int32;
  spec.expect.formulas.emplace("y", Formula(formula, kOpPlace));
  Workload workload;
  workload.op = "own";
  workload.shape = {{"n", kElements}};
  std::vector<HostTensor> inputs;
  for (const TensorSpec& tensor : tensors_of(spec, workload)) {
    if (!is_read(tensor.role)) continue;
    inputs.emplace_back(tensor);
    inputs.back().fill_random(1);
  }
  WorkBounds bounds = work_of_formulas(spec, workload, inputs);
  *bounds.flops_least /= kElements;
  *bounds.flops_most /= kElements;
  return bounds;
}

TEST(UserOpWork, FlopsAreNeededWhereFloatingPointIsComputed) {
  const struct {
    const char* formula;
    double least, most;
  } expected[] = {{"2*x + 1", 2, 2},
                  {"max(x, 0)", 0, 1},
                  {"(i*3 + 7) % 5 * 0.5", 1, 3},
                  {"k*k + i", 0, 2},
                  {"floor(i/7)*x", 1, 2},
                  {"x^3", 1, 4},
                  {"exp(x) * 2", 2, 5},
                  {"max[j < 2](x[min(i + j, n - 1)])", 0, 2},
                  {"sum[j < 2](x[min(i + j, n - 1)] * 2) / x", 1, 5},
                  {"sum[j < 2](k[min(i + j, n - 1)])", 0, 2}};
  for (const auto& [formula, least, most] : expected) {
    const WorkBounds bounds = work_of(formula);
    EXPECT_EQ(*bounds.flops_least, least) << formula;
    EXPECT_EQ(*bounds.flops_most, most) << formula;
  }
}

TEST(UserOpWork, IndicesAndBoundsAreRead) {
  EXPECT_GT(work_of("x[k - k + 1]").read_least, 400) << "all of k, and an element of x";
  EXPECT_EQ(work_of("x[1]").read_least, 4);
  EXPECT_GT(work_of("sum[j < 1 + k[i] - k[i]](x[j])").read_least, 400);
}

/// Later elements of a running sum take more; where only some are evaluated, they stand for all.
TEST(UserOpWork, FlopsOfAPartStandForAllElements) {
  constexpr std::int64_t kElements = 1 << 14;
  KernelSpec spec;
  spec.name = "own";
  spec.extents = {"n"};
  spec.buffers = {buffer("x", TensorRole::input), buffer("y", TensorRole::output)};
  spec.expect.formulas.emplace("y", Formula("sum[j <= i](x[j] * x[j])", kOpPlace));
  Workload workload;
  workload.op = "own";
  workload.shape = {{"n", kElements}};
  HostTensor x(tensors_of(spec, workload).front());
  x.fill_random(1);
  const WorkBounds bounds = work_of_formulas(spec, workload, {&x, 1});
  const double flops = static_cast<double>(kElements) * (kElements + 1);
  ASSERT_TRUE(bounds.flops_most);
  EXPECT_NEAR(*bounds.flops_most, flops, 0.02 * flops);
}

}  // namespace
}  // namespace roofline
