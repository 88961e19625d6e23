// likwid-perfctr -O: tables that begin with "TABLE,[Region NAME,]Group N Raw|Metric [STAT],GROUP,LINES". Raw tables of
// a region begin with its run time and its number of calls. A value per hardware thread follows each name. Each run
// begins with "STRUCT,Info": a file may have several, as loops over problem sizes append them. The tables without -O
// are the same records (likwid_records.hpp).
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <string>

#include "import/csv_records.hpp"
#include "import/likwid_records.hpp"
#include "import/mean_rows.hpp"
#include "import/other_tools.hpp"
#include "text/parse.hpp"

namespace roofline {
namespace {

/// FLOPs of all threads by Intel's events, which count operations of a width; rates have four decimals only.
struct CountedOperations {
  double fp64 = 0, fp32 = 0;

  /// Takes an event with its counts; others than those of FLOPs are passed over.
  void add(std::string_view event, double count) {
    struct Lanes {
      std::string_view event;
      double fp64, fp32;
    };
    static constexpr Lanes kLanes[] = {
        {"FP_ARITH_INST_RETIRED_SCALAR_DOUBLE", 1, 0},      {"FP_ARITH_INST_RETIRED_128B_PACKED_DOUBLE", 2, 0},
        {"FP_ARITH_INST_RETIRED_256B_PACKED_DOUBLE", 4, 0}, {"FP_ARITH_INST_RETIRED_512B_PACKED_DOUBLE", 8, 0},
        {"FP_ARITH_INST_RETIRED_SCALAR_SINGLE", 0, 1},      {"FP_ARITH_INST_RETIRED_128B_PACKED_SINGLE", 0, 4},
        {"FP_ARITH_INST_RETIRED_256B_PACKED_SINGLE", 0, 8}, {"FP_ARITH_INST_RETIRED_512B_PACKED_SINGLE", 0, 16}};
    for (const Lanes& lanes : kLanes) {
      if (event != lanes.event) continue;
      fp64 += lanes.fp64 * count;
      fp32 += lanes.fp32 * count;
    }
  }
};

/// What a region did in one group of counters, by hardware thread.
struct LikwidRegion {
  std::string name, group;
  std::int64_t run = 0;
  std::vector<double> seconds, calls, bytes, fp64, fp32;  ///< FLOPs and bytes of all calls
  double read_bytes = 0, written_bytes = 0;               ///< of `bytes`, where the group tells them apart
  CountedOperations counted = {};                         ///< exact, where the events tell them
  std::ptrdiff_t digits = 0;                              ///< of the first time that is not 0
  bool has_work = false;
};

/// A metric in MFLOP/s: likwid 5 writes "DP [MFLOP/s]", older versions "DP MFLOP/s".
bool is_flop_rate(std::string_view metric, std::string_view type) {
  return metric == fmt::format("{} [MFLOP/s]", type) || metric == fmt::format("{} MFLOP/s", type) ||
         metric == fmt::format("{} MFlops/s", type);
}

double sum_of(const std::vector<double>& values) {
  double sum = 0;
  for (const double value : values) sum += value;
  return sum;
}

double largest_of(const std::vector<double>& values) {
  return values.empty() ? 0 : *std::max_element(values.begin(), values.end());
}

class LikwidTables {
 public:
  LikwidTables(ByteSource& source, LikwidRecords& records)
      : records_(records),
        rows_(source, ImportedKind::likwid, "likwid-perfctr",
              "its group of counters has no FLOPs and no memory volume (groups FLOPS_DP, FLOPS_SP, MEM, MEM_DP, "
              "MEM_SP)") {}

  ImportedProfile read() {
    std::vector<std::string> fields;
    while (records_.next(fields)) {
      if (fields.empty() || fields[0].empty()) continue;
      if (fields[0] == "TABLE") {
        begin_table(fields);
      } else if (fields[0] == "STRUCT") {
        in_table_ = false;
        if (field_in(fields, 1) == "Info") ++run_;
      } else if (fields[0] == "CPU name:") {
        cpu_ = field_in(fields, 1);
      } else if (in_table_) {
        take(fields);
      }
    }
    if (in_table_ && left_ > 0) records_.fail(fmt::format("{} lines are missing: the file is truncated", left_));
    for (const LikwidRegion& region : regions_) add(region);
    return finish();
  }

