// In L2 first: its share of the time decides whether instructions or accesses are examined.
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

#include "analyze/compare_runs.hpp"
#include "analyze/multiplied_divisions.hpp"
#include "analyze/scaled_workload.hpp"
#include "device/cpu/cpu_device.hpp"
#include "device/cpu/subnormals.hpp"
#include "host/host.hpp"
#include "host/interrupt.hpp"
#include "op/layout.hpp"
#include "user/binding.hpp"
#include "user/index_inputs.hpp"
#include "user/user_implementation.hpp"
#include "user/user_op.hpp"

namespace roofline {
namespace {

/// A row whose launches are longer, or whose buffers are larger, is not run again at its own size.
constexpr double kLongestLaunchS = 0.25, kLargestBytes = 1.5e9;
/// Of the core's share of the time: above the first its instructions are examined, below the second its accesses.
constexpr double kCoreMatters = 0.5, kMemoryMatters = 0.75;
constexpr std::int64_t kMostSorted = std::int64_t{1} << 24;  // elements of a buffer: sorting takes a second
constexpr std::int64_t kLine = 64;
constexpr std::int64_t kStagger = 17 * kLine;  // an odd number of lines: 64 buffers have different ones

/// "n=32768", with what else differs.
std::string variant_text(const Workload& workload, std::string_view more) {
  std::string text;
  for (const auto& [name, extent] : workload.shape.extents()) {
    text += fmt::format("{}{}={}", text.empty() ? "" : " ", name, extent);
  }
  if (!more.empty()) text += (text.empty() ? "" : ", ") + std::string(more);
  return text;
}

class RowExperiments {
 public:
  RowExperiments(const SuiteEntry& entry, const Point& point, Device& all, Device& one, double end_s)
      : entry_(entry), point_(point), all_(all), one_(one), end_s_(end_s) {
    products_ = point.bound.label == BoundLabel::compute && point.work.total_flops() > 0;
    units_ = units_of(*entry.op, entry.workload, products_);
  }

  std::vector<Experiment> run() {
    attempt([&] { prepare_in_cache(); });
    if (!in_cache_ || !(units_ > 0)) return std::move(found_);
    if (all_.info().units > 1) attempt([&] { threads(); });
    attempt([&] { core_share(); });
    if (!(share_ > 0)) return std::move(found_);
    if (share_ > kCoreMatters) examine_instructions();
    if (share_ < kMemoryMatters) attempt([&] { examine_accesses(); });
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

  /// Half of the L2 of one core; 16-bit elements leave room for the same number in fp32.
  double cache_target() const {
    double bytes = 256 * 1024;
    for (const CacheInfo& cache : all_.info().caches) {
      if (cache.level != Level::l2) continue;
      const auto threads = static_cast<double>(all_.info().units);
      bytes = std::min(cache.bytes, cache.bytes * static_cast<double>(cache.instances) / threads);
    }
    return bytes / (element_size(entry_.workload.dtype) == 2 ? 4 : 2);
  }

  void prepare_in_cache() {
    small_ = shrunk(entry_, cache_target(), products_);
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
    const double bytes = case_bytes(*entry_.op, entry_.workload, last);
    if (point_.time->median > kLongestLaunchS || bytes > std::min(kLargestBytes, all_.free_memory_bytes() / 4))
      return nullptr;
    return std::make_unique<BatchTimer>(*entry_.op, *entry_.implementation, entry_.workload, all_, std::move(placement),
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
    add(ExperimentKind::in_cache, variant_text(*small_, "1 thread"), share);
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
      BatchTimer staggered(*entry_.op, *entry_.implementation, *small_, one_, stagger());
      against_in_cache(ExperimentKind::staggered, staggered, "buffers at different page offsets", buffers());
    });
    if (element_size(entry_.workload.dtype) == 2) attempt([&] { in_fp32(); });
    if (!entry_.kernel) return;
    attempt([&] { realigned(); });
    if (entry_.kernel->kind != SourceKind::c && entry_.kernel->kind != SourceKind::cpp) return;
    attempt([&] {
      recompiled(ExperimentKind::reassociated, {"-fassociative-math", "-fno-signed-zeros", "-fno-trapping-math"},
                 "-fassociative-math");
    });
    attempt([&] {
      recompiled(ExperimentKind::unvectorized, {"-fno-tree-vectorize", "-fno-tree-slp-vectorize"},
                 "-fno-tree-vectorize");
    });
    attempt([&] { multiplied(); });
  }

