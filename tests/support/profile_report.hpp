// Made-up but plausible profiles for the renderers' tests: a training step of two transformer blocks, the same without
// counters, with names that try to break out, and a program of one kernel. Sums follow from the rows, as in a real one.
#pragma once

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "tests/support/sample_report.hpp"

namespace roofline::example {

/// A kind of launch of the step, in words that a row follows from.
struct KindSpec {
  const char* op;      ///< the kernel's short name
  std::string module;  ///< "": none
  const char* line;    ///< "": none
  const char* range;
  int per_step;
  Pipe pipe;
  double flops;                ///< of one launch
  double read, written;        ///< bytes of one launch
  double fraction;             ///< of its roof
  const char* operation = "";  ///< where backward launched it
};

inline constexpr int kSteps = 400;

/// A step on 8192 tokens of width 1024 in bf16: GEMMs, attention, norms, a head of 32,000 words, and AdamW.
inline std::vector<KindSpec> step_kinds() {
  constexpr double kTokens = 8192, kWidth = 1024, kWords = 32000;
  constexpr double kRow = kTokens * kWidth * 2;  // bytes of an activation in bf16
  constexpr double kProduct = 2 * kTokens * kWidth * kWidth;
  constexpr double kLogits = kTokens * kWords;
  constexpr double kWeights = 58e6;
  const Pipe tensor = Pipe::tensor_bf16, fp32 = Pipe::fp32;
  std::vector<KindSpec> kinds = {
      {"indexSelectLargeIndex", "embed", "model.py:52 forward", "step/forward", 1, fp32, 0, kRow, kRow, 0.44},
      {"vectorized_elementwise_kernel", "", "train.py:31 step", "step/forward", 2, fp32, kRow / 2, kRow, kRow, 0.78},
  };
  for (const char* block : {"blocks.0", "blocks.1"}) {
    const auto module = [&](const char* part) { return std::string(block) + "." + part; };
    const std::vector<KindSpec> forward = {
        {"vectorized_layer_norm_kernel", module("norm1"), "model.py:27 forward", "step/forward", 1, fp32, 4 * kRow,
         kRow, kRow, 0.71},
        {"nvjet_tst_256x128_64x4_2x1_v_bz_coopA_TNT", module("attn.qkv"), "model.py:12 forward", "step/forward", 1,
         tensor, 3 * kProduct, kRow + 6.3e6, 3 * kRow, 0.74},
        {"flash_fwd_kernel", module("attn"), "model.py:15 forward", "step/forward", 1, tensor, 3.4e10, 3 * kRow, kRow,
         0.52},
        {"nvjet_tst_192x192_64x3_1x2_h_bz_coopB_TNT", module("attn.proj"), "model.py:17 forward", "step/forward", 1,
         tensor, kProduct, kRow + 2.1e6, kRow, 0.58},
        {"vectorized_elementwise_kernel", module("mlp.gelu"), "model.py:22 forward", "step/forward", 1, fp32, 18 * kRow,
         4 * kRow, 4 * kRow, 0.82},
        {"nvjet_tst_256x128_64x4_2x1_v_bz_coopA_TNT", module("mlp.fc1"), "model.py:21 forward", "step/forward", 1,
         tensor, 4 * kProduct, kRow + 8.4e6, 4 * kRow, 0.79},
        {"nvjet_tst_256x128_64x4_2x1_v_bz_splitK_TNT", module("mlp.fc2"), "model.py:23 forward", "step/forward", 1,
         tensor, 4 * kProduct, 4 * kRow + 8.4e6, kRow, 0.69},
        {"flash_bwd_dq_dk_dv_loop_kernel", module("attn"), "model.py:15 forward", "step/backward", 1, tensor, 8.6e10,
         6 * kRow, 3 * kRow, 0.41, "FlashAttentionBackward0"},
        {"nvjet_tst_256x128_64x4_2x1_v_bz_coopA_NNT", module("mlp"), "model.py:23 forward", "step/backward", 4, tensor,
         4 * kProduct, 4 * kRow, 4 * kRow, 0.66, "AddmmBackward0"},
        {"layer_norm_grad_input_kernel_vectorized", module("norm1"), "model.py:27 forward", "step/backward", 1, fp32,
         9 * kRow, 3 * kRow, kRow, 0.49, "NativeLayerNormBackward0"},
        {"GammaBetaBackwardCUDAKernelTemplate", module("norm1"), "model.py:27 forward", "step/backward", 1, fp32,
         2 * kRow, 2 * kRow, 4096, 0.12, "NativeLayerNormBackward0"},
    };
    kinds.insert(kinds.end(), forward.begin(), forward.end());
  }
  const std::vector<KindSpec> rest = {
      {"nvjet_tst_256x128_64x4_2x1_v_bz_coopA_TNN", "head", "model.py:58 forward", "step/forward", 1, tensor,
       kProduct * kWords / kWidth, kRow + 65e6, 2 * kLogits, 0.83},
      {"softmax_warp_forward_log", "", "train.py:36 step", "step/loss", 1, fp32, 5 * kLogits, 4 * kLogits, 4 * kLogits,
       0.31},
      {"nll_loss_forward_reduce_cuda_kernel_2d", "", "train.py:36 step", "step/loss", 1, fp32, 8192, 98e3, 8, 0.004},
      {"unrolled_elementwise_kernel", "", "train.py:36 step", "step/loss", 1, fp32, 0, 2 * kLogits, 4 * kLogits, 0.87},
      {"softmax_warp_backward_log", "", "train.py:36 step", "step/backward", 1, fp32, 4 * kLogits, 8 * kLogits,
       4 * kLogits, 0.36, "LogSoftmaxBackward0"},
      {"nvjet_tst_256x128_64x4_2x1_v_bz_coopA_NTT", "head", "model.py:58 forward", "step/backward", 2, tensor,
       kProduct * kWords / kWidth, 2 * kLogits + kRow, 65e6, 0.77, "MmBackward0"},
      {"embedding_backward_feature_kernel", "embed", "model.py:52 forward", "step/backward", 1, fp32, kRow / 2,
       2 * kRow, 65e6, 0.09, "EmbeddingBackward0"},
      {"multi_tensor_apply_kernel", "", "optim.py:14 step", "step/optimizer", 4, fp32, 14 * kWeights / 4,
       16 * kWeights / 4, 12 * kWeights / 4, 0.88},
      {"reduce_kernel", "", "train.py:41 step", "step/optimizer", 12, fp32, kWeights / 12, 4 * kWeights / 12, 64, 0.38},
      {"fill_kernel", "", "", "step/optimizer", 24, fp32, 0, 0, 2e5, 0.03},
      {"CatArrayBatchedCopy", "", "data.py:70 __next__", "", 1, fp32, 0, 65536, 65536, 0.01},
      {"distribution_elementwise_grid_stride_kernel", "", "", "", 1, Pipe::int32, 0, 0, 33e6, 0.21},
      {"ncclDevKernel_AllReduce_Sum_bf16_RING_LL", "", "", "step/optimizer", 1, fp32, 0, 0, 0, 0},
  };
  kinds.insert(kinds.end(), rest.begin(), rest.end());
  return kinds;
}

inline Work work_of(const KindSpec& kind) {
  Work work;
  work.launches = 0;  // its time is that on the GPU
  if (kind.flops > 0) work.flops[kind.pipe] = kind.flops;
  if (kind.read + kind.written > 0) {
    work.bytes[Level::hbm] = {kind.read, kind.written};
    work.bytes[Level::l2] = {kind.read * 1.7, kind.written * 1.2};
  }
  return work;
}

inline Point profiled_point(const Machine& machine, const KindSpec& kind) {
  Point p;
  p.workload.op = kind.op;
  p.workload.label = kind.op;
  for (const std::string& part : {kind.module, std::string(kind.operation)}) {
    if (!part.empty()) p.workload.label += " \u00b7 " + part;
  }
  if (kind.module.empty() && *kind.line != '\0') p.workload.label += std::string(" \u00b7 ") + kind.line;
  p.workload.dtype = kind.pipe == Pipe::tensor_bf16 ? DType::bf16 : DType::fp32;
  p.work = work_of(kind);
  p.bound = bound_of(p.work, machine);
  const bool known = kind.fraction > 0;
  const double median = known ? std::max(1.6e-6, p.bound.attainable_time_s / kind.fraction) : 46e-6;
  p.time = timed(median, 0.004);
  p.time->launches_per_sample = 1;
  p.time->samples = std::int64_t{kind.per_step} * kSteps;
  ProfiledKind& k = p.profiled.emplace();
  k.full_name =
      std::string("void at::native::") + kind.op +
      "<c10::BFloat16, float, 4, at::detail::Array<char*, 3>>(int, float const*, at::detail::Array<char*, 3>)";
  k.launches = std::int64_t{kind.per_step} * kSteps;
  k.total_s = median * static_cast<double>(k.launches) * 1.01;
  k.grid = {264, 4, 1};
  k.block = {256, 1, 1};
  k.cluster = {2, 1, 1};
  k.range = kind.range;
  k.module = kind.module;
  k.line = kind.line;
  k.operation = kind.operation;
  k.backward = *kind.operation != '\0';
  k.counted = known ? 5 : 0;
  k.complete = known;
  k.work_source = known ? WorkSource::counted : WorkSource::none;
  if (!known) k.not_counted = "a collective: it waits for other processes, and is never counted";
  if (known) {
    Counters& c = p.counters.emplace();
    c.source = "CUPTI 13.0 on GH100";
    c.passes = 3;
    c.values = {{"dram.read_bytes", kind.read}, {"dram.write_bytes", kind.written}};
    c.kernels = {{.kernel = kind.op,
                  .blocks = 1056,
                  .threads = 256,
                  .registers = 168,
                  .shared_bytes = 98304,
                  .local_bytes = 0,
                  .blocks_per_sm = 2,
                  .occupancy = 0.25,
                  .limit = OccupancyLimit::shared_memory,
                  .waves = 4}};
  }
  return p;
}

inline std::vector<std::string> split(const std::string& path, char at) {
  std::vector<std::string> parts;
  for (std::size_t begin = 0; begin < path.size();) {
    const std::size_t end = std::min(path.find(at, begin), path.size());
    parts.push_back(path.substr(begin, end - begin));
    begin = end + 1;
  }
  return parts;
}

/// A node for each part of each path, parents first.
inline std::vector<TreeSum> tree_of(const Report& report, char separator, const std::string ProfiledKind::*path) {
  std::vector<TreeSum> nodes;
  std::map<std::string, int> known;
  for (const Point& p : report.points) {
    std::string so_far;
    int parent = -1;
    for (const std::string& part : split((*p.profiled).*path, separator)) {
      so_far += separator + part;
      const auto [at, is_new] = known.try_emplace(so_far, static_cast<int>(nodes.size()));
      if (is_new)
        nodes.push_back(
            {.name = part, .parent = parent, .launches = 0, .total_s = 0, .backward_s = 0, .self_s = 0, .wall_s = 0});
      parent = at->second;
      TreeSum& node = nodes[static_cast<std::size_t>(parent)];
      node.launches += p.profiled->launches;
      node.total_s += p.profiled->total_s;
      if (p.profiled->backward) node.backward_s += p.profiled->total_s;
    }
    if (parent >= 0) nodes[static_cast<std::size_t>(parent)].self_s += p.profiled->total_s;
  }
  return nodes;
}

inline std::vector<LineSum> lines_of(const Report& report) {
  std::map<std::string, LineSum> sums;
  for (const Point& p : report.points) {
    const std::string& line = p.profiled->line;
    if (line.empty()) continue;
    const std::size_t colon = line.find(':'), space = line.find(' ');
    LineSum& sum = sums[line];
    sum.file = "/home/user/gpt/" + line.substr(0, colon);
    sum.number = std::stoi(line.substr(colon + 1));
    sum.function = line.substr(space + 1);
    sum.launches += p.profiled->launches;
    sum.total_s += p.profiled->total_s;
    if (p.profiled->backward) sum.backward_s += p.profiled->total_s;
  }
  std::vector<LineSum> lines;
  for (auto& [name, sum] : sums) lines.push_back(std::move(sum));
  std::stable_sort(lines.begin(), lines.end(),
                   [](const LineSum& a, const LineSum& b) { return a.total_s > b.total_s; });
  return lines;
}

/// One step on two streams with the host's thread below: the rows one after another, gaps where the optimizer begins.
inline Timeline timeline_of(const Report& report) {
  Timeline timeline{.start_s = 2.25, .length_s = 0, .lanes = {}};
  Lane compute{.name = "GPU 0, stream 7", .kind = LaneKind::stream, .slices = {}};
  Lane copies{.name = "GPU 0, stream 13", .kind = LaneKind::stream, .slices = {}};
  Lane host{.name = "thread 4711", .kind = LaneKind::calls, .slices = {}};
  double at = 40e-6;
  copies.slices.push_back({.start_s = 0, .end_s = 36e-6, .point = -1, .text = "copy, host to device, page-locked"});
  for (std::size_t i = 0; i < report.points.size(); ++i) {
    const Point& p = report.points[i];
    for (std::int64_t n = 0; n < p.profiled->launches / kSteps; ++n) {
      host.slices.push_back({.start_s = at * 0.6, .end_s = at * 0.6 + 4e-6, .point = -1, .text = "cudaLaunchKernel"});
      const double end = at + p.time->median;
      const bool other = p.workload.op.starts_with("nccl");
      (other ? copies : compute)
          .slices.push_back({.start_s = at, .end_s = end, .point = static_cast<int>(i), .text = {}});
      at = end + (p.profiled->range == "step/optimizer" ? 9e-6 : 0.8e-6);
    }
  }
  host.slices.push_back({.start_s = at * 0.62, .end_s = at, .point = -1, .text = "cudaStreamSynchronize"});
  timeline.length_s = at;
  timeline.lanes = {compute, copies, host};
  return timeline;
}

/// Of the rows: what the lead sums of a profile hold.
inline void sum_up(Report& report) {
  Profile& profile = *report.profile;
  for (const Point& p : report.points) {
    const ProfiledKind& kind = *p.profiled;
    profile.kernel_s += kind.total_s;
    if (kind.complete) profile.counted_s += kind.total_s;
    if (std::isfinite(p.fraction_of_roof())) {
      profile.roofed_s += kind.total_s;
      profile.at_roof_s += std::min(1.0, p.fraction_of_roof()) * kind.total_s;
    }
    if (kind.line.empty()) profile.without_line_s += kind.total_s;
    if (kind.module.empty()) profile.without_module_s += kind.total_s;
  }
  profile.lines = lines_of(report);
  profile.modules = tree_of(report, '.', &ProfiledKind::module);
  profile.ranges = tree_of(report, '/', &ProfiledKind::range);
  for (TreeSum& range : profile.ranges) range.wall_s = range.total_s * 1.2;
}

inline int row_of(const Report& report, const std::string& op) {
  const auto found =
      std::find_if(report.points.begin(), report.points.end(), [&](const Point& p) { return p.workload.op == op; });
  return found == report.points.end() ? -1 : static_cast<int>(found - report.points.begin());
}

inline Saving saving(SavingKind kind, SavingCause cause, double seconds, std::string what, std::string evidence,
                     std::string action, int point) {
  return {.kind = kind,
          .cause = cause,
          .line = {},
          .one_off = false,
          .seconds = seconds,
          .what = std::move(what),
          .evidence = std::move(evidence),
          .action = std::move(action),
          .point = point};
}

inline std::vector<Saving> savings_of(const Report& report) {
  const auto lost = [&](int row) {
    const Point& p = report.points[static_cast<std::size_t>(row)];
    return p.profiled->total_s * (1 - p.fraction_of_roof());
  };
  const int softmax = row_of(report, "softmax_warp_backward_log"), forward = row_of(report, "softmax_warp_forward_log");
  const int flash = row_of(report, "flash_bwd_dq_dk_dv_loop_kernel");
  std::vector<Saving> savings = {
      saving(SavingKind::kernel, SavingCause::kernel, lost(softmax), "softmax_warp_backward_log at 36 % of its roof",
             "874 \u00b5s a launch, 312 \u00b5s at the roof of hbm.triad; 22 % occupancy",
             "Fuse it with the loss (a cross entropy in one pass), which moves a third of the bytes.", softmax),
      saving(SavingKind::idle, SavingCause::launch_rate, 0.244, "GPU idle: the host launches too slowly",
             "3,100 gaps of 9 \u00b5s under step/optimizer: 24 small kernels per step",
             "Capture the step in a CUDA graph, or use the fused optimizer.", -1),
      saving(SavingKind::kernel, SavingCause::kernel, lost(forward), "softmax_warp_forward_log at 31 % of its roof",
             "816 \u00b5s a launch, 253 \u00b5s at the roof of hbm.copy", "Use the fused cross entropy.", forward),
      saving(SavingKind::fusion, SavingCause::fusion, 0.071, "5 elementwise kernels in a row under train.py:36",
             "each reads what the one before it wrote: 4.2 GB of 6.1 GB",
             "torch.compile that function, or write one kernel.", row_of(report, "unrolled_elementwise_kernel")),
      saving(SavingKind::kernel, SavingCause::kernel, lost(flash), "flash_bwd_dq_dk_dv_loop_kernel at 41 % of its roof",
             "tensor pipe active 38 %", "Use FlashAttention 3 on this chip.", flash),
      saving(SavingKind::copies, SavingCause::pageable_copy, 0.018, "Copies from pageable memory at 4.1 GB/s",
             "64 MB a step at 8 % of pcie.h2d",
             "Pin the memory of the loader (pin_memory=True) and copy with non_blocking=True.", -1),
      saving(SavingKind::traffic, SavingCause::kernel, 0.011, "embedding_backward_feature_kernel reads its input twice",
             "L2 hits 12 %, 131 MB counted for 82 MB needed", "Sort the indices.",
             row_of(report, "embedding_backward_feature_kernel"))};
  std::stable_sort(savings.begin(), savings.end(),
                   [](const Saving& a, const Saving& b) { return a.seconds > b.seconds; });
  return savings;
}

inline Profile training_run() {
  Profile p;
  p.program = {"/usr/bin/python3", "train.py", "--steps", "400"};
  p.folder = "/home/user/gpt";
  p.exit_status = 0;
  p.processes = {{.pid = 4711,
                  .command = "python3 train.py --steps 400",
                  .launches = 32800,
                  .kernels = 32800,
                  .dropped = 0,
                  .without_time = 0,
                  .torn = false,
                  .notes = {"torch.profiler was not used by the program"}},
                 {.pid = 4740,
                  .command = "python3 -c from multiprocessing.spawn import spawn_main",
                  .launches = 0,
                  .kernels = 0,
                  .dropped = 0,
                  .without_time = 0,
                  .torn = false,
                  .notes = {}}};
  p.untraced_s = 7.94;
  p.traced_s = 8.22;
  p.counting_s = 0.41;
  p.counters = true;
  p.calls = {{"cudaStreamSynchronize", 401, 4.1, 0.0119, 0.0203},
             {"cudaLaunchKernel", 33200, 0.166, 4.6e-6, 1.9e-3},
             {"cudaMemcpyAsync", 402, 0.0188, 11e-6, 0.6e-3},
             {"cudaMalloc", 38, 0.0121, 0.2e-3, 2.9e-3},
             {"cuModuleLoadData", 3, 0.33, 0.1, 0.17}};
  p.copies = {
      {{CopyDirection::host_to_device, CopyMemory::pageable}, 200, 6.4e9, 0.156, "pcie.h2d", 54.6e9},
      {{CopyDirection::device_to_host, CopyMemory::unknown, CopyMemory::pinned}, 100, 800, 0.00021, "pcie.d2h", 53.9e9},
      {{CopyDirection::device_to_device}, 102, 1.7e9, 0.0017, "hbm.copy", 4.255e12},
      {{CopyDirection::memset}, 2400, 4.8e8, 0.0043, "", 0}};
  return p;
}

/// 400 steps of training a small transformer on an H200, with counters.
inline Report profile_report() {
  Report report = around(h200(), "");
  report.points.clear();
  report.notes.clear();
  report.invocation.command = {"roofline", "profile", "--", "python3", "train.py", "--steps", "400"};
  report.invocation.suite_path.clear();
  report.invocation.suite_text.clear();
  for (const KindSpec& kind : step_kinds()) report.points.push_back(profiled_point(report.machine, kind));
  report.profile = training_run();
  sum_up(report);
  Profile& p = *report.profile;
  WallTime wall{.device = 0, .device_name = report.machine.device.name};
  wall.kernels_s = p.kernel_s * 0.985;  // some run side by side
  wall.before_s = 1.31;
  wall.copies_s = 0.149;
  wall.idle_launching_s = 0.412;
  wall.idle_waiting_s = 0.221;
  wall.idle_elsewhere_s = 0.634;
  wall.after_s = 0.087;
  wall.wall_s = wall.before_s + wall.kernels_s + wall.copies_s + wall.idle_launching_s + wall.idle_waiting_s +
                wall.idle_elsewhere_s + wall.after_s;
  wall.kernel_s = p.kernel_s;
  wall.roofed_s = p.roofed_s;
  wall.at_roof_s = p.at_roof_s;
  p.devices = {wall};
  p.wall_s = wall.wall_s;
  p.savings = savings_of(report);
  p.timeline = timeline_of(report);
  return report;
}

/// One thread: 3 s in load(), 1 s asleep.
inline HostProfile host_of_one_thread() {
  HostProfile host;
  HostThread thread;
  thread.pid = thread.tid = 7;
  thread.name = "main";
  thread.command = "train.py --fast";
  thread.main = true;
  host.wall_s = 4;
  host.rate_hz = 99;
  host.samples = 396;
  host.thread_count = host.process_count = 1;
  host.times.of(ThreadState::running) = 3;
  host.times.of(ThreadState::sleep) = 1;
  host.frames = {{.function = "load", .file = "train.py", .line = 12, .python = true, .own = true}};
  host.lines = {{.place = host.frames.front(), .times = host.times, .source = {}}};
  host.threads.push_back({.thread = thread, .times = host.times, .hottest_line = 0, .hottest_s = 3});
  host.processes = {{.pid = 7, .parent = 1, .command = thread.command, .threads = 1, .times = host.times}};
  host.stacks = {{.thread = 0, .frames = {0}, .state = ThreadState::running, .seconds = 3},
                 {.thread = 0, .frames = {0}, .state = ThreadState::sleep, .seconds = 1}};
  return host;
}

inline Report sampled_profile_report() {
  Report report = profile_report();
  report.profile->host = host_of_one_thread();
  return report;
}

/// The timeline of a typical step: with samples, idle times and a merged bar.
inline void add_step_lanes(Timeline& timeline) {
  timeline.step = 16;
  timeline.hidden_threads = 2;
  const double length = timeline.length_s;
  Lane idle{.name = "GPU 0: idle", .kind = LaneKind::idle, .slices = {}};
  idle.slices.push_back({.start_s = 0,
                         .end_s = 40e-6,
                         .text = "GPU idle: the host reads a value back and waits for it",
                         .line = "train.py:41 main",
                         .cause = SavingCause::item_sync});
  idle.slices.push_back({.start_s = 0.5 * length,
                         .end_s = 0.6 * length,
                         .text = "GPU idle: the host launches too slowly",
                         .cause = SavingCause::launch_rate,
                         .merged = 40,
                         .busy_s = 0.05 * length});
  Lane samples{.name = "thread 4711: samples", .kind = LaneKind::samples, .slices = {}};
  samples.slices.push_back(
      {.start_s = 0, .end_s = 0.6 * length, .line = "train.py:36 main", .state = ThreadState::running});
  samples.slices.push_back(
      {.start_s = 0.62 * length, .end_s = length, .line = "train.py:41 main", .state = ThreadState::gpu});
  timeline.lanes[2].name = "thread 4711: CUDA calls";
  timeline.lanes[2].slices.back().state = ThreadState::gpu;
  timeline.lanes.insert(timeline.lanes.begin() + 2, idle);
  timeline.lanes.push_back(samples);
}

/// PyTorch's memory in a run of `wall_s`, of which each step has activations; and the process's on the host.
inline MemoryProfile memory_of_training(double wall_s) {
  GpuMemory gpu{.device = 0,
                .pid = 4711,
                .source = MemorySource::torch,
                .capacity = 151e9,
                .peak_allocated = 6.4e9,
                .peak_reserved = 7.1e9,
                .peak_s = 0.62 * wall_s,
                .allocated = 6.1e9,
                .reserved = 7.1e9,
                .outside = 0.4e9};
  for (int i = 0; i < 60; ++i) {
    const double share = i / 60.0, filled = std::min(1.0, 4 * share);
    gpu.curve.push_back({share * wall_s, 1.2e9 + filled * (i % 2 == 0 ? 5.2e9 : 4.1e9), 1.5e9 + filled * 5.6e9});
  }
  gpu.explained_s = gpu.peak_s;
  gpu.explained = 6.4e9;
  gpu.at_peak = {
      {.line = "model.py:10 forward", .module = "blocks.*.mlp", .blocks = 48, .bytes = 3.2e9},
      {.line = "model.py:25 forward", .module = "blocks.*.attn", .backward = true, .blocks = 24, .bytes = 1.1e9},
      {.line = "train.py:36 main", .blocks = 2, .bytes = 0.9e9}};
  gpu.per_step = gpu.at_peak;
  HostMemory host{.pid = 4711, .command = "python3 train.py", .peak = 3.4e9};
  for (int i = 0; i < 30; ++i) host.curve.push_back({i / 30.0 * wall_s, 2.1e9 + 1e7 * i, 3.1e9 + 1e7 * i});
  return {.devices = {gpu}, .host = {host}};
}

/// The same with samples and steps: its savings are of these, one of them of a single step.
inline Report stepped_profile_report() {
  Report report = sampled_profile_report();
  Profile& p = *report.profile;
  add_step_lanes(*p.timeline);
  Steps& steps = p.steps.emplace();
  steps.source = StepSource::optimizer;
  steps.count = 350;
  steps.median_s = 13.4e-3;
  steps.low_s = 13.1e-3;
  steps.high_s = 14.2e-3;
  steps.start_up_s = 1.4;
  steps.tear_down_s = 0.2;
  steps.start_up = {{StartUpPart::before_cuda, 0.9}, {StartUpPart::loading, 0.33}, {StartUpPart::host, 0.17}};
  steps.launches = 82;
  steps.ci95 = {13.38e-3, 13.42e-3};
  for (Point& point : report.points) {
    const ProfiledKind& kind = *point.profiled;
    point.profiled->step = {.launches = static_cast<double>(kind.launches) / kSteps, .seconds = kind.total_s / kSteps};
  }
  WallTime wall = p.devices[0];
  const double share = 0.875;  // of the recorded steps
  wall.before_s = wall.after_s = 0;
  for (double* part : {&wall.kernels_s, &wall.copies_s, &wall.idle_launching_s, &wall.idle_waiting_s,
                       &wall.idle_elsewhere_s, &wall.kernel_s, &wall.roofed_s, &wall.at_roof_s}) {
    *part *= share;
  }
  wall.wall_s = wall.kernels_s + wall.copies_s + wall.idle_launching_s + wall.idle_waiting_s + wall.idle_elsewhere_s;
  steps.devices = {wall};
  steps.total_s = wall.wall_s;
  steps.mean_ci95 = {0.98 * wall.wall_s / 350, 1.02 * wall.wall_s / 350};
  steps.at_roof_s = wall.at_roof_s / static_cast<double>(steps.count);
  steps.slow = {{.number = 17, .seconds = 0.31, .different = "cuModuleLoadData 210 ms longer"}};
  for (Saving& one : p.savings) one.seconds *= share;
  Saving item = saving(SavingKind::idle, SavingCause::item_sync, 0.52, "GPU idle: the host reads a value back",
                       "350 gaps, median 1.5 ms", "Read it every N steps.", -1);
  item.line = "train.py:41 main";
  Saving loaded = saving(SavingKind::idle, SavingCause::module_load, 0.21, "GPU idle: CUDA modules are loaded", "1 gap",
                         "Load eagerly.", -1);
  loaded.one_off = true;
  p.savings.push_back(item);
  p.savings.push_back(loaded);
  std::stable_sort(p.savings.begin(), p.savings.end(),
                   [](const Saving& a, const Saving& b) { return a.seconds > b.seconds; });
  p.memory = memory_of_training(p.wall_s);
  return report;
}

/// The same with memory that grows: the program ends by it.
inline Report growing_profile_report() {
  Report report = stepped_profile_report();
  Profile& p = *report.profile;
  GpuMemory& gpu = p.memory.devices[0];
  for (std::size_t i = 0; i < gpu.curve.size(); ++i) {
    gpu.curve[i].allocated += 1e9 * static_cast<double>(i);
    gpu.curve[i].reserved += 1e9 * static_cast<double>(i);
  }
  gpu.peak_allocated = gpu.allocated = 65.4e9;
  gpu.peak_reserved = gpu.reserved = 66.1e9;
  gpu.growth = MemoryGrowth{.bytes = 58e9, .seconds = 4.6, .bytes_per_s = 12.6e9, .bytes_per_step = 169e6};
  gpu.growth->seconds_until_full = 6.8;
  gpu.growth->steps_until_full = 507;
  gpu.growth->kept = {{.line = "model.py:10 forward", .module = "blocks.*.mlp", .blocks = 9000, .bytes = 140e6}};
  Saving growth = saving(SavingKind::memory, SavingCause::memory_growth, 0,
                         "GPU memory grows by 169 MB a step: 151 GB are full after 507 more steps",
                         "58.0 GB more in 4.60 s", "Keep no tensor with its graph: loss.detach().", -1);
  growth.line = "model.py:10 forward";
  p.savings.insert(p.savings.begin(), growth);
  return report;
}

/// The same without the wait for a value in each step, with a faster kernel of the loss and a shorter start-up.
inline void hasten_steps(Report& report) {
  Profile& p = *report.profile;
  Steps& steps = *p.steps;
  const auto count = static_cast<double>(steps.count);
  const auto item = std::find_if(p.savings.begin(), p.savings.end(),
                                 [](const Saving& saving) { return saving.cause == SavingCause::item_sync; });
  const double saved = std::min(item->seconds, steps.devices[0].idle_elsewhere_s);
  p.savings.erase(item);
  Point& loss = report.points[static_cast<std::size_t>(row_of(report, "softmax_warp_backward_log"))];
  const double faster = 0.4 * loss.profiled->step->seconds;
  loss.profiled->step->seconds -= faster;
  WallTime& wall = steps.devices[0];
  wall.idle_elsewhere_s -= saved;
  wall.kernels_s -= faster * count;
  wall.kernel_s -= faster * count;
  wall.roofed_s -= faster * count;
  wall.wall_s -= saved + faster * count;
  steps.total_s = wall.wall_s;
  const double difference = saved / count + faster;
  steps.median_s -= difference;
  steps.low_s -= difference;
  steps.high_s -= difference;
  steps.ci95 = {0.998 * steps.median_s, 1.002 * steps.median_s};
  steps.mean_ci95 = {0.99 * steps.total_s / count, 1.01 * steps.total_s / count};
  steps.start_up[1].seconds -= 0.2;
  steps.start_up_s -= 0.2;
  steps.slow.clear();
}

/// The same where the driver permits no counters: times, and no work.
inline Report uncounted_profile_report() {
  Report report = profile_report();
  Profile& p = *report.profile;
  for (Point& point : report.points) {
    point.work = {};
    point.bound = {};
    point.counters.reset();
    point.profiled->work_source = WorkSource::none;
    point.profiled->counted = 0;
    point.profiled->complete = false;
    point.profiled->not_counted = "counters are not permitted";
  }
  p.at_roof_s = p.roofed_s = p.counted_s = p.counting_s = 0;
  p.counters = false;
  p.why_no_counters =
      "the driver permits counters to the administrator only (ERR_NVGPUCTRPERM): run as root or with CAP_SYS_ADMIN, or "
      "load "
      "the driver with NVreg_RestrictProfilingToAdminUsers=0";
  std::erase_if(p.savings, [](const Saving& saving) {
    return saving.kind == SavingKind::kernel || saving.kind == SavingKind::traffic;
  });
  p.untraced_s.reset();
  p.traced_s.reset();
  return report;
}

/// A program of one kernel, with no Python, no ranges and no timeline.
inline Report small_profile_report() {
  Report report = profile_report();
  report.points.resize(3);
  report.points.erase(report.points.begin(), report.points.begin() + 2);
  ProfiledKind& kind = *report.points[0].profiled;
  kind.module = kind.line = kind.range = "";
  Profile profile;
  profile.program = {"./vector_norm"};
  profile.folder = "/tmp";
  profile.exit_status = 0;
  profile.counters = true;
  profile.processes = {{.pid = 12,
                        .command = "./vector_norm",
                        .launches = 100,
                        .kernels = 100,
                        .dropped = 0,
                        .without_time = 0,
                        .torn = false,
                        .notes = {}}};
  report.profile = profile;
  sum_up(report);
  Profile& p = *report.profile;
  p.devices = {{.device = 0,
                .device_name = "NVIDIA H200",
                .wall_s = p.kernel_s + 0.31,
                .before_s = 0.3,
                .kernels_s = p.kernel_s,
                .copies_s = 0,
                .idle_launching_s = 0.01,
                .idle_waiting_s = 0,
                .idle_elsewhere_s = 0,
                .after_s = 0,
                .kernel_s = p.kernel_s,
                .roofed_s = p.roofed_s,
                .at_roof_s = p.at_roof_s}};
  p.wall_s = p.devices[0].wall_s;
  return report;
}

/// Names that try to break out of wherever they are put, numbers that no program has, and two GPUs.
inline Report hostile_profile_report() {
  Report report = profile_report();
  const std::string script = "</script><script>window.pwned=1</script>";
  const std::string image = "<img src=x onerror=window.pwned=2>";
  Profile& p = *report.profile;
  p.program = {"python", script, image, "\x1b[2J", "it's"};
  p.folder = image;
  p.why_no_counters = script;
  p.devices.push_back(p.devices[0]);
  p.devices[1].device = 1;
  p.devices[1].device_name = script;
  p.devices[1].kernels_s *= 0.2;
  p.savings[0].what = image;
  p.savings[0].evidence = script;
  p.savings[0].action = "\" onmouseover=\"window.pwned=3\" x=\"";
  p.savings[1].what = std::string(3000, 'w');
  p.calls[0].name = script;
  p.copies[1].bytes = 1e300;
  p.copies[2].total_s = -1;
  p.ranges[0].name = script;
  p.modules[0].name = "\u202Egnirts esrever";
  p.modules[1].name = std::string(2000, 'm');
  p.lines[0].file = script;
  p.lines[0].function = image;
  p.memory = memory_of_training(-1);
  p.memory.devices[0].at_peak[0].line = script;
  p.memory.devices[0].at_peak[1].module = image;
  p.memory.devices[0].curve[1] = {1e300, 1e300, -1};
  p.memory.devices[0].capacity = -5;
  p.memory.host[0].command = script;
  p.timeline->lanes[0].name = image;
  p.timeline->lanes[0].slices[0].start_s = -5;
  p.timeline->lanes[0].slices[1].end_s = 1e300;
  p.timeline->lanes[2].slices[0].text = script;
  p.processes[0].command = image;
  p.processes[0].notes = {script, "| a | b |\n# heading"};
  report.points[0].workload.label = script;
  report.points[1].workload.label = "\xFF\xFE broken \x1b[31m UTF-8 \xC3";
  report.points[2].workload.label = "template<" + std::string(10000, 'x') + ">";
  report.points[3].profiled->full_name = image;
  report.points[4].profiled->module = script;
  report.points[5].profiled->line = image;
  report.points[6].profiled->total_s = 1e12;
  report.points[7].profiled->launches = -3;
  report.points[8].profiled->not_counted = script;
  return report;
}

}  // namespace roofline::example
