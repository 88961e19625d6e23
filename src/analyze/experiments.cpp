// Every comparison alternates between the two runs, so that both see the same state of the machine, and compares their
// lower quartiles, which short interruptions do not reach.
#include "analyze/experiments.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <nlohmann/json.hpp>
#include <numeric>

#include "analyze/choose_implementation.hpp"
#include "device/cpu/cpu_device.hpp"
#include "device/cpu/subnormals.hpp"
#include "device/isolate.hpp"
#include "host/host.hpp"
#include "host/interrupt.hpp"
#include "measure/statistics.hpp"
#include "model/error.hpp"
#include "model/nan.hpp"
#include "op/case.hpp"
#include "op/layout.hpp"
#include "report/diagnosis/verdict.hpp"
#include "report/json/json.hpp"
#include "user/binding.hpp"
#include "user/user_implementation.hpp"

namespace roofline {
namespace {

using Json = nlohmann::ordered_json;

constexpr double kBatchS = 300e-6;      // short enough that most batches are not interrupted
constexpr double kComparisonS = 0.12;   // of one comparison, unless its batches are longer
constexpr double kLongComparisonS = 1;  // for enough rounds of longer batches
constexpr std::size_t kLeastRounds = 6, kEnoughRounds = 20, kMostRounds = 150;
constexpr double kJobLimitS = 30;
/// A row whose launches are longer, or whose buffers are larger, is not run again at its own size.
constexpr double kLongestLaunchS = 0.25, kLargestBytes = 1.5e9;
/// Of the core's share of the time: above the first its instructions are examined, below the second its accesses.
constexpr double kCoreMatters = 0.5, kMemoryMatters = 0.75;
constexpr std::int64_t kLine = 64;
constexpr std::int64_t kStagger = 17 * kLine;  // an odd number of lines: 64 buffers have different ones

double bytes_of(const Op& op, const Workload& workload) {
  double bytes = 0;
  for (const TensorSpec& tensor : op.tensors(workload)) bytes += static_cast<double>(tensor.bytes());
  return bytes;
}

/// The unit in which different sizes are compared: operations of products, otherwise compulsory bytes.
double units_of(const Op& op, const Workload& workload, bool products) {
  const Work work = op.work(workload, DeviceKind::cpu);
  if (products) return work.total_flops();
  const auto traffic = work.bytes.find(Level::dram);
  return traffic == work.bytes.end() ? 0 : traffic->second.total();
}

/// Whether the op, or the kernel's formulas, accept the shape.
bool is_valid(const SuiteEntry& entry, const Workload& workload) {
  try {
    for (const ShapeParameter& parameter : entry.op->parameters()) {
      if (!workload.shape.contains(parameter.name)) continue;
      const std::int64_t extent = workload.shape[parameter.name];
      if (extent < parameter.minimum || extent > parameter.maximum) return false;
    }
    if (entry.op->invalid(workload.shape)) return false;
    if (entry.kernel) check_bindings(*entry.kernel, workload);
    return bytes_of(*entry.op, workload) > 0;
  } catch (const Error&) {
    return false;
  }
}

Workload with_extent(Workload workload, const std::string& name, std::int64_t extent) {
  workload.shape.set(name, extent);
  return workload;
}

/// Operations per byte within a factor of 1.5: the same work per element.
bool does_the_same_work(const Op& op, const Workload& a, const Workload& b) {
  const double flops_a = units_of(op, a, true), flops_b = units_of(op, b, true);
  const double bytes_a = units_of(op, a, false), bytes_b = units_of(op, b, false);
  if (!(bytes_a > 0) || !(bytes_b > 0)) return false;
  if (!(flops_a > 0) || !(flops_b > 0)) return flops_a == flops_b;
  const double ratio = flops_a / bytes_a / (flops_b / bytes_b);
  return ratio > 1 / 1.5 && ratio < 1.5;
}

/// "n=32768", with what else differs.
std::string variant_text(const Workload& workload, std::string_view more) {
  std::string text;
  for (const auto& [name, extent] : workload.shape.extents()) {
    text += fmt::format("{}{}={}", text.empty() ? "" : " ", name, extent);
  }
  if (!more.empty()) text += (text.empty() ? "" : ", ") + std::string(more);
  return text;
}

/// A prepared kernel whose launches are timed in short batches.
class Runner {
 public:
  Runner(const Op& op, const Implementation& implementation, const Workload& workload, Device& device,
         CasePlacement placement = {}, InputValues values = InputValues::random)
      : case_(op, implementation, workload, device, values, std::move(placement)) {}

