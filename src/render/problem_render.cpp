#include "render/problem_render.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "measure/statistics.hpp"
#include "measure/summary.hpp"
#include "render/html/escape.hpp"
#include "render/html/page.hpp"
#include "render/markdown_text.hpp"
#include "render/text_table.hpp"
#include "report/roofs.hpp"
#include "text/format.hpp"
#include "text/text.hpp"

namespace roofline {
namespace {

std::string time_text(double seconds) { return std::isfinite(seconds) ? duration(seconds) : "\u2013"; }

std::string limit_text(const Bound& bound) {
  return bound.limiting_ceiling.empty() ? "no roof" : bound.limiting_ceiling;
}

double bytes_of_part(const Work& work) {
  double bytes = 0;
  for (const auto& [level, traffic] : work.bytes) bytes += traffic.total();
  return bytes;
}

/// What a phase gives a user: tokens a second, or the time to the first one.
std::string rates_text(const PhaseBound& phase) {
  if (!std::isfinite(phase.least_s) || !(phase.tokens > 0)) return {};
  const auto rate = [&](double seconds) {
    const double tokens = phase.tokens / seconds;
    constexpr double kWhole = 100;
    return tokens < kWhole ? fmt::format("{:.3g}", tokens) : count(std::llround(tokens));
  };
  const std::string most = rate(phase.least_s);
  if (!std::isfinite(phase.by_op_s)) return fmt::format("at most {} tokens/s", most);
  const std::string least = rate(phase.by_op_s);
  return least == most ? most + " tokens/s" : fmt::format("{} to {} tokens/s", least, most);
}

std::string phase_text(const PhaseBound& phase) {
  if (!phase.fused)
    return fmt::format("{}: {} in all, each at its roof.", capitalised(phase.name), time_text(phase.by_op_s));
  std::string text = fmt::format("{}: at least {}", capitalised(phase.name), time_text(phase.least_s));
  if (std::isfinite(phase.least_s)) {
    const bool messages = phase.messages_s && *phase.messages_s >= phase.least_s;
    text += fmt::format(" ({})", messages ? "messages between the GPUs" : limit_text(*phase.fused));
  }
  text += fmt::format(", {} with each part as a kernel of its own", time_text(phase.by_op_s));
  if (const std::string rates = phase.name == "decode" ? rates_text(phase) : ""; !rates.empty()) text += ": " + rates;
  return text + ".";
}

std::string memory_text(const ProblemBound& problem, const Machine& machine) {
  const ProblemMemory& memory = *problem.memory;
  const std::string of = machine.device.kind == DeviceKind::cuda ? "Memory of a GPU" : "Memory";
  std::string text =
      fmt::format("{}: {} of weights and {} of keys and values", of, si(memory.weights, "B"), si(memory.cache, "B"));
  const double all = machine.device.memory_bytes;
  if (!(all > 0)) return text + ".";
  const double left = all - memory.weights;
  if (left <= 0) return fmt::format("{}; the weights do not fit into {}.", text, si(all, "B"));
  const double most = std::floor(left / problem.cache_per_sequence);
  return fmt::format("{} of {}: {}, at most {} such sequences.", text, si(all, "B"),
                     memory.total() <= all ? "fits" : "does not fit",
                     count(static_cast<std::int64_t>(std::min(most, 1e12))));
}

std::vector<const PartBound*> by_time(const PhaseBound& phase) {
  std::vector<const PartBound*> parts;
  for (const PartBound& part : phase.parts) parts.push_back(&part);
  const auto time = [](const PartBound* part) { return std::isfinite(part->time_s) ? part->time_s : -1; };
  std::stable_sort(parts.begin(), parts.end(),
                   [&](const PartBound* a, const PartBound* b) { return time(a) > time(b); });
  return parts;
}

bool has_measured(const PhaseBound& phase) {
  return std::any_of(phase.parts.begin(), phase.parts.end(),
                     [](const PartBound& part) { return part.measured_s.has_value(); });
}

/// What is special to a phase with measured parts.
std::vector<std::string> measured_cells(const PartBound& part) {
  const std::optional<Score> score = part.score();
  if (!score) return {"\u2013", "\u2013"};
  const std::string share = std::isfinite(score->share) ? percent(score->share) : "\u2013";
  return {time_text(*part.measured_s), score->possible ? share : share + " impossible"};
}

std::vector<std::string> cells_of(const PartBound& part, const PhaseBound& phase) {
  const double times = part.part.times, flops = times * part.part.work.total_flops();
  std::vector<std::string> cells = {
      clean_line(part.part.name),
      fmt::format("{:.0f}", times),
      flops > 0 ? si(flops, "FLOP") : "\u2013",
      si(times * bytes_of_part(part.part.work), "B"),
      time_text(part.time_s),
      std::isfinite(part.time_s / phase.by_op_s) ? percent(part.time_s / phase.by_op_s) : "\u2013",
      std::string(to_string(part.bound.label)),
      limit_text(part.bound)};
  if (!has_measured(phase)) return cells;
  for (std::string& cell : measured_cells(part)) cells.push_back(std::move(cell));
  return cells;
}

std::vector<TerminalColumn> columns(const PhaseBound& phase) {
  std::vector<TerminalColumn> list = {{.title = "part", .shrinks = true},
                                      {.title = "launches", .right = true, .rank = 3},
                                      {.title = "work", .right = true, .rank = 1},
                                      {.title = "bytes", .right = true, .rank = 2},
                                      {.title = "time", .right = true},
                                      {.title = "share", .right = true},
                                      {.title = "bound", .rank = 4},
                                      {.title = "limited by"}};
  if (!has_measured(phase)) return list;
  list.push_back({.title = "measured", .right = true});
  list.push_back({.title = "of bound", .right = true});
  return list;
}

TextTable table_of(const PhaseBound& phase, std::size_t most = SIZE_MAX) {
  TextTable table = {columns(phase), {}};
  for (const PartBound* part : by_time(phase)) {
    if (table.rows.size() < most) table.rows.push_back(cells_of(*part, phase));
  }
  return table;
}

/// How the measured parts of a phase stand to their bounds; empty where none was measured.
std::string measured_parts_text(const PhaseBound& phase) {
  std::vector<double> shares;
  for (const PartBound& part : phase.parts) {
    const std::optional<Score> score = part.score();
    if (score && std::isfinite(score->share)) shares.push_back(score->share);
  }
  if (shares.empty()) return {};
  std::vector<std::string> impossible = impossible_parts(phase);
  for (std::string& name : impossible) name = clean_line(name);
  const std::string below = impossible.empty() ? "none is below its bound"
                                               : fmt::format("below their bounds: {}", fmt::join(impossible, ", "));
  return fmt::format("{} measured: {}; the median reaches {} of its bound.", shares.size(), below,
                     percent(median(shares)));
}

std::string title(const ProblemBound& problem, const Machine& machine) {
  return fmt::format("{} \u00b7 {}", clean_line(problem.name), clean_line(machine.device.name));
}

std::vector<std::string> sentences(const ProblemBound& problem, const Machine& machine,
                                   const std::optional<MeasuredTime>& measured) {
  std::vector<std::string> text;
  for (const PhaseBound& phase : problem.phases) text.push_back(phase_text(phase));
  for (const PhaseBound& phase : problem.phases) {
    if (std::string parts = measured_parts_text(phase); !parts.empty()) text.push_back(std::move(parts));
  }
  if (measured) text.push_back(score_text(problem.phases.front(), *measured));
  if (problem.memory) text.push_back(memory_text(problem, machine));
  return text;
}

std::vector<std::string> notes_of_problem(const ProblemBound& problem, const Machine& machine) {
  std::vector<std::string> notes = problem.notes;
  if (const std::string note = not_measured(machine); !note.empty()) notes.push_back(note);
  return notes;
}

/// Time to the first token, and tokens per second after it.
std::string headline_of(const ProblemBound& problem) {
  std::vector<std::string> parts;
  for (const PhaseBound& phase : problem.phases) {
    if (!std::isfinite(phase.least_s)) continue;
    if (phase.name == "prefill") parts.push_back("the first token after at least " + duration(phase.least_s));
    const std::string rates = phase.name == "decode" ? rates_text(phase) : "";
    if (!rates.empty()) parts.push_back(parts.empty() ? rates : "then " + rates);
  }
  if (parts.empty()) return {};
  return capitalised(fmt::format("{}", fmt::join(parts, ", "))) + ".";
}

std::string html_phase(const PhaseBound& phase) {
  constexpr std::size_t kTime = 4, kShare = 5;
  TextTable table = table_of(phase);
  // Bars beside the names: where the time goes is seen first.
  ShareColumn bars{1, {}};
  for (const PartBound* part : by_time(phase)) bars.shares.push_back(part->time_s / phase.by_op_s);
  const auto to_front = [](auto& cells) {
    std::rotate(cells.begin() + 1, cells.begin() + kShare, cells.begin() + kShare + 1);
    std::rotate(cells.begin() + 2, cells.begin() + kTime + 1, cells.begin() + kTime + 2);
  };
  to_front(table.columns);
  for (std::vector<std::string>& row : table.rows) to_front(row);
  return fmt::format("<section id=\"{0}\">\n<h2>{1}</h2>\n<p class=\"lead\">{2}</p>\n{3}</section>\n",
                     escape_html(phase.name), escape_html(capitalised(phase.name)), escape_html(phase_text(phase)),
                     html_table(table, "parts-of-bound", bars));
}

std::string html_problem_chart(const ProblemBound& problem, const Machine& machine) {
  const Report chart = problem_chart(problem, machine);
  if (std::none_of(chart.points.begin(), chart.points.end(), [&](const Point& p) { return is_on_chart(chart, p); }))
    return {};
  return fmt::format(
      "<section id=\"chart\" aria-label=\"Roofline chart\">\n<h2>The parts at their roofs</h2>\n<p "
      "class=\"lead\">Each mark is a part as a kernel of its own. Below a sloped line memory is its bound, below a "
      "horizontal one a compute unit.</p>\n<div id=\"chart-scroll\">{}</div></section>\n",
      html_still_chart(chart, {}));
}

}  // namespace

Report problem_chart(const ProblemBound& problem, const Machine& machine) {
  Report report;
  report.machine = machine;
  report.invocation.run_name = problem.name;
  for (const PhaseBound& phase : problem.phases) {
    for (const PartBound& part : phase.parts) {
      if (!std::isfinite(part.time_s) || !(part.part.times > 0)) continue;
      Point point;
      point.workload.op = phase.name;
      point.workload.label = part.part.name;
      point.family = phase.name;
      point.work = part.part.work;
      point.bound = part.bound;
      const double time = part.time_s / part.part.times;
      point.time = summarize({&time, 1});
      report.points.push_back(std::move(point));
    }
  }
  return report;
}

std::string score_text(const PhaseBound& phase, const MeasuredTime& measured) {
  if (!std::isfinite(measured.score.share)) return "No score: the machine has no roof for this work.";
  if (measured.score.possible) {
    return fmt::format("{} measured: reaches {} of the bound.", duration(measured.seconds),
                       percent(measured.score.share));
  }
  return fmt::format(
      "{} measured is less than the least time of {}: work was skipped, inputs were cached, the time is "
      "wrong, or the roofs are of another machine.",
      duration(measured.seconds), duration(phase.least_s));
}

std::string render_problem_terminal(const ProblemBound& problem, const Machine& machine,
                                    const std::optional<MeasuredTime>& measured, const TerminalStyle& style) {
  std::string text = wrapped("", for_terminal(title(problem, machine), style), style) + '\n';
  for (const std::string& sentence : sentences(problem, machine, measured)) {
    text += wrapped("", for_terminal(sentence, style), style);
  }
  for (const PhaseBound& phase : problem.phases) {
    constexpr std::size_t kMost = 40;
    text +=
        '\n' + inked(capitalised(phase.name), Ink::bold, style) + '\n' + terminal_table(table_of(phase, kMost), style);
    if (phase.parts.size() <= kMost) continue;
    text += fmt::format("… and {} more; all are in the files that -o writes\n", phase.parts.size() - kMost);
  }
  text += '\n';
  for (const std::string& note : notes_of_problem(problem, machine)) {
    text += wrapped("! ", for_terminal(clean_line(note), style), style);
  }
  return text;
}

std::string render_problem_markdown(const ProblemBound& problem, const Machine& machine,
                                    const std::optional<MeasuredTime>& measured) {
  std::string text = "# Bound of " + escape_markdown(title(problem, machine)) + "\n\n";
  for (const std::string& sentence : sentences(problem, machine, measured)) text += escape_markdown(sentence) + "\n\n";
  for (const PhaseBound& phase : problem.phases) {
    text += "## " + escape_markdown(capitalised(phase.name)) + "\n\n" + markdown_table(table_of(phase)) + '\n';
  }
  for (const std::string& note : notes_of_problem(problem, machine))
    text += "- " + escape_markdown(clean_line(note)) + "\n";
  return text;
}

std::string render_problem_html(const ProblemBound& problem, const Machine& machine,
                                const std::optional<MeasuredTime>& measured) {
  const std::string headline = headline_of(problem);
  std::string body = fmt::format(
      "<header><div><h1><bdi>{}</bdi> <span>\u2014 bound</span></h1></div></header>\n<main>\n<section "
      "id=\"answer\">\n",
      escape_html(title(problem, machine)));
  if (!headline.empty()) body += fmt::format("<h2 class=\"answer\">{}</h2>\n", escape_html(headline));
  for (const std::string& sentence : sentences(problem, machine, measured))
    body += fmt::format("<p class=\"rest\">{}</p>\n", escape_html(sentence));
  std::vector<std::string> notes = notes_of_problem(problem, machine);
  for (std::string& note : notes) note = clean_line(note);
  if (!notes.empty()) body += html_list("findings", notes);
  body += "</section>\n" + html_problem_chart(problem, machine);
  for (const PhaseBound& phase : problem.phases) body += html_phase(phase);
  std::string style = html_chart_style();
  if (!problem.phases.empty()) {
    std::vector<std::string> titles = {"part", "Share", "Time", "Launches", "Work", "Bytes", "Bound", "Limited by"};
    if (has_measured(problem.phases.front())) titles.insert(titles.end(), {"Measured", "Of bound"});
    style += html_column_names(".parts-of-bound", titles);
  }
  return html_still_page(title(problem, machine), machine.tool_version, style, body + "</main>\n");
}

}  // namespace roofline
