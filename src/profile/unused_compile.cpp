#include "profile/unused_compile.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>

#include "profile/causes/kernel_names.hpp"
#include "sample/python_files.hpp"
#include "text/parse.hpp"
#include "text/text.hpp"

namespace roofline {
namespace {

constexpr std::string_view kCompile = "torch.compile";
constexpr std::size_t kMostFiles = 200;
constexpr std::array<SavingCause, 3> kCompilable = {SavingCause::fusion, SavingCause::tiny_kernels,
                                                    SavingCause::launch_rate};

bool ran_compiled_code(const std::vector<ProcessTrace>& traces) {
  return std::ranges::any_of(traces, [](const ProcessTrace& trace) {
    return std::ranges::any_of(trace.kinds, [&](const auto& kind) { return is_of_inductor(trace.text(kind.name)); });
  });
}

}  // namespace

std::optional<std::int64_t> line_of_compile(std::string_view source) {
  std::int64_t number = 0;
  for (const std::string& line : split(source, '\n')) {
    ++number;
    const std::string_view code = std::string_view(line).substr(0, line.find('#'));
    const std::size_t at = code.find(kCompile);
    if (at == std::string_view::npos) continue;
    const std::string_view before = trimmed(code.substr(0, at));
    const char after = at + kCompile.size() < code.size() ? code[at + kCompile.size()] : '\n';
    const bool quoted =
        std::ranges::count(code.substr(0, at), '"') % 2 == 1 || std::ranges::count(code.substr(0, at), '\'') % 2 == 1;
    if (!quoted && (after == '(' || before.ends_with('@'))) return number;
  }
  return std::nullopt;
}

void name_unused_compile(std::vector<Saving>& savings, const std::vector<ProcessTrace>& traces,
                         const SourceContent& content) {
  const auto compilable = [](const Saving& saving) {
    return std::ranges::find(kCompilable, saving.cause) != kCompilable.end();
  };
  if (std::ranges::none_of(savings, compilable) || ran_compiled_code(traces)) return;
  std::set<std::string> files;
  for (const ProcessTrace& trace : traces) {
    for (const spool::Line& line : trace.lines) {
      const std::string_view path = trace.text(line.file);
      if (path.ends_with(".py") && is_own_python_file(path)) files.emplace(path);
    }
  }
  std::size_t looked_at = 0;
  for (const std::string& path : files) {
    if (looked_at++ == kMostFiles) return;
    const auto line = line_of_compile(content(path));
    if (!line) continue;
    for (Saving& saving : savings) {
      if (!compilable(saving)) continue;
      saving.action = fmt::format(
          "The program has torch.compile ({}:{}), but none of its kernels ran. Call what it returns: other methods of "
          "the "
          "module stay eager unless they are compiled themselves. TORCH_LOGS=graph_breaks shows what else stays eager.",
          last_path_part(path), *line);
    }
    return;
  }
}

}  // namespace roofline
