// Rows of a GPU beside the probe of their roof: only those whose time alone allows no conclusion.
#include "analyze/pair_row.hpp"

#include "gpu_test.hpp"
#include "op/case.hpp"
#include "op/registry.hpp"
#include "probe_rate.hpp"

namespace roofline {
namespace {

using PairRowTest = GpuTest;

/// A machine that knows the copy roof of its memory, by the first variant, and has plenty of FLOP/s.
Machine machine_with_copy(CudaDevice& device) {
  const auto made = probe_named("hbm.copy").make(device, ProbeRequest{}, 0);
  Ceiling roof;
  roof.name = "hbm.copy";
  roof.kind = CeilingKind::bandwidth;
  roof.level = Level::hbm;
  roof.pattern = Pattern::copy;
  roof.variant = made->variant;
  roof.value = rate_of(device, *made);
  Ceiling pipe;
  pipe.name = "fp32";
  pipe.kind = CeilingKind::compute;
  pipe.pipe = Pipe::fp32;
  pipe.value = 1e14;
  Machine machine;
  machine.device = device.info();
  machine.ceilings = {roof, pipe};
  return machine;
}

TEST_F(PairRowTest, AnUnsteadyRowHasAFractionAndASteadyOneNeedsNone) {
  const Op& relu = *find_op("relu");
  const auto implementations = implementations_of(relu, DeviceKind::cuda);
  const Implementation& implementation = implementations.front();
  Point row;
  row.workload.op = "relu";
  row.workload.implementation = implementation.name;
  row.workload.dtype = DType::fp32;
  row.workload.shape.set("n", std::int64_t{1} << 26);
  row.work = relu.work(row.workload, DeviceKind::cuda);
  Case relu_case(relu, implementation, row.workload, gpu());
  ASSERT_TRUE(relu_case.verify().passed);
  const Bench bench = relu_case.bench();
  SamplerOptions sampler;
  sampler.max_time_s = 0.3;
  row.time = sample(bench, sampler).summary;

  const Machine machine = machine_with_copy(gpu());
  row.bound = bound_of(row.work, machine);
  ASSERT_EQ(row.bound.limiting_ceiling, "hbm.copy");
  ReferenceProbe none(machine, gpu());
  RowPairs pairs(machine, gpu(), none);
  row.time->drifting = false;
  row.time->ci95 = {row.time->median, row.time->median};
  EXPECT_FALSE(pairs.measure(row, bench, pair_options(sampler)));
  row.time->drifting = true;
  const std::optional<PairedFraction> paired = pairs.measure(row, bench, pair_options(sampler));
  ASSERT_TRUE(paired);
  EXPECT_EQ(paired->ceiling, "hbm.copy");
  EXPECT_GE(paired->pairs, kFewestForInterval);
  EXPECT_GT(paired->fraction, 0.1);
  EXPECT_LT(paired->fraction, 10);  // the first variant need not be the fastest
  EXPECT_TRUE(paired->ci95.known());

  Machine other = machine;
  other.device.identity = "another";
  ReferenceProbe no_reference(other, gpu());
  EXPECT_FALSE(RowPairs(other, gpu(), no_reference).measure(row, bench, pair_options(sampler)));
}

}  // namespace
}  // namespace roofline
