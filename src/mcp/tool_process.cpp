#include "mcp/tool_process.hpp"

#include <fcntl.h>
#include <fmt/format.h>

#include <csignal>
#include <utility>

#include "host/environment.hpp"
#include "host/host.hpp"
#include "mcp/facts.hpp"
#include "mcp/progress_lines.hpp"

namespace roofline {
namespace {

constexpr std::size_t kMostDocument = std::size_t{128} << 20;
constexpr std::size_t kMostMessages = std::size_t{1} << 16;  // the last ones
constexpr std::size_t kMostMessageLine = std::size_t{1} << 14;
constexpr double kGrace_s = 15;  // `profile` gives its program ten seconds

/// Appends what has come, up to about that much; false once the other end is closed.
bool read_available(int fd, std::string& bytes, std::size_t most) {
  for (const std::size_t end = bytes.size() + most; bytes.size() < end;) {
    const Arrival arrival = read_some(fd, bytes, std::chrono::milliseconds(0));
    if (arrival != Arrival::bytes) return arrival != Arrival::closed;
  }
  return true;
}

}  // namespace

ToolProcess::ToolProcess(const std::filesystem::path& program, const ToolCommand& command)
    : name_(command.arguments.front()),
      view_(command.view),
      new_folder_(command.new_folder),
      begin_s_(wall_seconds()),
      output_(Channel::pipe()),
      messages_(Channel::pipe()),
      message_lines_(kMostMessageLine) {
  const Descriptor nothing(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  std::vector<std::string> argv = {program.string()};
  argv.insert(argv.end(), command.arguments.begin(), command.arguments.end());
  process_ = Process::execute({.argv = std::move(argv),
                               .environment = environment_with({{kProgressVariable, kProgressLines}}),
                               .standard_input = nothing.get(),
                               .standard_output = output_.child.get(),
                               .standard_error = messages_.child.get(),
                               .own_group = true,
                               .ends_with_parent = true});
  output_.child.close();
  messages_.child.close();
}

std::vector<int> ToolProcess::descriptors() const {
  std::vector<int> open;
  for (const Channel* channel : {&output_, &messages_}) {
    if (channel->parent.get() >= 0) open.push_back(channel->parent.get());
  }
  return open;
}

void ToolProcess::update() {
  const bool has_ended = process_.ended();  // before the last reading: nothing is missed
  constexpr std::size_t kAtOnce = std::size_t{8} << 20;
  if (output_.parent.get() >= 0 && !read_available(output_.parent.get(), document_, kAtOnce)) output_.parent.close();
  if (document_.size() > kMostDocument) {
    too_much_ = true;
    document_.clear();
    stop();
  }
  read_messages();
  if (stopped_s_ && wall_seconds() > *stopped_s_ + kGrace_s) process_.signal(SIGKILL);
  if (!has_ended) return;
  status_ = process_.reap(kReapTimeout);
  std::error_code not_empty;  // or it was never made
  if (!new_folder_.empty()) std::filesystem::remove(new_folder_, not_empty);
}

void ToolProcess::read_messages() {
  if (messages_.parent.get() < 0) return;
  std::string bytes;
  if (!read_available(messages_.parent.get(), bytes, kMostMessages)) messages_.parent.close();
  message_lines_.add(bytes);
  while (const std::optional<LineReader::Line> line = message_lines_.next()) {
    if (const std::optional<ProgressReport> report = parse_progress_line(line->text)) {
      current_ = report->current;
      end_s_ = report->left_s ? std::optional(wall_seconds() + *report->left_s) : std::nullopt;
      continue;
    }
    recent_ += line->text + "\n";
    if (recent_.size() > 2 * kMostMessages) recent_.erase(0, recent_.size() - kMostMessages);
  }
}

void ToolProcess::stop() {
  if (stopped_s_ || status_) return;
  stopped_s_ = wall_seconds();
  // Not its group: `profile` passes the signal on to its program.
  if (const std::optional<ProcessIdentity> process = find_descendant(process_.pid())) send_signal(*process, SIGTERM);
}

ToolAnswer ToolProcess::answer() const {
  if (too_much_) {
    const std::string where = view_.report.empty() ? "" : fmt::format("; the report is {}", view_.report);
    return {fmt::format("the result of roofline {} is larger than {} MB{}", name_, kMostDocument >> 20, where), true};
  }
  const Json document = Json::parse(document_, nullptr, false);
  if (document.is_discarded() || !document.is_object()) {
    return digest_without_answer(name_, describe_end(*status_), recent_);
  }
  return digest_of_answer(document, view_, recent_);
}

CallProgress ToolProcess::progress() const {
  const double now_s = wall_seconds();
  CallProgress progress{.seconds = now_s - begin_s_, .message = current_.empty() ? name_ : current_};
  if (end_s_ && *end_s_ > now_s) progress.total_s = *end_s_ - begin_s_;
  return progress;
}

}  // namespace roofline
