#include "report/folded_stacks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string_view>
#include <utility>

#include "text/text.hpp"

namespace roofline {
namespace {

/// Adds times of equal stacks.
class StackSums {
 public:
  void add(std::vector<StackFrame> frames, ThreadState state, double seconds) {
    if (seconds > 0) sums_[{std::move(frames), state}] += seconds;
  }

  std::vector<FoldedStack> take() const {
    std::vector<FoldedStack> stacks;
    for (const auto& [stack, seconds] : sums_) stacks.push_back({stack.first, stack.second, seconds});
    return stacks;
  }

 private:
  std::map<std::pair<std::vector<StackFrame>, ThreadState>, double> sums_;
};

/// "load (data.py:31)", "memcpy (libc.so.6)".
StackFrame frame_of(const HostFrame& frame) {
  const FrameKind kind = frame.own ? FrameKind::own : frame.python ? FrameKind::python : FrameKind::native;
  const std::string_view file = last_path_part(frame.file);
  if (file.empty()) return {clean_line(frame.function), kind};
  return {clean_line(frame.line > 0 ? fmt::format("{} ({}:{})", frame.function, file, frame.line)
                                    : fmt::format("{} ({})", frame.function, file)),
          kind};
}

void add_module(std::vector<StackFrame>& frames, std::string_view path) {
  while (!path.empty()) {
    const std::string_view part = path.substr(0, path.find('.'));
    if (!part.empty()) frames.push_back({clean_line(part), FrameKind::module});
    path.remove_prefix(std::min(part.size() + 1, path.size()));
  }
}

void add_line(std::vector<StackFrame>& frames, const std::string& line) {
  if (!line.empty()) frames.push_back({clean_line(line), FrameKind::line});
}

bool has_kernels_of_graphs(const Report& report) {
  return std::ranges::any_of(report.points, [](const Point& point) {
    return point.profiled && point.profiled->in_graph && point.profiled->total_s > 0;
  });
}

}  // namespace

std::string process_name(const HostThread& thread) {
  const std::string_view command = thread.command;
  const std::string_view name = last_path_part(command.substr(0, command.find(' ')));
  return clean_line(fmt::format("{} {}", name.empty() ? thread.name : name, thread.pid));
}

std::string thread_name(const HostThread& thread) { return clean_line(fmt::format("{} {}", thread.name, thread.tid)); }

std::string state_frame(ThreadState state) { return fmt::format("[{}]", to_string(state)); }

std::vector<FoldedStack> host_stacks(const HostProfile& host) {
  StackSums sums;
  for (const HostStackSum& stack : host.stacks) {
    const HostThread& thread = host.threads.at(static_cast<std::size_t>(stack.thread)).thread;
    std::vector<StackFrame> frames = {{process_name(thread), FrameKind::process},
                                      {thread_name(thread), FrameKind::thread}};
    for (const int frame : stack.frames) frames.push_back(frame_of(host.frames.at(static_cast<std::size_t>(frame))));
    sums.add(std::move(frames), stack.state, stack.seconds);
  }
  return sums.take();
}

std::vector<FoldedStack> gpu_stacks(const Report& report) {
  StackSums sums;
  // Kernels of graphs have rows of their own, and their times are in the row of the graph's launches, too.
  const bool skip_graphs = has_kernels_of_graphs(report);
  for (const Point& point : report.points) {
    if (!point.profiled || point.profiled->loop || (skip_graphs && point.profiled->graph)) continue;
    const ProfiledKind& kind = *point.profiled;
    std::vector<StackFrame> frames = {{fmt::format("GPU {}", kind.device), FrameKind::device}};
    add_module(frames, kind.module);
    add_line(frames, kind.line);
    frames.push_back({clean_line(point.workload.op), FrameKind::kernel});
    sums.add(std::move(frames), ThreadState::running, kind.total_s);
  }
  if (report.profile) {
    for (const CopySum& copy : report.profile->copies) {
      std::vector<StackFrame> frames = {{"copies and memsets", FrameKind::transfer},
                                        {clean_line(to_string(copy.path)), FrameKind::transfer}};
      add_line(frames, copy.line);
      sums.add(std::move(frames), ThreadState::running, copy.total_s);
    }
  }
  return sums.take();
}

}  // namespace roofline