  /// Throws Error where the kernel computes something else at this shape.
  void verify() {
    if (const Verification result = case_.verify(); !result.passed) throw Error(result.failure);
  }

  /// Seconds per launch in a batch.
  double time() {
    if (!bench_.batch) {
      bench_ = case_.bench_unverified();
      bench_.batch(1);
      const double once = bench_.batch(1).seconds;
      launches_ = static_cast<std::int64_t>(std::clamp(std::ceil(kBatchS / std::max(once, 1e-8)), 1.0, 1e5));
      bench_.batch(launches_);
    }
    const Reading reading = bench_.batch(launches_);
    launched_ += launches_;
    clock_hz_ = reading.clock_hz;
    return reading.seconds / static_cast<double>(launches_);
  }
  const std::optional<double>& clock_hz() const { return clock_hz_; }
  std::int64_t launched() const { return launched_; }  ///< by time()

 private:
  Case case_;
  Bench bench_;
  std::int64_t launches_ = 1, launched_ = 0;
  std::optional<double> clock_hz_;
};

/// A typical undisturbed time: the lower quartile, the median of a short series.
struct Typical {
  double value = kNaN;
  Interval ci95;
};

Typical typical_of(std::vector<double> series) {
  std::sort(series.begin(), series.end());
  const auto n = static_cast<double>(series.size());
  const double p = quantile_ranks(static_cast<std::int64_t>(series.size()), 0.25, 0.95) ? 0.25 : 0.5;
  return {quantile(series, p), quantile_interval(series, p, n)};
}

struct Ratio {
  double value = kNaN;
  Interval ci95;

