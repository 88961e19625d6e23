// Sampled instruction addresses of a build with line numbers, and the remarks of the compiler of the same code.
#include "analyze/hot_loop.hpp"

#include <dlfcn.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <sstream>
#include <utility>
#include <vector>

#include "analyze/compare_runs.hpp"
#include "analyze/recompiled.hpp"
#include "device/cpu/instruction_samples.hpp"
#include "sample/line_table.hpp"
#include "text/compiler_remarks.hpp"
#include "text/text.hpp"
#include "user/user_implementation.hpp"

namespace roofline {
namespace {

constexpr double kSampledS = 0.1;

using CodePlace = std::pair<std::string, int>;  ///< file and line

/// The line that most of the addresses have; none: those have no lines.
std::optional<CodePlace> hottest_line(const std::vector<std::uintptr_t>& addresses) {
  std::map<std::string, std::vector<std::uint64_t>> by_library;  // linked addresses
  for (const std::uintptr_t address : addresses) {
    Dl_info info = {};
    if (::dladdr(reinterpret_cast<void*>(address), &info) == 0 || info.dli_fname == nullptr) continue;
    by_library[info.dli_fname].push_back(address - reinterpret_cast<std::uintptr_t>(info.dli_fbase));
  }
  std::map<CodePlace, int> samples;
  for (auto& [library, linked] : by_library) {
    const std::optional<ElfFile> elf = ElfFile::open(library);
    if (!elf) continue;
    std::sort(linked.begin(), linked.end());
    for (const SourceLine& line : source_lines(*elf, linked).at)
      if (!line.file.empty()) ++samples[{line.file, line.line}];
  }
  const auto most = std::ranges::max_element(samples, {}, [](const auto& one) { return one.second; });
  return most == samples.end() ? std::nullopt : std::optional(most->first);
}

}  // namespace

std::string why_not_vectorized(const SuiteEntry& entry, const Workload& workload, Device& device) {
  const std::optional<Implementation> with_lines = with_options(entry, {"-g1"});
  if (!with_lines) return {};
  BatchTimer timer(*entry.op, *with_lines, workload, device);
  const std::optional<CodePlace> hottest = hottest_line(sample_instructions(kSampledS, [&] { timer.time(); }));
  if (!hottest) return {};
  CompilerRemarks remarks;
  std::istringstream text(vectorizer_remarks(*entry.kernel, entry.workload.implementation, device.info().isa));
  remarks.read(text, entry.kernel->name);
  return remarks.why_not_around(last_path_part(hottest->first), hottest->second);
}

}  // namespace roofline
