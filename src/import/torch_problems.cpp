#include "import/torch_problems.hpp"

#include <fcntl.h>
#include <fmt/format.h>

#include <sys/wait.h>

#include <csignal>
#include <optional>
#include <system_error>

#include "host/descriptor.hpp"
#include "host/host.hpp"
#include "host/interrupt.hpp"
#include "host/process.hpp"
#include "model/error.hpp"
#include "text/line_reader.hpp"

extern "C" const char roofline_torch_trace_begin[], roofline_torch_trace_end[];

namespace roofline {
namespace {

/// Lines of a model with 100,000 operators have 50 MB.
constexpr std::size_t kLongestLine = std::size_t{1} << 29;

TracedProblem traced(const LineReader::Line& line, const std::string& file) {
  TracedProblem problem;
  problem.file = file;
  try {
    if (line.too_long) throw UsageError(fmt::format("{}: its trace has more than {} MiB", file, kLongestLine >> 20U));
    problem.graph = parse_torch_trace(line.text);
  } catch (const UsageError& error) {
    problem.error = error.what();
  }
  return problem;
}

/// What a process prints, line by line, until it ends or takes too long for one.
class Lines {
 public:
  Lines(int fd, double limit_s) : fd_(fd), limit_s_(limit_s), reader_(kLongestLine) {}

  /// True if the process closed its end: it ends by itself.
  bool closed() const { return closed_; }
  /// std::nullopt if there is no further line.
  std::optional<LineReader::Line> next() {
    const double end = wall_seconds() + limit_s_;
    std::optional<LineReader::Line> line = reader_.next();
    while (!line && !closed_ && !interrupted() && wall_seconds() <= end) {
      std::string bytes;
      closed_ = read_some(fd_, bytes, std::chrono::milliseconds(100)) == Arrival::closed;
      reader_.add(bytes);
      line = reader_.next();
    }
    return line;
  }

 private:
  int fd_;
  double limit_s_;
  LineReader reader_;
  bool closed_ = false;
};

}  // namespace

std::vector<TracedProblem> trace_problems(const std::string& python, const std::vector<std::string>& files,
                                          double limit_s, const std::function<void(std::size_t)>& progress) {
  const std::string script(roofline_torch_trace_begin, roofline_torch_trace_end);
  std::vector<std::string> argv = {python, "-c", script};
  argv.insert(argv.end(), files.begin(), files.end());
  Channel output = Channel::pipe();
  const Descriptor nothing(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  Process process;
  try {
    process = Process::execute({.argv = std::move(argv),
                                .standard_input = nothing.get(),
                                .standard_output = output.child.get(),
                                .own_group = true,
                                .ends_with_parent = true});
  } catch (const std::system_error& error) {
    throw Error(fmt::format("can't run '{}': {}", python, error.code().message()),
                "name a Python with PyTorch: --python");
  }
  output.child.close();
  Lines lines(output.parent.get(), limit_s);
  std::vector<TracedProblem> problems;
  while (problems.size() < files.size()) {
    const std::optional<LineReader::Line> line = lines.next();
    if (!line) break;
    problems.push_back(traced(*line, files[problems.size()]));
    progress(problems.size());
  }
  if (problems.size() == files.size()) {
    process.reap(kReapTimeout);
    return problems;
  }
  if (!lines.closed()) process.signal(SIGKILL);
  const int status = process.reap(kReapTimeout).value_or(0);
  const std::string& file = files[problems.size()];
  if (interrupted()) throw UsageError(fmt::format("{}: interrupted", file));
  if (!lines.closed()) throw UsageError(fmt::format("{}: not traced within {:.0f} s", file, limit_s));
  const std::string end = fmt::format("'{}' {}", python, describe_end(status));
  if (problems.empty() && WIFEXITED(status)) {
    throw Error(fmt::format("can't trace PyTorch problems: {}", end),
                "install PyTorch there, or name a Python that has it: --python");
  }
  throw UsageError(fmt::format("{}: not traced: {}", file, end));
}

}  // namespace roofline
