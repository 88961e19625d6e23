// roofline new kernel: a first suite for somebody's kernel, beside its source.
#include <fmt/format.h>

#include <filesystem>

#include "cli/commands.hpp"
#include "cli/console.hpp"
#include "host/files.hpp"
#include "model/error.hpp"
#include "user/compile.hpp"
#include "user/first_suite.hpp"

namespace roofline {

ExitCode run_new(const NewCommand& command, const Options&) {
  const std::filesystem::path source = command.source;
  const std::string suite = first_suite(source, read_file(source, kSourceLimit));
  if (command.output == "-") {
    print_result(suite);
    return ExitCode::ok;
  }
  std::filesystem::path path = command.output;
  if (path.empty()) path = std::filesystem::path(source).replace_extension(".yaml");
  std::error_code hidden;
  if (std::filesystem::exists(path, hidden)) {
    throw UsageError(fmt::format("{} is there already", path.string()), "name another file with -o, or '-' for stdout");
  }
  if (path.parent_path() != source.parent_path()) {
    throw UsageError("the suite belongs beside its source, whose path in it is relative",
                     "leave out -o, or name a file there");
  }
  write_file(path, suite);
  say(fmt::format("wrote {}: go through what says \"decide\", then: roofline analyze {}", path.string(),
                  path.string()));
  return ExitCode::ok;
}

}  // namespace roofline
