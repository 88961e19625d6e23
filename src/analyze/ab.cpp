// All rows have a round before any has the next, so that the rounds of a row are spread over the whole comparison: a
// state of the machine that lasts for seconds does not reach all of them.
#include "analyze/ab.hpp"

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>
#include <random>
#include <utility>

#include "analyze/ab_round.hpp"
#include "analyze/invocation.hpp"
#include "device/isolate.hpp"
#include "host/interrupt.hpp"
#include "measure/repeated_ratio.hpp"
#include "model/nan.hpp"
#include "report/json/json.hpp"
#include "report/roof_share.hpp"

namespace roofline {
namespace {

using AbJson = nlohmann::ordered_json;

/// A matched row with its rounds so far.
struct AbRow {
  const SuiteEntry* before = nullptr;
  const SuiteEntry* now = nullptr;
  std::size_t change = 0;  ///< in AbResult::changes
  std::vector<Repetition> first = {}, fresh = {};
  std::vector<double> before_s = {}, now_s = {};  ///< seconds per launch of each round
  bool over = false;                              ///< a side failed: no more rounds
};

Report planned_side(const Suite& suite, const DeviceInfo& device, const AbOptions& options) {
  Report report;
  report.invocation = invocation_of(suite, options.command);
  report.invocation.run_name = suite.path;  // two versions of a suite have one name
  report.machine.device = device;
  for (const SuiteEntry& entry : suite.entries) {
    Point& point = report.points.emplace_back();
    point.workload = entry.workload;
    point.family = entry.op->family();
    if (entry.skip_reason.empty()) continue;
    point.status = PointStatus::skipped;
    point.reason = entry.skip_reason;
  }
  return report;
}

/// Rounds of a row come in twos with opposite orders, so that an advantage of the side that is prepared first cancels
/// out; which order comes first is random, and so is the memory that is held.
AbRoundPlan plan_round(const AbRow& row, std::int64_t round, double free_bytes) {
  constexpr double kMostHeld = 64 << 20;
  constexpr double kLeastFree = 16;  // times what is held: the row needs memory too
  constexpr std::uint64_t kRoundsOfRow = 1024;
  const auto draws_of = [&](std::int64_t number) {
    return std::mt19937_64(row.change * kRoundsOfRow + static_cast<std::uint64_t>(number));
  };
  std::mt19937_64 order = draws_of(round / 2), memory = draws_of(round);
  const bool now_first = ((order() >> 32) + static_cast<std::uint64_t>(round)) % 2 == 1;
  const auto most = static_cast<std::uint64_t>(std::min(kMostHeld, free_bytes / kLeastFree));
  const auto held = [&] { return most > 0 ? static_cast<std::size_t>(memory() % most) : std::size_t{0}; };
  AbRoundPlan plan{.entries = {row.before, row.now}, .first = now_first ? AbSide::now : AbSide::before};
  plan.verify = round == 0;
  plan.held_bytes = {held(), held()};
  return plan;
}

PairOptions round_options(const AbOptions& options) {
  constexpr double kPatience = 2;
  PairOptions pairs;
  pairs.max_time_s = options.max_time_s / static_cast<double>(kFirstRounds);
  pairs.min_time_s = std::min(pairs.min_time_s, pairs.max_time_s);
  pairs.patience_s = kPatience * pairs.max_time_s;
  pairs.wide = kWidestInterval;
  return pairs;
}

/// The lowest of the limit of all rounds and those that the suites give their own kernels.
std::optional<double> limit_of_round(const AbRow& row, const AbOptions& options) {
  std::optional<double> limit = options.round_limit_s;
  for (const SuiteEntry* entry : {row.before, row.now}) {
    const std::optional<double> own = entry->time_limit_s();
    if (own) limit = std::min(limit.value_or(*own), *own);
  }
  return limit;
}

/// In the child: opens the device at the first round and keeps it, with the memory of large rounds.
class AbWorker {
 public:
  explicit AbWorker(const AbOptions& options) : options_(options) {}

