// The textbook table: intensities of the standard workloads, and where their operations and bytes go.
#include <gtest/gtest.h>

#include "model/machine.hpp"
#include "model/work.hpp"
#include "op/registry.hpp"
#include "tests/support/repository.hpp"

namespace roofline {
namespace {

Workload workload(std::string op, DType dtype, Shape shape) {
  return {.op = std::move(op), .implementation = "", .dtype = dtype, .shape = std::move(shape), .label = ""};
}

Work work_of(const Workload& w, DeviceKind device) { return find_op(w.op)->work(w, device); }

const Shape kLong{{"n", std::int64_t{1} << 26}};
const Shape kModelRows{{"rows", 16384}, {"cols", 4096}};
const Shape kHeads{{"batch", 2}, {"heads", 16}, {"seq", 2048}, {"head_dim", 128}};
const Shape kSquare{{"m", 4096}, {"n", 4096}, {"k", 4096}};

struct ModelRow {
  std::string op;
  Shape shape;
  double fp32, fp16, tolerance;
};

const ModelRow kTable[] = {
    {"relu", kLong, 0.125, 0.25, 1e-12},        {"add", kLong, 1.0 / 12, 1.0 / 6, 1e-12},
    {"swiglu", kLong, 1.0 / 3, 2.0 / 3, 1e-12}, {"reduction", kLong, 0.25, 0.5, 1e-6},
    {"maximum", kLong, 0.25, 0.5, 1e-6},        {"rmsnorm", kModelRows, 0.625, 1.25, 1e-3},
    {"layernorm", kModelRows, 1.25, 2.5, 1e-3}, {"softmax", kModelRows, 0.625, 1.25, 1e-12},
    {"attention", kHeads, 512, 1024, 1e-12},    {"gemm", kSquare, 4096.0 / 6, 4096.0 / 3, 1e-12}};

TEST(WorkModel, IntensitiesAreThoseOfTheTextbook) {
  for (const DeviceKind device : {DeviceKind::cpu, DeviceKind::cuda}) {
    for (const auto& [op, shape, fp32, fp16, tolerance] : kTable) {
      const Level level = main_memory(device);
      const auto intensity = [&device, &level, &op = op, &shape = shape](DType dtype) {
        return arithmetic_intensity(work_of(workload(op, dtype, shape), device), level);
      };
      EXPECT_NEAR(intensity(DType::fp32) / fp32, 1, tolerance) << op;
      EXPECT_NEAR(intensity(DType::fp16) / fp16, 1, tolerance) << op;
      EXPECT_NEAR(intensity(DType::bf16) / fp16, 1, tolerance) << op;
      EXPECT_NEAR(intensity(DType::fp64) * 2 / fp32, 1, tolerance) << op;
    }
  }
  EXPECT_NEAR(std::end(kTable)[-1].fp32, 682.67, 0.005);
  EXPECT_NEAR(std::end(kTable)[-1].fp16, 1365.33, 0.005);
}

/// Elements of 16 bits are widened in registers: it is the fp32 pipe that computes, and half the bytes that move. So do
/// products, but where there is a matrix unit for them.
TEST(WorkModel, SixteenBitsRunOnTheFp32PipeOfACpuWithoutMatrixUnits) {
  for (const auto& [op, shape, fp32, fp16, tolerance] : kTable) {
    const Work wide = work_of(workload(op, DType::fp32, shape), DeviceKind::cpu);
    for (const DType dtype : {DType::fp16, DType::bf16}) {
      const Work work = on_units_of(Machine{}, work_of(workload(op, dtype, shape), DeviceKind::cpu));
      EXPECT_EQ(work.flops, wide.flops) << op;
      EXPECT_EQ(work.uncounted, wide.uncounted) << op;
      EXPECT_EQ(work.flops.count(Pipe::fp32), 1U) << op;
      EXPECT_EQ(2 * work.bytes.at(Level::dram).total(), wide.bytes.at(Level::dram).total()) << op;
    }
  }
  const Work int8 = work_of(workload("gemm", DType::int8, {{"m", 2}, {"n", 3}, {"k", 5}}), DeviceKind::cpu);
  EXPECT_EQ(int8.flops, (std::map<Pipe, double>{{Pipe::tensor_int8, 60}}));
  EXPECT_EQ(on_units_of(Machine{}, int8).flops, (std::map<Pipe, double>{{Pipe::int8, 60}}));
  const Shape heads{{"batch", 1}, {"heads", 2}, {"seq", 10}, {"head_dim", 8}};
  EXPECT_EQ(work_of(workload("attention", DType::bf16, heads), DeviceKind::cpu).flops,
            (std::map<Pipe, double>{{Pipe::tensor_bf16, 4 * 2 * 100 * 8}}));
}

TEST(WorkModel, SoftmaxRunsItsExponentialsOnTheSpecialFunctionUnits) {
  const auto w = workload("softmax", DType::fp16, {{"rows", 10}, {"cols", 100}});
  EXPECT_EQ(work_of(w, DeviceKind::cuda).flops, (std::map<Pipe, double>{{Pipe::fp32, 4000}, {Pipe::sfu, 1000}}));
  EXPECT_EQ(work_of(w, DeviceKind::cpu).flops, (std::map<Pipe, double>{{Pipe::fp32, 5000}}));
}

TEST(WorkModel, SwigluDividesOnTheSpecialFunctionUnits) {
  const auto w = workload("swiglu", DType::bf16, {{"n", 1000}});
  const Work gpu = work_of(w, DeviceKind::cuda);
  EXPECT_EQ(gpu.flops, (std::map<Pipe, double>{{Pipe::fp32, 2000}, {Pipe::sfu, 2000}}));
  EXPECT_EQ(gpu.bytes.at(Level::hbm).read, 4000);
  EXPECT_EQ(gpu.bytes.at(Level::hbm).write, 2000);
  EXPECT_EQ(work_of(w, DeviceKind::cpu).flops, (std::map<Pipe, double>{{Pipe::fp32, 4000}}));
}

TEST(WorkModel, RopeReadsItsTablesInFp32) {
  const Shape shape{{"batch", 2}, {"seq", 10}, {"heads", 3}, {"head_dim", 8}};
  const Work gpu = work_of(workload("rope", DType::bf16, shape), DeviceKind::cuda);
  EXPECT_EQ(gpu.flops, (std::map<Pipe, double>{{Pipe::fp32, 3 * 480}}));
  EXPECT_EQ(gpu.bytes.at(Level::hbm).read, 480 * 2 + 2 * (10 * 4) * 4);
  EXPECT_EQ(gpu.bytes.at(Level::hbm).write, 480 * 2);
  const Work cpu = work_of(workload("rope", DType::fp64, shape), DeviceKind::cpu);
  EXPECT_EQ(cpu.flops, (std::map<Pipe, double>{{Pipe::fp64, 3 * 480}}));
  EXPECT_EQ(cpu.bytes.at(Level::dram).read, (480 + 2 * 40) * 8);
}

TEST(WorkModel, AttentionLeavesItsSoftmaxUncounted) {
  const auto w = workload("attention", DType::bf16, {{"batch", 1}, {"heads", 2}, {"seq", 10}, {"head_dim", 8}});
  const Work gpu = work_of(w, DeviceKind::cuda);
  EXPECT_EQ(gpu.flops, (std::map<Pipe, double>{{Pipe::tensor_bf16, 4 * 2 * 100 * 8}}));
  EXPECT_EQ(gpu.uncounted, (std::map<Pipe, double>{{Pipe::fp32, 800}, {Pipe::sfu, 200}}));
  EXPECT_EQ(gpu.bytes.at(Level::hbm).read, 3 * 2 * 10 * 8 * 2);
  EXPECT_EQ(gpu.bytes.at(Level::hbm).write, 2 * 10 * 8 * 2);
  EXPECT_EQ(work_of(w, DeviceKind::cpu).uncounted, (std::map<Pipe, double>{{Pipe::fp32, 1000}}));
}

TEST(WorkModel, CausalAttentionCountsWhatIsNotMasked) {
  const auto w = workload("attention", DType::fp16,
                          {{"batch", 1}, {"heads", 6}, {"seq", 10}, {"head_dim", 8}, {"causal", 1}, {"kv_heads", 2}});
  const Work gpu = work_of(w, DeviceKind::cuda);
  EXPECT_EQ(gpu.flops, (std::map<Pipe, double>{{Pipe::tensor_fp16, 4 * 6 * 55 * 8}}));
  EXPECT_EQ(gpu.uncounted, (std::map<Pipe, double>{{Pipe::fp32, 4 * 6 * 55}, {Pipe::sfu, 6 * 55}}));
  EXPECT_EQ(gpu.bytes.at(Level::hbm).read, (6 + 2 + 2) * 10 * 8 * 2);
  EXPECT_EQ(gpu.bytes.at(Level::hbm).write, 6 * 10 * 8 * 2);
}

TEST(WorkModel, DecodeReadsTheCacheOnce) {
  const auto w = workload("decode", DType::bf16,
                          {{"batch", 3}, {"heads", 8}, {"context", 100}, {"head_dim", 16}, {"kv_heads", 2}});
  const Work gpu = work_of(w, DeviceKind::cuda);
  EXPECT_EQ(gpu.flops, (std::map<Pipe, double>{{Pipe::fp32, 4 * 24 * 100 * 16}}));
  EXPECT_EQ(gpu.uncounted, (std::map<Pipe, double>{{Pipe::fp32, 4 * 24 * 100}, {Pipe::sfu, 24 * 100}}));
  EXPECT_EQ(gpu.bytes.at(Level::hbm).read, (2 * 3 * 2 * 100 + 24) * 16 * 2);
  EXPECT_EQ(gpu.bytes.at(Level::hbm).write, 24 * 16 * 2);
}

TEST(WorkModel, ConvolutionCountsTapsInThePaddingToo) {
  const auto work = [](std::int64_t padding, DeviceKind device) {
    const Shape shape{{"batch", 2},   {"height", 5}, {"width", 4},        {"channels", 3},
                      {"filters", 7}, {"kernel", 3}, {"padding", padding}};
    return work_of(workload("conv2d", DType::fp16, shape), device);
  };
  const Work same = work(1, DeviceKind::cuda);
  EXPECT_EQ(same.flops, (std::map<Pipe, double>{{Pipe::tensor_fp16, 2 * (2 * 5 * 4) * 7 * (3 * 3 * 3)}}));
  EXPECT_EQ(same.bytes.at(Level::hbm).read, (2 * 5 * 4 * 3 + 7 * 27) * 2);
  EXPECT_EQ(same.bytes.at(Level::hbm).write, 2 * 5 * 4 * 7 * 2);
  const Work valid = work(0, DeviceKind::cuda);
  EXPECT_EQ(valid.total_flops(), 2 * (2 * 3 * 2) * 7 * 27);
  EXPECT_EQ(valid.bytes.at(Level::hbm).write, 2 * 3 * 2 * 7 * 2);
}

TEST(WorkModel, GemmRunsOnThePipeOfItsType) {
  const Shape shape{{"m", 2}, {"n", 3}, {"k", 5}};
  EXPECT_EQ(work_of(workload("gemm", DType::tf32, shape), DeviceKind::cuda).flops,
            (std::map<Pipe, double>{{Pipe::tensor_tf32, 60}}));
  EXPECT_EQ(work_of(workload("gemm", DType::fp32, shape), DeviceKind::cuda).flops,
            (std::map<Pipe, double>{{Pipe::fp32, 60}}));
  const Traffic traffic = work_of(workload("gemm", DType::tf32, shape), DeviceKind::cuda).bytes.at(Level::hbm);
  EXPECT_EQ(traffic.read, 4 * (10 + 15));
  EXPECT_EQ(traffic.write, 4 * 6);
}

TEST(WorkModel, GemmOnEightBitsWritesWiderResults) {
  const Shape shape{{"m", 2}, {"n", 3}, {"k", 5}};
  const std::tuple<DType, Pipe, double> types[] = {{DType::fp8, Pipe::tensor_fp8, 2},
                                                   {DType::int8, Pipe::tensor_int8, 4}};
  for (const auto& [dtype, pipe, result_size] : types) {
    const Work work = work_of(workload("gemm", dtype, shape), DeviceKind::cuda);
    EXPECT_EQ(work.flops, (std::map<Pipe, double>{{pipe, 60}}));
    EXPECT_EQ(work.bytes.at(Level::hbm).read, 10 + 15);
    EXPECT_EQ(work.bytes.at(Level::hbm).write, result_size * 6);
  }
}

TEST(WorkModel, TransfersCrossTheLinkInOneDirection) {
  const Work down = work_of(workload("transfer", DType::fp32, {{"n", 100}, {"to_host", 0}}), DeviceKind::cuda);
  EXPECT_EQ(down.bytes.at(Level::pcie).read, 400);
  EXPECT_EQ(down.bytes.at(Level::pcie).write, 0);
  EXPECT_EQ(down.bytes.at(Level::hbm).write, 400);
  const Work up = work_of(workload("transfer", DType::fp16, {{"n", 100}, {"to_host", 1}}), DeviceKind::cuda);
  EXPECT_EQ(up.bytes.at(Level::pcie).write, 200);
  EXPECT_EQ(up.bytes.at(Level::pcie).read, 0);
  EXPECT_EQ(up.bytes.at(Level::hbm).read, 200);
  EXPECT_EQ(up.total_flops(), 0);
}

TEST(WorkModel, BytesAreThoseOfTheTensors) {
  for (const Op* op : all_ops()) {
    Workload w = workload(std::string(op->name()), DType::fp32, {});
    for (const auto& parameter : op->parameters()) w.shape.set(parameter.name, parameter.default_value);
    double read = 0, write = 0;
    for (const auto& tensor : op->tensors(w)) {
      if (tensor.rank != 0) continue;  // work is that of one rank
      (tensor.role == TensorRole::input ? read : write) += static_cast<double>(tensor.bytes());
    }
    const Traffic traffic = op->work(w, DeviceKind::cpu).bytes.at(Level::dram);
    if (in_repository(*op)) {
      EXPECT_EQ(traffic.read, read) << op->name();
      EXPECT_EQ(traffic.write, write) << op->name();
    } else {  // it may leave part of a tensor alone, as a gather does
      EXPECT_LE(traffic.read, read) << op->name();
      EXPECT_LE(traffic.write, write) << op->name();
    }
  }
}

}  // namespace
}  // namespace roofline
