// In a cache first: its share of the time decides whether instructions or accesses are examined.
#include "analyze/row_experiments.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <memory>
#include <numeric>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "analyze/access_pattern.hpp"
#include "analyze/choose_implementation.hpp"
#include "analyze/compare_runs.hpp"
#include "analyze/hot_loop.hpp"
#include "analyze/placements.hpp"
#include "analyze/recompiled.hpp"
#include "analyze/scaled_workload.hpp"
#include "device/cpu/access_trace.hpp"
#include "device/cpu/cpu_device.hpp"
#include "device/cpu/subnormals.hpp"
#include "host/host.hpp"
#include "host/interrupt.hpp"
#include "op/extents_text.hpp"
#include "op/layout.hpp"
#include "user/index_inputs.hpp"
#include "user/user_op.hpp"

namespace roofline {
namespace {

/// A row whose launches are longer, or whose buffers are larger, is not run again at its own size.
constexpr double kLongestLaunchS = 0.25, kLargestBytes = 1.5e9, kCheapBytes = 256e6;
/// Core's share of the time: above the first its instructions are examined, below the second its accesses.
constexpr double kCoreMatters = 0.5, kMemoryMatters = 0.75;
/// Time without vectors over that with them.
constexpr double kScalar = 1.1;
/// Share of the traced accesses.
constexpr double kSplitsMatter = 0.05;
/// Bytes of all tensors: more lines than a pattern's history has, and few enough accesses.
constexpr double kTracedBytes = 8192;
constexpr std::int64_t kLeastAccesses = 200;
/// Elements of a buffer: sorting takes a second.
constexpr std::int64_t kMostSorted = std::int64_t{1} << 24;

/// "n=32768", with what else differs.
std::string variant_text(const Workload& workload, std::string_view more) {
  std::string text = extents_text(workload.shape.extents());
  if (!more.empty()) text += (text.empty() ? "" : ", ") + std::string(more);
  return text;
}

class RowExperiments {
 public:
  RowExperiments(const SuiteEntry& entry, const Point& point, Device& all, Device& one, double end_s,
                 const PublishExperiments& publish)
      : entry_(entry), point_(point), all_(all), one_(one), end_s_(end_s), publish_(publish), again_(entry.workload) {
    products_ = point.bound.label == BoundLabel::compute && point.work.total_flops() > 0;
    units_ = units_of(*entry.op, entry.workload, products_);
  }

  std::vector<Experiment> run() {
    attempt([&] { prepare_in_cache(); });
    if (!in_cache_ || !(units_ > 0)) return std::move(found_);
    if (all_.info().units > 1) attempt([&] { threads(); });
    attempt([&] { core_share(); });
    if (!(share_ > 0)) return std::move(found_);
    if (entry_.kernel) attempt([&] { trace(); });
    if (share_ > kCoreMatters) examine_instructions();
    if (share_ < kMemoryMatters) attempt([&] { examine_accesses(); });
    if (share_ > kCoreMatters && is_recompilable(entry_)) {
      publish_(found_);  // the kernel without its loads may crash
      attempt([&] {
        recompiled(ExperimentKind::unforwarded, without_failed_forwards(entry_), "without loads of narrower stores");
      });
    }
    return std::move(found_);
  }

 private:
  void attempt(const std::function<void()>& step) {
    if (interrupted() || wall_seconds() > end_s_) return;
    try {
      step();
    } catch (const PoisonedDevice&) {
      throw;
    } catch (const std::exception&) {
      // The experiment cannot be had; others may.
    }
  }

  void add(ExperimentKind kind, std::string variant, const TimeRatio& ratio, std::int64_t count = 0) {
    if (!std::isfinite(ratio.value)) return;
    found_.push_back({.kind = kind,
                      .variant = std::move(variant),
                      .ratio = ratio.value,
                      .ci95 = ratio.ci95.known() ? ratio.ci95 : Interval{},
                      .count = count});
  }

  /// Half of a cache of one core; 16-bit elements leave room for the same number in fp32.
  double cache_target() const {
    double bytes = cache_ == Level::l1 ? 32 * 1024 : 256 * 1024;
    for (const CacheInfo& cache : all_.info().caches) {
      if (cache.level != cache_) continue;
      const auto threads = static_cast<double>(all_.info().units);
      bytes = std::min(cache.bytes, cache.bytes * static_cast<double>(cache.instances) / threads);
    }
    return bytes / (element_size(entry_.workload.dtype) == 2 ? 4 : 2);
  }

