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

class ImplementationTest : public GpuTest, public testing::WithParamInterface<std::string> {};

/// Rows of every length that has a way of its own: within a warp, several warps to a block, a block, a cluster, too
/// long for registers; whole multiples of 16 bytes and not, filling their threads and not.
const std::vector<Shape> kMatrices = {
    {{"rows", 1}, {"cols", 2}},      {{"rows", 3}, {"cols", 129}},    {{"rows", 37}, {"cols", 64}},
    {{"rows", 5}, {"cols", 256}},    {{"rows", 6}, {"cols", 512}},    {{"rows", 19}, {"cols", 1000}},
    {{"rows", 33}, {"cols", 1024}},  {{"rows", 7}, {"cols", 2047}},   {{"rows", 7}, {"cols", 2048}},
    {{"rows", 9}, {"cols", 4096}},   {{"rows", 4}, {"cols", 4099}},   {{"rows", 3}, {"cols", 8192}},
    {{"rows", 5}, {"cols", 10000}},  {{"rows", 3}, {"cols", 16384}},  {{"rows", 3}, {"cols", 16381}},
    {{"rows", 3}, {"cols", 32768}},  {{"rows", 2}, {"cols", 50001}},  {{"rows", 2}, {"cols", 65536}},
    {{"rows", 2}, {"cols", 70000}},  {{"rows", 2}, {"cols", 131072}}, {{"rows", 2}, {"cols", 131073}},
    {{"rows", 1}, {"cols", 200000}},
};

