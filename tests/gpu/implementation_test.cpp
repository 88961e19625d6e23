// Every CUDA implementation of every op, in every type, at shapes that are even, odd and smaller than a tile:
// verified through Case, guards and poison included.
#include <fmt/format.h>

#include <iostream>
#include <map>

#include "gpu_test.hpp"
#include "op/case.hpp"
#include "op/registry.hpp"

namespace roofline {
namespace {

using ImplementationTest = GpuTest;

const std::map<std::string, std::vector<Shape>>& shapes() {
  static const std::map<std::string, std::vector<Shape>> kShapes = {
      {"relu", {{{"n", 1}}, {{"n", 7}}, {{"n", 1000003}}, {{"n", 1 << 22}}}},
      {"reduction", {{{"n", 1}}, {{"n", 31}}, {{"n", 1000003}}, {{"n", 1 << 24}}}},
      {"layernorm",
       {{{"rows", 1}, {"cols", 2}},
        {{"rows", 3}, {"cols", 129}},
        {{"rows", 37}, {"cols", 64}},
        {{"rows", 19}, {"cols", 1000}},
        {{"rows", 33}, {"cols", 1024}},
        {{"rows", 9}, {"cols", 4096}},
        {{"rows", 5}, {"cols", 10000}},
        {{"rows", 3}, {"cols", 16384}},
        {{"rows", 2}, {"cols", 70000}}}},
      {"softmax",
       {{{"rows", 1}, {"cols", 1}},
        {{"rows", 3}, {"cols", 129}},
        {{"rows", 37}, {"cols", 64}},
        {{"rows", 19}, {"cols", 1000}},
        {{"rows", 33}, {"cols", 1024}},
        {{"rows", 9}, {"cols", 4096}},
        {{"rows", 5}, {"cols", 10000}},
        {{"rows", 3}, {"cols", 16384}},
        {{"rows", 2}, {"cols", 70000}}}},
      {"attention",
       {{{"batch", 1}, {"heads", 1}, {"seq", 1}, {"head_dim", 64}},
        {{"batch", 1}, {"heads", 2}, {"seq", 77}, {"head_dim", 128}},
        {{"batch", 2}, {"heads", 3}, {"seq", 129}, {"head_dim", 64}},
        {{"batch", 1}, {"heads", 2}, {"seq", 200}, {"head_dim", 80}},
        {{"batch", 1}, {"heads", 1}, {"seq", 65}, {"head_dim", 8}},
        {{"batch", 2}, {"heads", 4}, {"seq", 512}, {"head_dim", 128}}}},
      {"gemm",
       {{{"m", 1}, {"n", 1}, {"k", 1}},
        {{"m", 33}, {"n", 65}, {"k", 17}},
        {{"m", 128}, {"n", 128}, {"k", 16}},
        {{"m", 129}, {"n", 136}, {"k", 40}},
        {{"m", 257}, {"n", 255}, {"k", 129}},
        {{"m", 512}, {"n", 384}, {"k", 256}}}},
  };
  return kShapes;
}

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

TEST_F(ImplementationTest, EveryOneComputesTheRightThing) {
  for (const Op* op : all_ops()) {
    const auto known = shapes().find(std::string(op->name()));
    if (known == shapes().end()) continue;
    const auto implementations = implementations_of(*op, DeviceKind::cuda);
    EXPECT_FALSE(implementations.empty()) << op->name();
    for (const Implementation& implementation : implementations) {
      for (const DType dtype : implementation.dtypes) {
        for (const Shape& shape : known->second) verify(*op, implementation, dtype, shape, gpu());
      }
    }
  }
}

TEST_F(ImplementationTest, RepeatsBitForBit) {
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
