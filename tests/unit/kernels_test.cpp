// Every CPU implementation of every op, at every instruction-set level that this CPU has, at the shapes that the op
// finds worth testing; and the tolerances, against faults that they must not hide.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <numeric>
#include <optional>

#include "device/cpu/cpu_device.hpp"
#include "op/case.hpp"
#include "op/registry.hpp"

namespace roofline {
namespace {

/// A shape whose reference in fp64 takes a tenth of a second and more, and minutes under an emulator.
bool large(const Op& op, const Shape& shape) {
  Workload w;
  w.op = std::string(op.name());
  w.shape = shape;
  return op.work(w, DeviceKind::cpu).total_flops() > 1e8;
}

void verify_implementation(const Op& op, const Implementation& implementation, CpuDevice& device, bool wanted_large) {
  const std::vector<Shape> shapes = op.test_shapes(DeviceKind::cpu);
  for (const DType dtype : implementation.dtypes) {
    for (const Shape& shape : shapes) {
      if (large(op, shape) != wanted_large) continue;
      for (const CacheMode cache : {CacheMode::cold, CacheMode::hot}) {
        // What differs is the case's layout, and 64 MiB or more to allocate and fill: once is enough for an
        // implementation.
        if (cache == CacheMode::cold && &shape != &shapes.front()) continue;
        const Workload w{.op = std::string(op.name()),
                         .implementation = implementation.name,
                         .dtype = dtype,
                         .shape = shape,
                         .cache = cache,
                         .label = ""};
        if (implementation.unsupported && implementation.unsupported(w, device)) continue;
        const Verification result = Case(op, implementation, w, device).verify();
        EXPECT_TRUE(result.passed) << op.name() << ' ' << implementation.name << ' ' << to_string(dtype) << ": "
                                   << result.failure;
      }
    }
  }
}

void verify_every_implementation(bool wanted_large) {
  for (const Isa isa : usable_isas()) {
    SCOPED_TRACE(to_string(isa));
    CpuDevice device({}, isa);
    for (const Op* op : all_ops()) {
      for (const auto& implementation : implementations_of(*op, DeviceKind::cpu))
        verify_implementation(*op, implementation, device, wanted_large);
    }
  }
}

TEST(CpuKernels, EveryImplementationIsRightAtEveryLevel) { verify_every_implementation(false); }
TEST(CpuKernels, EveryImplementationIsRightOnLargeShapes) { verify_every_implementation(true); }

TEST(CpuKernels, MoreThreadsThanRowsIsRight) {
  if (host_topology().cpus() < 2) GTEST_SKIP() << "needs two logical CPUs";
  CpuDevice device({.threads = 2});
  const Op& op = *find_op("layernorm");
  const Workload w{.op = "layernorm", .implementation = "", .shape = {{"rows", 1}, {"cols", 5000}}, .label = ""};
  for (const auto& implementation : implementations_of(op, DeviceKind::cpu))
    EXPECT_TRUE(Case(op, implementation, w, device).verify().passed);
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

/// Runs an implementation and then spoils something.
Implementation spoiled(Implementation implementation, std::function<void(std::span<void* const>)> spoil) {
  implementation.prepare = [prepare = implementation.prepare, spoil](const Workload& w, Device& device) -> Kernel {
    return [kernel = prepare(w, device), spoil](std::span<void* const> tensors) {
      kernel(tensors);
      spoil(tensors);
    };
  };
  return implementation;
}

/// The op's best implementation that computes in fp32, or nothing.
std::optional<Implementation> best_in_fp32(const Op& op) {
  auto implementations = implementations_of(op, DeviceKind::cpu);
  std::erase_if(implementations, [](const Implementation& implementation) {
    return std::find(implementation.dtypes.begin(), implementation.dtypes.end(), DType::fp32) ==
           implementation.dtypes.end();
  });
  return implementations.empty() ? std::nullopt : std::optional(implementations.back());
}

/// The relative size of an error that each op must find in the last of its outputs.
TEST(Tolerances, FindASlightlyWrongScaleInFp32) {
  CpuDevice device({});
  for (const Op* op : all_ops()) {
    const auto implementation = best_in_fp32(*op);
    if (!implementation) continue;
    const Shape shape = op->test_shapes(DeviceKind::cpu).back();
    const Workload w{.op = std::string(op->name()), .implementation = "", .shape = shape, .label = ""};
    const TensorSpec output = op->tensors(w).back();
    if (output.dtype != DType::fp32) continue;
    const auto last = op->tensors(w).size() - 1;
    const auto wrong = spoiled(*implementation, [&output, last](std::span<void* const> t) {
      for (std::int64_t i = 0; i < output.elements; ++i) static_cast<float*>(t[last])[i] *= 1.001F;
    });
    EXPECT_FALSE(Case(*op, wrong, w, device).verify().passed) << op->name();
  }
}

/// Computes the op on a smaller shape inside of the larger one's buffers: what a kernel with a wrong limit does.
Verification with_wrong_extent(const Op& op, const Workload& w, const std::string& extent, CpuDevice& device) {
  Implementation implementation = best_in_fp32(op).value();
  implementation.prepare = [prepare = implementation.prepare, extent](const Workload& right, Device& dev) {
    Workload wrong = right;
    wrong.shape.set(extent, right.shape[extent] - 1);
    return prepare(wrong, dev);
  };
  return Case(op, implementation, w, device).verify();
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