  void examine_accesses() {
    if (!row_) row_ = row_again();
    if (!row_) return;
    const auto against_row = [&](ExperimentKind kind, BatchTimer& changed, const std::string& variant, double units,
                                 std::int64_t count = 0) {
      const TimeRatio ratio = compare_times([&] { return row_->time(); }, [&] { return changed.time(); });
      add(kind, variant, ratio.scaled(units_ / units), count);
    };
    attempt([&] {
      const bool examined = share_ > kCoreMatters;  // with the instructions
      const auto staggered = examined ? nullptr : row_again(stagger());
      if (staggered) {
        against_row(ExperimentKind::staggered, *staggered,
                    variant_text(entry_.workload, "buffers at different page offsets"), units_, buffers());
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
          against_row(ExperimentKind::small_pages, *small_pages, variant_text(entry_.workload, "4 KiB pages"), units_);
      });
    }
    attempt([&] {
      if (!entry_.kernel || entry_.kernel->like != nullptr || tensor_elements() > kMostSorted) return;
      const auto spec = with_ascending_indices(*entry_.kernel);
      if (!spec) return;
      const UserOp op(spec);
      BatchTimer ordered(op, *entry_.implementation, entry_.workload, all_, {}, InputValues::repeated);
      against_row(ExperimentKind::ascending_indices, ordered, variant_text(entry_.workload, "ascending indices"),
                  units_);
    });
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

  std::int64_t buffers() const { return static_cast<std::int64_t>(entry_.op->tensors(entry_.workload).size()); }

  CasePlacement stagger() const {
    CasePlacement placement;
    for (std::int64_t t = 0; t < buffers(); ++t) placement.offsets.push_back(t * kStagger);
    return placement;
  }

  /// Inputs and outputs moved so that the pointers that the kernel gets begin a cache line; else by one element
  /// forwards and backwards, for kernels that begin their loops at the second or the last element.
  void realigned() {
    const auto tensors = kernel_tensors(*entry_.kernel, *small_);
    const auto all = configurations(*entry_.kernel);
    const auto configuration = std::find_if(all.begin(), all.end(), [&](const Configuration& one) {
      return one.text.empty() || entry_.workload.implementation.ends_with(one.text);
    });
    if (configuration == all.end()) return;
    CasePlacement aligned{.offsets = std::vector<std::int64_t>(tensors.size())};
    for (const BoundStep& step : bind_kernel(*entry_.kernel, *configuration, *small_, tensors).steps) {
      for (const BoundArgument& argument : step.arguments) {
        const auto* pointer = std::get_if<BoundPointer>(&argument);
        if (pointer == nullptr || pointer->buffer >= tensors.size()) continue;
        if (pointer->offset_bytes % kLine != 0)
          aligned.offsets[pointer->buffer] = kLine - pointer->offset_bytes % kLine;
      }
    }
    std::vector<CasePlacement> candidates = {aligned};
    const bool known = std::any_of(aligned.offsets.begin(), aligned.offsets.end(), [](auto one) { return one != 0; });
    if (!known) {
      candidates.clear();
      for (const bool forwards : {false, true}) {
        CasePlacement& moved = candidates.emplace_back();
        for (const TensorSpec& tensor : tensors) {
          const std::int64_t element = element_size(tensor.dtype);
          moved.offsets.push_back(tensor.role == TensorRole::input ? (forwards ? element : kLine - element) : 0);
        }
      }
    }
    std::optional<TimeRatio> best;
    for (const CasePlacement& candidate : candidates) {
      BatchTimer moved(*entry_.op, *entry_.implementation, *small_, one_, candidate);
      const TimeRatio ratio = compare_times([&] { return in_cache_->time(); }, [&] { return moved.time(); });
      if (!best || ratio.value < best->value) best = ratio;
    }
    if (best) add(ExperimentKind::realigned, variant_text(*small_, "buffers shifted within a cache line"), *best);
  }

  /// The same op and shape in fp32, by the same implementation, or the best one that has the type.
  void in_fp32() {
    Workload workload = *small_;
    workload.dtype = DType::fp32;
    const std::vector<Implementation> all = entry_.op->implementations();
    const auto runs = [&](const Implementation& one) {
      return one.device == DeviceKind::cpu && std::count(one.dtypes.begin(), one.dtypes.end(), DType::fp32) > 0 &&
             (!one.unsupported || !one.unsupported(workload, one_));
    };
    auto found = std::find_if(all.begin(), all.end(), [&](const Implementation& one) {
      return one.name == entry_.workload.implementation && runs(one);
    });
    if (found == all.end()) {
      const auto best = std::find_if(all.rbegin(), all.rend(), runs);
      if (best == all.rend()) return;
      found = std::prev(best.base());
    }
    BatchTimer wide(*entry_.op, *found, workload, one_);
    against_in_cache(ExperimentKind::other_type, wide, "fp32");
  }

  void recompiled(ExperimentKind kind, const std::vector<std::string>& options, std::string_view what,
                  std::string_view prologue = {}) {
    const auto spec = std::make_shared<KernelSpec>(*entry_.kernel);
    spec->options.insert(spec->options.end(), options.begin(), options.end());
    spec->prologue = prologue;
    for (const Implementation& implementation : user_implementations(spec)) {
      if (implementation.name != entry_.workload.implementation) continue;
      BatchTimer changed(*entry_.op, implementation, *small_, one_);
      against_in_cache(kind, changed, what);
      return;
    }
  }

  /// Divide instructions assembled as multiplications. Compilers with an assembler of their own ignore it.
  void multiplied() { recompiled(ExperimentKind::multiplied, {}, "multiplications instead of divisions", kMultiply); }

  static constexpr double kCheapBytes = 256e6;

  const SuiteEntry& entry_;
  const Point& point_;
  Device& all_;
  Device& one_;
  double end_s_;
  bool products_ = false;
  double units_ = 0, small_units_ = 0;
  double working_ = 0;  ///< threads with work; 0 where that is not known
  double share_ = 0;
  std::optional<Workload> small_;
  std::unique_ptr<BatchTimer> in_cache_;  ///< on one thread
  std::unique_ptr<BatchTimer> row_;       ///< the row itself, on all threads
  std::vector<Experiment> found_;
};

}  // namespace

std::vector<Experiment> experiments_on(const SuiteEntry& entry, const Point& point, Device& all, Device& one,
                                       double end_s) {
  return RowExperiments(entry, point, all, one, end_s).run();
}

}  // namespace roofline
