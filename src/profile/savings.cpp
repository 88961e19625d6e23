#include "profile/savings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <string>

#include "measure/statistics.hpp"
#include "profile/intervals.hpp"
#include "profile/rows.hpp"
#include "report/diagnosis/counted.hpp"
#include "report/profile_findings.hpp"
#include "text/format.hpp"

namespace roofline {
namespace {

Saving saving_of(SavingKind kind, double seconds, int point = -1) {
  Saving saving;
  saving.kind = kind;
  saving.seconds = seconds;
  saving.point = point;
  return saving;
}

/// The length of the repeating part; its own length where nothing repeats.
std::size_t period_of(const std::vector<int>& chain) {
  for (std::size_t period = 1; period < chain.size(); ++period) {
    if (std::equal(chain.begin() + static_cast<std::ptrdiff_t>(period), chain.end(), chain.begin())) return period;
  }
  return chain.size();
}

/// Gaps of one cause.
struct GapSum {
  double total_s = 0;
  std::vector<double> lengths;
  std::map<std::string, double> places;  ///< lines, else modules or ranges, that they end in
  std::map<std::string, double> calls;
};

std::string largest_of(const std::map<std::string, double>& sums) {
  const auto most = std::max_element(sums.begin(), sums.end(), [](auto& a, auto& b) { return a.second < b.second; });
  return most == sums.end() ? "" : most->first;
}

std::string place_text(const ProcessTrace& trace, spool::Id id) {
  const spool::Place& place = trace.place(id);
  if (place.line != 0) return line_text(trace, place.line);
  if (place.module != 0) return std::string(trace.text(place.module));
  return range_path(trace, place.range);
}

/// "reduce_kernel → multi_tensor_apply_kernel (16×) → … 3 more → layer_norm_kernel", without template arguments.
std::string chain_text(const std::vector<std::string>& names) {
  constexpr std::size_t kMostLinks = 5;
  std::vector<std::pair<std::string, std::size_t>> links;
  for (const std::string& name : names) {
    const std::string plain = name.substr(0, name.find('<'));
    if (links.empty() || links.back().first != plain) links.emplace_back(plain, 0);
    ++links.back().second;
  }
  std::vector<std::string> texts;
  std::size_t left_out = 0;
  for (std::size_t i = 0; i < links.size(); ++i) {
    const auto& [name, times] = links[i];
    if (links.size() > kMostLinks && i >= kMostLinks - 1 && i + 1 < links.size()) {
      left_out += times;
      continue;
    }
    if (left_out > 0) texts.push_back(fmt::format("… {} more", left_out));
    texts.push_back(times == 1 ? name : fmt::format("{} ({}×)", name, times));
  }
  return fmt::format("{}", fmt::join(texts, " → "));
}

class SavingFinder {
 public:
  SavingFinder(const Recording& recording, const std::vector<Point>& points, const Machine& machine,
               const Profile& profile)
      : recording_(recording), points_(points), machine_(machine), profile_(profile) {}

  std::vector<Saving> find() {
    if (inflation(profile_).value_or(0) <= kMostInflation) add_idle();
    add_copies();
    add_kernels();
    add_fusions();
    add_traffic();
    const double least = 1e-3 * profile_.wall_s;
    std::erase_if(savings_, [least](const Saving& saving) { return !(saving.seconds >= least); });
    std::stable_sort(savings_.begin(), savings_.end(),
                     [](const Saving& a, const Saving& b) { return a.seconds > b.seconds; });
    return std::move(savings_);
  }

 private:
  std::string share(double of) const { return percent(of / profile_.wall_s); }

  void add_idle() {
    std::map<GapCause, GapSum> causes;
    for (const Gap& gap : gaps_of(recording_)) {
      const ProcessTrace& trace = recording_.traces[static_cast<std::size_t>(gap.process)];
      const double length = seconds(gap.span.length());
      GapSum& sum = causes[gap.cause];
      sum.total_s += length;
      sum.lengths.push_back(length);
      if (const std::string place = place_text(trace, gap.place); !place.empty()) sum.places[place] += length;
      if (gap.call != 0) sum.calls[std::string(trace.text(gap.call))] += length;
    }
    for (const auto& [cause, sum] : causes) add_idle(cause, sum);
  }