  Ratio scaled(double factor) const { return {value * factor, {ci95.low * factor, ci95.high * factor}}; }
};

Ratio over(const Typical& changed, const Typical& base) {
  return {changed.value / base.value, {changed.ci95.low / base.ci95.high, changed.ci95.high / base.ci95.low}};
}

/// Alternates two runs (ABBA) until the time is over.
Ratio compare(const std::function<double()>& base, const std::function<double()>& changed) {
  std::vector<double> a, b;
  const double begin = wall_seconds();
  while (a.size() < kMostRounds && !interrupted()) {
    const double took = wall_seconds() - begin;
    if (a.size() >= kLeastRounds && took > (a.size() < kEnoughRounds ? kLongComparisonS : kComparisonS)) break;
    const bool base_first = a.size() % 2 == 0;
    if (base_first) a.push_back(base());
    b.push_back(changed());
    if (!base_first) a.push_back(base());
  }
  return over(typical_of(std::move(b)), typical_of(std::move(a)));
}

/// For the assembler: divide instructions become multiplications, which have the same operands.
constexpr std::string_view kMultiply = R"(#if defined(__x86_64__)
#define AS_PRODUCT(v, t) ".macro " v "div" t " o:vararg\n " v "mul" t " \\o\n .endm\n"
#define OF_VECTORS(v) AS_PRODUCT(v, "ps") AS_PRODUCT(v, "ss") AS_PRODUCT(v, "pd") AS_PRODUCT(v, "sd")
__asm__(OF_VECTORS("") OF_VECTORS("v"));
#elif defined(__aarch64__)
__asm__(".macro fdiv o:vararg\n fmul \\o\n .endm\n");
#endif
)";

/// The experiments on one row. Each that fails (no memory, a shape that the kernel refuses) is left out.
class RowExperiments {
 public:
  RowExperiments(const SuiteEntry& entry, const Point& point, const Machine& machine, Device& all, Device& one,
                 double end_s)
      : entry_(entry), point_(point), machine_(machine), all_(all), one_(one), end_s_(end_s) {
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

  void add(ExperimentKind kind, std::string variant, const Ratio& ratio, std::int64_t count = 0) {
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
    auto made = std::make_unique<Runner>(*entry_.op, *entry_.implementation, *small_, one_);
    made->verify();
    in_cache_ = std::move(made);
  }

  /// CPU time of all threads per unit of work, each with a working set in its L2: waiting and dispatching cost none,
  /// but cache lines that several threads write do.
  void threads() {
    const std::optional<Workload> large =
        shrunk(entry_, cache_target() * static_cast<double>(all_.info().units), products_);
    if (!large) return;
    Runner everyone(*entry_.op, *entry_.implementation, *large, all_);
    everyone.verify();
    everyone.time();
    const std::vector<double> busy = cpu_time_of(everyone);
    const double total = std::accumulate(busy.begin(), busy.end(), 0.0);
    if (!(total > 0)) return;
    std::vector<double> alone;
    for (std::size_t i = 0; i < kLeastRounds * 3; ++i) alone.push_back(in_cache_->time());
    const double units = units_of(*entry_.op, *large, products_);
    add(ExperimentKind::all_threads, variant_text(*large, fmt::format("{} threads", all_.info().units)),
        {total / units / (typical_of(std::move(alone)).value / small_units_), {}});
  }

  /// CPU seconds of each thread per launch; empty under contention, zeros of a kernel that starts no region.
  std::vector<double> cpu_time_of(Runner& runner) {
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
  std::unique_ptr<Runner> row_again(CasePlacement placement = {}) {
    const LastLevelCache last{.bytes = all_.last_level_cache_bytes(),
                              .device = DeviceKind::cpu,
                              .free_memory_bytes = all_.free_memory_bytes()};
    const double bytes = case_bytes(*entry_.op, entry_.workload, last);
    if (point_.time->median > kLongestLaunchS || bytes > std::min(kLargestBytes, all_.free_memory_bytes() / 4))
      return nullptr;
    return std::make_unique<Runner>(*entry_.op, *entry_.implementation, entry_.workload, all_, std::move(placement),
                                    InputValues::repeated);
  }

  void core_share() {
    Ratio ratio;
    row_ = bytes_of(*entry_.op, entry_.workload) < kCheapBytes ? row_again() : nullptr;
    if (row_ && all_.info().units > 1) attempt([&] { slowest_thread(); });
    const double threads = working_ > 0 ? working_ : static_cast<double>(all_.info().units);
    std::optional<double> row_hz = point_.time->clock_hz;
    if (row_) {
      ratio = compare([&] { return row_->time(); }, [&] { return in_cache_->time(); });
      row_hz = row_->clock_hz();
    } else {
      std::vector<double> series;
      const double begin = wall_seconds();
      while (series.size() < kMostRounds && (series.size() < kLeastRounds || wall_seconds() - begin < kComparisonS))
        series.push_back(in_cache_->time());
      ratio = over(typical_of(std::move(series)), {point_.time->median, point_.time->ci95});
    }
    const std::optional<double> core_hz = in_cache_->clock_hz();
    const double slower = core_hz && row_hz ? *core_hz / *row_hz : 1;
    const Ratio share = ratio.scaled(slower * units_ / small_units_ / threads);
    share_ = share.value;
    add(ExperimentKind::in_cache, variant_text(*small_, "1 thread"), share);
  }

  void examine_instructions() {
    attempt([&] {
      const Ratio ratio = compare([&] { return in_cache_->time(); },
                                  [&] {
                                    flush_subnormals(true);
                                    const double time = in_cache_->time();
                                    flush_subnormals(false);
                                    return time;
                                  });
      add(ExperimentKind::flushed_subnormals, variant_text(*small_, "FTZ and DAZ"), ratio);
    });
    attempt([&] {
      Runner staggered(*entry_.op, *entry_.implementation, *small_, one_, stagger());
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
    const auto against_row = [&](ExperimentKind kind, Runner& changed, const std::string& variant, double units,
                                 std::int64_t count = 0) {
      const Ratio ratio = compare([&] { return row_->time(); }, [&] { return changed.time(); });
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
        std::unique_ptr<Runner> small_pages;
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
      const std::optional<Workload> twice = doubled(entry_);
      if (!twice || 2 * bytes_of(*entry_.op, entry_.workload) > kLargestBytes) return;
      Runner larger(*entry_.op, *entry_.implementation, *twice, all_, {}, InputValues::repeated);
      against_row(ExperimentKind::double_size, larger, variant_text(*twice, ""),
                  units_of(*entry_.op, *twice, products_));
    });
  }

  void against_in_cache(ExperimentKind kind, Runner& changed, std::string_view what, std::int64_t count = 0) {
    add(kind, variant_text(*small_, what), compare([&] { return in_cache_->time(); }, [&] { return changed.time(); }),
        count);
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
    std::optional<Ratio> best;
    for (const CasePlacement& candidate : candidates) {
      Runner moved(*entry_.op, *entry_.implementation, *small_, one_, candidate);
      const Ratio ratio = compare([&] { return in_cache_->time(); }, [&] { return moved.time(); });
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
    Runner wide(*entry_.op, *found, workload, one_);
    against_in_cache(ExperimentKind::other_type, wide, "fp32");
  }

  void recompiled(ExperimentKind kind, const std::vector<std::string>& options, std::string_view what,
                  std::string_view prologue = {}) {
    const auto spec = std::make_shared<KernelSpec>(*entry_.kernel);
    spec->options.insert(spec->options.end(), options.begin(), options.end());
    spec->prologue = prologue;
    for (const Implementation& implementation : user_implementations(spec)) {
      if (implementation.name != entry_.workload.implementation) continue;
      Runner changed(*entry_.op, implementation, *small_, one_);
      against_in_cache(kind, changed, what);
      return;
    }
  }

  /// Divide instructions assembled as multiplications. Compilers with an assembler of their own ignore it.
  void multiplied() { recompiled(ExperimentKind::multiplied, {}, "multiplications instead of divisions", kMultiply); }

  static constexpr double kCheapBytes = 256e6;

  const SuiteEntry& entry_;
  const Point& point_;
  const Machine& machine_;
  Device& all_;
  Device& one_;
  double end_s_;
  bool products_ = false;
  double units_ = 0, small_units_ = 0;
  double working_ = 0;  ///< threads with work; 0 where that is not known
  double share_ = 0;
  std::optional<Workload> small_;
  std::unique_ptr<Runner> in_cache_;  ///< on one thread
  std::unique_ptr<Runner> row_;       ///< the row itself, on all threads
  std::vector<Experiment> found_;
};

/// In the child.
class ExperimentWorker {
 public:
  ExperimentWorker(const Suite& suite, const Machine& machine, const AnalyzeOptions& options, const Report& report)
      : suite_(suite),
        machine_(machine),
        options_(options),
        report_(report),
        end_s_(wall_seconds() + options.experiments_s) {}

  AfterJob run(std::size_t row, const Send& send) {
    if (wall_seconds() > end_s_) return AfterJob::nothing_left;
    try {
      const DeviceChoice& choice = options_.device;
      if (!all_) all_ = open_device(choice.kind, choice.index, choice.options);
      if (!one_ && all_->info().units > 1) {
        one_ = open_device(choice.kind, choice.index, {.threads = 1, .cpus = {as_cpu(*all_).cpus().front()}});
      }
      const Point& point = report_.points[row];
      const SuiteEntry entry = with_implementation(suite_.entries[row], point.workload.implementation);
      if (!entry.implementation) return AfterJob::next;
      RowExperiments experiments(entry, point, machine_, *all_, one_ ? *one_ : *all_, end_s_);
      send(experiments_to_json(experiments.run()).dump());
    } catch (const std::exception&) {
      return AfterJob::fresh_process;
    }
    return AfterJob::next;
  }

 private:
  const Suite& suite_;
  const Machine& machine_;
  const AnalyzeOptions& options_;
  const Report& report_;
  double end_s_;
  std::unique_ptr<Device> all_, one_;
};

/// Whether a configuration of the same kernel and shape is faster: that one is kept.
bool is_not_kept(const Suite& suite, const Report& report, std::size_t row) {
  const SuiteEntry& entry = suite.entries[row];
  if (!entry.chooses_fastest()) return false;
  for (std::size_t i = 0; i < report.points.size(); ++i) {
    const SuiteEntry& other = suite.entries[i];
    const bool same = other.kernel == entry.kernel && other.workload.dtype == entry.workload.dtype &&
                      other.workload.shape == entry.workload.shape && other.workload.cache == entry.workload.cache;
    if (same && report.points[i].time && report.points[i].time->median < report.points[row].time->median) return true;
  }
  return false;
}

}  // namespace

std::optional<Workload> shrunk(const SuiteEntry& entry, double bytes, bool products) {
  Workload workload = entry.workload;
  workload.cache = CacheMode::hot;
  const Op& op = *entry.op;
  const auto fits = [&](const Workload& one) { return bytes_of(op, one) <= bytes; };
  if (fits(workload)) return workload;
  if (!products) {
    for (const auto& [name, value] : workload.shape.extents()) {
      for (std::int64_t extent = value / 2; extent > 0; extent /= 2) {
        const Workload smaller = with_extent(workload, name, extent);
        if (!is_valid(entry, smaller)) break;
        if (fits(smaller)) {
          if (does_the_same_work(op, smaller, workload)) return smaller;
          break;
        }
      }
    }
  }
  while (!fits(workload)) {
    // What loses the fewest operations per byte: the heads of attention before its sequence, a product's longest side.
    constexpr double kMatters = 0.8;
    std::optional<Workload> best;
    double most = 0;
    for (const auto& [name, value] : workload.shape.extents()) {
      const Workload smaller = with_extent(workload, name, value / 2);
      if (value < 2 || !is_valid(entry, smaller) || bytes_of(op, smaller) > kMatters * bytes_of(op, workload)) continue;
      const double kept = std::max(units_of(op, smaller, true), 1.0) / bytes_of(op, smaller);
      if (!(kept > most)) continue;
      best = smaller;
      most = kept;
    }
    if (!best) return std::nullopt;
    workload = *best;
  }
  return products || does_the_same_work(op, workload, entry.workload) ? std::optional(workload) : std::nullopt;
}

std::optional<Workload> doubled(const SuiteEntry& entry) {
  for (const auto& [name, value] : entry.workload.shape.extents()) {
    const Workload twice = with_extent(entry.workload, name, 2 * value);
    const double growth = is_valid(entry, twice) ? bytes_of(*entry.op, twice) / bytes_of(*entry.op, entry.workload) : 0;
    if (growth > 1.8 && growth < 2.2) return twice;
  }
  return std::nullopt;
}

std::vector<std::size_t> rows_for_experiments(const Suite& suite, const Report& report) {
  std::vector<std::size_t> rows;
  if (report.machine.device.kind != DeviceKind::cpu) return rows;
  for (const Verdict& verdict : verdicts(report)) {
    const Point& point = report.points[verdict.row];
    const bool by_rate_alone =
        verdict.rule == "no-vectors" || verdict.rule == "one-core" || verdict.rule == "arithmetic-beside";
    if (point.counters || (verdict.kind != VerdictKind::unknown && !by_rate_alone)) continue;
    if (!is_not_kept(suite, report, verdict.row)) rows.push_back(verdict.row);
  }
  return rows;
}

void run_experiments(const Suite& suite, const Machine& machine, const AnalyzeOptions& options, Report& report) {
  const std::vector<std::size_t> rows = rows_for_experiments(suite, report);
  if (rows.empty() || !(options.experiments_s > 0)) return;
  ExperimentWorker worker(suite, machine, options, report);
  std::size_t done = 0;
  const auto row_of = [&](std::int64_t job) { return rows[static_cast<std::size_t>(job)]; };
  Jobs jobs;
  jobs.count = static_cast<std::int64_t>(rows.size());
  jobs.run = [&](std::int64_t job, const Send& send) { return worker.run(row_of(job), send); };
  jobs.on_message = [&](std::int64_t job, std::string_view text) {
    done = static_cast<std::size_t>(job) + 1;
    report.points[row_of(job)].experiments = experiments_from_json(Json::parse(text));
  };
  jobs.on_lost = [](std::int64_t, const std::string&) {};  // the row stays unexplained
  jobs.limit_s = [](std::int64_t) { return kJobLimitS; };
  jobs.on_tick = [&] {
    if (done >= rows.size()) return;
    options.progress({static_cast<std::int64_t>(done), jobs.count,
                      "experiments: " + report.points[rows[done]].workload.label, std::nullopt});
  };
  report.cancelled = run_isolated(jobs) == JobsEnd::interrupted || report.cancelled;
}

}  // namespace roofline
