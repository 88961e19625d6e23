#include "render/terminal/host.hpp"

#include "render/host_columns.hpp"

namespace roofline {

std::string host_terminal(const HostProfile& host, bool brief, const TerminalStyle& style) {
  constexpr std::size_t kFewLines = 5, kManyLines = 15, kThreads = 12, kProcesses = 8;
  if (host.samples == 0) return {};
  const auto heading = [&](const char* words) { return inked(words, Ink::bold, style) + '\n'; };
  const auto and_more = [&](std::int64_t all, std::size_t shown) {
    const std::int64_t more = all - static_cast<std::int64_t>(shown);
    return more > 0 ? fmt::format("and {} more\n", more) : std::string();
  };
  const auto lines = host_line_rows(host, brief ? kFewLines : kManyLines);
  std::string text = heading("Host: time by line of the program");
  text += terminal_table(host_line_columns(), host, lines, style) + '\n';
  if (brief) return text;
  const auto threads = host_thread_rows(host, kThreads);
  text += heading("Threads") + terminal_table(host_thread_columns(), host, threads, style) +
          and_more(host.thread_count, threads.size()) + '\n';
  if (host.process_count < 2) return text;
  const auto processes = host_process_rows(host, kProcesses);
  return text + heading("Processes") + terminal_table(host_process_columns(), host, processes, style) +
         and_more(host.process_count, processes.size()) + '\n';
}

}  // namespace roofline