  /// A row in L2 gets a set in L1, where its shape and the sizes of its buffers allow one.
  void prepare_in_cache() {
    cache_ = point_.work.cache == Level::l2 ? Level::l1 : Level::l2;
    small_ = shrunk(entry_, cache_target(), products_);
    if (!small_ && cache_ == Level::l1) {
      cache_ = Level::l2;
      small_ = shrunk(entry_, cache_target(), products_);
    }
    if (!small_) return;
    small_units_ = units_of(*entry_.op, *small_, products_);
    if (!(small_units_ > 0)) return;
    auto made = std::make_unique<BatchTimer>(*entry_.op, *entry_.implementation, *small_, one_);
    made->verify();
    in_cache_ = std::move(made);
  }

  /// CPU time of all threads per unit of work, each with a working set in its L2: waiting and dispatching cost none,
  /// but cache lines that several threads write do.
  void threads() {
    const std::optional<Workload> large =
        shrunk(entry_, cache_target() * static_cast<double>(all_.info().units), products_);
    if (!large) return;
    BatchTimer everyone(*entry_.op, *entry_.implementation, *large, all_);
    everyone.verify();
    everyone.time();
    const std::vector<double> busy = cpu_time_of(everyone);
    const double total = std::accumulate(busy.begin(), busy.end(), 0.0);
    if (!(total > 0)) return;
    std::vector<double> alone;
    for (std::size_t i = 0; i < kLeastRounds * 3; ++i) alone.push_back(in_cache_->time());
    const double units = units_of(*entry_.op, *large, products_);
    add(ExperimentKind::all_threads, variant_text(*large, fmt::format("{} threads", all_.info().units)),
        {total / units / (typical_time(std::move(alone)).value / small_units_), {}});
  }

  /// CPU seconds of each thread per launch; empty under contention, zeros of a kernel that starts no region.
  std::vector<double> cpu_time_of(BatchTimer& runner) {
    std::vector<double> busy(static_cast<std::size_t>(all_.info().units));
    const auto contention = all_.watch_contention();
    ThreadPool& pool = as_cpu(all_).pool();
    pool.record_cpu_time(&busy);
    const std::int64_t before = runner.launched();
    const double begin = wall_seconds();
    try {
      do runner.time();
      while (wall_seconds() - begin < kComparisonS && !interrupted());
    } catch (...) {
      pool.record_cpu_time(nullptr);
      throw;
    }
    pool.record_cpu_time(nullptr);
    if (is_significant(contention())) return {};
    for (double& seconds : busy) seconds /= static_cast<double>(runner.launched() - before);
    return busy;
  }

  /// At the row's own size: a smaller one has fewer chunks for each thread.
  void slowest_thread() {
    const std::vector<double> busy = cpu_time_of(*row_);
    if (busy.empty()) return;
    const auto count = static_cast<double>(busy.size());
    const double total = std::accumulate(busy.begin(), busy.end(), 0.0);
    const double most = *std::max_element(busy.begin(), busy.end());
    // A kernel that starts no region runs on the caller alone.
    const double slowest = total > 0 ? most * count / total : count;
    if (total > 0) {
      working_ =
          static_cast<double>(std::count_if(busy.begin(), busy.end(), [&](double one) { return one > most / 10; }));
    } else {
      working_ = 1;
    }
    add(ExperimentKind::slowest_thread, variant_text(entry_.workload, "CPU time of each thread"), {slowest, {}});
  }

  /// The row at its own size again, where that is cheap; otherwise null.
  std::unique_ptr<BatchTimer> row_again(CasePlacement placement = {}) {
    const LastLevelCache last{.bytes = all_.last_level_cache_bytes(),
                              .device = DeviceKind::cpu,
                              .free_memory_bytes = all_.free_memory_bytes()};
    const double bytes = case_bytes(*entry_.op, again_, last);
    if (point_.time->median > kLongestLaunchS || bytes > std::min(kLargestBytes, all_.free_memory_bytes() / 4))
      return nullptr;
    return std::make_unique<BatchTimer>(*entry_.op, *entry_.implementation, again_, all_, std::move(placement),
                                        InputValues::repeated);
  }

