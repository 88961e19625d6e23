#include "render/host_columns.hpp"

#include <algorithm>

#include "model/nan.hpp"
#include "report/wait_words.hpp"
#include "text/format.hpp"
#include "text/text.hpp"

namespace roofline {
namespace {

/// "waits for a lock 3.1 s": the state that took most of the time off the CPU.
std::string wait_text(const HostTimes& times, std::string_view words = {}) {
  const ThreadState state = times.main_wait();
  if (state == ThreadState::running) return kAbsent;
  return fmt::format("{} {}", words.empty() ? to_string(state) : words, duration(times.of(state)));
}

std::string thread_text(const HostThread& thread) {
  return clean_line(thread.main ? fmt::format("{} {}", thread.name, thread.tid)
                                : fmt::format("{} {} (process {})", thread.name, thread.tid, thread.pid));
}

std::string place_or_absent(const HostFrame& place) { return place.function.empty() ? kAbsent : place_text(place); }

/// The name of a function or line on the page, with its file below.
std::string place_html(const HostFrame& place) {
  const std::string_view file = last_path_part(place.file);
  const std::string where = place.line > 0 ? fmt::format("{}:{}", file, place.line) : std::string(file);
  return fmt::format("{}<small>{}</small>", html_name(place.function, 60), html_name(where, 60));
}

std::string file_title(const HostFrame& place) {
  if (place.file.empty()) return {};
  return fmt::format(" title=\"{}\"", escape_html(shorten(clean_line(place.file), 400)));
}

constexpr Column<HostLineRow, HostProfile> kHostLineColumns[] = {
    {.title = "Line",
     .meaning = "the innermost line of the program itself",
     .left = true,
     .text = [](const HostLineRow& r) { return place_text(r.line.place); },
     .terminal = {.first_to = 24, .shrinks = true},
     .page = {.html = [](const HostLineRow& r) { return place_html(r.line.place); },
              .attributes = [](const HostLineRow& r) { return file_title(r.line.place); }}},
    {.title = "CPU",
     .meaning = "time on a CPU, all threads",
     .value = [](const HostLineRow& r) -> Value { return r.line.times.on_cpu(); },
     .text = [](const HostLineRow& r) { return duration_or_absent(r.line.times.on_cpu()); }},
    {.title = "Share",
     .meaning = "of the CPU time of all threads",
     .value = [](const HostLineRow& r) -> Value { return share_or_nan(r.line.times.on_cpu(), r.cpu_s); },
     .unit = Unit::share},
    {.title = "Waits",
     .meaning = "the longest kind of wait off the CPU",
     .left = true,
     .text = [](const HostLineRow& r) { return wait_text(r.line.times, r.wait); },
     .terminal = {.rank = 1}},
};

constexpr Column<HostFunctionRow, HostProfile> kHostFunctionColumns[] = {
    {.title = "Function",
     .left = true,
     .text = [](const HostFunctionRow& r) { return place_text(r.function.place); },
     .terminal = {.first_to = 24, .shrinks = true},
     .page = {.html = [](const HostFunctionRow& r) { return place_html(r.function.place); },
              .attributes = [](const HostFunctionRow& r) { return file_title(r.function.place); }}},
    {.title = "CPU",
     .meaning = "time on a CPU in the function itself",
     .value = [](const HostFunctionRow& r) -> Value { return r.function.times.on_cpu(); },
     .text = [](const HostFunctionRow& r) { return duration_or_absent(r.function.times.on_cpu()); }},
    {.title = "Share",
     .meaning = "of the CPU time of all threads",
     .value = [](const HostFunctionRow& r) -> Value { return share_or_nan(r.function.times.on_cpu(), r.cpu_s); },
     .unit = Unit::share},
    {.title = "With callees",
     .meaning = "share of the CPU time with what the function calls",
     .value = [](const HostFunctionRow& r) -> Value { return share_or_nan(r.function.inclusive_cpu_s, r.cpu_s); },
     .unit = Unit::share,
     .terminal = {.rank = 1}},
};

constexpr Column<HostThreadRow, HostProfile> kHostThreadColumns[] = {
    {.title = "Thread",
     .left = true,
     .text = [](const HostThreadRow& r) { return thread_text(r.thread.thread); },
     .terminal = {.first_to = 16, .shrinks = true},
     .page = {.html = [](const HostThreadRow& r) { return html_name(thread_text(r.thread.thread), 48); }}},
    {.title = "Time",
     .value = [](const HostThreadRow& r) -> Value { return r.thread.times.total(); },
     .unit = Unit::seconds},
    {.title = "On CPU",
     .meaning = "share of its time on a CPU",
     .value = [](const HostThreadRow& r) -> Value {
       return share_or_nan(r.thread.times.on_cpu(), r.thread.times.total());
     },
     .unit = Unit::share},
    {.title = "Hottest line",
     .meaning = "the line with most of its time on a CPU",
     .left = true,
     .text =
         [](const HostThreadRow& r) {
           if (r.hottest.function.empty()) return std::string(kAbsent);
           return fmt::format("{} {}", percent(share_or_nan(r.thread.hottest_s, r.thread.times.on_cpu())),
                              place_text(r.hottest));
         },
     .terminal = {.first_to = 20, .shrinks = true},
     .page = {.html =
                  [](const HostThreadRow& r) {
                    if (r.hottest.function.empty()) return std::string(kAbsent);
                    return fmt::format("{} {}", percent(share_or_nan(r.thread.hottest_s, r.thread.times.on_cpu())),
                                       html_name(place_text(r.hottest), 60));
                  }}},
    {.title = "Waits",
     .meaning = "the longest kind of wait off the CPU",
     .left = true,
     .text = [](const HostThreadRow& r) { return wait_text(r.thread.times, r.wait); },
     .terminal = {.rank = 1}},
    {.title = "Longest wait in",
     .in = kDocuments,
     .left = true,
     .text = [](const HostThreadRow& r) { return place_or_absent(r.longest_wait); },
     .page = {.html = [](const HostThreadRow& r) { return html_name(place_or_absent(r.longest_wait), 60); }}},
};

constexpr Column<HostProcessSum, HostProfile> kHostProcessColumns[] = {
    {.title = "Process",
     .left = true,
     .text = [](const HostProcessSum& p) { return clean_line(fmt::format("{} {}", p.pid, p.command)); },
     .terminal = {.first_to = 24, .shrinks = true},
     .page = {.html = [](const HostProcessSum& p) { return html_name(fmt::format("{} {}", p.pid, p.command), 80); }}},
    {.title = "Threads", .text = [](const HostProcessSum& p) { return count(p.threads); }},
    {.title = "CPU",
     .meaning = "time on a CPU, all threads",
     .value = [](const HostProcessSum& p) -> Value { return p.times.on_cpu(); },
     .text = [](const HostProcessSum& p) { return duration_or_absent(p.times.on_cpu()); }},
    {.title = "Waits",
     .left = true,
     .text = [](const HostProcessSum& p) { return wait_text(p.times); },
     .terminal = {.rank = 1}},
};

template <class Entry>
std::vector<Entry> first_of(const std::vector<Entry>& all, std::size_t most) {
  return {all.begin(), all.begin() + static_cast<std::ptrdiff_t>(std::min(most, all.size()))};
}

}  // namespace

std::vector<HostLineRow> host_line_rows(const HostProfile& host, std::size_t most) {
  std::vector<HostLineRow> rows;
  const WaitWords words(host);
  for (const HostLineSum& line : first_of(host.lines, most)) {
    rows.push_back({line, host.times.on_cpu(), words.of_line(line)});
  }
  return rows;
}

std::vector<HostFunctionRow> host_function_rows(const HostProfile& host, std::size_t most) {
  std::vector<HostFunctionRow> rows;
  for (const HostFunctionSum& function : first_of(host.functions, most)) {
    rows.push_back({function, host.times.on_cpu()});
  }
  return rows;
}

std::vector<HostThreadRow> host_thread_rows(const HostProfile& host, std::size_t most) {
  const auto place = [&host](int line) {
    return line < 0 ? HostFrame() : host.lines.at(static_cast<std::size_t>(line)).place;
  };
  std::vector<HostThreadRow> rows;
  const WaitWords words(host);
  for (const HostThreadSum& thread : first_of(host.threads, most)) {
    const std::string_view wait = words.of_thread(static_cast<int>(rows.size()), thread.times);
    rows.push_back({thread, place(thread.hottest_line), place(thread.longest_wait), wait});
  }
  return rows;
}

std::vector<HostProcessSum> host_process_rows(const HostProfile& host, std::size_t most) {
  return first_of(host.processes, most);
}

std::span<const Column<HostLineRow, HostProfile>> host_line_columns() { return kHostLineColumns; }
std::span<const Column<HostFunctionRow, HostProfile>> host_function_columns() { return kHostFunctionColumns; }
std::span<const Column<HostThreadRow, HostProfile>> host_thread_columns() { return kHostThreadColumns; }
std::span<const Column<HostProcessSum, HostProfile>> host_process_columns() { return kHostProcessColumns; }

}  // namespace roofline
