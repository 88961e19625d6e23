#include "sample/native_names.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>

#include "sample/line_table.hpp"
#include "sample/own_files.hpp"
#include "text/demangle.hpp"

namespace roofline {
namespace {

/// The file into which distributions move the symbols and lines of a stripped file.
std::optional<ElfFile> debug_file_of(const ElfFile& elf) {
  const std::string id = elf.build_id();
  constexpr std::size_t kFolder = 2;
  if (id.size() <= kFolder) return std::nullopt;
  return ElfFile::open(fmt::format("/usr/lib/debug/.build-id/{}/{}.debug", id.substr(0, kFolder), id.substr(kFolder)));
}

/// Demangled, without versions of symbols and the suffixes of a function's parts.
std::string function_name(const std::string& symbol) {
  const std::string plain = symbol.substr(0, symbol.find('@'));
  return demangled(plain.substr(0, std::min(plain.find(".part."), plain.find(".cold"))));
}

/// Frames of one module, for sorted addresses without duplicates.
std::vector<HostFrame> frames_of(const CodeModule& module, const std::vector<std::uint64_t>& addresses) {
  const bool own = is_own_native_file(module.path) && !module.has_interpreter();
  const std::string file = module.path.empty() ? "[compiled at run time]" : module.path;
  std::vector<HostFrame> frames(addresses.size(), {.function = "[unknown]", .file = file, .python = false, .own = own});
  if (!module.elf) return frames;
  const std::optional<ElfFile> debug = debug_file_of(*module.elf);
  for (const ElfFile* const elf : {debug ? &*debug : nullptr, &*module.elf}) {
    if (elf == nullptr) continue;
    const std::vector<ElfSymbol> symbols = elf->functions_at(addresses);
    const SourceLines lines = source_lines(*elf, addresses);
    for (std::size_t i = 0; i < addresses.size(); ++i) {
      HostFrame& frame = frames[i];
      if (frame.function == "[unknown]" && !symbols[i].name.empty()) frame.function = function_name(symbols[i].name);
      if (frame.line != 0 || lines.at[i].line == 0 || lines.at[i].file.empty()) continue;
      // Code that was inlined from a system header is shown as the line of the function that contains it.
      const SourceLine& around = lines.around[i];
      const bool within = own && around.line != 0 && around.address >= symbols[i].address && symbols[i].size > 0;
      const SourceLine& line = within ? around : lines.at[i];
      frame.file = line.file;
      frame.line = line.line;
      frame.own = own && !is_system_source(line.file);
    }
  }
  return frames;
}

}  // namespace

std::vector<HostFrame> native_frames(const CodeModules& modules, const std::vector<CodePlace>& places) {
  std::map<int, std::vector<std::uint64_t>> addresses;
  for (const CodePlace& place : places) addresses[place.module].push_back(place.address);
  std::map<CodePlace, HostFrame> named;
  for (auto& [module, of_module] : addresses) {
    std::ranges::sort(of_module);
    of_module.erase(std::ranges::unique(of_module).begin(), of_module.end());
    const std::vector<HostFrame> frames = frames_of(modules[module], of_module);
    for (std::size_t i = 0; i < frames.size(); ++i) named[{module, of_module[i]}] = frames[i];
  }
  std::vector<HostFrame> frames;
  frames.reserve(places.size());
  for (const CodePlace& place : places) frames.push_back(named[place]);
  return frames;
}

bool waits_for_gpu(const HostFrame& frame) {
  static constexpr auto kWaits = std::to_array<std::string_view>(
      {"Synchronize", "cuMemcpyDtoH", "cuMemcpyHtoD", "cudaMemcpy", "cuMemFree", "cuStreamWaitValue"});
  const std::string_view function = frame.function;
  if (frame.python || !function.starts_with("cu") || function.find("Async") != std::string_view::npos) return false;
  return std::ranges::any_of(kWaits,
                             [&](std::string_view part) { return function.find(part) != std::string_view::npos; });
}

}  // namespace roofline