  void add_idle(GapCause cause, const GapSum& sum) {
    const std::string gaps =
        fmt::format("{} gap{}, median {}, {} of the wall time", count(static_cast<std::int64_t>(sum.lengths.size())),
                    sum.lengths.size() == 1 ? "" : "s", duration(median(sum.lengths)), share(sum.total_s));
    const std::string where = largest_of(sum.places);
    const std::string most = where.empty() ? "" : fmt::format("; mostly before {}", where);
    const std::string call = largest_of(sum.calls);
    Saving saving = saving_of(SavingKind::idle, sum.total_s);
    switch (cause) {
      case GapCause::host:
        saving.what = "GPU idle: the host launches too slowly";
        saving.evidence = gaps + most;
        saving.action =
            "Reduce launch overhead: CUDA graphs (torch.compile(mode=\"reduce-overhead\")), fused kernels, larger "
            "batches.";
        break;
      case GapCause::away:
        saving.what = "GPU idle: the host is busy outside CUDA";
        saving.evidence = gaps + most;
        saving.action =
            "Load data in parallel (DataLoader(num_workers=8, prefetch_factor=4)); exclude start-up and compilation "
            "with "
            "--warmup.";
        break;
      case GapCause::synchronised:
        saving.what = fmt::format("GPU idle after synchronisation in {}", call);
        saving.evidence = gaps + most;
        saving.action =
            "Synchronise less often: no .item(), .cpu() or print of tensors in the loop, so that the host runs ahead.";
        break;
      case GapCause::allocated:
        saving.what = fmt::format("GPU idle while the host allocates or frees memory ({})", call);
        saving.evidence = gaps + most;
        saving.action = "Allocate once and reuse, or use a memory pool (cudaMallocAsync).";
        break;
      case GapCause::loaded:
        saving.what = fmt::format("GPU idle while CUDA modules load ({})", call);
        saving.evidence = gaps + most;
        saving.action = "One-time cost: exclude it with --warmup, or load eagerly (CUDA_MODULE_LOADING=EAGER).";
        break;
      case GapCause::queued:
        saving.seconds -= launch_floor() * static_cast<double>(sum.lengths.size());
        saving.what = "GPU idle between kernels that were already queued";
        saving.evidence = gaps + most;
        saving.action =
            "Use fewer, larger kernels or a CUDA graph; if streams wait for each other, find the event in the "
            "timeline.";
        break;
      case GapCause::counted:
        return;  // profiler overhead
    }
    savings_.push_back(std::move(saving));
  }

  /// The time that the machine needs between two kernels.
  double launch_floor() const {
    const Ceiling* launch = machine_.launch();
    return launch != nullptr && launch->value > 0 ? 1 / launch->value : 0;
  }

  void add_copies() {
    double exposed = 0, copied = 0;
    for (const WallTime& wall : profile_.devices) exposed += wall.copies_s;
    for (const CopySum& copy : profile_.copies) copied += copy.total_s;
    if (!(copied > 0)) return;
    for (const CopySum& copy : profile_.copies) {
      Saving saving = saving_of(SavingKind::copies, exposed * copy.total_s / copied);
      const double rate_of = copy.bytes / copy.total_s;
      const double fraction = copy.roof_bytes_per_s > 0 ? rate_of / copy.roof_bytes_per_s : std::nan("");
      saving.what = fmt::format("Copies without overlap: {}", to_string(copy.path));
      saving.evidence = fmt::format("{} copies of {} in {}, {}", count(copy.copies),
                                    binary_bytes(copy.bytes / static_cast<double>(copy.copies)), duration(copy.total_s),
                                    rate(rate_of, CeilingKind::bandwidth));
      if (std::isfinite(fraction)) saving.evidence += fmt::format(", {} of {}", percent(fraction), copy.roof);
      saving.action = action_for(copy, fraction);
      savings_.push_back(std::move(saving));
    }
  }

  static std::string action_for(const CopySum& copy, double fraction) {
    constexpr double kSmall = 64 << 10;
    if (copy.path.host() == CopyMemory::pageable) {
      return "Use pinned memory (pin_memory=True, cudaHostAlloc) and copy on another stream (non_blocking=True).";
    }
    if (copy.path.host() == CopyMemory::unified) {
      return "Prefetch it before use (cudaMemPrefetchAsync), or set its location (cudaMemAdvise).";
    }
    if (copy.bytes / static_cast<double>(copy.copies) < kSmall) return "Merge small copies into one.";
    if (copy.path.direction == CopyDirection::memset)
      return "Drop memsets of memory that the next kernel overwrites entirely.";
    if (copy.path.direction == CopyDirection::device_to_device)
      return "Write the result in place, or fuse the copy into an adjacent kernel.";
    if (fraction > 0.7) return "At link speed: overlap the copies with kernels on another stream, or send fewer bytes.";
    return "Overlap the copies with kernels on another stream.";
  }

  void add_kernels() {
    for (std::size_t i = 0; i < points_.size(); ++i) {
      const Point& point = points_[i];
      if (!point.time || !point.profiled || !std::isfinite(point.bound.attainable_time_s)) continue;
      const double least = point.bound.attainable_time_s * static_cast<double>(point.profiled->launches);
      Saving saving = saving_of(SavingKind::kernel, point.profiled->total_s - least, static_cast<int>(i));
      saving.what = fmt::format("{} at {} of its roof", point.workload.label, percent(point.fraction_of_roof()));
      saving.evidence = fmt::format("{} launches of {}: {} in total, {} at {}", count(point.profiled->launches),
                                    duration(point.time->median), duration(point.profiled->total_s), duration(least),
                                    point.bound.limiting_ceiling);
      const std::vector<Advice> advice = advice_for(point, machine_);
      saving.action =
          advice.empty() ? "Compare with a library kernel of the same shape, or tune its tile and launch configuration."
                         : advice.front().next;
      if (!advice.empty()) saving.evidence += "; " + advice.front().finding;
      savings_.push_back(std::move(saving));
    }
  }