  void core_share() {
    TimeRatio ratio;
    row_ = bytes_of(*entry_.op, entry_.workload) < kCheapBytes ? row_again() : nullptr;
    if (row_ && all_.info().units > 1) attempt([&] { slowest_thread(); });
    const double threads = working_ > 0 ? working_ : static_cast<double>(all_.info().units);
    std::optional<double> row_hz = point_.time->clock_hz;
    if (row_) {
      ratio = compare_times([&] { return row_->time(); }, [&] { return in_cache_->time(); });
      row_hz = row_->clock_hz();
    } else {
      std::vector<double> series;
      const double begin = wall_seconds();
      while (series.size() < kMostRounds && (series.size() < kLeastRounds || wall_seconds() - begin < kComparisonS))
        series.push_back(in_cache_->time());
      ratio = ratio_of(typical_time(std::move(series)), {point_.time->median, point_.time->ci95});
    }
    const std::optional<double> core_hz = in_cache_->clock_hz();
    const double slower = core_hz && row_hz ? *core_hz / *row_hz : 1;
    const TimeRatio share = ratio.scaled(slower * units_ / small_units_ / threads);
    share_ = share.value;
    add(cache_ == Level::l1 ? ExperimentKind::in_l1 : ExperimentKind::in_cache, variant_text(*small_, "1 thread"),
        share);
  }

  void examine_instructions() {
    attempt([&] {
      const TimeRatio ratio = compare_times([&] { return in_cache_->time(); },
                                            [&] {
                                              const SubnormalsFlushed flushed;
                                              return in_cache_->time();
                                            });
      add(ExperimentKind::flushed_subnormals, variant_text(*small_, "FTZ and DAZ"), ratio);
    });
    attempt([&] {
      BatchTimer staggered(*entry_.op, *entry_.implementation, *small_, one_, staggered_placement(tensors()));
      against_in_cache(ExperimentKind::staggered, staggered, "buffers at different page offsets",
                       static_cast<std::int64_t>(tensors()));
    });
    if (element_size(entry_.workload.dtype) == 2) attempt([&] { in_fp32(); });
    if (!entry_.kernel) return;
    attempt([&] { realigned(); });
    if (!is_recompilable(entry_)) return;
    attempt([&] {
      recompiled(ExperimentKind::reassociated,
                 with_options(entry_, {"-fassociative-math", "-fno-signed-zeros", "-fno-trapping-math"}),
                 "-fassociative-math");
    });
    attempt([&] {
      recompiled(ExperimentKind::unvectorized, with_options(entry_, {"-fno-tree-vectorize", "-fno-tree-slp-vectorize"}),
                 "-fno-tree-vectorize");
    });
    attempt([&] {
      if (found_.back().kind != ExperimentKind::unvectorized || found_.back().ratio > kScalar) return;
      found_.back().remark = why_not_vectorized(entry_, *small_, one_);
    });
    publish_(found_);  // an index that was a remainder may be anywhere
    attempt([&] {
      recompiled(ExperimentKind::multiplied, without_divisions(entry_), "multiplications instead of divisions");
    });
  }

  /// At the row's size; hot, if the buffer sets of a cold row are too large. Where pages are missed, both show it.
  void examine_accesses() {
    bool hot = false;
    if (!row_) row_ = row_again();
    if (!row_) {
      again_ = entry_.workload;
      again_.cache = CacheMode::hot;
      hot = true;
      row_ = row_again();
    }
    if (!row_) return;
    const auto against_row = [&](ExperimentKind kind, BatchTimer& changed, const std::string& variant, double units,
                                 std::int64_t count = 0) {
      const TimeRatio ratio = compare_times([&] { return row_->time(); }, [&] { return changed.time(); });
      add(kind, variant, ratio.scaled(units_ / units), count);
    };
    attempt([&] {
      const bool examined = share_ > kCoreMatters;  // with the instructions
      const auto staggered = examined ? nullptr : row_again(staggered_placement(tensors()));
      if (staggered) {
        against_row(ExperimentKind::staggered, *staggered, variant_text(again_, "buffers at different page offsets"),
                    units_, static_cast<std::int64_t>(tensors()));
      }
    });
    if (all_.info().huge_page_share.value_or(0) > 0) {
      attempt([&] {
        as_cpu(all_).use_huge_pages(false);
        std::unique_ptr<BatchTimer> small_pages;
        try {
          small_pages = row_again();
        } catch (...) {
          as_cpu(all_).use_huge_pages(true);
          throw;
        }
        as_cpu(all_).use_huge_pages(true);
        if (small_pages)
          against_row(ExperimentKind::small_pages, *small_pages,
                      variant_text(again_, hot ? "4 KiB pages, hot" : "4 KiB pages"), units_);
      });
    }
    attempt([&] {
      if (!entry_.kernel || entry_.kernel->like != nullptr || tensor_elements() > kMostSorted) return;
      const auto spec = with_ascending_indices(*entry_.kernel);
      if (!spec) return;
      const UserOp op(spec);
      BatchTimer ordered(op, *entry_.implementation, again_, all_, {}, InputValues::repeated);
      against_row(ExperimentKind::ascending_indices, ordered, variant_text(again_, "ascending indices"), units_);
    });
    if (hot) return;  // twice the size may be in another cache
    attempt([&] {
      const std::optional<Workload> twice = doubled(entry_);
      if (!twice || 2 * bytes_of(*entry_.op, entry_.workload) > kLargestBytes) return;
      BatchTimer larger(*entry_.op, *entry_.implementation, *twice, all_, {}, InputValues::repeated);
      against_row(ExperimentKind::double_size, larger, variant_text(*twice, ""),
                  units_of(*entry_.op, *twice, products_));
    });
  }

