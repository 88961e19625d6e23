#include "profile/fusions.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <string>
#include <tuple>

#include "model/find.hpp"
#include "profile/causes/kernel_names.hpp"
#include "text/format.hpp"
#include "text/parse.hpp"
#include "text/source_place.hpp"

namespace roofline {
namespace {

/// Length of the repeating part, or of the whole chain without repetition.
std::size_t period_of(const std::vector<int>& chain) {
  for (std::size_t period = 1; period < chain.size(); ++period) {
    if (std::equal(chain.begin() + static_cast<std::ptrdiff_t>(period), chain.end(), chain.begin())) return period;
  }
  return chain.size();
}

/// The parts of a chain between rows of launches of one kernel: nothing shows that such a launch reads what the one
/// before it wrote. It may work on another part of the data, or repeat the same work.
std::vector<std::vector<int>> without_rows(const std::vector<int>& chain) {
  constexpr std::ptrdiff_t kRow = 4;
  std::vector<std::vector<int>> parts(1);
  for (auto at = chain.begin(); at != chain.end();) {
    const auto next = std::find_if(at, chain.end(), [&](int group) { return group != *at; });
    if (next - at < kRow) {
      parts.back().insert(parts.back().end(), at, next);
    } else if (!parts.back().empty()) {
      parts.emplace_back();
    }
    at = next;
  }
  return parts;
}

/// "reduce_kernel → elementwise_kernel (16×) → … 3 more → layer_norm_kernel", without template arguments.
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

/// The number in "model.py:10 forward".
std::optional<std::int64_t> number_of_line(std::string_view place) {
  const std::string_view line = line_of_place(place);
  const std::size_t colon = line.rfind(':');
  if (colon == std::string_view::npos) return std::nullopt;
  return parsed_number<std::int64_t>(line.substr(colon + 1));
}

/// Sequences of kernels at the lines of one function.
struct Sequences {
  std::int64_t times = 0;  ///< of the one that ran most often
  std::int64_t sequences = 1;
  std::vector<std::string> names = {};       ///< of the kernels of the largest one
  double bytes = 0;                          ///< saved traffic, all times
  std::map<int, double> rows = {};           ///< seconds saved
  std::map<std::string, double> lines = {};  ///< of `function`: seconds saved
  std::string function = {};
  std::int64_t first = std::numeric_limits<std::int64_t>::max(), last = 0;  ///< lines; first > last: not known

  double seconds() const {
    double sum = 0;
    for (const auto& [row, saved] : rows) sum += saved;
    return sum;
  }
  bool overlaps(const Sequences& other) const {
    return function == other.function && first <= other.last && other.first <= last;
  }
  void add(const Sequences& other) {
    times = std::max(times, other.times);
    sequences += other.sequences;
    bytes += other.bytes;
    for (const auto& [row, saved] : other.rows) rows[row] += saved;
    for (const auto& [line, saved] : other.lines) lines[line] += saved;
    first = std::min(first, other.first);
    last = std::max(last, other.last);
  }
};

class FusionFinder {
 public:
  FusionFinder(const Recording& recording, const std::vector<Point>& points, const Machine& machine)
      : recording_(recording), points_(points), machine_(machine) {}

  std::vector<SavingClaim> find(const std::vector<Span>& spans, Framework framework) {
    std::map<std::tuple<int, int, std::uint32_t>, std::vector<int>> running;
    std::map<std::vector<int>, std::int64_t> chains;
    const auto close = [this, &chains](std::vector<int>& chain) {
      for (const std::vector<int>& part : without_compiled(without_rows(chain))) {
        const std::size_t period = period_of(part);
        if (period > 1)
          chains[{part.begin(), part.begin() + static_cast<std::ptrdiff_t>(period)}] +=
              static_cast<std::int64_t>(part.size() / period);
      }
      chain.clear();
    };
    constexpr std::size_t kLongest = 128;
    Within within(spans);
    for (const Activity& activity : recording_.activities) {
      if (!within(activity.start)) continue;
      std::vector<int>& chain = running[{activity.process, activity.device, activity.stream}];
      const bool streams = activity.what == ActivityKind::kernel && streaming(activity.group) != nullptr;
      if (!streams || chain.size() == kLongest) close(chain);
      if (streams) chain.push_back(activity.group);
    }
    for (auto& [stream, chain] : running) close(chain);
    std::vector<Sequences> all;
    all.reserve(chains.size());
    for (const auto& [chain, times] : chains) all.push_back(sequences_of(chain, times));
    std::vector<SavingClaim> claims;
    for (const Sequences& of_place : merged(std::move(all))) claims.push_back(claim_of(of_place, framework));
    return claims;
  }

