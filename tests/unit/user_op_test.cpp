// The work of a suite's own kernel: its tensors' bytes or its formulas, and whether all of its writes are in place.
#include "user/user_op.hpp"

#include <gtest/gtest.h>

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

TEST(UserOpWork, FormulasReplaceTheBytesAndNotThePlace) {
  WorkSpec half;
  half.read = Formula("2*n", kOpPlace);
  half.write = Formula("n", kOpPlace);
  const Traffic traffic = traffic_of({buffer("y", TensorRole::inout)}, half);
  EXPECT_EQ(traffic.read, 2000);
  EXPECT_EQ(traffic.write, 1000);
  EXPECT_TRUE(traffic.in_place);
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