  void against_in_cache(ExperimentKind kind, BatchTimer& changed, std::string_view what, std::int64_t count = 0) {
    add(kind, variant_text(*small_, what),
        compare_times([&] { return in_cache_->time(); }, [&] { return changed.time(); }), count);
  }

  std::int64_t tensor_elements() const {
    const std::vector<TensorSpec> all = entry_.op->tensors(entry_.workload);
    return std::ranges::max(all, {}, &TensorSpec::elements).elements;
  }

  std::size_t tensors() const { return entry_.op->tensors(entry_.workload).size(); }

  /// Where the kernel's pointers begin within a line; else, if traced accesses cross lines, for loops that begin at
  /// another element.
  void realigned() {
    std::vector<CasePlacement> candidates;
    if (const auto aligned = aligned_placement(entry_, *small_)) {
      candidates = {*aligned};
    } else if (split_share_ > kSplitsMatter) {
      candidates = shifted_placements(entry_, *small_);
    }
    std::optional<TimeRatio> best;
    for (const CasePlacement& candidate : candidates) {
      BatchTimer moved(*entry_.op, *entry_.implementation, *small_, one_, candidate);
      const TimeRatio ratio = compare_times([&] { return in_cache_->time(); }, [&] { return moved.time(); });
      if (!best || ratio.value < best->value) best = ratio;
    }
    if (best) add(ExperimentKind::realigned, variant_text(*small_, "buffers shifted within a cache line"), *best);
  }

  /// The order of accesses, of a set that a trace can follow to its end, and of the one in L2.
  void trace() {
    if (!can_trace_accesses()) return;
    AccessPattern most;
    std::string variant;
    for (const std::optional<Workload>& workload : {shrunk(entry_, kTracedBytes, products_), small_}) {
      if (!workload) continue;
      BatchTimer traced(*entry_.op, *entry_.implementation, *workload, one_);
      const AccessPattern found = pattern_of(traced.accesses({}));
      split_share_ = std::max(split_share_, found.split_share);
      if (found.line_visits <= most.line_visits) continue;
      most = found;
      variant = variant_text(*workload, fmt::format("{} accesses traced", found.accesses));
    }
    const auto accesses = static_cast<std::int64_t>(most.accesses);
    if (accesses < kLeastAccesses) return;
    add(ExperimentKind::line_visits, variant, {most.line_visits, {}}, accesses);
    add(ExperimentKind::page_jumps, variant, {most.page_jumps, {}}, accesses);
  }

  /// The same op and shape in fp32, by the same implementation, or the best one that has the type.
  void in_fp32() {
    Workload workload = *small_;
    workload.dtype = DType::fp32;
    const std::optional<Implementation> found = implementation_for(*entry_.op, workload, one_);
    if (!found) return;
    BatchTimer wide(*entry_.op, *found, workload, one_);
    against_in_cache(ExperimentKind::other_type, wide, "fp32");
  }

  void recompiled(ExperimentKind kind, const std::optional<Implementation>& implementation, std::string_view what) {
    if (!implementation) return;
    BatchTimer changed(*entry_.op, *implementation, *small_, one_);
    against_in_cache(kind, changed, what);
  }

  const SuiteEntry& entry_;
  const Point& point_;
  Device& all_;
  Device& one_;
  double end_s_;
  const PublishExperiments& publish_;
  Workload again_;  ///< the row's, or hot where that is too large
  double split_share_ = 0;
  bool products_ = false;
  double units_ = 0, small_units_ = 0;
  double working_ = 0;  ///< threads with work; 0 if unknown
  double share_ = 0;
  Level cache_ = Level::l2;  ///< that holds the smaller working set
  std::optional<Workload> small_;
  std::unique_ptr<BatchTimer> in_cache_;  ///< on one thread
  std::unique_ptr<BatchTimer> row_;       ///< the row itself, on all threads
  std::vector<Experiment> found_;
};

}  // namespace

std::vector<Experiment> experiments_on(const SuiteEntry& entry, const Point& point, Device& all, Device& one,
                                       double end_s, const PublishExperiments& publish) {
  return RowExperiments(entry, point, all, one, end_s, publish).run();
}

}  // namespace roofline