const std::map<std::string, std::vector<Shape>>& shapes() {
  static const std::map<std::string, std::vector<Shape>> kShapes = {
      {"relu", {{{"n", 1}}, {{"n", 7}}, {{"n", 1000003}}, {{"n", 1 << 22}}}},
      {"reduction", {{{"n", 1}}, {{"n", 31}}, {{"n", 1000003}}, {{"n", 1 << 24}}}},
      {"maximum", {{{"n", 1}}, {{"n", 31}}, {{"n", 1000003}}, {{"n", 1 << 24}}}},
      {"copy", {{{"n", 1}}, {{"n", 7}}, {{"n", 1000003}}, {{"n", 1 << 22}}}},
      {"add", {{{"n", 1}}, {{"n", 7}}, {{"n", 1000003}}, {{"n", 1 << 22}}}},
      {"swiglu", {{{"n", 1}}, {{"n", 7}}, {{"n", 1000003}}, {{"n", 1 << 22}}}},
      // Heads of whole vectors and not, tokens that share a block and that fill it in several rounds.
      {"rope",
       {{{"batch", 1}, {"seq", 1}, {"heads", 1}, {"head_dim", 2}},
        {{"batch", 3}, {"seq", 7}, {"heads", 5}, {"head_dim", 38}},
        {{"batch", 2}, {"seq", 67}, {"heads", 1}, {"head_dim", 64}},
        {{"batch", 2}, {"seq", 67}, {"heads", 3}, {"head_dim", 80}},
        {{"batch", 32}, {"seq", 1}, {"heads", 40}, {"head_dim", 128}},
        {{"batch", 1}, {"seq", 5}, {"heads", 131}, {"head_dim", 256}},
        {{"batch", 1}, {"seq", 3}, {"heads", 2}, {"head_dim", 1022}},
        {{"batch", 1}, {"seq", 3}, {"heads", 3}, {"head_dim", 1024}},
        {{"batch", 2}, {"seq", 1031}, {"heads", 40}, {"head_dim", 128}}}},
      {"transfer",
       {{{"n", 1}, {"to_host", 0}},
        {{"n", 1}, {"to_host", 1}},
        {{"n", 1000003}, {"to_host", 0}},
        {{"n", 1000003}, {"to_host", 1}}}},
      {"layernorm", kMatrices},
      {"rmsnorm", kMatrices},
      {"softmax", kMatrices},
      {"attention",
       {{{"batch", 1}, {"heads", 1}, {"seq", 1}, {"head_dim", 64}},
        {{"batch", 1}, {"heads", 2}, {"seq", 77}, {"head_dim", 128}},
        {{"batch", 2}, {"heads", 3}, {"seq", 129}, {"head_dim", 64}},
        {{"batch", 1}, {"heads", 2}, {"seq", 200}, {"head_dim", 80}},
        {{"batch", 1}, {"heads", 1}, {"seq", 65}, {"head_dim", 8}},
        {{"batch", 2}, {"heads", 4}, {"seq", 512}, {"head_dim", 128}},
        {{"batch", 1}, {"heads", 2}, {"seq", 1}, {"head_dim", 128}, {"causal", 1}},
        {{"batch", 2}, {"heads", 6}, {"seq", 77}, {"head_dim", 64}, {"kv_heads", 2}},
        {{"batch", 2}, {"heads", 3}, {"seq", 129}, {"head_dim", 64}, {"causal", 1}},
        {{"batch", 1}, {"heads", 4}, {"seq", 333}, {"head_dim", 72}, {"causal", 1}, {"kv_heads", 1}},
        {{"batch", 1}, {"heads", 40}, {"seq", 1027}, {"head_dim", 64}, {"causal", 1}, {"kv_heads", 8}},
        {{"batch", 1}, {"heads", 36}, {"seq", 1100}, {"head_dim", 128}, {"causal", 1}},
        {{"batch", 1}, {"heads", 1}, {"seq", 8200}, {"head_dim", 128}, {"causal", 1}}}},
      {"decode",
       {{{"batch", 1}, {"heads", 1}, {"context", 1}, {"head_dim", 64}},
        {{"batch", 3}, {"heads", 2}, {"context", 77}, {"head_dim", 128}},
        {{"batch", 1}, {"heads", 6}, {"context", 1031}, {"head_dim", 80}, {"kv_heads", 2}},
        {{"batch", 2}, {"heads", 4}, {"context", 300}, {"head_dim", 8}, {"kv_heads", 2}},
        {{"batch", 1}, {"heads", 32}, {"context", 5000}, {"head_dim", 128}, {"kv_heads", 8}},
        {{"batch", 2}, {"heads", 22}, {"context", 2049}, {"head_dim", 64}, {"kv_heads", 2}},
        {{"batch", 1}, {"heads", 1}, {"context", 100000}, {"head_dim", 128}}}},
      {"conv2d",
       {{{"batch", 1}, {"height", 1}, {"width", 1}, {"channels", 1}, {"filters", 1}, {"kernel", 1}, {"padding", 0}},
        {{"batch", 1}, {"height", 1}, {"width", 1}, {"channels", 8}, {"filters", 8}, {"kernel", 3}, {"padding", 1}},
        {{"batch", 1}, {"height", 5}, {"width", 7}, {"channels", 3}, {"filters", 5}, {"kernel", 3}, {"padding", 1}},
        {{"batch", 3}, {"height", 9}, {"width", 11}, {"channels", 16}, {"filters", 24}, {"kernel", 3}, {"padding", 1}},
        {{"batch", 2}, {"height", 13}, {"width", 9}, {"channels", 8}, {"filters", 136}, {"kernel", 5}, {"padding", 2}},
        {{"batch", 1}, {"height", 14}, {"width", 14}, {"channels", 72}, {"filters", 40}, {"kernel", 3}, {"padding", 1}},
        {{"batch", 2}, {"height", 10}, {"width", 10}, {"channels", 20}, {"filters", 12}, {"kernel", 3}, {"padding", 0}},
        {{"batch", 1}, {"height", 8}, {"width", 8}, {"channels", 64}, {"filters", 64}, {"kernel", 1}, {"padding", 0}},
        {{"batch", 1},
         {"height", 17},
         {"width", 19},
         {"channels", 64},
         {"filters", 256},
         {"kernel", 3},
         {"padding", 2}},
        {{"batch", 1},
         {"height", 12},
         {"width", 12},
         {"channels", 24},
         {"filters", 264},
         {"kernel", 7},
         {"padding", 3}},
        {{"batch", 1}, {"height", 4}, {"width", 4}, {"channels", 8}, {"filters", 8}, {"kernel", 4}, {"padding", 3}},
        {{"batch", 3},
         {"height", 57},
         {"width", 55},
         {"channels", 64},
         {"filters", 320},
         {"kernel", 3},
         {"padding", 1}}}},
      {"gemm", {{{"m", 1}, {"n", 1}, {"k", 1}},         {{"m", 33}, {"n", 65}, {"k", 17}},
                {{"m", 128}, {"n", 128}, {"k", 16}},    {{"m", 129}, {"n", 136}, {"k", 40}},
                {{"m", 257}, {"n", 255}, {"k", 129}},   {{"m", 512}, {"n", 384}, {"k", 256}},
                {{"m", 1}, {"n", 512}, {"k", 4099}},    {{"m", 3}, {"n", 264}, {"k", 1000}},
                {{"m", 8}, {"n", 4096}, {"k", 512}},    {{"m", 5}, {"n", 1000}, {"k", 8}},
                {{"m", 1001}, {"n", 1}, {"k", 1000}},   {{"m", 130}, {"n", 8}, {"k", 136}},
                {{"m", 77}, {"n", 5}, {"k", 520}},      {{"m", 13}, {"n", 264}, {"k", 1001}},
                {{"m", 16}, {"n", 8200}, {"k", 1040}},  {{"m", 1003}, {"n", 11}, {"k", 1304}},
                {{"m", 3000}, {"n", 16}, {"k", 2056}},  {{"m", 20}, {"n", 7}, {"k", 16384}},
                {{"m", 300}, {"n", 1008}, {"k", 2064}}, {{"m", 2049}, {"n", 2064}, {"k", 528}}}},
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
  const auto implementations = implementations_of(*op, DeviceKind::cuda);
  EXPECT_FALSE(implementations.empty());
  for (const Implementation& implementation : implementations) {
    for (const DType dtype : implementation.dtypes) {
      for (const Shape& shape : shapes().at(name)) {
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
  for (const auto& [name, list] : shapes()) found.push_back(name);
  return found;
}

INSTANTIATE_TEST_SUITE_P(Ops, ImplementationTest, testing::ValuesIn(names()),
                         [](const auto& instance) { return instance.param; });

TEST(ImplementationShapes, CoverEveryOp) {
  for (const Op* op : all_ops()) EXPECT_TRUE(shapes().contains(std::string(op->name()))) << op->name();
}

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
