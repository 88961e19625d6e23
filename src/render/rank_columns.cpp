#include "render/rank_columns.hpp"

#include <cmath>

#include "model/nan.hpp"
#include "text/format.hpp"

namespace roofline {
namespace {

bool several_hosts(const Ranks& ranks) {
  return std::any_of(ranks.ranks.begin(), ranks.ranks.end(),
                     [&](const RankSum& rank) { return rank.host != ranks.ranks.front().host; });
}

bool sizes_known(const Ranks& ranks) {
  return std::any_of(ranks.collectives.begin(), ranks.collectives.end(),
                     [](const CollectiveSum& sum) { return sum.bytes > 0; });
}

bool of_step(const Ranks& ranks) { return !ranks.whole_run; }
bool of_run(const Ranks& ranks) { return ranks.whole_run; }

bool roofs_known(const Ranks& ranks) {
  return std::any_of(ranks.collectives.begin(), ranks.collectives.end(),
                     [](const CollectiveSum& sum) { return !sum.roof.empty(); });
}

constexpr Column<RankSum, Ranks> kRankColumns[] = {
    {.title = "Rank",
     .meaning = "Number of the process in the job",
     .text = [](const RankSum& r) { return std::to_string(r.rank); }},
    {.title = "Node",
     .meaning = "Name of its node",
     .left = true,
     .when = several_hosts,
     .text = [](const RankSum& r) { return r.host; },
     .terminal = {.shrinks = true}},
    {.title = "GPU",
     .meaning = "As the profile numbers it",
     .when = of_step,
     .text = [](const RankSum& r) { return r.device < 0 ? std::string(kAbsent) : std::to_string(r.device); }},
    {.title = "Process",
     .meaning = "Process id",
     .text = [](const RankSum& r) { return std::to_string(r.pid); },
     .terminal = {.rank = 4}},
    {.title = "Compute",
     .meaning = "Kernels other than collectives, in a mean step; under MPI: all time outside MPI",
     .text = [](const RankSum& r) { return duration(r.compute_s); }},
    {.title = "Waiting",
     .meaning = "Waiting for a later rank in collectives while no other kernel runs; under MPI: in its calls",
     .text = [](const RankSum& r) { return duration(r.waiting_s); }},
    {.title = "Transfer",
     .meaning = "Transfer in collectives while no other kernel runs; under MPI: the rest of its calls",
     .text = [](const RankSum& r) { return duration(r.transfer_s); }},
    {.title = "Overlapped",
     .meaning = "Collectives during other kernels",
     .when = of_step,
     .text = [](const RankSum& r) { return duration(r.overlapped_s); },
     .terminal = {.rank = 3}},
    {.title = "Copies",
     .meaning = "Copies and memsets while no kernel runs",
     .when = of_step,
     .text = [](const RankSum& r) { return duration(r.copies_s); },
     .terminal = {.rank = 2}},
    {.title = "Idle",
     .meaning = "Nothing runs",
     .when = of_step,
     .text = [](const RankSum& r) { return duration(r.idle_s); }},
    {.title = "Others wait",
     .meaning = "Waiting of each other rank for this one",
     .text = [](const RankSum& r) { return duration(r.caused_wait_s); }},
    {.title = "Last",
     .meaning = "Steps in which most of the waiting is for this rank; under MPI: collectives that it calls last",
     .text = [](const RankSum& r) { return percent(r.last_share); },
     .terminal = {.rank = 1}},
};

constexpr Column<CollectiveSum, Ranks> kCollectiveColumns[] = {
    {.title = "Collective", .left = true, .when = of_step, .text = [](const CollectiveSum& s) { return s.name; }},
    {.title = "MPI", .left = true, .when = of_run, .text = [](const CollectiveSum& s) { return s.name; }},
    {.title = "Ranks", .text = [](const CollectiveSum& s) { return count(s.ranks); }},
    {.title = "Size",
     .meaning = "Size of a rank's larger buffer, as in nccl-tests; under MPI: of a message",
     .when = sizes_known,
     .text = [](const CollectiveSum& s) { return s.bytes > 0 ? binary_bytes(s.bytes) : std::string(kAbsent); }},
    {.title = "Calls",
     .meaning = "Calls per rank in the run",
     .when = of_run,
     .text = [](const CollectiveSum& s) { return number(s.calls, 6); }},
    {.title = "Per step",
     .meaning = "Calls per rank and step",
     .when = of_step,
     .text = [](const CollectiveSum& s) { return number(s.calls, 3); }},
    {.title = "Transfer",
     .meaning = "Median time from the start of the last rank; under MPI: mean without waiting",
     .text = [](const CollectiveSum& s) { return duration(s.transfer_s); }},
    {.title = "Bus bandwidth",
     .meaning = "Bus bandwidth of the transfer, as in nccl-tests",
     .when = [](const Ranks& ranks) { return of_step(ranks) && sizes_known(ranks); },
     .text =
         [](const CollectiveSum& s) {
           const double rate_of = s.bus_bytes_per_s();
           return rate_of > 0 ? rate(rate_of, CeilingKind::bandwidth) : std::string(kAbsent);
         },
     .terminal = {.rank = 2}},
    {.title = "% of roof",
     .meaning = "Time at the roof of this size over the transfer",
     .when = roofs_known,
     .value =
         [](const CollectiveSum& s) {
           return Value(s.attainable_s > 0 && s.transfer_s > 0 ? s.attainable_s / s.transfer_s : kNaN);
         },
     .unit = Unit::share},
    {.title = "Without overlap",
     .meaning = "Transfer while no other kernel runs, per rank and step; under MPI: in the run",
     .text = [](const CollectiveSum& s) { return duration(s.exposed_s); }},
    {.title = "Waiting",
     .meaning = "Waiting for a later rank while no other kernel runs, per rank and step; under MPI: in the run",
     .text = [](const CollectiveSum& s) { return duration(s.waiting_s); }},
    {.title = "Line",
     .left = true,
     .text = [](const CollectiveSum& s) { return s.line.empty() ? std::string(kAbsent) : s.line; },
     .terminal = {.rank = 3, .shrinks = true}},
};

}  // namespace

std::span<const Column<RankSum, Ranks>> rank_columns() { return kRankColumns; }
std::span<const Column<CollectiveSum, Ranks>> collective_columns() { return kCollectiveColumns; }

}  // namespace roofline
