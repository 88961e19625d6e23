// Rates are per second of CPU time, unless the benchmark's name ends in real_time or manual_time (benchmark's user
// guide, "CPU Timers"): bytes of an iteration are the rate times that time.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "import/json_values.hpp"
#include "import/mean_rows.hpp"
#include "import/other_tools.hpp"
#include "profile/symbols.hpp"
#include "text/format.hpp"
#include "text/parts.hpp"
#include "text/text.hpp"

namespace roofline {
namespace {

double nanoseconds_of(std::string_view unit) {
  static constexpr std::pair<std::string_view, double> kUnits[] = {{"ns", 1}, {"us", 1e3}, {"ms", 1e6}, {"s", 1e9}};
  for (const auto& [name, scale] : kUnits) {
    if (unit == name) return scale;
  }
  return unit.empty() ? 1 : 0;
}

/// FLOP/s of a counter that is named so; 0 without one.
double flop_rate(const nlohmann::json& run) {
  static constexpr std::pair<std::string_view, double> kPrefixes[] = {{"", 1}, {"m", 1e6}, {"g", 1e9}, {"t", 1e12}};
  for (const auto& [key, value] : run.items()) {
    const std::string name = lower_case(key);
    for (const auto& [prefix, scale] : kPrefixes) {
      for (const std::string_view unit : {"flops", "flop/s", "flops/s", "flop_per_second", "flops_per_second"}) {
        if (name == std::string(prefix) + std::string(unit)) return number_in(run, key).value_or(0) * scale;
      }
    }
  }
  return 0;
}

/// What a run measured.
struct BenchmarkRun {
  enum class Kind : std::uint8_t { iteration, median, mean };
  std::string name;  ///< without the aggregate's suffix
  Kind kind = Kind::iteration;
  double time_ns = 0, bytes = 0, flops = 0;  ///< of an iteration
  Pipe pipe = Pipe::fp32;                    ///< of the FLOPs
};

class GoogleBenchmark {
 public:
  explicit GoogleBenchmark(ByteSource& source)
      : source_(source),
        rows_(source, ImportedKind::google_benchmark, "Google Benchmark",
              "the benchmark states no bytes or FLOPs (SetBytesProcessed, a rate counter \"FLOPS\")") {}

  ImportedProfile read() {
    enum : std::size_t { kRun, kBuild };
    read_json_values(
        source_, {{"benchmarks", "*"}, {"context", "library_build_type"}},
        [this](std::size_t path, const nlohmann::json& value) {
          if (path == kRun) take(value);
          if (path == kBuild && value == "debug") has_debug_library_ = true;
        },
        JsonDocuments::several);
    std::map<std::string, BenchmarkRun::Kind> best;  // of each benchmark: repetitions, else the median, else the mean
    for (const BenchmarkRun& run : runs_) {
      const auto [found, is_new] = best.try_emplace(run.name, run.kind);
      if (!is_new) found->second = std::min(found->second, run.kind);
    }
    for (const BenchmarkRun& run : runs_) {
      if (best.at(run.name) == run.kind) add(run);
    }
    if (rows_.empty()) source_.fail("no benchmark with a time");
    add_notes();
    DeviceFacts cpu;
    cpu.is_cpu = !has_manual_times_;
    return rows_.finish({cpu});
  }

 private:
  void take(const nlohmann::json& run) {
    if (!run.is_object()) return;
    if (number_in(run, "error_occurred").value_or(0) != 0) {
      ++failed_;
      return;
    }
    BenchmarkRun read;
    read.name = text_in(run, "run_name");
    if (read.name.empty()) read.name = text_in(run, "name");
    if (!find_kind(run, read)) return;
    const double unit = nanoseconds_of(text_in(run, "time_unit"));
    const double real = number_in(run, "real_time").value_or(0) * unit;
    const double cpu = number_in(run, "cpu_time").value_or(0) * unit;
    read.time_ns = real > 0 ? real : cpu;
    const bool by_real_time = contains_any(read.name, {"/real_time", "/manual_time"});
    has_manual_times_ |= contains_any(read.name, {"/manual_time"});
    constexpr double kSeconds = 1e-9;
    const double seconds = (by_real_time || !(cpu > 0) ? real : cpu) * kSeconds;
    read.bytes = number_in(run, "bytes_per_second").value_or(0) * seconds;
    read.flops = flop_rate(run) * seconds;
    constexpr double kPicosecond = 1e-3;  // ns
    if (read.time_ns > 0 && read.time_ns < kPicosecond) {
      if (impossible_++ == 0) first_impossible_ = read.name;
      return;
    }
    if (contains_any(lower_case(read.name), {"double", "fp64", "f64", "float64"})) read.pipe = Pipe::fp64;
    has_flops_ |= read.flops > 0;
    runs_.push_back(std::move(read));
  }