 private:
  /// "TABLE,Group 1 Metric,FLOPS_DP,8" without markers, "TABLE,Region sum,Group 1 Metric,FLOPS_DP,8" with them.
  void begin_table(const std::vector<std::string>& fields) {
    if (in_table_ && left_ > 0) records_.fail(fmt::format("{} lines of the table before are missing", left_));
    constexpr std::string_view kRegion = "Region ";
    constexpr std::size_t kMost = std::size_t{1} << 16;
    const bool marked = field_in(fields, 1).starts_with(kRegion);
    const std::string_view what = field_in(fields, marked ? 2 : 1);
    const std::string group(field_in(fields, marked ? 3 : 2));
    const std::string name = marked ? fields[1].substr(kRegion.size()) : "program";
    left_ = parsed_number<std::int64_t>(field_in(fields, marked ? 4 : 3)).value_or(0);
    statistics_ = what.ends_with("STAT");
    metrics_ = what.find(" Metric") != std::string_view::npos;
    in_table_ = what.starts_with("Group ") && !group.empty();
    if (!in_table_) return;
    const auto same = [&](const LikwidRegion& region) {
      return region.run == run_ && region.name == name && region.group == group;
    };
    const auto known = std::find_if(regions_.begin(), regions_.end(), same);
    at_ = static_cast<std::size_t>(known - regions_.begin());
    if (known != regions_.end()) return;
    if (regions_.size() >= kMost) records_.fail("more than 65536 regions");
    regions_.emplace_back();
    regions_.back().name = name;
    regions_.back().group = group;
    regions_.back().run = run_;
  }

  /// The values of a line, of each thread; "-" and "nan" are none.
  static std::vector<double> values_of(const std::vector<std::string>& fields) {
    std::vector<double> values;
    for (std::size_t i = 1; i < fields.size(); ++i) {
      const auto value = parsed_number<double>(fields[i]);
      values.push_back(value && std::isfinite(*value) && *value > 0 ? *value : 0);
    }
    return values;
  }

  void take(const std::vector<std::string>& fields) {
    const std::string& name = fields[0];
    if (name == "Event" || name == "Metric" || name == "Region Info") return;  // the header of columns
    const bool of_region = name == "RDTSC Runtime [s]" || name == "call count";
    if (!of_region) --left_;
    if (statistics_) return;  // sums over the threads, which are added here
    LikwidRegion& region = regions_[at_];
    if (!of_region && !metrics_) {  // events, with their counters in a column before the values
      const std::vector<double> counts = values_of(fields);
      for (std::size_t i = 1; i < counts.size(); ++i) region.counted.add(name, counts[i]);
      return;
    }
    if (name == "call count") {
      region.calls = values_of(fields);
    } else if (name == "RDTSC Runtime [s]" || name == "Runtime (RDTSC) [s]") {
      // Both tables have it, in other formats: "0.001339" and "0.0013".
      const std::ptrdiff_t digits = significant_digits(fields);
      if (digits > region.digits) {
        region.seconds = values_of(fields);
        region.digits = digits;
      }
    } else if (name == "Memory data volume [GBytes]") {
      constexpr double kGiga = 1e9;
      region.bytes = scaled(values_of(fields), kGiga);
      region.has_work = true;
    } else if (name == "Memory read data volume [GBytes]") {
      region.read_bytes = sum_of(values_of(fields));
    } else if (name == "Memory write data volume [GBytes]") {
      region.written_bytes = sum_of(values_of(fields));
    } else if (is_flop_rate(name, "DP") || is_flop_rate(name, "SP")) {
      constexpr double kMega = 1e6;
      (name.starts_with("DP") ? region.fp64 : region.fp32) = operations(region, scaled(values_of(fields), kMega));
      region.has_work = true;
    }
  }

  /// Digits of the first value that is not 0.
  static std::ptrdiff_t significant_digits(const std::vector<std::string>& fields) {
    for (std::size_t i = 1; i < fields.size(); ++i) {
      const std::string mantissa = fields[i].substr(0, fields[i].find_first_of("eE"));
      const std::size_t first = mantissa.find_first_of("123456789");
      if (first == std::string::npos) continue;
      return std::count_if(mantissa.begin() + static_cast<std::ptrdiff_t>(first), mantissa.end(),
                           [](char c) { return c >= '0' && c <= '9'; });
    }
    return 0;
  }

  static std::vector<double> scaled(std::vector<double> values, double by) {
    for (double& value : values) value *= by;
    return values;
  }

  /// A thread's rate is over its own time, which is in a line above.
  std::vector<double> operations(const LikwidRegion& region, std::vector<double> rates) const {
    for (std::size_t i = 0; i < rates.size(); ++i) {
      if (rates[i] > 0 && i >= region.seconds.size()) records_.fail("a rate without its time");
      rates[i] *= i < region.seconds.size() ? region.seconds[i] : 0;
    }
    return rates;
  }

