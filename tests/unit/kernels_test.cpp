// Every CPU implementation of every op, at every instruction-set level that this CPU has, at shapes that
// fill no vector, block or thread evenly; and the tolerances, against faults that they must not hide.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <map>
#include <numeric>

#include "device/cpu/cpu_device.hpp"
#include "op/case.hpp"
#include "op/registry.hpp"

namespace roofline {
namespace {

const std::map<std::string, std::vector<Shape>> kOddShapes = {
    {"relu", {{{"n", 1}}, {{"n", 31}}, {{"n", 100'003}}}},
    {"reduction", {{{"n", 1}}, {{"n", 4097}}, {{"n", 1'000'003}}}},
    {"maximum", {{{"n", 1}}, {{"n", 4097}}, {{"n", 1'000'003}}}},
    {"copy", {{{"n", 1}}, {{"n", 31}}, {{"n", 100'003}}}},
    {"add", {{{"n", 1}}, {{"n", 31}}, {{"n", 100'003}}}},
    {"swiglu", {{{"n", 1}}, {{"n", 31}}, {{"n", 100'003}}}},
    {"rope",
     {{{"batch", 1}, {"seq", 1}, {"heads", 1}, {"head_dim", 2}},
      {{"batch", 3}, {"seq", 7}, {"heads", 5}, {"head_dim", 38}},
      {{"batch", 2}, {"seq", 67}, {"heads", 3}, {"head_dim", 80}},
      {{"batch", 2}, {"seq", 31}, {"heads", 40}, {"head_dim", 128}}}},
    {"rmsnorm",
     {{{"rows", 1}, {"cols", 1}},
      {{"rows", 3}, {"cols", 7}},
      {{"rows", 37}, {"cols", 1031}},
      {{"rows", 5}, {"cols", 1104}}}},
    {"layernorm",
     {{{"rows", 1}, {"cols", 1}},
      {{"rows", 3}, {"cols", 7}},
      {{"rows", 37}, {"cols", 1031}},
      {{"rows", 5}, {"cols", 1104}}}},
    {"softmax",
     {{{"rows", 1}, {"cols", 1}},
      {{"rows", 3}, {"cols", 7}},
      {{"rows", 37}, {"cols", 1031}},
      {{"rows", 5}, {"cols", 1104}}}},
    {"attention",
     {{{"batch", 1}, {"heads", 1}, {"seq", 1}, {"head_dim", 1}},
      {{"batch", 2}, {"heads", 3}, {"seq", 67}, {"head_dim", 19}},
      {{"batch", 1}, {"heads", 2}, {"seq", 1100}, {"head_dim", 64}},
      {{"batch", 2}, {"heads", 4}, {"seq", 67}, {"head_dim", 19}, {"kv_heads", 2}},
      {{"batch", 1}, {"heads", 2}, {"seq", 700}, {"head_dim", 16}, {"causal", 1}},
      {{"batch", 1}, {"heads", 6}, {"seq", 131}, {"head_dim", 8}, {"causal", 1}, {"kv_heads", 1}}}},
    {"decode",
     {{{"batch", 1}, {"heads", 1}, {"context", 1}, {"head_dim", 1}},
      {{"batch", 3}, {"heads", 2}, {"context", 67}, {"head_dim", 19}},
      {{"batch", 1}, {"heads", 1}, {"context", 5003}, {"head_dim", 64}},
      {{"batch", 2}, {"heads", 6}, {"context", 1100}, {"head_dim", 80}, {"kv_heads", 2}}}},
    {"conv2d",
     {{{"batch", 1}, {"height", 1}, {"width", 1}, {"channels", 1}, {"filters", 1}, {"kernel", 1}, {"padding", 0}},
      {{"batch", 1}, {"height", 1}, {"width", 2}, {"channels", 3}, {"filters", 2}, {"kernel", 3}, {"padding", 1}},
      {{"batch", 2}, {"height", 7}, {"width", 5}, {"channels", 3}, {"filters", 10}, {"kernel", 3}, {"padding", 0}},
      {{"batch", 3}, {"height", 9}, {"width", 31}, {"channels", 19}, {"filters", 17}, {"kernel", 5}, {"padding", 2}},
      {{"batch", 2},
       {"height", 7},
       {"width", 270},
       {"channels", 130},
       {"filters", 70},
       {"kernel", 3},
       {"padding", 3}}}},
    {"gemm", {{{"m", 1}, {"n", 1}, {"k", 1}}, {{"m", 3}, {"n", 130}, {"k", 7}}, {{"m", 131}, {"n", 67}, {"k", 259}}}},
};

/// Ops that this file does not know are run at the smallest extents that they allow, times a prime.
std::vector<Shape> shapes_of(const Op& op) {
  if (const auto found = kOddShapes.find(std::string(op.name())); found != kOddShapes.end()) return found->second;
  Shape shape;
  for (const auto& parameter : op.parameters()) shape.set(parameter.name, parameter.minimum * 37);
  return {shape};
}

void verify_rung(const Op& op, const Implementation& rung, CpuDevice& device) {
  for (const DType dtype : rung.dtypes) {
    for (const Shape& shape : shapes_of(op)) {
      for (const CacheMode cache : {CacheMode::cold, CacheMode::hot}) {
        const Workload w{.op = std::string(op.name()),
                         .implementation = rung.name,
                         .dtype = dtype,
                         .shape = shape,
                         .cache = cache,
                         .label = ""};
        const Verification result = Case(op, rung, w, device).verify();
        EXPECT_TRUE(result.passed) << op.name() << ' ' << rung.name << ' ' << to_string(dtype) << ": "
                                   << result.failure;
      }
    }
  }
}

TEST(CpuKernels, EveryRungIsRightAtEveryLevel) {
  for (const Isa isa : usable_isas()) {
    SCOPED_TRACE(to_string(isa));
    CpuDevice device({}, isa);
    for (const Op* op : all_ops()) {
      for (const auto& rung : implementations_of(*op, DeviceKind::cpu)) verify_rung(*op, rung, device);
    }
  }
}

TEST(CpuKernels, MoreThreadsThanRowsIsRight) {
  CpuDevice device({.threads = 2});
  const Op& op = *find_op("layernorm");
  const Workload w{.op = "layernorm", .implementation = "", .shape = {{"rows", 1}, {"cols", 5000}}, .label = ""};
  for (const auto& rung : implementations_of(op, DeviceKind::cpu))
    EXPECT_TRUE(Case(op, rung, w, device).verify().passed);
}

/// All outputs of the reference on these inputs, in fp32.
std::vector<double> reference_of(const Workload& w, const std::vector<std::vector<float>>& values) {
  const Op& op = *find_op(w.op);
  const auto specs = op.tensors(w);
  std::vector<HostTensor> inputs;
  for (std::size_t i = 0; i < values.size(); ++i) {
    EXPECT_EQ(specs[i].elements, std::ssize(values[i])) << specs[i].name;
    inputs.emplace_back(specs[i]);
    std::memcpy(inputs.back().bytes().data(), values[i].data(), inputs.back().bytes().size());
  }
  std::vector<std::int64_t> indices(static_cast<std::size_t>(specs.back().elements));
  std::iota(indices.begin(), indices.end(), 0);
  std::vector<double> expected(indices.size());
  op.reference(w, inputs, indices, expected);
  return expected;
}

/// A one among zeros: each output shows the one tap that sees it, so the filter comes out turned around.
TEST(References, ConvolutionCorrelatesAndPadsWithZeros) {
  const Workload w{
      .op = "conv2d",
      .implementation = "",
      .shape =
          {{"batch", 1}, {"height", 2}, {"width", 3}, {"channels", 1}, {"filters", 1}, {"kernel", 3}, {"padding", 1}},
      .label = ""};
  EXPECT_THAT(reference_of(w, {{1, 0, 0, 0, 0, 0}, {1, 2, 3, 4, 5, 6, 7, 8, 9}}),
              testing::ElementsAre(5, 4, 0, 2, 1, 0));
}

/// silu(1) is 1 / (1 + 1/e), and silu(-1) what is left of it to 1, negative.
TEST(References, SwigluGatesTheUpProjection) {
  const Workload w{.op = "swiglu", .implementation = "", .shape = {{"n", 4}}, .label = ""};
  const auto out = reference_of(w, {{0, 1, -1, 100}, {5, 2, 1, 3}});
  EXPECT_EQ(out[0], 0);
  EXPECT_NEAR(out[1], 2 * 0.7310585786300049, 1e-15);
  EXPECT_NEAR(out[2], -0.2689414213699951, 1e-15);
  EXPECT_EQ(out[3], 300);
}

/// Position 0 stays; position 1 turns the first pair by a quarter and the second by a half, in both sequences.
TEST(References, RopeTurnsTheHalvesOfAHeadByItsPosition) {
  const Workload w{.op = "rope",
                   .implementation = "",
                   .shape = {{"batch", 2}, {"seq", 2}, {"heads", 1}, {"head_dim", 4}},
                   .label = ""};
  const std::vector<float> x{1, 2, 3, 4, 1, 2, 3, 4, 5, 6, 7, 8, 5, 6, 7, 8};
  EXPECT_THAT(reference_of(w, {x, {1, 1, 0, -1}, {0, 0, 1, 0}}),
              testing::ElementsAre(1, 2, 3, 4, -3, -2, 1, -4, 5, 6, 7, 8, -7, -6, 5, -8));
}

/// Runs the op's best rung and then spoils something.
Implementation spoiled(const Op& op, std::function<void(std::span<void* const>)> spoil) {
  Implementation best = implementations_of(op, DeviceKind::cpu).back();
  best.prepare = [prepare = best.prepare, spoil](const Workload& w, Device& device) -> Kernel {
    return [kernel = prepare(w, device), spoil](std::span<void* const> tensors) {
      kernel(tensors);
      spoil(tensors);
    };
  };
  return best;
}

/// The relative size of an error that each op must find in the last of its outputs.
TEST(Tolerances, FindASlightlyWrongScaleInFp32) {
  CpuDevice device({});
  for (const Op* op : all_ops()) {
    if (implementations_of(*op, DeviceKind::cpu).empty()) continue;
    const Shape shape = shapes_of(*op).back();
    const Workload w{.op = std::string(op->name()), .implementation = "", .shape = shape, .label = ""};
    const auto tensors = op->tensors(w);
    const std::int64_t outputs = tensors.back().elements;
    const auto last = tensors.size() - 1;
    const auto wrong = spoiled(*op, [outputs, last](std::span<void* const> t) {
      for (std::int64_t i = 0; i < outputs; ++i) static_cast<float*>(t[last])[i] *= 1.001F;
    });
    EXPECT_FALSE(Case(*op, wrong, w, device).verify().passed) << op->name();
  }
}

/// Computes the op on a smaller shape inside of the larger one's buffers: what a kernel with a wrong limit does.
Verification with_wrong_extent(const Op& op, const Workload& w, const std::string& extent, CpuDevice& device) {
  Implementation rung = implementations_of(op, DeviceKind::cpu).back();
  rung.prepare = [prepare = rung.prepare, extent](const Workload& right, Device& dev) {
    Workload wrong = right;
    wrong.shape.set(extent, right.shape[extent] - 1);
    return prepare(wrong, dev);
  };
  return Case(op, rung, w, device).verify();
}

TEST(Tolerances, FindADroppedTerm) {
  CpuDevice device({});
  const auto dropped = [&](const std::string& name, const Shape& shape, const std::string& extent) {
    const Workload w{.op = name, .implementation = "", .shape = shape, .label = ""};
    return with_wrong_extent(*find_op(name), w, extent, device);
  };
  EXPECT_FALSE(dropped("relu", {{"n", 10'000}}, "n").passed);
  EXPECT_FALSE(dropped("reduction", {{"n", 1'000'000}}, "n").passed);
  EXPECT_FALSE(dropped("copy", {{"n", 10'000}}, "n").passed);
  EXPECT_FALSE(dropped("add", {{"n", 10'000}}, "n").passed);
  EXPECT_FALSE(dropped("swiglu", {{"n", 10'000}}, "n").passed);
  const Shape turned{{"batch", 2}, {"seq", 5}, {"heads", 3}, {"head_dim", 32}};
  for (const char* extent : {"batch", "seq", "heads"}) EXPECT_FALSE(dropped("rope", turned, extent).passed) << extent;
  EXPECT_FALSE(dropped("rmsnorm", {{"rows", 1}, {"cols", 4096}}, "cols").passed);
  EXPECT_FALSE(dropped("layernorm", {{"rows", 100}, {"cols", 512}}, "rows").passed);
  EXPECT_FALSE(dropped("softmax", {{"rows", 1}, {"cols", 4096}}, "cols").passed);
  EXPECT_FALSE(dropped("attention", {{"batch", 1}, {"heads", 1}, {"seq", 256}, {"head_dim", 32}}, "seq").passed);
  const Shape masked{{"batch", 1}, {"heads", 1}, {"seq", 16}, {"head_dim", 32}, {"causal", 1}};
  EXPECT_FALSE(dropped("attention", masked, "seq").passed);
  EXPECT_FALSE(dropped("attention", masked, "causal").passed);
  EXPECT_FALSE(dropped("decode", {{"batch", 1}, {"heads", 1}, {"context", 512}, {"head_dim", 32}}, "context").passed);
  // One column of A and one row of B fewer, their strides as they were: n = 1 keeps B's, m = 1 A's.
  EXPECT_FALSE(dropped("gemm", {{"m", 1}, {"n", 1}, {"k", 4096}}, "k").passed);
  const Shape pixel{{"batch", 1},   {"height", 1}, {"width", 1},  {"channels", 4096},
                    {"filters", 1}, {"kernel", 1}, {"padding", 0}};
  EXPECT_FALSE(dropped("conv2d", pixel, "channels").passed);
}

}  // namespace
}  // namespace roofline