  /// Sets the kind; false of aggregates that are no time. Files of version 1.4 and older have no "run_type", and the
  /// name of an aggregate has a suffix.
  static bool find_kind(const nlohmann::json& run, BenchmarkRun& read) {
    std::string aggregate = text_in(run, "aggregate_name");
    if (text_in(run, "run_type").empty() && aggregate.empty()) {
      for (const std::string_view suffix : {"_mean", "_median", "_stddev", "_cv", "_BigO", "_RMS"}) {
        if (!read.name.ends_with(suffix)) continue;
        aggregate = suffix.substr(1);
        read.name.resize(read.name.size() - suffix.size());
        break;
      }
    }
    if (aggregate.empty()) return true;
    read.kind = aggregate == "median" ? BenchmarkRun::Kind::median : BenchmarkRun::Kind::mean;
    return aggregate == "median" || aggregate == "mean";
  }

  /// A trace's times are whole nanoseconds: of a short iteration a row has a thousand.
  void add(const BenchmarkRun& run) {
    constexpr double kShort = 1000, kThousand = 1000;  // ns
    const double iterations = run.time_ns < kShort ? kThousand : 1;
    MeanRow row;
    row.name = run.name;
    row.time_ns = run.time_ns * iterations;
    row.work = stated_work(run.bytes * iterations, run.pipe, run.flops * iterations);
    // "BM_copy<float>/8": arguments behind those of a template would be lost in a kernel's short name.
    const std::size_t slash = run.name.find('/', std::min(run.name.find('>'), run.name.size()));
    if (short_name(run.name) != run.name && slash != std::string::npos) {
      row.name = run.name.substr(0, slash);
      row.detail = run.name.substr(slash + 1);
    }
    if (iterations > 1) row.name += "/x1000";
    const bool added = rows_.add(row);
    (iterations > 1 ? has_thousands_ : has_single_) |= added;
    from_aggregates_ += added && run.kind != BenchmarkRun::Kind::iteration ? 1 : 0;
  }

  void add_notes() {
    rows_.notes().emplace_back("times are real times of an iteration; each repetition counts as one launch");
    if (has_thousands_) rows_.notes().emplace_back("rows with \"/x1000\" are a thousand iterations (below 1 µs each)");
    if (has_thousands_ && has_single_) {
      rows_.notes().emplace_back(
          "the total adds rows of one and of a thousand iterations: compare rows, not the total");
    }
    if (from_aggregates_ > 0) {
      rows_.notes().push_back(
          fmt::format("{} benchmarks without repetitions in the file: their median or mean", from_aggregates_));
    }
    if (impossible_ > 0) {
      rows_.notes().push_back(fmt::format("{} of less than a picosecond per iteration left out; the first: {}",
                                          counted_noun(impossible_, "benchmark", "benchmarks"), first_impossible_));
    }
    if (has_debug_library_) {
      rows_.notes().emplace_back("the benchmark library is a debug build, whose overhead may be in the times");
    }
    if (failed_ > 0) rows_.notes().push_back(fmt::format("{} benchmarks with an error have no row", failed_));
    if (has_flops_) {
      rows_.notes().emplace_back("the file states no type: FLOPs count as fp64 if the name contains double, else fp32");
    }
  }

  ByteSource& source_;
  MeanRows rows_;
  std::vector<BenchmarkRun> runs_;
  std::int64_t failed_ = 0, from_aggregates_ = 0, impossible_ = 0;
  std::string first_impossible_;
  bool has_thousands_ = false, has_single_ = false, has_flops_ = false;
  bool has_debug_library_ = false;
  bool has_manual_times_ = false;  ///< the benchmark took them itself, as those of GPU kernels do
};

}  // namespace

ImportedProfile read_google_benchmark(ByteSource& source) { return GoogleBenchmark(source).read(); }

bool looks_like_google_benchmark(std::string_view beginning) {
  const bool has_times = contains_any(beginning, {"\"real_time\"", "\"cpu_time\"", "\"library_build_type\""});
  return contains_any(beginning, {"\"benchmarks\""}) && has_times;
}

}  // namespace roofline
