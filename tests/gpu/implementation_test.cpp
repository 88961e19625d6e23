// Every CUDA implementation of every op, in every type, at the shapes that the op finds worth testing: verified through
// Case, guards and poison included.
#include <fmt/format.h>

#include <iostream>

#include "gpu_test.hpp"
#include "op/case.hpp"
#include "op/registry.hpp"

namespace roofline {
namespace {

class ImplementationTest : public GpuTest, public testing::WithParamInterface<std::string> {};

void verify(const Op& op, const Implementation& implementation, DType dtype, const Shape& shape, Device& device) {
  Workload workload;
  workload.op = std::string(op.name());
  workload.implementation = implementation.name;
  workload.dtype = dtype;
  workload.shape = shape;
  workload.seed = 20;
  std::string text;
  for (const auto& [name, extent] : shape.extents()) text += fmt::format(" {}={}", name, extent);
  SCOPED_TRACE(fmt::format("{} {} {}{}", op.name(), implementation.name, to_string(dtype), text));
  if (op.invalid(shape)) return;
  if (implementation.unsupported) {
    if (const auto reason = implementation.unsupported(workload, device)) {
      std::cout << "  " << op.name() << ' ' << implementation.name << ' ' << to_string(dtype) << text << ": " << *reason
                << '\n';
      return;
    }
  }
  const Verification outcome = Case(op, implementation, workload, device).verify();
  EXPECT_TRUE(outcome.passed) << outcome.failure << " (error " << outcome.error << ", tolerance " << outcome.tolerance
                              << ")";
}

/// Little enough work that a sanitizer, which slows a kernel down a hundredfold, ends soon.
bool small(const Op& op, const Shape& shape) {
  Workload workload;
  workload.op = std::string(op.name());
  workload.shape = shape;
  const Work work = op.work(workload, DeviceKind::cuda);
  double bytes = 0;
  for (const auto& [level, traffic] : work.bytes) bytes += traffic.total();
  return work.total_flops() < 1e8 && bytes < 1e6;
}

void verify_all(const std::string& name, bool small_only, Device& device) {
  const Op* op = find_op(name);
  ASSERT_NE(op, nullptr);
  for (const Implementation& implementation : implementations_of(*op, DeviceKind::cuda)) {
    for (const DType dtype : implementation.dtypes) {
      for (const Shape& shape : op->test_shapes(DeviceKind::cuda)) {
        if (!small_only || small(*op, shape)) verify(*op, implementation, dtype, shape, device);
      }
    }
  }
}

TEST_P(ImplementationTest, EveryOneComputesTheRightThing) { verify_all(GetParam(), false, gpu()); }

// For compute-sanitizer: --gtest_filter='*OnSmallShapes*'.
TEST_P(ImplementationTest, IsCleanOnSmallShapes) { verify_all(GetParam(), true, gpu()); }

std::vector<std::string> names() {
  std::vector<std::string> found;
  for (const Op* op : all_ops()) {
    if (!implementations_of(*op, DeviceKind::cuda).empty()) found.emplace_back(op->name());
  }
  return found;
}

INSTANTIATE_TEST_SUITE_P(Ops, ImplementationTest, testing::ValuesIn(names()),
                         [](const auto& instance) { return instance.param; });

using RepetitionTest = GpuTest;

TEST_F(RepetitionTest, SumsBitForBit) {
  const Op* op = find_op("reduction");
  ASSERT_NE(op, nullptr);
  constexpr std::int64_t kElements = 3000017;
  HostTensor x({.name = "x", .role = TensorRole::input, .elements = kElements, .dtype = DType::fp32});
  x.fill_random(3);
  const auto in = gpu().allocate(x.bytes().size());
  const auto out = gpu().allocate(sizeof(float));
  gpu().upload(in->data(), x.bytes().data(), x.bytes().size());
  Workload workload;
  workload.op = "reduction";
  workload.shape = {{"n", kElements}};
  for (const Implementation& implementation : implementations_of(*op, DeviceKind::cuda)) {
    if (implementation.name == "atomics") continue;  // they come in any order
    const Kernel kernel = implementation.prepare(workload, gpu());
    const std::array<void*, 2> tensors = {in->data(), out->data()};
    float first = 0;
    for (int i = 0; i < 20; ++i) {
      kernel(tensors);
      float sum = 0;
      gpu().download(&sum, out->data(), sizeof sum);
      if (i == 0) first = sum;
      ASSERT_EQ(sum, first) << implementation.name;
    }
  }
}

}  // namespace
}  // namespace roofline
