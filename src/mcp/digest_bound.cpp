// Bounds and projections: times that nothing was run for.
#include <fmt/format.h>

#include <cmath>

#include "mcp/digest.hpp"
#include "mcp/facts.hpp"
#include "text/format.hpp"
#include "text/text.hpp"

namespace roofline {
namespace {

constexpr std::size_t kMostParts = 12, kMostRows = 10;

/// "measured 9 ms, reaches 64.0 % of the bound"; a time below the bound is a mistake and has no share.
std::string score_of(double measured_s, double least_s, double share) {
  const std::string measured = "measured " + duration(measured_s);
  constexpr double kTolerance = 1.02;  // as score_of() of problem/problem_bound.hpp
  if (share <= kTolerance) return fmt::format("{}, reaches {} of the bound", measured, percent(share));
  return fmt::format("IMPOSSIBLE: {} is below the bound of {}: the time, the work or the roofs are wrong", measured,
                     duration(least_s));
}

void digest_phase(const Json& phase, Digest& digest) {
  digest.line(fmt::format("{}: at least {} ({}{}), each part as a kernel {}", text_fact(phase, "name"),
                          duration_fact(phase, "least_s"), text_fact(phase, "bound"),
                          text_fact(phase, "limiting_ceiling").empty() ? "each part by itself"
                                                                       : ", " + text_fact(phase, "limiting_ceiling"),
                          duration_fact(phase, "by_op_s")));
  const Json& parts = list_fact(phase, "parts");
  // Times of parts are of all launches; a line has that of one, as the rows of profiles do.
  const auto time_of = [](const Json& part) { return number_fact_or(part, "time_s", 0); };
  std::size_t told = 0;
  for (const std::size_t i : largest_first(parts, time_of)) {
    if (told++ == kMostParts) break;
    const Json& part = parts[i];
    const double launches = number_fact_or(part, "launches", 1);
    const auto time = number_fact(part, "time_s");
    std::string line = fmt::format("  {}: {} x {:.0f}, {} ({})", shorten(text_fact(part, "name"), 80),
                                   time && launches > 0 ? duration(*time / launches) : kAbsent, launches,
                                   text_fact(part, "limiting_ceiling"), text_fact(part, "bound"));
    const auto measured = number_fact(part, "measured_s"), share = number_fact(part, "share");
    if (measured && share && time) {
      line += "; " + score_of(*measured, *time, *share) + (launches > 1 ? " (all launches)" : "");
    }
    if (!digest.item(line)) return;
  }
  if (parts.size() > kMostParts) digest.line(fmt::format("  and {} smaller parts", parts.size() - kMostParts));
}

/// "8.11 s (5.75 s to 10.5 s)".
std::string time_there(const Json& object) {
  if (!number_fact(object, "there.seconds")) return "no time";
  const Json& range = list_fact(object, "there.range");
  std::string text = duration_fact(object, "there.seconds");
  if (range.size() == 2 && range[0].is_number() && range[1].is_number()) {
    text += fmt::format(" ({} to {})", duration(range[0].get<double>()), duration(range[1].get<double>()));
  }
  return text;
}

}  // namespace

void digest_bound(const Json& bound, Digest& digest) {
  digest.line(fmt::format("{} on {}", text_fact(bound, "problem"), text_fact(bound, "machine.name")));
  for (const Json& note : list_fact(bound, "notes")) {
    if (note.is_string()) digest.line("note: " + clean_line(note.get<std::string>()));
  }
  if (const auto weights = number_fact(bound, "memory.weights_bytes")) {
    const auto device = number_fact(bound, "memory.device_bytes");
    digest.line(fmt::format("memory: weights {}, keys and values {}{}", binary_bytes(*weights),
                            binary_bytes(number_fact_or(bound, "memory.cache_bytes", 0)),
                            device ? ", of " + binary_bytes(*device) : ""));
  }
  if (const auto measured = number_fact(bound, "score.measured_s")) {
    const auto share = number_fact(bound, "score.share");
    digest.line("score: " + (share ? score_of(*measured, *share * *measured, *share)
                                   : fmt::format("measured {}, no roof for this work", duration(*measured))));
  }
  for (const Json& phase : list_fact(bound, "phases")) digest_phase(phase, digest);
}

void digest_projections(const Json& projections, Digest& digest) {
  for (const Json& onto : list_fact(projections, "onto")) {
    const double here = number_fact_or(onto, "here_s", std::nan(""));
    const double there = number_fact_or(onto, "there.seconds", std::nan(""));
    const std::string change =
        there > 0 ? fmt::format("{} -> {}, {} as fast", duration(here), time_there(onto), factor(here / there))
                  : duration(here) + " -> some kernels can't run there";
    digest.line(fmt::format("{} -> {}{}: {}; rows with known work {}", text_fact(projections, "machine"),
                            text_fact(onto, "machine"), flag_fact(onto, "measured_roofs") ? "" : " (data-sheet roofs)",
                            change, percent_fact(onto, "projected_share")));
    if (find_fact(onto, "step") != nullptr) {
      digest.line(fmt::format("  step here: kernels {}, copies {}, idle {}", duration_fact(onto, "step.kernels_s"),
                              duration_fact(onto, "step.copies_s"), duration_fact(onto, "step.idle_s")));
    }
    const Json& rows = list_fact(onto, "rows");
    const auto time_of = [](const Json& row) {
      return number_fact_or(row, "here_s", 0) * number_fact_or(row, "launches", 1);
    };
    std::size_t told = 0;
    for (const std::size_t i : largest_first(rows, time_of)) {
      if (told++ == kMostRows) break;
      const std::string limit = text_fact(rows[i], "limit_there");
      const std::string why = text_fact(rows[i], "why_range") + text_fact(rows[i], "why_not");
      if (!digest.item(fmt::format("  {}: {} -> {}{}", shorten(text_fact(rows[i], "label"), 80),
                                   duration_fact(rows[i], "here_s"), time_there(rows[i]),
                                   limit.empty() ? (why.empty() ? "" : "; " + why) : "; limited by " + limit))) {
        return;
      }
    }
    if (rows.size() > kMostRows) digest.line(fmt::format("  and {} smaller rows", rows.size() - kMostRows));
  }
}

}  // namespace roofline
