// One row of a report: what limits it, and the evidence.
#include <fmt/format.h>

#include <cmath>

#include "mcp/digest.hpp"
#include "mcp/facts.hpp"
#include "text/format.hpp"

namespace roofline {
namespace {

/// "tensor.bf16 48.3 GFLOP, hbm 161 MB".
std::string work_of_row(const Json& row) {
  std::string text;
  const auto add = [&](const Json& amounts, const char* unit) {
    for (const auto& [name, amount] : amounts.items()) {
      if (!amount.is_number() || amount.get<double>() == 0) continue;
      text += fmt::format("{}{} {}", text.empty() ? "" : ", ", name, si(amount.get<double>(), unit));
    }
  };
  add(object_fact(row, "work.flops"), "FLOP");
  add(object_fact(row, "work.bytes"), "B");
  return text;
}

void digest_origin(const Json& row, Digest& digest) {
  std::string origin;
  for (const char* key : {"module", "line", "operation", "range"}) {
    const std::string value = text_fact(row, fmt::format("profiled.{}", key));
    if (!value.empty()) origin += fmt::format("{}{} {}", origin.empty() ? "" : ", ", key, value);
  }
  if (!origin.empty()) digest.line("launched from: " + origin);
  const auto extents = [&](const char* key) {
    std::string text;
    for (const Json& extent : list_fact(row, fmt::format("profiled.{}", key))) {
      text += (text.empty() ? "" : "x") + extent.dump();
    }
    return text;
  };
  const std::string grid = extents("grid"), block = extents("block");
  if (!grid.empty() && !block.empty()) digest.line(fmt::format("grid {}, block {}", grid, block));
}

void digest_time(const Json& row, Digest& digest) {
  std::string time = fmt::format("time: median {} {}, 5 % {}, 95 % {}, {} samples", duration_fact(row, "time_s.median"),
                                 duration_interval_fact(row, "time_s.ci95"), duration_fact(row, "time_s.quantiles.q05"),
                                 duration_fact(row, "time_s.quantiles.q95"), number_fact_or(row, "time_s.samples", 0));
  if (const auto launches = number_fact(row, "profiled.launches")) {
    time += fmt::format("; {} launches, {} in total", count_fact(row, "profiled.launches"),
                        duration_fact(row, "profiled.total_s"));
  }
  if (find_fact(row, "profiled.step") != nullptr) {
    time += fmt::format("; {} launches and {} per step", number(number_fact_or(row, "profiled.step.launches", 0)),
                        duration_fact(row, "profiled.step.seconds"));
  }
  digest.line(time);
}

void digest_bound_of_row(const Json& row, Digest& digest) {
  if (find_fact(row, "attainable_time_s") == nullptr) {
    const std::string why = text_fact(row, "profiled.not_counted");
    digest.line(why.empty() ? "no roof: its work is not known" : "no roof: " + why);
    return;
  }
  digest.line(fmt::format("{} of its roof: {} attainable, limited by {} ({}-bound){}{}{}",
                          percent_fact(row, "fraction_of_roof"), duration_fact(row, "attainable_time_s"),
                          text_fact(row, "limiting_ceiling"), text_fact(row, "bound"),
                          flag_fact(row, "suspect") ? "; the ceiling is suspect" : "",
                          flag_fact(row, "provisional") ? "; the ceiling is provisional" : "",
                          flag_fact(row, "above_roof") ? "; above the roof: work or roof is wrong" : ""));
  if (const auto reached = number_fact(row, "paired.probe_value");
      reached && text_fact(row, "paired.ceiling") == text_fact(row, "limiting_ceiling")) {
    const bool bytes = text_fact(row, "bound") == "memory";
    digest.line(fmt::format("paired: the share is of the roof's probe beside the row, which reached {}",
                            bytes ? si(*reached, "B/s") : si(*reached, "/s")));
  }
  std::string resources;
  for (const Json& resource : list_fact(row, "resources")) {
    resources += fmt::format("{}{} {}", resources.empty() ? "" : ", ", text_fact(resource, "ceiling"),
                             duration_fact(resource, "time_s"));
  }
  digest.line("least time by resource: " + resources);
  digest.line(fmt::format("work: {}; AI {} FLOP/B, ridge {}", work_of_row(row),
                          intensity(number_fact_or(row, "arithmetic_intensity", std::nan(""))),
                          intensity(number_fact_or(row, "ridge", std::nan("")))));
}

void digest_counters(const Json& row, Digest& digest) {
  std::string counters;
  for (const auto& [name, value] : object_fact(row, "counters.values").items()) {
    if (value.is_number() && value.get<double>() != 0)
      counters += fmt::format("{}{} {}", counters.empty() ? "" : ", ", name, number(value.get<double>()));
  }
  if (!counters.empty()) digest.line("counters: " + counters, 1500);
}

}  // namespace

void digest_row(const Json& row, std::size_t number, Digest& digest) {
  digest.line(fmt::format("#{} {}", number, text_fact(row, "label")));
  if (const std::string id = text_fact(row, "id"); id != text_fact(row, "label")) digest.line("id: " + id);
  if (const std::string name = text_fact(row, "profiled.full_name"); !name.empty()) digest.line("name: " + name, 400);
  const std::string impl = text_fact(row, "impl_summary");
  if (!impl.empty()) digest.line(fmt::format("implementation: {} ({})", text_fact(row, "impl"), impl));
  if (const std::string status = text_fact(row, "status"); status != "ok") {
    digest.line(fmt::format("{}: {}", status, text_fact(row, "reason")), 1000);
    return;
  }
  digest_origin(row, digest);
  digest_time(row, digest);
  digest_bound_of_row(row, digest);
  for (const Json& rule : list_fact(row, "diagnosis")) {
    std::string evidence;
    for (const auto& [name, value] : object_fact(rule, "evidence").items()) {
      evidence += fmt::format("{}{} {}", evidence.empty() ? "" : ", ", name,
                              value.is_string() ? value.get<std::string>() : value.dump());
    }
    digest.line(fmt::format("{}: {} Next: {}{}", text_fact(rule, "rule"), text_fact(rule, "finding"),
                            text_fact(rule, "next"), evidence.empty() ? "" : fmt::format(" ({})", evidence)),
                600);
  }
  digest_counters(row, digest);
  if (const std::string mixed = text_fact(row, "profiled.mixed"); !mixed.empty()) digest.line("mixed: " + mixed);
  if (const std::string verified = text_fact(row, "verification.status"); !verified.empty()) {
    digest.line(fmt::format("verification: {}, error {}, tolerance {}", verified,
                            roofline::number(number_fact_or(row, "verification.error", 0)),
                            roofline::number(number_fact_or(row, "verification.tolerance", 0))));
  }
  if (const std::string load = text_fact(row, "disturbed.because"); !load.empty()) digest.line("other load: " + load);
}

}  // namespace roofline