  const Point* streaming(int group) const {
    if (group < 0) return nullptr;
    const Point& point = points_[static_cast<std::size_t>(group)];
    const bool streams =
        point.bound.label == BoundLabel::memory && level_of(point.bound.limiting_ceiling) == Level::hbm;
    return streams && point.work.bytes.contains(Level::hbm) ? &point : nullptr;
  }

  /// Consecutive memory-bound kernels of one stream could pass their results in registers.
  void add_fusions() {
    std::map<std::tuple<int, int, std::uint32_t>, std::vector<int>> running;
    std::map<std::vector<int>, std::int64_t> chains;
    const auto close = [&chains](std::vector<int>& chain) {
      const std::size_t period = period_of(chain);
      if (period > 1)
        chains[{chain.begin(), chain.begin() + static_cast<std::ptrdiff_t>(period)}] +=
            static_cast<std::int64_t>(chain.size() / period);
      chain.clear();
    };
    constexpr std::size_t kLongest = 24;
    for (const Activity& activity : recording_.activities) {
      std::vector<int>& chain = running[{activity.process, activity.device, activity.stream}];
      const bool streams = activity.what == ActivityKind::kernel && streaming(activity.group) != nullptr;
      if (!streams || chain.size() == kLongest) close(chain);
      if (streams) chain.push_back(activity.group);
    }
    for (auto& [stream, chain] : running) close(chain);
    for (const auto& [chain, times] : chains) add_fusion(chain, times);
  }

  void add_fusion(const std::vector<int>& chain, std::int64_t times) {
    double saved_bytes = 0, saved_s = 0, total_s = 0;
    std::vector<std::string> names;
    for (std::size_t i = 0; i < chain.size(); ++i) {
      const Point& point = *streaming(chain[i]);
      names.push_back(point.workload.op);
      total_s += point.time ? point.time->median : 0;
      if (i == 0) continue;
      // Upper bound: everything that one wrote, the next read.
      const Traffic& before = streaming(chain[i - 1])->work.bytes.at(Level::hbm);
      const double handed = 2 * std::min(before.write, point.work.bytes.at(Level::hbm).read);
      const std::optional<MixRoof> roof = machine_.bandwidth(Level::hbm, {.read = 1, .write = 1});
      saved_bytes += handed;
      if (roof && roof->value > 0) saved_s += handed / roof->value;
    }
    const auto often = static_cast<double>(times);
    Saving saving = saving_of(SavingKind::fusion, often * std::min(saved_s, total_s), chain.front());
    saving.what = fmt::format("{} kernels in sequence, all memory-bound: {}", chain.size(), chain_text(names));
    saving.evidence = fmt::format("{} times; fusion saves {} of traffic each time", count(times), si(saved_bytes, "B"));
    saving.action = "Fuse them (torch.compile, Triton, an epilogue), so that intermediate results stay in registers.";
    savings_.push_back(std::move(saving));
  }

  /// Kernels with uncoalesced accesses.
  void add_traffic() {
    constexpr double kSector = 32;
    constexpr double kExcessTraffic = 2;
    for (std::size_t i = 0; i < points_.size(); ++i) {
      const Point& point = points_[i];
      if (!point.counters || !point.profiled || point.bound.label != BoundLabel::memory) continue;
      const auto sectors = point.counters->sum({"global.load_sectors", "global.store_sectors"});
      const auto bytes = point.counters->sum({"global.load_bytes", "global.store_bytes"});
      if (!sectors || !bytes || !(*bytes > 0)) continue;
      const double excess = *sectors * kSector / *bytes;
      if (excess < kExcessTraffic) continue;
      Saving saving = saving_of(SavingKind::traffic, point.profiled->total_s * (1 - 1 / excess), static_cast<int>(i));
      saving.what = fmt::format("{} moves {} the requested bytes", point.workload.label, factor(excess));
      saving.evidence = fmt::format("{} requested, {} moved in 32-byte sectors, {} launches", si(*bytes, "B"),
                                    si(*sectors * kSector, "B"), count(point.profiled->launches));
      saving.action = "Let consecutive threads access consecutive addresses; stage strided data through shared memory.";
      savings_.push_back(std::move(saving));
    }
  }

  const Recording& recording_;
  const std::vector<Point>& points_;
  const Machine& machine_;
  const Profile& profile_;
  std::vector<Saving> savings_;
};

}  // namespace

std::vector<Saving> savings_of(const Recording& recording, const std::vector<Point>& points, const Machine& machine,
                               const Profile& profile) {
  return SavingFinder(recording, points, machine, profile).find();
}

}  // namespace roofline
