// The table. Names are Nsight Compute's; units, and what each means, are in docs/counters.md, where they were
// validated.
#include "device/cuda/counter_metrics.hpp"

namespace roofline {
namespace {

constexpr double kNano = 1e-9;
constexpr double kSector = 32;
constexpr double kPercent = 0.01;
constexpr CounterSet kStandard = CounterSet::standard;
constexpr CounterSet kFull = CounterSet::full;

// The order matters: CUPTI puts metrics into passes as they come, and this order needs the fewest on GH100.
constexpr CounterMetric kMetrics[] = {
    {"time_s", kStandard, {"gpu__time_duration.sum"}, kNano},
    {"sm.clock_hz", kStandard, {"sm__cycles_elapsed.avg.per_second"}},
    {"sm.active_cycles", kStandard, {"sm__cycles_active.avg"}},
    {"dram.read_bytes", kStandard, {"dram__bytes_read.sum", "dram__bytes_op_read.sum"}},
    {"dram.write_bytes", kStandard, {"dram__bytes_write.sum", "dram__bytes_op_write.sum"}},
    {"l2.all_bytes", kStandard, {"lts__t_bytes.sum"}},
    {"l2.bytes", kStandard, {"lts__t_sectors_srcunit_tex.sum"}, kSector},
    {"l2.hit_rate", kStandard, {"lts__t_sector_hit_rate.pct"}, kPercent},
    {"tensor.wgmma_bf16_ops",
     kStandard,
     {"sm__ops_path_tensor_op_hgmma_src_bf16_dst_fp32.sum", "sm__ops_path_tensor_op_utchmma_src_bf16_dst_fp32.sum"}},
    {"tensor.wgmma_fp16_ops",
     kStandard,
     {"sm__ops_path_tensor_op_hgmma_src_fp16.sum", "sm__ops_path_tensor_op_utchmma_src_fp16_dst_fp32.sum"}},
    {"tensor.wgmma_tf32_ops",
     kStandard,
     {"sm__ops_path_tensor_op_hgmma_src_tf32_dst_fp32.sum", "sm__ops_path_tensor_op_utchmma_src_tf32_dst_fp32.sum"}},
    {"tensor.fp8_ops", kStandard, {"sm__ops_path_tensor_src_fp8.sum", "sm__ops_path_tensor_src_fp8_dst_fp32.sum"}},
    {"tensor.fp64_ops", kStandard, {"sm__ops_path_tensor_src_fp64.sum"}},
    {"tensor.wgmma_int8_ops", kStandard, {"sm__ops_path_tensor_op_igmma_src_int8.sum"}},
    {"tensor.mma_bf16_ops",
     kStandard,
     {"sm__ops_path_tensor_op_hmma_src_bf16_dst_fp32.sum", "sm__ops_path_tensor_src_bf16_dst_fp32.sum"}},
    {"tensor.mma_fp16_ops",
     kStandard,
     {"sm__ops_path_tensor_op_hmma_src_fp16_dst_fp32.sum", "sm__ops_path_tensor_src_fp16_dst_fp32.sum"}},
    {"tensor.mma_fp16_fp16_ops",
     kStandard,
     {"sm__ops_path_tensor_op_hmma_src_fp16_dst_fp16.sum", "sm__ops_path_tensor_src_fp16_dst_fp16.sum"}},
    {"l1.bytes", kStandard, {"l1tex__t_bytes.sum"}},
    {"l1.hit_rate", kStandard, {"l1tex__t_sector_hit_rate.pct"}, kPercent},
    {"shared.wavefronts", kStandard, {"l1tex__data_pipe_lsu_wavefronts_mem_shared.sum"}},
    {"shared.bank_conflicts", kStandard, {"l1tex__data_bank_conflicts_pipe_lsu_mem_shared.sum"}},
    {"occupancy", kStandard, {"sm__warps_active.avg.pct_of_peak_sustained_active"}, kPercent},
    {"tensor.active",
     kStandard,
     {"sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_active",
      "sm__pipe_tensor_subpipe_hmma_cycles_active.avg.pct_of_peak_sustained_active"},
     kPercent},
    // Counted by instrumented code, in a pass of their own.
    {"fp64.add", kStandard, {"smsp__sass_thread_inst_executed_op_dadd_pred_on.sum"}},
    {"fp64.mul", kStandard, {"smsp__sass_thread_inst_executed_op_dmul_pred_on.sum"}},
    {"fp64.fma", kStandard, {"smsp__sass_thread_inst_executed_op_dfma_pred_on.sum"}},
    {"fp32.add", kStandard, {"smsp__sass_thread_inst_executed_op_fadd_pred_on.sum"}},
    {"fp32.mul", kStandard, {"smsp__sass_thread_inst_executed_op_fmul_pred_on.sum"}},
    {"fp32.fma", kStandard, {"smsp__sass_thread_inst_executed_op_ffma_pred_on.sum"}},
    {"half.add", kStandard, {"smsp__sass_thread_inst_executed_op_hadd_pred_on.sum"}},
    {"half.mul", kStandard, {"smsp__sass_thread_inst_executed_op_hmul_pred_on.sum"}},
    {"half.fma", kStandard, {"smsp__sass_thread_inst_executed_op_hfma_pred_on.sum"}},
    {"global.load_instructions", kStandard, {"smsp__sass_inst_executed_op_global_ld.sum"}},
    {"global.store_instructions", kStandard, {"smsp__sass_inst_executed_op_global_st.sum"}},
    {"global.load_sectors", kStandard, {"smsp__sass_l1tex_t_sectors_pipe_lsu_mem_global_op_ld.sum"}},
    {"global.store_sectors", kStandard, {"smsp__sass_l1tex_t_sectors_pipe_lsu_mem_global_op_st.sum"}},
    {"global.load_bytes", kStandard, {"smsp__sass_data_bytes_mem_global_op_ld.sum"}},
    {"global.store_bytes", kStandard, {"smsp__sass_data_bytes_mem_global_op_st.sum"}},
    {"local.bytes", kStandard, {"smsp__sass_data_bytes_mem_local.sum"}},
    {"warp.instructions", kStandard, {"smsp__sass_inst_executed.sum"}},
    {"thread.instructions", kStandard, {"smsp__sass_thread_inst_executed.sum"}},
    // Full.
    {"tensor.mma_tf32_ops",
     kFull,
     {"sm__ops_path_tensor_op_hmma_src_tf32_dst_fp32.sum", "sm__ops_path_tensor_src_tf32_dst_fp32.sum"}},
    {"tensor.mma_int8_ops", kFull, {"sm__ops_path_tensor_op_imma_src_int8.sum", "sm__ops_path_tensor_src_int8.sum"}},
    {"xu.instructions", kFull, {"smsp__inst_executed_pipe_xu.sum"}},
    {"instructions", kFull, {"smsp__inst_executed.sum"}},
    {"issue.active", kFull, {"smsp__issue_active.avg.pct_of_peak_sustained_active"}, kPercent},
    {"issue.eligible_warps", kFull, {"smsp__warps_eligible.avg.per_cycle_active"}},
    {"stall.long_scoreboard", kFull, {"smsp__average_warps_issue_stalled_long_scoreboard_per_issue_active.ratio"}},
    {"stall.short_scoreboard", kFull, {"smsp__average_warps_issue_stalled_short_scoreboard_per_issue_active.ratio"}},
    {"stall.barrier", kFull, {"smsp__average_warps_issue_stalled_barrier_per_issue_active.ratio"}},
    {"stall.wait", kFull, {"smsp__average_warps_issue_stalled_wait_per_issue_active.ratio"}},
    {"stall.math_pipe", kFull, {"smsp__average_warps_issue_stalled_math_pipe_throttle_per_issue_active.ratio"}},
    {"stall.lsu", kFull, {"smsp__average_warps_issue_stalled_lg_throttle_per_issue_active.ratio"}},
    {"stall.mio", kFull, {"smsp__average_warps_issue_stalled_mio_throttle_per_issue_active.ratio"}},
    {"stall.not_selected", kFull, {"smsp__average_warps_issue_stalled_not_selected_per_issue_active.ratio"}},
    {"stall.gmma", kFull, {"smsp__average_warps_issue_stalled_gmma_per_issue_active.ratio"}},
    {"stall.no_instruction", kFull, {"smsp__average_warps_issue_stalled_no_instruction_per_issue_active.ratio"}},
    {"stall.selected", kFull, {"smsp__average_warps_issue_stalled_selected_per_issue_active.ratio"}},
};

}  // namespace

std::span<const CounterMetric> counter_metrics() { return kMetrics; }

}  // namespace roofline