 private:
  /// Cuts between two kernels of Inductor: it fuses what can be fused, as an operation on the neighbours of each
  /// element can't be with the one that makes them.
  std::vector<std::vector<int>> without_compiled(const std::vector<std::vector<int>>& chains) const {
    const auto compiled = [this](int group) {
      return is_of_inductor(recording_.groups[static_cast<std::size_t>(group)].symbol);
    };
    std::vector<std::vector<int>> parts;
    for (const std::vector<int>& chain : chains) {
      for (std::size_t i = 0; i < chain.size(); ++i) {
        if (i == 0 || (compiled(chain[i - 1]) && compiled(chain[i]))) parts.emplace_back();
        parts.back().push_back(chain[i]);
      }
    }
    return parts;
  }

  /// A kernel that only moves memory, not a product on tensor cores. Launches for parts of tensor lists pass nothing
  /// on; transforms and sorts need all of their input before they give anything on.
  const Point* streaming(int group) const {
    if (group < 0) return nullptr;
    const std::string& symbol = recording_.groups[static_cast<std::size_t>(group)].symbol;
    if (is_of_tensor_lists(symbol) || is_fourier_transform(symbol) || is_sort(symbol)) return nullptr;
    const Point& point = points_[static_cast<std::size_t>(group)];
    const bool streams =
        point.bound.label == BoundLabel::memory && level_of(point.bound.limiting_ceiling) == Level::hbm;
    const bool product = std::any_of(point.work.flops.begin(), point.work.flops.end(),
                                     [](const auto& work) { return is_tensor(work.first) && work.second > 0; });
    return streams && !product && point.work.bytes.contains(Level::hbm) ? &point : nullptr;
  }

  /// Upper bound: everything that one wrote, the next read.
  double handed_over(int before, int after) const {
    const Traffic& wrote = streaming(before)->work.bytes.at(Level::hbm);
    const Traffic& reads = streaming(after)->work.bytes.at(Level::hbm);
    return wrote.unsplit || reads.unsplit ? 0 : 2 * std::min(wrote.write, reads.read);
  }

  /// An elementwise kernel with coalesced accesses. What it takes above its roof is the latency of its few loads and
  /// operations, which fusion removes.
  bool is_light(int group) const {
    const std::string& symbol = recording_.groups[static_cast<std::size_t>(group)].symbol;
    if (!is_elementwise(symbol) || is_reduction(symbol)) return false;
    constexpr double kSector = 32, kMostExcess = 1.5;
    const std::optional<Counters>& counters = streaming(group)->counters;
    const auto sectors = counters ? counters->sum({"global.load_sectors", "global.store_sectors"}) : std::nullopt;
    const auto bytes = counters ? counters->sum({"global.load_bytes", "global.store_bytes"}) : std::nullopt;
    return !sectors || !bytes || *sectors * kSector <= kMostExcess * *bytes;
  }

  /// Seconds of a launch that fusion saves, of which `handed` bytes are passed on in registers. A light kernel adds
  /// only the rest of its traffic or its arithmetic to the fused one.
  double saved_seconds(int group, double handed, double rate) const {
    const Point& point = *streaming(group);
    const double traffic_s = handed / rate;
    if (!point.time || !is_light(group)) return traffic_s;
    double rest_s = std::max(0.0, point.work.bytes.at(Level::hbm).total() - handed) / rate;
    for (const ResourceTime& resource : point.bound.resources)
      if (resource.kind == CeilingKind::compute) rest_s = std::max(rest_s, resource.time_s);
    return std::max(traffic_s, point.time->median - rest_s);
  }

