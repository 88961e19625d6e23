// Every rule of the diagnosis against counts of real kernels: one that it fires on, and one that it must be silent on,
// where there is one the same kernel mended. tests/gpu/rule_kernels_test.cpp has the kernels and wrote the counts.
#include <gmock/gmock.h>

#include <map>
#include <string>

#include "host/files.hpp"
#include "model/bound.hpp"
#include "report/diagnosis/cause_lines.hpp"
#include "report/diagnosis/counted.hpp"
#include "report/json/json.hpp"

namespace roofline {
namespace {

struct Pair {
  const char* rule;
  const char* fires_on;
  const char* silent_on;
};

constexpr const char* kSmallMultiTensor =
    "multi_tensor_apply_kernel<TensorListMetadata, UnaryOpFunctor, Sqrt>, train.py:67 step, grid 320x1x1";
constexpr const char* kFullProduct = "nvjet_sm90_tst_128x256_64x4_2x1_v_bz_coopA_NTN, blocks.*.fc1";

constexpr Pair kPairs[] = {
    {"launch-bound", "32 tiny launches", "a large launch"},
    {"launch-bound", "one launch", "a large launch"},
    {"transfer-bound", "stream from the host", "stream"},
    {"throttled", "tensor.bf16 under load", "chains of fp32"},
    {"from-cache", "stream 16 MiB in L2", "stream"},
    {"from-cache", "stream 16 MiB in L2", "chains of fp32"},  // has little to write, and isn't bound by memory
    {"good-enough", "tensor.bf16", "transpose"},
    {"good-enough", "stream", "stream 16 MiB in L2"},  // is above its roof
    {"no-tensor-cores", "product on CUDA cores", "product by mma.sync"},
    {"mma-sync", "tensor.bf16.mma_sync", "tensor.bf16"},
    {"mma-sync", "tensor.bf16.mma_sync", "product by mma.sync"},  // far below what mma.sync reaches
    {"tensor-idle", "product by mma.sync", "tensor.bf16.mma_sync"},
    {"too-few-blocks", "stream by 16 blocks", "stream"},
    {"tail", "1.2 waves", "2 waves"},
    {"occupancy-registers", "chase, 222 registers", "chase"},
    {"occupancy-registers", "chase, 222 registers", "tensor.bf16"},  // as low, and the pipe is busy
    {"occupancy-shared-memory", "chase, 100 KiB shared", "chase"},
    {"occupancy-blocks", "chase, blocks of a warp", "chase"},
    {"occupancy-uneven", "chase, one long warp", "chase"},
    {"occupancy-uneven", "chase, one long warp", "stream by 16 blocks"},  // has no more blocks
    {"uncoalesced-loads", "loads, stride 32", "loads, stride 1"},
    {"uncoalesced-loads", "loads, stride 32", "tensor.bf16.mma_sync"},  // loads its operands once
    {"scattered-loads", "product on CUDA cores", "loads, stride 1"},
    {"uncoalesced-loads", "loads, stride 32", "chase"},  // one address for all threads of a warp
    {"uncoalesced-stores", "stores, stride 32", "stores, stride 1"},
    {"spills", "local array", "shared memory, used once"},
    {"bank-conflicts", "transpose", "transpose, padded"},
    {"l2-misses", "eight passes over all", "eight passes over chunks"},
    {"extra-dram-traffic", "stream twice", "stream"},
    {"traffic-by-design", "stream twice", "stream"},
    {"several-passes", "eight passes over chunks", "one pass"},
    {"extra-flops", "chains of fp32, half of them padding", "chains of fp32"},
    {"memory-stalls", "chase", "chains of fp32"},
    {"shared-stalls", "transpose", "transpose, padded"},
    {"barrier-stalls", "block barriers", "warp barriers"},
    {"queue-stalls", "fill by bytes", "stream"},
    {"pipe-stalls", "tensor.bf16.mma_sync", "one chain, 4 warps an SM"},
    {"fetch-stalls", "long code", "short code"},
    {"dependency-stalls", "one chain, 4 warps an SM", "chains of fp32"},
    {"ready-warps", "chains of fp32", "one chain, 4 warps an SM"},
    {"level-beside", "gemm fp32 4096x4096x4096 tiled", "conv2d fp32 32x56x56x256x256x3x1"},
    {"level-beside", "attention fp32 4x16x2048x128",
     "conv2d bf16 32x56x56x256x256x3x1"},  // tensor cores are fed by TMA
    {"few-warps", "conv2d fp32 32x56x56x256x256x3x1", "gemm fp32 4096x4096x4096 tiled"},
    {"issue-bound", "chains of fp32, half of them padding", "tensor.bf16"},
    {"small-grid", kSmallMultiTensor, "stream"},
    {"clock-below-roof", kFullProduct, "conv2d bf16 32x56x56x256x256x3x1"},  // its clock is known
    {"narrow-loads", "CatArrayBatchedCopy<OpaqueType, int>", "loads, stride 1"},
    {"arithmetic-beside", "nvjet_sm90_tst_128x64_64x8_1x2_h_bz_NTT", "stream"},
    {"second-pipe", "attention bf16 4x16x2048x128", "conv2d bf16 32x56x56x256x256x3x1"},
    {"tensor-gaps", "conv2d bf16 32x56x56x256x256x3x1", "gemm bf16 4096x4096x4096 cublaslt"},
    {"poor-memory", "stream by 16 blocks", "stream"},
    {"poor-memory", "chase", "loads, stride 1"},  // L2 serves it, and DRAM is idle
    {"memory-before-compute", "eight busy passes over all", "eight busy passes over chunks"},
    {"latency", "chase", "stream"},
    {"latency", "stream by 16 blocks", "shared memory, used once"},  // shared memory is busy
    // Kernels of tests/benchmark/kernels, whose instructions were sampled.
    {"local-memory-waits", "local_array_faulty", "local_array_mended"},
    {"global-atomic-waits", "one_address_faulty", "one_address_mended"},
    {"shared-atomic-waits", "shared_bins_faulty", "shared_bins_mended"},
    {"fence-waits", "fences_faulty", "fences_mended"},
    {"constant-waits", "constants_faulty", "local_array_mended"},
    {"division-waits", "division_faulty", "local_array_mended"},
    {"special-waits", "special_faulty", "doubles_mended"},
    {"conversion-waits", "doubles_faulty", "doubles_mended"},
    {"shared-memory-waits", "bank_conflicts_faulty, not counted", "bank_conflicts_mended, not counted"},
    {"result-waits", "long_chain_faulty", "long_chain_mended"},
    {"barrier-waits", "late_warp_faulty", "late_warp_mended"},
    {"idle-sms", "one_block_long_faulty", "long_chain_mended"},
    {"scattered-stores", "store_by_column_faulty", "store_by_column_mended"},
    {"scattered-stores", "turn_faulty", "turn_mended"},
    {"uncoalesced-loads", "colsum_faulty", "colsum_mended"},
    {"uncoalesced-stores", "energy_faulty", "energy_mended"},  // both are at the roof of main memory
    {"uncoalesced-loads", "colsum_faulty", "falloff_faulty"},  // L1 serves its small tables, at the same roof
    {"repeated-stores", "fir_faulty", "fir_mended"},
    {"short-blocks", "axpb_faulty", "energy_mended"},
    {"double-precision", "leaky_faulty", "leaky_mended"},
    {"fp32-products", "project_faulty", "outer_mended"},  // whose operands come from L1
    {"immediate-constant-waits", "series_faulty", "series_mended"},
    {"issue-limited", "survive_faulty", "leaky_mended"},
    // Hold-out kernels: atomics at sixteen addresses, constants without an f, and tiles that are too small for wgmma.
    {"atomic-queues", "centroid_sums_faulty", "centroid_sums_mended"},
    {"double-among-single", "gravity_faulty", "gravity_mended"},
    {"small-tiles", "linear_gelu_kernel", "half_product_mended"},
    {"small-tiles", "linear_gelu_kernel", "tensor.bf16.mma_sync"},  // has its operands in registers
    {"atomic-adds", "indexFuncLargeIndex<float, long, int>", "leaky_mended"},
    // Another hold-out, on an H100: a product without stages, atomics with fences, four branches in a warp.
    {"product-waits-for-loads", "proj_faulty", "half_product_mended"},
    {"global-atomic-waits", "huber_faulty", "centroid_sums_mended"},
    {"divergence", "photons_faulty", "special_faulty"},
    // A fourth one, on an H200: a loop unrolled 4,096 times, 133 blocks on 132 SMs, fp16 values that are made fp32.
    {"fetch-waits", "mc_paths_faulty", "long_chain_mended"},
    {"uneven-blocks", "ray_strips_faulty", "long_chain_mended"},
    {"uneven-blocks", "ray_strips_faulty", "one_block_long_faulty"},  // has a full wave
    // A fifth one, on an H200: a square root for each pair of bodies, with little independent work per thread.
    {"pipes-in-turn", "close_bodies_faulty", "chains of fp32"},
    {"pipes-in-turn", "close_bodies_faulty", "special_faulty"},  // whose special functions are all that it does
    {"widened-products", "qk_scores_faulty", "half_product_mended"},
    {"widened-products", "qk_scores_faulty", "project_faulty"},  // of values in fp32
    // A sixth one, on an H200: blocks of 33 threads, bf16 values that are made fp32 before tl.dot, a row per block.
    {"ragged-block", "harmonic_fit_faulty", "long_chain_mended"},
    {"rewritten-operands", "linear_fwd_faulty", "half_product_mended"},
    {"short-blocks", "rotary_faulty", "energy_mended"},
    // A seventh one, on an H200: a copy that is awaited as soon as it starts, additions of floats in shared memory.
    {"loads-in-turns", "channel_power_faulty", "close_bodies_faulty"},
    {"loads-in-turns", "channel_power_faulty", "proj_faulty"},  // has a product, and another rule
    {"shared-atomic-waits", "deposit_patch_faulty", "local_array_mended"},
    // Another one, on an H200: a table in constant memory, blocks of 4 x 64 threads, arguments of sincosf up to 6e7,
    // one thread between barriers, a sum in memory, a product without stages, values that a scale in double precision
    // widens, a sort.
    {"constant-waits", "tone_curve_faulty", "patchify_faulty"},
    {"narrow-blocks", "unsharp3_faulty", "channel_absmax_faulty"},
    {"narrow-blocks", "unsharp3_faulty", "half_size_healthy"},
    {"slow-trigonometry", "demodulate_faulty", "whiten_rows_faulty"},  // which calls sincospif
    {"serial-section", "running_energy_faulty", "late_warp_mended"},
    {"serial-section", "running_energy_faulty", "harmonic_fit_faulty"},  // has empty lanes
    {"repeated-stores", "smooth_density_faulty", "body_forces_healthy"},
    {"product-waits-for-loads", "proj_matmul_faulty", "half_product_mended"},
    {"double-among-single", "quantise_rows_faulty", "patchify_faulty"},  // which divides integers
    {"exchange-waits", "route_top_faulty", "row_softmax_healthy"},
    {"issue-full", "body_forces_healthy", "close_bodies_faulty"},  // a quarter of whose instructions are others
    {"last-wave", "potential_map_faulty", "far_forces_mended"},    // which has two whole waves
    // An eighth one, on an H200: a tile that is read by column, one thread behind a barrier, a few long rows, random
    // numbers for Monte Carlo, and hashes that are computed again for each window.
    {"bank-conflict-waits", "surface_flip_faulty", "payoff_reduce_faulty"},  // which has many accesses
    {"bank-conflict-waits", "surface_flip_faulty", "mc_terminal_healthy"},
    {"serial-end", "payoff_reduce_faulty", "revenue_sum_healthy"},
    {"serial-end", "payoff_reduce_faulty", "surface_flip_faulty"},  // has all lanes behind its barrier
    {"idle-sms", "gather_rank_faulty", "rank_update_healthy"},
    {"arithmetic-limited", "mc_terminal_healthy", "window_min_faulty"},  // whose instructions are not those of its roof
    {"arithmetic-limited", "mc_terminal_healthy", "close_bodies_faulty"},
    {"issue-limited", "window_min_faulty", "mc_terminal_healthy"},
    {"latency", "chase", "mc_terminal_healthy"},                           // whose warps are ready
    {"unexplained-stream", "rank_update_healthy", "surface_flip_faulty"},  // loads 4 bytes at a time
    // The same as reports of ncu have them.
    {"many-sector-stores", "stores, stride 32, in ncu", "stores, stride 1, in ncu"},
    {"many-sector-stores", "store_by_column_faulty, in ncu", "store_by_column_mended, in ncu"},
    {"many-sector-stores", "turn_faulty, in ncu", "turn_mended, in ncu"},
    {"many-sector-stores", "turn_faulty, in ncu", "turn_faulty"},  // whose bytes are counted
    {"many-sector-loads", "loads, stride 32, in ncu", "loads, stride 1, in ncu"},
    {"many-sector-loads", "loads, stride 32, in ncu", "turn_faulty, in ncu"},
    {"excess-sectors", "stores, stride 32, excess only", "stores, stride 1, excess only"},
    {"excess-sectors", "turn_faulty, excess only", "turn_faulty, in ncu"},
    {"bank-conflict-cycles", "transpose, in ncu", "transpose, padded, in ncu"},
    {"bank-conflict-cycles", "transpose, in ncu", "transpose"},  // has a roof of shared memory
    // A ninth one, on an H200: rows that each block reads again, sines and cosines of each tile, cuRAND's curand_init
    // in each launch.
    {"rereads-from-l2", "station_corr_faulty", "fir_faulty"},  // reads again, far below the roof
    {"rereads-from-l2", "station_corr_faulty", "revenue_sum_healthy"},
    {"trigonometry-waits", "steer_beams_faulty", "whiten_rows_faulty"},
    // A tenth one, on an H200, of programs that ended before their instructions could be sampled.
    {"busy-instructions", "fingerprint_faulty, not sampled", "gravity_healthy, not sampled"},
    {"busy-instructions", "fingerprint_faulty, not sampled", "window_min_faulty"},  // whose instructions were sampled
    {"busy-arithmetic", "gravity_healthy, not sampled", "fingerprint_faulty, not sampled"},
    {"double-functions", "gelu_quant_faulty, not sampled", "gravity_healthy, not sampled"},
    {"poor-memory", "chase", "fingerprint_faulty, not sampled"},
    {"latency", "chase", "gravity_healthy, not sampled"},
    {"random-init", "price_scenario_faulty", "mc_terminal_healthy"},  // whose generator is a hash
};

/// A launch as ncu reports it: sectors and requests without the requested bytes, or only the sectors in excess; under
/// data-sheet roofs, which caches and shared memory have none of.
Counters in_ncu(Counters counters, bool excess_only) {
  double excess = 0;
  for (const std::string kind : {"load", "store"}) {
    const auto sectors = counters.find("global." + kind + "_sectors");
    const auto bytes = counters.find("global." + kind + "_bytes");
    if (sectors && bytes) excess += std::max(0.0, *sectors - *bytes / 32);
    counters.values.erase("global." + kind + "_bytes");
    if (excess_only) counters.values.erase("global." + kind + "_sectors");
  }
  counters.values["global.excess_sectors"] = excess;
  return counters;
}

Machine without_caches(Machine machine) {
  std::erase_if(machine.ceilings, [](const Ceiling& ceiling) {
    return ceiling.kind == CeilingKind::bandwidth && ceiling.level != Level::hbm;
  });
  return machine;
}

/// What is known of each kernel, by its name: of those that were made for it, and of the rows of the reference runs.
std::map<std::string, Quantities> recorded_quantities() {
  std::map<std::string, Quantities> of;
  for (const char* file : {"tests/data/counted-kernels-h200.json", "tests/data/sampled-kernels-h200.json",
                           "reports/reference/h200-ops/report.json", "reports/reference/h200-train/report.json"}) {
    const std::string path = std::string(ROOFLINE_SOURCE_DIR) + "/" + file;
    const Report report = parse_report(read_file(path), path);
    for (Point point : report.points) {
      const bool sampled = point.profiled && point.profiled->sampled;
      if (!point.time || (!point.counters && !sampled)) continue;
      point.bound = bound_of(point.work, report.machine, point.time->clock_hz);
      of[point.workload.label] = quantities_of(point, report.machine, point.counters ? &*point.counters : nullptr);
      of[point.workload.label].erase("interval.known");  // of kernels that were only counted there is one time
      if (!point.counters) continue;
      const Machine machine = without_caches(report.machine);
      point.bound = bound_of(point.work, machine, point.time->clock_hz);
      for (const bool excess_only : {false, true}) {
        const Counters counters = in_ncu(*point.counters, excess_only);
        of[point.workload.label + (excess_only ? ", excess only" : ", in ncu")] =
            quantities_of(point, machine, &counters);
        of[point.workload.label + (excess_only ? ", excess only" : ", in ncu")].erase("interval.known");
      }
    }
  }
  return of;
}

const Rule& rule_named(std::string_view id) {
  for (const Rule& rule : rules()) {
    if (rule.id == id) return rule;
  }
  throw std::runtime_error("no rule is called " + std::string(id));
}

std::vector<std::string> rules_that_fire(const Quantities& quantities) {
  std::vector<std::string> ids;
  for (const Advice& advice : diagnose(quantities, DeviceKind::cuda)) ids.push_back(advice.rule);
  return ids;
}

TEST(RuleKernels, EachFaultIsFoundAndIsGoneWhenItIsMended) {
  const std::map<std::string, Quantities> of = recorded_quantities();
  for (const Pair& pair : kPairs) {
    for (const char* name : {pair.fires_on, pair.silent_on}) ASSERT_TRUE(of.contains(name)) << "not recorded: " << name;
    const bool rest = rule_named(pair.rule).is_fallback();  // heard where there is nothing else to hear
    EXPECT_TRUE(fires(rule_named(pair.rule), of.at(pair.fires_on))) << pair.rule << " on " << pair.fires_on;
    if (!rest) {
      EXPECT_THAT(rules_that_fire(of.at(pair.fires_on)), testing::Contains(pair.rule)) << pair.fires_on;
    }
    // By itself: not because a rule before it ended the diagnosis.
    EXPECT_FALSE(fires(rule_named(pair.rule), of.at(pair.silent_on))) << pair.rule << " on " << pair.silent_on;
  }
}

/// Shared memory that is busy with bank conflicts reads operands no more often.
TEST(RuleKernels, SmallTilesAreToldFromBankConflicts) {
  const std::string path = std::string(ROOFLINE_SOURCE_DIR) + "/tests/data/sampled-kernels-h200.json";
  const Report report = parse_report(read_file(path), path);
  const auto is_product = [](const Point& one) { return one.workload.label == "linear_gelu_kernel"; };
  const auto recorded = std::ranges::find_if(report.points, is_product);
  ASSERT_NE(recorded, report.points.end());
  const double full = report.machine.slope(Level::shared)->value * recorded->time->median / 128;  // wavefronts
  for (const double conflicts : {0.0, 0.8}) {
    Counters counters = *recorded->counters;
    counters.values["shared.wavefronts"] = 0.8 * full;
    counters.values["shared.bank_conflicts"] = 0.8 * full * conflicts;
    const Quantities quantities = quantities_of(*recorded, report.machine, &counters);
    EXPECT_EQ(fires(rule_named("small-tiles"), quantities), conflicts == 0);
    EXPECT_EQ(fires(rule_named("bank-conflicts"), quantities), conflicts > 0);
  }
}

/// The first cause of each, and its line.
TEST(RuleKernels, LaterSetsHaveTheirCausesFirst) {
  struct Expected {
    std::string_view label, rule, line;
  };
  constexpr std::array kExpected = {Expected{"surface_flip_faulty", "bank-conflict-waits", "finance.cu:136"},
                                    Expected{"payoff_reduce_faulty", "serial-end", "finance.cu:118"},
                                    Expected{"gather_rank_faulty", "idle-sms", "graph.cu:54"},
                                    Expected{"mc_terminal_healthy", "arithmetic-limited", "finance.cu:17"},
                                    Expected{"window_min_faulty", "issue-limited", "bench.h:58"},
                                    Expected{"rank_update_healthy", "unexplained-stream", "graph.cu:67"},
                                    Expected{"smooth_rows_faulty", "bank-conflicts", "micro.cu:72"},
                                    Expected{"station_corr_faulty", "rereads-from-l2", "correlator.py:60"},
                                    Expected{"steer_beams_faulty", "trigonometry-waits", "correlator.py:39"},
                                    Expected{"price_scenario_faulty", "random-init", "barrier_scenarios.cu:53"}};
  const std::string path = std::string(ROOFLINE_SOURCE_DIR) + "/tests/data/sampled-kernels-h200.json";
  const Report report = parse_report(read_file(path), path);
  for (const Expected& expected : kExpected) {
    const auto of_label = [&](const Point& one) { return one.workload.label == expected.label; };
    const auto recorded = std::ranges::find_if(report.points, of_label);
    ASSERT_NE(recorded, report.points.end()) << expected.label;
    Point point = *recorded;
    point.bound = bound_of(point.work, report.machine, point.time->clock_hz);
    std::vector<Advice> advice = diagnose(quantities_of(point, report.machine, &*point.counters), DeviceKind::cuda);
    add_lines(advice, point);
    ASSERT_FALSE(advice.empty()) << expected.label;
    EXPECT_EQ(advice.front().rule, expected.rule) << expected.label;
    EXPECT_EQ(advice.front().line, expected.line) << expected.label;
  }
}

/// The recorded point of that label, with its bound.
Point recorded_point(const Report& report, std::string_view label) {
  const auto recorded =
      std::ranges::find_if(report.points, [&](const Point& one) { return one.workload.label == label; });
  if (recorded == report.points.end()) throw std::runtime_error("not recorded: " + std::string(label));
  Point point = *recorded;
  point.bound = bound_of(point.work, report.machine, point.time->clock_hz);
  return point;
}

/// A small grid has too few loads in flight, which matters if warps wait for loads. It comes after what they wait for
/// more, and before that if they wait for loads more. A cause that is no wait stays before it.
TEST(RuleKernels, LoadsInFlightFollowWhatWarpsWaitForMore) {
  const std::string path = std::string(ROOFLINE_SOURCE_DIR) + "/tests/data/sampled-kernels-h200.json";
  const Report report = parse_report(read_file(path), path);
  const auto first = [&](double load, double shared) {
    Point point = recorded_point(report, "smooth_rows_faulty");
    point.profiled->sampled->waits = {
        {.what = WaitFor::shared_load, .share = shared, .line = {}, .used_line = {}, .line_share = 0},
        {.what = WaitFor::global_load, .share = load, .line = {}, .used_line = {}, .line_share = 0}};
    return diagnose(quantities_of(point, report.machine, &*point.counters), DeviceKind::cuda).front().rule;
  };
  EXPECT_EQ(first(0.2, 0.7), "bank-conflicts");
  EXPECT_EQ(first(0.7, 0.2), "small-grid");
  EXPECT_EQ(rules_that_fire(recorded_quantities().at("payoff_reduce_faulty")).front(), "serial-end")
      << "whose warps wait for narrow loads most of the time";
}

/// At the roof of L2, what counts is how many bytes at least it delivers again: data that was in L2 before is read once
/// without DRAM. Random reads can't be tiled, and a library's kernel is not the caller's to change.
TEST(RuleKernels, RereadsFromL2NeedMoreBytesThanL2Holds) {
  const std::string path = std::string(ROOFLINE_SOURCE_DIR) + "/tests/data/sampled-kernels-h200.json";
  const Report report = parse_report(read_file(path), path);
  const Point recorded = recorded_point(report, "station_corr_faulty");
  const auto first = [&](double times, double sectors, const std::string& name) {
    Point point = recorded;
    point.profiled->full_name = name;
    Counters counters = *point.counters;
    // The same rate of fewer bytes in less time.
    const double factor = times / 31.5;
    counters.values["l2.bytes"] *= factor;
    counters.values["global.load_sectors"] *= sectors;
    point.work.bytes[Level::l2] = unsplit_traffic(counters.values["l2.bytes"]);
    point.work.flops.clear();
    point.time->median *= factor;
    point.bound = bound_of(point.work, report.machine, point.time->clock_hz);
    return diagnose(quantities_of(point, report.machine, &counters), DeviceKind::cuda).front();
  };
  EXPECT_EQ(first(31.5, 1, "station_corr").rule, "rereads-from-l2");
  EXPECT_GT(first(31.5, 1, "station_corr").saved_share, 0.9);
  EXPECT_EQ(first(3, 1, "station_corr").rule, "good-enough") << "could be three passes over what L2 holds";
  EXPECT_NE(first(31.5, 4, "station_corr").rule, "rereads-from-l2") << "scattered";
  EXPECT_EQ(first(31.5, 1, "nvjet_sm90_station_corr").rule, "good-enough");
}

/// A set-up kernel that runs once is what initialises the states.
TEST(RuleKernels, RandomInitNeedsSeveralLaunches) {
  Quantities quantities = recorded_quantities().at("price_scenario_faulty");
  EXPECT_TRUE(fires(rule_named("random-init"), quantities));
  quantities["launches"] = 1;
  EXPECT_FALSE(fires(rule_named("random-init"), quantities));
}

/// Lanes that idle in all of a kernel are no work of a few threads behind a barrier.
TEST(RuleKernels, SerialEndNeedsFewLanesBehindABarrier) {
  const std::string path = std::string(ROOFLINE_SOURCE_DIR) + "/tests/data/sampled-kernels-h200.json";
  const Report report = parse_report(read_file(path), path);
  const auto is_reduce = [](const Point& one) { return one.workload.label == "payoff_reduce_faulty"; };
  const auto recorded = std::ranges::find_if(report.points, is_reduce);
  ASSERT_NE(recorded, report.points.end());
  const auto with = [&](double behind, double lanes) {
    Point point = *recorded;
    point.bound = bound_of(point.work, report.machine, point.time->clock_hz);
    point.profiled->sampled->behind_barrier = behind;
    Counters counters = *point.counters;
    counters.values["thread.instructions"] = lanes * counters.values["warp.instructions"];
    return fires(rule_named("serial-end"), quantities_of(point, report.machine, &counters));
  };
  EXPECT_TRUE(with(0.6, 13.4)) << "one lane there, all before";
  EXPECT_FALSE(with(0.6, 22.4)) << "16 lanes there";
  EXPECT_FALSE(with(0.6, 8)) << "too few for that part alone";
  EXPECT_FALSE(with(0.2, 26)) << "few instructions";
}

/// Functions in double precision are sampled as divisions. With most operations in it, and data of at most 4 bytes,
/// literals are the cause; with data of 8 bytes, or with few such operations, the divisions are.
TEST(RuleKernels, FunctionsInDoublePrecisionByLiterals) {
  const std::string path = std::string(ROOFLINE_SOURCE_DIR) + "/tests/data/sampled-kernels-h200.json";
  const Report report = parse_report(read_file(path), path);
  const auto is_gravity = [](const Point& one) { return one.workload.label == "gravity_faulty"; };
  const auto recorded = std::ranges::find_if(report.points, is_gravity);
  ASSERT_NE(recorded, report.points.end());
  const auto first = [&](double fp64, double fp32, double stored) {
    Point point = *recorded;
    point.work.flops = {{Pipe::fp64, fp64}, {Pipe::fp32, fp32}};
    point.bound = bound_of(point.work, report.machine, point.time->clock_hz);
    point.profiled->sampled->waits = {
        {.what = WaitFor::division, .share = 0.86, .line = "a.cu:22", .used_line = {}, .line_share = 0.66}};
    Counters counters;
    counters.values = {{"global.store_bytes", 32 * stored}, {"global.store_instructions", 1}};
    return diagnose(quantities_of(point, report.machine, &counters), DeviceKind::cuda).front().rule;
  };
  EXPECT_EQ(first(3e6, 1.7e6, 4), "double-among-single");
  EXPECT_EQ(first(3e6, 1.7e6, 8), "division-waits");
  EXPECT_EQ(first(1e6, 1.7e6, 4), "division-waits");
}

TEST(RuleKernels, NoRuleIsLeftOut) {
  for (const Rule& rule : rules()) {
    // What the machine did, or what was not measured, no kernel does.
    if (!rule.is_for(DeviceKind::cuda) || (rule.is_last() && rule.id != "good-enough")) continue;
    if (rule.kind == RuleKind::unexplained || rule.id == "suspect-roof-below") continue;
    // What several GPUs do has its rows in network_report_test.cpp.
    constexpr std::array<std::string_view, 4> kOfRanks = {"below-link", "message-size", "exchange-latency",
                                                          "takes-turns"};
    if (std::find(kOfRanks.begin(), kOfRanks.end(), rule.id) != kOfRanks.end()) continue;
    if (rule.id == "fp64-waits") continue;              // its samples are in instructions_test.cpp
    if (rule.id.starts_with("replay-clock")) continue;  // of imported reports: import_clock_test.cpp
    EXPECT_TRUE(std::any_of(std::begin(kPairs), std::end(kPairs), [&](const Pair& pair) {
      return rule.id == pair.rule;
    })) << rule.id;
  }
}

}  // namespace
}  // namespace roofline
