// Every CPU implementation of every op, at every instruction-set level that this CPU has, at shapes that
// fill no vector, block or thread evenly; and the tolerances, against faults that they must not hide.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "device/cpu/cpu_device.hpp"
#include "op/case.hpp"
#include "op/registry.hpp"

namespace roofline {
namespace {

const std::map<std::string, std::vector<Shape>> kOddShapes = {
    {"relu", {{{"n", 1}}, {{"n", 31}}, {{"n", 100'003}}}},
    {"reduction", {{{"n", 1}}, {{"n", 4097}}, {{"n", 1'000'003}}}},
    {"layernorm", {{{"rows", 1}, {"cols", 1}}, {{"rows", 3}, {"cols", 7}}, {{"rows", 37}, {"cols", 1031}}}},
    {"softmax", {{{"rows", 1}, {"cols", 1}}, {{"rows", 3}, {"cols", 7}}, {{"rows", 37}, {"cols", 1031}}}},
    {"attention",
     {{{"batch", 1}, {"heads", 1}, {"seq", 1}, {"head_dim", 1}},
      {{"batch", 2}, {"heads", 3}, {"seq", 67}, {"head_dim", 19}},
      {{"batch", 1}, {"heads", 2}, {"seq", 1100}, {"head_dim", 64}}}},
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
  EXPECT_FALSE(dropped("layernorm", {{"rows", 100}, {"cols", 512}}, "rows").passed);
  EXPECT_FALSE(dropped("softmax", {{"rows", 1}, {"cols", 4096}}, "cols").passed);
  EXPECT_FALSE(dropped("attention", {{"batch", 1}, {"heads", 1}, {"seq", 256}, {"head_dim", 32}}, "seq").passed);
  // One column of A and one row of B fewer, their strides as they were: n = 1 keeps B's, m = 1 A's.
  EXPECT_FALSE(dropped("gemm", {{"m", 1}, {"n", 1}, {"k", 4096}}, "k").passed);
}

}  // namespace
}  // namespace roofline