  /// The function with most of the saving, and its lines in the chain.
  static void place(Sequences& of, const std::map<std::string, double>& lines) {
    std::map<std::string, double> functions;
    for (const auto& [line, saved] : lines) functions[function_of_place(line)] += saved;
    of.function = key_of_largest(functions);
    for (const auto& [line, saved] : lines) {
      if (function_of_place(line) != of.function) continue;
      of.lines[line] = saved;
      const std::optional<std::int64_t> number = number_of_line(line);
      if (!number) continue;
      of.first = std::min(of.first, *number);
      of.last = std::max(of.last, *number);
    }
  }

  Sequences sequences_of(const std::vector<int>& chain, std::int64_t times) const {
    const std::optional<MixRoof> roof = machine_.bandwidth(Level::hbm, {.read = 1, .write = 1});
    const double rate = roof && roof->value > 0 ? roof->value : std::nan("");
    Sequences found = {.times = times};
    std::map<std::string, double> lines;
    double handed_in = 0;
    for (std::size_t i = 0; i < chain.size(); ++i) {
      const double handed_on = i + 1 < chain.size() ? handed_over(chain[i], chain[i + 1]) / 2 : 0;
      const double handed = handed_in + handed_on, saved = saved_seconds(chain[i], handed, rate);
      handed_in = handed_on;
      found.names.push_back(streaming(chain[i])->workload.op);
      found.bytes += static_cast<double>(times) * handed;
      if (!(saved > 0)) continue;
      found.rows[chain[i]] += static_cast<double>(times) * saved;
      lines[streaming(chain[i])->profiled->line] += static_cast<double>(times) * saved;
    }
    if (!lines.empty()) place(found, lines);
    return found;
  }

  /// One entry for the sequences of a function whose lines overlap, those with the largest saving first.
  static std::vector<Sequences> merged(std::vector<Sequences> all) {
    std::ranges::stable_sort(all, [](const Sequences& a, const Sequences& b) { return a.seconds() > b.seconds(); });
    std::vector<Sequences> places;
    for (Sequences& one : all) {
      const auto same = std::ranges::find_if(places, [&](const Sequences& of) { return of.overlaps(one); });
      if (same == places.end()) {
        places.push_back(std::move(one));
      } else {
        same->add(one);
      }
    }
    return places;
  }

  SavingClaim claim_of(const Sequences& of, Framework framework) const {
    SavingClaim claim = {.saving = {}, .rows = {of.rows.begin(), of.rows.end()}};
    claim.saving.kind = SavingKind::fusion;
    claim.saving.cause = SavingCause::fusion;
    claim.saving.seconds = of.seconds();
    if (!of.rows.empty()) claim.saving.point = key_of_largest(of.rows);
    claim.saving.line = key_of_largest(of.lines);
    const std::string more =
        of.sequences == 1
            ? ""
            : fmt::format(" (and {})", counted_noun(of.sequences - 1, "other sequence", "other sequences"));
    claim.saving.what =
        fmt::format("{} kernels in sequence{}, all memory-bound: {}", of.names.size(), more, chain_text(of.names));
    claim.saving.evidence = fmt::format("{} times; fusion saves {} of traffic each time", count(of.times),
                                        si(of.bytes / static_cast<double>(of.times), "B"));
    claim.saving.action = action_against(SavingCause::fusion, framework);
    return claim;
  }

  const Recording& recording_;
  const std::vector<Point>& points_;
  const Machine& machine_;
};

}  // namespace

std::vector<SavingClaim> fusions_of(const Recording& recording, const std::vector<Point>& points,
                                    const Machine& machine, const std::vector<Span>& spans, Framework framework) {
  return FusionFinder(recording, points, machine).find(spans, framework);
}

}  // namespace roofline
