// Flame graphs of a profile, which hang from the top: time of host threads on CPUs, their waits, and time of GPUs.
#include <fmt/format.h>

#include <set>
#include <string>
#include <utility>
#include <vector>

#include "render/flame_graph.hpp"
#include "render/html/bars.hpp"
#include "render/html/profile_sections.hpp"
#include "text/format.hpp"

namespace roofline {
namespace {

constexpr double kFlameRow = 18, kFlameBar = 17;
constexpr std::size_t kMostFlameBars = 600;

/// The class of a frame, and its name in the legend.
constexpr std::pair<const char*, const char*> kFrameStyles[] = {
    {"k-root", "process"},           {"k-root", "thread"},
    {"k-own", "the program's code"}, {"k-python", "Python libraries"},
    {"k-native", "native code"},     {"k-root", "GPU"},
    {"k-native", "module"},          {"k-own", "line"},
    {"k-python", "kernel"},          {"copy", "copies and memsets"}};

const std::pair<const char*, const char*>& look_of_frame(FrameKind kind) {
  return kFrameStyles[static_cast<std::size_t>(kind)];
}

PageBar flame_bar(const FlameBar& bar, double all_s) {
  PageBar shown = {.at = 100 * bar.start_s / all_s,
                   .width = 100 * bar.seconds / all_s,
                   .style = look_of_frame(bar.frame.kind).first,
                   .name = bar.frame.name,
                   .rest = fmt::format("{}, {}", duration(bar.seconds), percent(bar.seconds / all_s))};
  if (bar.merged > 0) {
    shown.style = "k-rest";
    shown.name = fmt::format("{} shorter frames", count(bar.merged));
  }
  return shown;
}

std::string flame_legend(const FlameGraph& graph) {
  std::set<FrameKind> kinds;
  for (const FlameBar& bar : graph.bars) {
    if (bar.merged == 0) kinds.insert(bar.frame.kind);
  }
  std::vector<std::pair<std::string, std::string>> entries;
  for (const FrameKind kind : kinds) {
    const auto& [style, name] = look_of_frame(kind);
    if (style == std::string("k-root")) continue;
    entries.emplace_back(style, name);
  }
  return html_bar_legend(entries);
}

std::string flame_figure(const std::string& id, const std::string& title, const std::string& text,
                         const std::vector<FoldedStack>& stacks) {
  const FlameGraph graph = flame_graph(stacks, kMostFlameBars);
  if (!(graph.seconds > 0)) return {};
  BarChart chart = {.id = id,
                    .label = fmt::format("{}: flame graph of {}", title, duration(graph.seconds)),
                    .height = kFlameRow * graph.depth,
                    .attributes = fmt::format(" data-length=\"{}\"", graph.seconds)};
  auto bar = graph.bars.begin();
  for (int depth = 0; depth < graph.depth; ++depth) {
    std::vector<PageBar> row;
    for (; bar != graph.bars.end() && bar->depth == depth; ++bar) row.push_back(flame_bar(*bar, graph.seconds));
    chart.rows += html_bar_row("", kFlameRow * depth, kFlameBar, row);
  }
  const std::string merged =
      graph.merged > 0 ? fmt::format(" The {} shortest frames are merged.", count(graph.merged)) : "";
  return fmt::format("<h3>{}</h3>\n<p class=\"lead\">{}{}</p>\n<div class=\"flame\">{}</div>\n{}", title, text, merged,
                     html_bar_chart(chart), flame_legend(graph));
}

/// A wait as the frame of its thread, below which the stacks are that waited so.
FoldedStack with_state(FoldedStack stack) {
  stack.frames.insert(stack.frames.begin() + 2, {state_frame(stack.state), FrameKind::thread});
  return stack;
}

/// Threads that were on a CPU for some of their time, and main threads.
std::set<std::string> working_threads(const HostProfile& host) {
  constexpr double kSome = 0.05;
  std::set<std::string> names;
  for (const HostThreadSum& sum : host.threads) {
    if (sum.thread.main || sum.times.on_cpu() > kSome * sum.times.total()) names.insert(thread_name(sum.thread));
  }
  return names;
}

std::string host_figures(const HostProfile& host) {
  const std::set<std::string> working = working_threads(host);
  std::vector<FoldedStack> running, waiting;
  double left_out_s = 0;
  for (FoldedStack& stack : host_stacks(host)) {
    if (stack.state == ThreadState::running) {
      running.push_back(std::move(stack));
    } else if (working.contains(stack.frames[1].name)) {
      waiting.push_back(with_state(std::move(stack)));
    } else {
      left_out_s += stack.seconds;
    }
  }
  const std::string left_out =
      left_out_s > 0 ? fmt::format(" Left out: {} of threads that hardly ran.", duration(left_out_s)) : "";
  return flame_figure("flame-cpu", "Host: on a CPU", "CPU time by thread and stack.", running) +
         flame_figure("flame-wait", "Host: waiting", "Waiting time by thread, cause and stack." + left_out, waiting);
}

constexpr const char* kFlamesHint =
    "<p class=\"hint\" hidden>Width is time; a bar's callers are above it. Click a bar to zoom to it. Keyboard: Tab to "
    "a "
    "graph, arrow keys between bars, Enter to zoom, 0 to reset.</p>\n";

}  // namespace

std::string html_flames(const Report& report) {
  const auto& host = report.profile->host;
  std::string figures = flame_figure(
      "flame-gpu", "GPU", "GPU time by module, line and kernel, over the whole recording.", gpu_stacks(report));
  if (host) figures += host_figures(*host);
  if (figures.empty()) return {};
  return fmt::format(
      "<section id=\"flames\" aria-labelledby=\"flames-h\">\n<h2 id=\"flames-h\">Flame graphs</h2>\n{}{}</section>\n",
      kFlamesHint, figures);
}

}  // namespace roofline
