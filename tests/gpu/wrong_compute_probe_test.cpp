// Faults of published compute peaks (docs/method.md has the list), committed on a real GPU: the audit must name each.
#include <gmock/gmock.h>

#include "device/cuda/machine_code.hpp"
#include "device/cuda/throughput.hpp"
#include "measure/audit.hpp"
#include "quick_audit.hpp"
#include "tests/support/mentions.hpp"
#include "wrong_compute_kernels.hpp"

namespace roofline {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using WrongComputeProbeTest = GpuTest;

/// A probe with the limit of an honest one and a single case.
Probe wrong_probe(const std::string& honest, std::function<ProbeCase(CudaDevice&, double scale)> make) {
  Probe probe = probe_named(honest);
  probe.make = [make = std::move(make)](Device& device, const ProbeRequest& request,
                                        int variant) -> std::optional<ProbeCase> {
    if (variant > 0) return std::nullopt;
    return make(as_cuda(device), request.scale);
  };
  return probe;
}

ProbeCase counted(Pipe pipe, double flop) {
  ProbeCase made;
  made.amount = flop;
  made.work.flops[pipe] = flop;
  return made;
}

std::shared_ptr<Buffer> buffer_of(CudaDevice& device, std::size_t bytes, std::byte value) {
  std::shared_ptr<Buffer> buffer = device.allocate(bytes);
  device.fill(buffer->data(), value, bytes);
  return buffer;
}

ProbeCase tensor_from_memory(CudaDevice& device, double scale) {
  const int blocks = 8 * device.properties().sm_count;
  const int steps = static_cast<int>(64 * scale);
  const double warps = static_cast<double>(blocks) * wrong::kTensorThreads / 32;
  const auto bytes = static_cast<std::size_t>(warps * steps * wrong::kStepBytes);
  const auto operands = buffer_of(device, bytes, std::byte{0});
  const auto out = buffer_of(device, static_cast<std::size_t>(blocks) * wrong::kTensorThreads * 4, std::byte{0xFF});
  ProbeCase made = counted(Pipe::tensor_bf16, warps * steps * wrong::kStepFlop);
  made.work.bytes[Level::hbm].read = static_cast<double>(bytes);
  made.operands = [&device, operands] {
    std::vector<std::byte> sample(4096);
    device.download(sample.data(), operands->data(), sample.size());
    return sample;
  };
  made.run = [=, stream = device.stream()] {
    wrong::launch_tensor_from_memory(operands->data(), static_cast<float*>(out->data()), blocks, steps, stream);
  };
  return made;
}

TEST_F(WrongComputeProbeTest, ATensorPeakThatLoadsItsOperandsFromMemory) {
  if (probe_named("tensor.bf16").unsupported(gpu())) GTEST_SKIP() << "no tensor probe runs here";
  const MeasuredProbe peak = measured_quickly(gpu(), wrong_probe("tensor.bf16", tensor_from_memory));
  EXPECT_NEAR(peak.intensity, 170.7, 0.1) << "as it was published";
  const double ridge = peak.ceiling.value / best_rate(gpu(), "hbm.read");
  EXPECT_EQ(audit_intensity(CeilingKind::compute, peak.intensity, ridge).status, CheckStatus::fail) << ridge;
  if (peak.ceiling.limit) {
    EXPECT_THAT(failures(peak.ceiling), mentions(kLimitCheck));
  }
}

TEST_F(WrongComputeProbeTest, ZerosAsData) {
  if (probe_named("tensor.bf16").unsupported(gpu())) GTEST_SKIP() << "no tensor probe runs here";
  const MeasuredProbe zeros = measured_quickly(gpu(), wrong_probe("tensor.bf16", tensor_from_memory));
  EXPECT_THAT(failures(zeros.ceiling), mentions(kOperandsCheck, "0.00"));
}

TEST_F(WrongComputeProbeTest, ChainsTooShort) {
  if (!flops_per_cycle(gpu().properties().major, gpu().properties().minor, Pipe::fp32)) {
    GTEST_SKIP() << "no limit is known for this GPU";
  }
  const Probe probe = wrong_probe("fp32", [](CudaDevice& device, double scale) {
    const int blocks = device.properties().sm_count;
    const auto steps = static_cast<std::int64_t>(100000 * scale);
    const auto out = buffer_of(device, static_cast<std::size_t>(blocks) * 32 * 4, std::byte{0});
    ProbeCase made = counted(Pipe::fp32, 2.0 * 32 * blocks * static_cast<double>(steps));
    made.run = [=, stream = device.stream()] {
      wrong::launch_short_chain(static_cast<float*>(out->data()), blocks, steps, stream);
    };
    return made;
  });
  EXPECT_THAT(failures(measured_quickly(gpu(), probe).ceiling), mentions(kLimitCheck, "93 %"));
}

ProbeCase dead_code(CudaDevice& device, double scale) {
  constexpr int kThreads = 256;
  const int blocks = 4 * device.properties().sm_count;
  const auto steps = static_cast<std::int64_t>(100000 * scale);
  const auto out = buffer_of(device, static_cast<std::size_t>(blocks) * kThreads * 4, std::byte{0});
  ProbeCase made = counted(Pipe::fp32, 2.0 * wrong::kDeadChains * kThreads * blocks * static_cast<double>(steps));
  made.run = [=, stream = device.stream()] {
    wrong::launch_dead_code(static_cast<float*>(out->data()), blocks, kThreads, steps, stream);
  };
  made.code = [] {
    const InstructionCount found = find_instruction(wrong::dead_code_kernel(), "FFMA");
    return CodeSearch{.instruction = "FFMA", .where = found.where, .found = found.count};
  };
  return made;
}

TEST_F(WrongComputeProbeTest, CodeThatTheCompilerRemoved) {
  const Ceiling ceiling = measured_quickly(gpu(), wrong_probe("fp32", dead_code)).ceiling;
  const std::string found = failures(ceiling);
  EXPECT_THAT(found, mentions(kDoublingCheck));
  EXPECT_THAT(found, mentions(kInstructionCheck, "FFMA", " 0 "));
  if (ceiling.limit) {
    EXPECT_THAT(found, mentions(kLimitCheck));
    EXPECT_GT(ceiling.value, ceiling.limit->value) << "shown as it was measured";
  }
}

TEST_F(WrongComputeProbeTest, ALaunchThatFails) {
  const Probe probe = wrong_probe("fp32", [](CudaDevice& device, double) {
    ProbeCase made = counted(Pipe::fp32, 1e9);
    made.run = [stream = device.stream()] { wrong::launch_too_many_threads(nullptr, stream); };
    return made;
  });
  const ProbeOutcome outcome = measure_quickly(gpu(), probe);
  ASSERT_TRUE(std::holds_alternative<std::string>(outcome));
  EXPECT_THAT(std::get<std::string>(outcome), AllOf(HasSubstr("4096 threads"), HasSubstr("cudaErrorInvalid")));
  EXPECT_NO_THROW(gpu().synchronize()) << "and the device goes on";
}

}  // namespace
}  // namespace roofline
