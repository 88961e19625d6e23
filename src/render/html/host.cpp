// The host's part of a profile's page: where the time of its threads went.
#include <fmt/format.h>

#include <algorithm>

#include "render/host_columns.hpp"
#include "render/html/profile_sections.hpp"
#include "text/format.hpp"

namespace roofline {
namespace {

constexpr std::size_t kMostHostRows = 60;

template <class Row>
std::string host_part(const char* title, std::span<const Column<Row, HostProfile>> columns, const HostProfile& host,
                      const std::vector<Row>& rows, std::int64_t all) {
  if (rows.empty()) return {};
  const std::int64_t more = all - static_cast<std::int64_t>(rows.size());
  return fmt::format("<h3>{}</h3>\n{}{}", title, html_table("sums host", title, columns, host, rows),
                     more > 0 ? fmt::format("<p class=\"lead\">and {} more</p>\n", count(more)) : "");
}

/// "All threads together: running 12.1 s, waits for a lock 3.2 s."
std::string times_sentence(const HostTimes& times) {
  std::vector<ThreadState> states(kThreadStates.begin(), kThreadStates.end());
  std::erase_if(states, [&](ThreadState state) { return !(times.of(state) > 0); });
  std::ranges::stable_sort(states, std::greater(), [&](ThreadState state) { return times.of(state); });
  std::vector<std::string> parts;
  for (const ThreadState state : states)
    parts.push_back(fmt::format("{} {}", to_string(state), duration(times.of(state))));
  return fmt::format("All threads together: {}.", fmt::join(parts, ", "));
}

}  // namespace

std::string html_host(const Report& report) {
  if (!report.profile->host || report.profile->host->samples == 0) return {};
  const HostProfile& host = *report.profile->host;
  const auto size = [](const auto& list) { return static_cast<std::int64_t>(list.size()); };
  return fmt::format(
             "<section id=\"host\" aria-labelledby=\"host-h\">\n<h2 id=\"host-h\">Host</h2>\n<p class=\"lead\">{} Time "
             "of a line is that of the innermost line of the program itself, with the library code that it "
             "calls.</p>\n",
             escape_html(times_sentence(host.times))) +
         host_part("By line", host_line_columns(), host, host_line_rows(host, kMostHostRows), size(host.lines)) +
         host_part("By function", host_function_columns(), host, host_function_rows(host, kMostHostRows),
                   size(host.functions)) +
         host_part("By thread", host_thread_columns(), host, host_thread_rows(host, kMostHostRows), host.thread_count) +
         host_part("By process", host_process_columns(), host, host_process_rows(host, kMostHostRows),
                   host.process_count) +
         "</section>\n";
}

}  // namespace roofline