  AfterJob run(AbRow& row, std::int64_t round, const Send& send) {
    if (row.over) return AfterJob::next;
    AbRoundResult result;
    AfterJob after = AfterJob::next;
    std::optional<AbSide> side;
    try {
      if (!device_) {
        const DeviceChoice& choice = options_.device;
        device_ = open_device(choice.kind, choice.index, choice.options);
      }
      AbRoundPlan plan = plan_round(row, round, device_->free_memory_bytes());
      plan.pool = &pool_;
      result = measure_ab_round(plan, *device_, round_options(options_), [&](std::optional<AbSide> at) {
        side = at;
        send(AbJson({{"at", at ? static_cast<int>(*at) : kBothSides}}).dump());
      });
    } catch (const std::exception& error) {
      // Either the context is lost, or the device could not be opened.
      for (std::size_t i = 0; i < result.sides.size(); ++i) {
        if (side && static_cast<std::size_t>(*side) != i) continue;
        result.sides[i].status = PointStatus::failed;
        result.sides[i].reason = error.what();
      }
      after = AfterJob::fresh_process;
    }
    if (interrupted() && !result.ratio) return AfterJob::nothing_left;  // the rounds before count
    row.over = !result.ratio;
    send(to_json(result).dump(-1, ' ', false, AbJson::error_handler_t::replace));
    return after;
  }

  static constexpr int kBothSides = 2;

 private:
  static constexpr std::uint64_t kPoolSeed = 0x9E3779B97F4A7C15U;

  /// A side that another one's failure kept from being run is null.
  static AbJson to_json(const AbRoundResult& result) {
    AbJson json = {{"sides", AbJson::array()},
                   {"implementations", {result.implementations[0], result.implementations[1]}}};
    for (const Outcome& side : result.sides) {
      const bool known = side.status != PointStatus::ok || side.time;
      json["sides"].push_back(known ? outcome_to_json(side) : AbJson());
    }
    if (const auto& ratio = result.ratio) json["ratio"] = {ratio->ratio, ratio->ci95.low, ratio->ci95.high};
    return json;
  }

  const AbOptions& options_;
  std::unique_ptr<Device> device_;
  BufferPool pool_{kPoolSeed};  ///< its memory is the device's
};

/// In the parent.
class AbRun {
 public:
  AbRun(AbResult& result, std::vector<AbRow>& rows, const AbOptions& options)
      : result_(result), rows_(rows), options_(options) {}

  /// That many rounds of these rows, numbered from `from`.
  void take_rounds(const std::vector<std::size_t>& rows, std::int64_t rounds, std::int64_t from,
                   std::vector<Repetition> AbRow::*into, const std::string& what) {
    const auto count = static_cast<std::int64_t>(rows.size());
    const auto row_of = [&](std::int64_t job) -> AbRow& { return rows_[rows[static_cast<std::size_t>(job % count)]]; };
    AbWorker worker(options_);
    std::int64_t done = 0;
    int at = AbWorker::kBothSides;
    Jobs jobs;
    jobs.count = count * rounds;
    jobs.run = [&](std::int64_t job, const Send& send) { return worker.run(row_of(job), from + job / count, send); };
    jobs.on_message = [&](std::int64_t job, std::string_view text) {
      const AbJson json = AbJson::parse(text);
      done = job;
      if (json.contains("at")) {
        at = json["at"].get<int>();
        return;
      }
      at = AbWorker::kBothSides;
      done = job + 1;
      add(row_of(job), json, into);
    };
    jobs.on_lost = [&](std::int64_t job, const std::string& reason) {
      AbRow& row = row_of(job);
      done = job + 1;
      if (!row.over) fail(row, std::exchange(at, AbWorker::kBothSides), reason);
    };
    jobs.limit_s = [&](std::int64_t job) { return limit_of_round(row_of(job), options_); };
    jobs.on_tick = [&] {
      if (done < jobs.count) options_.progress({done, jobs.count, what + row_of(done).now->workload.label});
    };
    if (count > 0 && run_isolated(jobs) == JobsEnd::interrupted) result_.cancelled = true;
  }

 private:
  Point& before(const AbRow& row) { return result_.base.points[*result_.changes[row.change].before]; }
  Point& now(const AbRow& row) { return result_.now.points[*result_.changes[row.change].now]; }

  void fail(AbRow& row, int at, const std::string& reason) {
    row.over = true;
    const auto end = [&](Point& point, int side) {
      if (at != AbWorker::kBothSides && at != side) return;
      point.status = PointStatus::failed;
      point.reason = reason;
      point.time.reset();
    };
    end(before(row), static_cast<int>(AbSide::before));
    end(now(row), static_cast<int>(AbSide::now));
  }

