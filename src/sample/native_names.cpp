#include "sample/native_names.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <string>
#include <unordered_set>

#include "sample/function_roles.hpp"
#include "sample/inline_frames.hpp"
#include "sample/line_table.hpp"
#include "sample/own_files.hpp"
#include "text/demangle.hpp"
#include "text/parts.hpp"

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

/// The kernels' wrappers that nvcc generated, as wrapper_identity() has them.
std::unordered_set<std::uint64_t> wrappers_of(const ElfFile& elf) {
  constexpr std::uint64_t kMostSymbols = std::uint64_t{256} << 20U;
  std::unordered_set<std::uint64_t> wrappers;
  elf.visit_functions(kMostSymbols, [&wrappers](const ElfFunction& symbol) {
    if (function_role(symbol.name) == FunctionRole::stub) wrappers.insert(wrapper_identity(symbol.name));
  });
  return wrappers;
}

/// Symbols and lines of sorted addresses, from one file, where they are not known yet.
class FrameNames {
 public:
  FrameNames(const ElfFile& elf, const std::vector<std::uint64_t>& addresses, bool own)
      : own_(own), symbols_(elf.functions_at(addresses)), lines_(source_lines(elf, addresses)) {
    if (!own) return;
    functions_ = inlined_functions(elf, addresses);
    for (std::size_t i = 0; i < addresses.size(); ++i) {
      // The symbol names the class of a function, too, which debug information may not.
      if (!functions_[i].empty() && !symbols_[i].name.empty()) functions_[i].back().function = symbols_[i].name;
    }
    wrappers_ = wrappers_of(elf);
  }

  void add(std::size_t index, PlaceFrames& place) const {
    HostFrame& frame = place.frame;
    const ElfSymbol& symbol = symbols_[index];
    if (frame.function == "[unknown]" && !symbol.name.empty()) frame.function = function_name(symbol.name);
    // CUDA's functions may be linked into the program, and nvcc adds some to it.
    const bool program = function_role(symbol.name) == FunctionRole::program && !is_wrapper(symbol.name);
    frame.own = frame.own && program;
    const SourceLine& at = lines_.at[index];
    if (frame.line != 0 || at.line == 0 || at.file.empty()) return;
    if (own_ && find_program_frame(functions_[index], at, place)) return;
    // Code that was inlined from a system header is shown as the line of the function that contains it.
    const SourceLine& around = lines_.around[index];
    const bool within = own_ && around.line != 0 && around.address >= symbol.address && symbol.size > 0;
    const SourceLine& line = within ? around : at;
    frame.file = line.file;
    frame.line = line.line;
    frame.own = own_ && program && !is_system_source(line.file);
  }

 private:
  bool is_wrapper(std::string_view symbol) const {
    return !wrappers_.empty() && wrappers_.contains(wrapper_identity(symbol));
  }

  /// The innermost of these functions that is the program's own source, by lines, and the function inlined into it that
  /// is not: `innermost` is the first one's.
  bool find_program_frame(const std::vector<InlinedFunction>& functions, const SourceLine& innermost,
                          PlaceFrames& place) const {
    std::string file = innermost.file;
    int line = innermost.line;
    std::optional<HostFrame> inlined;
    bool found = false;
    for (const InlinedFunction& of : functions) {
      const bool program = function_role(of.function) == FunctionRole::program && !is_wrapper(of.function);
      if (program && line != 0 && !file.empty() && !is_system_source(file)) {
        // What copies an object is at the line of its class: the line that asks for the copy is shown.
        const bool special = is_special_member(of.function);
        if (!found || !special) {
          place.frame = HostFrame{function_name(of.function), file, line, false, true};
          place.inlined = inlined;
          found = true;
        }
        if (!special) {
          place.callers = callers_of(functions, static_cast<std::size_t>(&of - functions.data()));
          return true;
        }
      }
      inlined = HostFrame{function_name(of.function), file, line, false, false};
      file = of.call_file;
      line = of.call_line;
    }
    return found;
  }

  /// The functions into which this one was inlined, up to the one that the stack has a return address in.
  std::vector<HostFrame> callers_of(const std::vector<InlinedFunction>& functions, std::size_t inlined) const {
    constexpr std::size_t kMostCallers = 16;
    std::vector<HostFrame> callers;
    for (; inlined + 1 < functions.size() && callers.size() < kMostCallers; ++inlined) {
      const InlinedFunction &of = functions[inlined], &caller = functions[inlined + 1];
      if (of.call_line == 0 || of.call_file.empty()) break;
      const bool program = function_role(caller.function) == FunctionRole::program && !is_wrapper(caller.function);
      callers.push_back({function_name(caller.function), of.call_file, of.call_line, false,
                         program && !is_system_source(of.call_file)});
    }
    return callers;
  }

  bool own_;
  std::vector<ElfSymbol> symbols_;
  SourceLines lines_;
  std::vector<std::vector<InlinedFunction>> functions_;
  std::unordered_set<std::uint64_t> wrappers_;
};

/// Frames of one module, for sorted addresses without duplicates.
std::vector<PlaceFrames> frames_of(const CodeModule& module, const std::vector<std::uint64_t>& addresses) {
  const bool own = is_own_native_file(module.path) && !module.has_interpreter();
  const std::string file = module.path.empty() ? "[compiled at run time]" : module.path;
  const HostFrame unknown = {.function = "[unknown]", .file = file, .python = false, .own = own};
  std::vector<PlaceFrames> frames(addresses.size(), {unknown, std::nullopt, {}});
  if (!module.elf) return frames;
  const std::optional<ElfFile> debug = debug_file_of(*module.elf);
  for (const ElfFile* const elf : {debug ? &*debug : nullptr, &*module.elf}) {
    if (elf == nullptr) continue;
    const FrameNames names(*elf, addresses, own);
    for (std::size_t i = 0; i < addresses.size(); ++i) names.add(i, frames[i]);
  }
  return frames;
}

}  // namespace

std::vector<PlaceFrames> place_frames(const CodeModules& modules, const std::vector<CodePlace>& places) {
  std::map<int, std::vector<std::uint64_t>> addresses;
  for (const CodePlace& place : places) addresses[place.module].push_back(place.address);
  std::map<CodePlace, PlaceFrames> named;
  for (auto& [module, of_module] : addresses) {
    std::ranges::sort(of_module);
    of_module.erase(std::unique(of_module.begin(), of_module.end()), of_module.end());
    std::vector<PlaceFrames> frames = frames_of(modules[module], of_module);
    for (std::size_t i = 0; i < frames.size(); ++i) named[{module, of_module[i]}] = std::move(frames[i]);
  }
  std::vector<PlaceFrames> frames;
  frames.reserve(places.size());
  for (const CodePlace& place : places) frames.push_back(named[place]);
  return frames;
}

std::vector<HostFrame> native_frames(const CodeModules& modules, const std::vector<CodePlace>& places) {
  std::vector<HostFrame> frames;
  for (PlaceFrames& place : place_frames(modules, places)) frames.push_back(std::move(place.frame));
  return frames;
}

bool waits_for_gpu(const HostFrame& frame) {
  static constexpr auto kWaits = std::to_array<std::string_view>(
      {"Synchronize", "cuMemcpyDtoH", "cuMemcpyHtoD", "cudaMemcpy", "cuMemFree", "cuStreamWaitValue"});
  const std::string_view function = frame.function;
  if (frame.python || !function.starts_with("cu") || function.find("Async") != std::string_view::npos) return false;
  return contains_any(function, kWaits);
}

}  // namespace roofline