  /// Reads and writes have four decimals, like their sum: their ratio divides it if they add up.
  static Traffic traffic_of(const LikwidRegion& region, double bytes) {
    if (!tells_directions(region)) return unsplit_traffic(bytes);
    const double both = region.read_bytes + region.written_bytes;
    return {.read = bytes * region.read_bytes / both, .write = bytes * region.written_bytes / both};
  }

  static bool tells_directions(const LikwidRegion& region) {
    constexpr double kGiga = 1e9, kExactness = 1e-3;
    const double all = sum_of(region.bytes) / kGiga;
    return all > 0 && std::abs(region.read_bytes + region.written_bytes - all) <= kExactness * all;
  }

  void add(const LikwidRegion& region) {
    constexpr double kNanoseconds = 1e9, kMostCalls = 100'000;
    const double calls = std::floor(std::max(1.0, largest_of(region.calls)));
    const double launches = calls <= kMostCalls ? calls : 1;
    Work work;
    work.launches = 0;
    const auto put = [&](Pipe pipe, const std::vector<double>& by_rates, double counted) {
      // Of times, and half of the last decimal of a rate. Events that differ more are not of the same operations.
      constexpr double kOfTimes = 0.1, kOfRates = 50;
      const double all = sum_of(by_rates), rounding = kOfTimes * all + kOfRates * sum_of(region.seconds);
      if (all > 0) work.flops[pipe] = (std::abs(counted - all) <= rounding ? counted : all) / launches;
    };
    put(Pipe::fp64, region.fp64, region.counted.fp64);
    put(Pipe::fp32, region.fp32, region.counted.fp32);
    if (const double bytes = sum_of(region.bytes) / launches; bytes > 0) {
      work.bytes[Level::dram] = traffic_of(region, bytes);
    }
    MeanRow row;
    row.name = region.name;
    row.detail = fmt::format("group {}{}{}", region.group, launches < calls ? fmt::format(", {} calls", calls) : "",
                             run_ > 1 ? fmt::format(", run {}", region.run) : "");
    row.time_ns = largest_of(region.seconds) * kNanoseconds / launches;
    row.launches = launches;
    if (!work.flops.empty() || !work.bytes.empty()) row.work = work;
    rows_.add(row);
  }

  ImportedProfile finish() {
    if (rows_.empty()) records_.fail("no region with a time (\"RDTSC Runtime [s]\")");
    rows_.notes().emplace_back("a region's time is that of its slowest hardware thread; FLOPs and bytes are sums");
    std::set<std::string> names;
    for (const LikwidRegion& region : regions_) names.insert(region.name);
    if (names.size() > 1) {
      rows_.notes().emplace_back(
          "likwid does not tell whether a region is within another one: the total adds the times of all, so that it "
          "may be longer than the run");
    }
    if (run_ > 1) rows_.notes().push_back(fmt::format("the file has {} runs: each has rows of its own", run_));
    const bool unsplit = std::ranges::any_of(
        regions_, [](const LikwidRegion& region) { return sum_of(region.bytes) > 0 && !tells_directions(region); });
    if (unsplit) {
      rows_.notes().emplace_back("this memory volume does not tell reads from writes: all bytes count as read");
    }
    DeviceFacts cpu;
    cpu.is_cpu = true;
    cpu.name = cpu_;
    ImportedProfile profile = rows_.finish({cpu});
    for (auto& [kind, model] : profile.trace.models) {
      model.by = "likwid-perfctr";
      model.source = WorkSource::counted;
    }
    return profile;
  }

  LikwidRecords& records_;
  MeanRows rows_;
  std::vector<LikwidRegion> regions_;
  std::string cpu_;
  std::size_t at_ = 0;     ///< the region of the table
  std::int64_t left_ = 0;  ///< lines of the table
  std::int64_t run_ = 0;   ///< of the file, from 1
  bool in_table_ = false, statistics_ = false, metrics_ = false;
};

}  // namespace

ImportedProfile read_likwid(ByteSource& source) {
  LikwidCsv records(source);
  return LikwidTables(source, records).read();
}

ImportedProfile read_likwid_text(ByteSource& source) {
  LikwidText records(source);
  return LikwidTables(source, records).read();
}

bool looks_like_likwid(std::string_view beginning) {
  return beginning.find("STRUCT,Info,") != std::string_view::npos && beginning.find("TABLE,") != std::string_view::npos;
}

}  // namespace roofline