  void add(AbRow& row, const AbJson& json, std::vector<Repetition> AbRow::*into) {
    const auto merge = [&](Point& point, std::size_t side) {
      if (json["sides"][side].is_null()) return;
      const Outcome outcome = outcome_from_json(json["sides"][side]);
      point.status = outcome.status;
      point.reason = outcome.reason;
      point.time = outcome.time;
      if (outcome.verification) point.verification = outcome.verification;
      const bool more =
          outcome.contention && (!point.contention || share_lost(*point.contention) < share_lost(*outcome.contention));
      if (more) point.contention = outcome.contention;
      const auto ran = json["implementations"][side].get<std::string>();
      if (!ran.empty()) point.workload.implementation = ran;
    };
    merge(before(row), 0);
    merge(now(row), 1);
    row.over = !json.contains("ratio");
    if (row.over) return;
    const AbJson& ratio = json["ratio"];
    (row.*into).push_back(repetition_of(ratio[0].get<double>(), {ratio[1].get<double>(), ratio[2].get<double>()}));
    row.before_s.push_back(before(row).time->median);
    row.now_s.push_back(now(row).time->median);
  }

  AbResult& result_;
  std::vector<AbRow>& rows_;
  const AbOptions& options_;
};

/// A side that a cancelled run did not reach has no time and no error.
void decide_row(AbResult& result, const AbRow& row, const GateRule& rule) {
  PointChange& change = result.changes[row.change];
  Point& before = result.base.points[*change.before];
  Point& now = result.now.points[*change.now];
  const bool before_ran = before.status == PointStatus::ok, now_ran = now.status == PointStatus::ok;
  if (!before_ran || !now_ran || row.before_s.empty()) {
    change.change = before_ran && !now_ran   ? Change::only_before
                    : now_ran && !before_ran ? Change::only_now
                                             : Change::untimed;
    return;
  }
  before.time = summarize(row.before_s);
  now.time = summarize(row.now_s);
  std::vector<Repetition> all = row.first;
  all.insert(all.end(), row.fresh.begin(), row.fresh.end());
  const RepeatedRatio ratio = ratio_of_rounds(all);
  constexpr double kShown = 0.95;
  change.time_ratio = ratio.ratio();
  change.ratio_ci95 = ratio.interval(kShown);
  change.basis = RatioBasis::rounds;
  change.repetitions_before = change.repetitions_now = static_cast<std::int64_t>(all.size());
  change.change = decide_rounds(row.first, row.fresh, rule);
}

/// Rows that only one side has, or that cannot run on a side.
void describe_unpaired(AbResult& result, PointChange& change) {
  const auto can_run = [](const Report& side, std::optional<std::size_t> row) {
    return row && side.points[*row].status == PointStatus::ok;
  };
  const bool before = can_run(result.base, change.before), now = can_run(result.now, change.now);
  change.change = before ? Change::only_before : now ? Change::only_now : Change::untimed;
}

}  // namespace

Comparison AbResult::comparison() const { return {&base, &now, threshold, changes}; }

AbResult compare_suites(const Suite& before, const Suite& now, const DeviceInfo& device, const AbOptions& options) {
  AbResult result{.base = planned_side(before, device, options),
                  .now = planned_side(now, device, options),
                  .changes = {},
                  .threshold = options.threshold};
  result.changes = match_rows(result.base, result.now);
  std::vector<AbRow> rows;
  std::vector<std::size_t> all, suspicious;
  for (std::size_t i = 0; i < result.changes.size(); ++i) {
    PointChange& change = result.changes[i];
    change.time_ratio = kNaN;
    const bool runs = change.before && change.now && before.entries[*change.before].skip_reason.empty() &&
                      now.entries[*change.now].skip_reason.empty();
    if (!runs) {
      describe_unpaired(result, change);
      continue;
    }
    all.push_back(rows.size());
    rows.push_back({.before = &before.entries[*change.before], .now = &now.entries[*change.now], .change = i});
  }
  const GateRule rule{.threshold = options.threshold, .rows = static_cast<std::int64_t>(rows.size())};
  AbRun run(result, rows, options);
  run.take_rounds(all, kFirstRounds, 0, &AbRow::first, "");
  for (const std::size_t row : all) {
    if (!rows[row].over && !cleared_by_first_rounds(rows[row].first, rule)) suspicious.push_back(row);
  }
  if (!result.cancelled) run.take_rounds(suspicious, kFreshRounds, kFirstRounds, &AbRow::fresh, "confirming ");
  for (const AbRow& row : rows) decide_row(result, row, rule);
  result.base.cancelled = result.now.cancelled = result.cancelled;
  return result;
}

}  // namespace roofline
