#include "profile/cpu/code_regions.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <tuple>
#include <utility>

#include "model/find.hpp"
#include "profile/cpu/loops.hpp"
#include "profile/symbols.hpp"
#include "sample/native_names.hpp"
#include "sample/own_files.hpp"
#include "text/demangle.hpp"
#include "text/text.hpp"

namespace roofline {
namespace {

/// Machine code of one loop, or of a function outside its loops: `start` is the head of the loop or the function's
/// address, 0 where no symbol holds it.
struct RegionKey {
  int module = 0;
  int loop = -1;  ///< index into the module's loops
  std::uint64_t start = 0;
  auto operator<=>(const RegionKey&) const = default;
};

struct MachineRegion {
  CodeCounts counts;
  bool counted = false;
  double head_executions = 0;
  std::uint64_t place = 0;             ///< an address in it
  std::vector<std::uint64_t> sampled;  ///< of a loop
  std::string symbol;                  ///< of a function
  std::map<std::pair<int, std::uint64_t>, double> callers;
};

/// The functions of addresses that are in no loop.
class FunctionStarts {
 public:
  void want(int module, std::uint64_t address) { wanted_[module].push_back(address); }

  void find(const CodeModules& modules) {
    for (auto& [module, addresses] : wanted_) {
      std::ranges::sort(addresses);
      addresses.erase(std::unique(addresses.begin(), addresses.end()), addresses.end());
      const auto& elf = modules[module].elf;
      std::vector<Function>& functions = found_[module];
      constexpr std::size_t kAtOnce = 65536;  // names are copied for each address
      for (std::size_t i = 0; elf && i < addresses.size(); i += kAtOnce) {
        const auto first = addresses.begin() + static_cast<std::ptrdiff_t>(i);
        const auto last = first + static_cast<std::ptrdiff_t>(std::min(kAtOnce, addresses.size() - i));
        for (ElfSymbol& symbol : elf->functions_at({first, last})) add(functions, std::move(symbol));
      }
    }
  }

  /// Null if no symbol contains the address.
  const std::pair<std::uint64_t, std::string>* at(int module, std::uint64_t address) const {
    const auto functions = found_.find(module);
    if (functions == found_.end()) return nullptr;
    const auto after = std::ranges::upper_bound(functions->second, address, {}, &Function::start);
    if (after == functions->second.begin()) return nullptr;
    const Function& function = *std::prev(after);
    return address < function.end ? &function.symbol : nullptr;
  }

 private:
  struct Function {
    std::uint64_t start = 0, end = 0;
    std::pair<std::uint64_t, std::string> symbol;
  };

  static void add(std::vector<Function>& functions, ElfSymbol symbol) {
    if (symbol.name.empty()) return;
    if (!functions.empty() && functions.back().start == symbol.address) return;
    const std::uint64_t end = symbol.size > 0 ? symbol.address + symbol.size : UINT64_MAX;
    functions.push_back({symbol.address, end, {symbol.address, std::move(symbol.name)}});
  }

  std::map<int, std::vector<std::uint64_t>> wanted_;
  std::map<int, std::vector<Function>> found_;
};

constexpr std::string_view kUnknown = "[unknown]";  ///< as native_frames() calls it

std::string basename_of(const std::string& path) { return std::string(last_path_part(path)); }

class RegionBuilder {
 public:
  RegionBuilder(const CountedInstructions& counted, const CodeSamples& samples) : counted_(counted), samples_(samples) {
    for (const std::string& path : counted.modules) counted_module_.push_back(modules_.find(path));
    for (const std::string& path : samples.modules) sampled_module_.push_back(modules_.find(path));
  }

  CodeRegions build() {
    find_loops();
    find_functions();
    add_instructions();
    add_callers();
    CodeRegions result;
    std::vector<RegionKey> key_of_code;
    for (const SampledCode& code : samples_.code) {
      const RegionKey key = key_of(module_of(code), code.address);
      const auto [region, is_new] = machine_.try_emplace(key);
      // The name of a function's region is that of code that takes time.
      if (is_new || region->second.place == 0) region->second.place = code.address;
      if (key.loop >= 0) region->second.sampled.push_back(code.address);
      key_of_code.push_back(key);
    }
    leave_out_other_paths(key_of_code);
    const std::map<RegionKey, int> index = merge(result.regions);
    for (const RegionKey& key : key_of_code) result.of_code.push_back(index.at(key));
    return result;
  }

 private:
  int module_of(const SampledCode& code) const {
    return code.module < 0 ? -1 : sampled_module_[static_cast<std::size_t>(code.module)];
  }
  int module_of(const CountedInstruction& instruction) const {
    return counted_module_[static_cast<std::size_t>(instruction.module)];
  }

  void find_loops() {
    std::map<int, std::vector<LoopJump>> jumps;
    for (const BackwardJump& jump : counted_.jumps) {
      jumps[counted_module_[static_cast<std::size_t>(jump.module)]].push_back({jump.from, jump.to, jump.taken});
    }
    for (const auto& [module, of_module] : jumps) loops_.emplace(module, CodeLoops(of_module));
  }

  /// A function of which the native run executed other instructions than the emulated one took another path there: so
  /// does code without symbols, which may be several functions.
  void leave_out_other_paths(const std::vector<RegionKey>& key_of_code) {
    std::vector<std::pair<int, std::uint64_t>> executed;
    for (const CountedInstruction& one : counted_.instructions) {
      if (one.executions > 0) executed.emplace_back(module_of(one), one.address);
    }
    std::ranges::sort(executed);
    std::vector<double> samples(samples_.code.size(), 0);
    for (const CodeSample& sample : samples_.samples) ++samples[static_cast<std::size_t>(sample.code)];
    std::map<RegionKey, std::pair<double, double>> seen;  // samples, and those at executed instructions
    for (std::size_t i = 0; i < key_of_code.size(); ++i) {
      if (key_of_code[i].loop >= 0) continue;
      auto& [all, known] = seen[key_of_code[i]];
      all += samples[i];
      const SampledCode& code = samples_.code[i];
      if (std::ranges::binary_search(executed, std::pair(module_of(code), code.address))) known += samples[i];
    }
    constexpr double kMost = 0.5;
    for (const auto& [key, of] : seen) {
      if (of.second < kMost * of.first) machine_[key].counted = false;
    }
  }

  int loop_at(int module, std::uint64_t address) const {
    const auto found = loops_.find(module);
    return found == loops_.end() ? -1 : found->second.innermost(address);
  }
  const CodeLoop& loop_of(const RegionKey& key) const {
    return loops_.at(key.module).all()[static_cast<std::size_t>(key.loop)];
  }

  void find_functions() {
    const auto want = [&](int module, std::uint64_t address) {
      if (module >= 0 && loop_at(module, address) < 0) functions_.want(module, address);
    };
    for (const CountedInstruction& one : counted_.instructions) want(module_of(one), one.address);
    for (const SampledCode& code : samples_.code) want(module_of(code), code.address);
    for (const auto& [module, loops] : loops_) {
      for (const CodeLoop& loop : loops.all()) functions_.want(module, loop.head);
    }
    functions_.find(modules_);
  }

  RegionKey key_of(int module, std::uint64_t address) const {
    const int loop = module < 0 ? -1 : loop_at(module, address);
    if (loop >= 0) return {module, loop, loops_.at(module).all()[static_cast<std::size_t>(loop)].head};
    const auto* const symbol = module < 0 ? nullptr : functions_.at(module, address);
    return {module, -1, symbol == nullptr ? 0 : symbol->first};
  }

  void add_instructions() {
    for (const CountedInstruction& one : counted_.instructions) {
      const int module = module_of(one);
      const RegionKey key = key_of(module, one.address);
      MachineRegion& region = machine_[key];
      region.counts.add(counted_.counts_of(one));
      region.counted |= one.executions > 0;
      if (one.address == key.start) region.head_executions += one.executions;
    }
    // A loop without a load, a store or arithmetic is known by its jump alone.
    for (const BackwardJump& jump : counted_.jumps) {
      const int module = counted_module_[static_cast<std::size_t>(jump.module)];
      if (jump.taken > 0) machine_[key_of(module, jump.from)].counted = true;
    }
  }

  void add_callers() {
    for (const CalledInstruction& called : counted_.called) {
      const RegionKey key = key_of(counted_module_[static_cast<std::size_t>(called.module)], called.address);
      const int own = counted_module_[static_cast<std::size_t>(called.own_module)];
      machine_[key].callers[{own, called.own_address}] += called.weight;
    }
  }

  /// Machine code with the same name is one region.
  std::map<RegionKey, int> merge(std::vector<CodeRegion>& regions) {
    name_places();
    std::map<RegionKey, int> index;
    std::map<std::tuple<bool, std::string, std::string>, int> known;
    for (const auto& [key, machine] : machine_) {
      CodeRegion named = named_region(key, machine);
      const auto [at, is_new] =
          known.try_emplace({named.loop, named.name, path_of(key.module)}, static_cast<int>(regions.size()));
      if (is_new) regions.push_back(std::move(named));
      index[key] = at->second;
      CodeRegion& region = regions[static_cast<std::size_t>(at->second)];
      region.counts.add(machine.counts);
      region.counted |= machine.counted;
      if (key.loop < 0) {
        region.entries += machine.head_executions;
        continue;
      }
      const double iterations = loop_of(key).iterations;
      region.iterations += iterations;
      region.entries += std::max(0.0, machine.head_executions - iterations);
    }
    return index;
  }

  std::string path_of(int module) const { return module < 0 ? std::string() : modules_[module].path; }

  /// The most frequent caller: of a function's calls into a library, or of a region's own lines.
  static std::optional<std::pair<int, std::uint64_t>> main_caller(const MachineRegion& region) {
    const auto most = largest_entry(region.callers);
    return most == region.callers.end() ? std::nullopt : std::optional(most->first);
  }

  void name_places() {
    std::vector<CodePlace> places;
    for (const auto& [key, machine] : machine_) {
      if (key.module < 0) continue;
      if (key.loop >= 0) {
        places.push_back({key.module, key.start});
        places.push_back({key.module, loop_of(key).last});
        if (const auto* const symbol = functions_.at(key.module, key.start)) {
          places.push_back({key.module, symbol->first});
        }
      }
      if (machine.place != 0) places.push_back({key.module, machine.place});
      for (const std::uint64_t address : machine.sampled) places.push_back({key.module, address});
      if (const auto caller = main_caller(machine)) places.push_back({caller->first, caller->second});
    }
    std::vector<HostFrame> frames = native_frames(modules_, places);
    for (std::size_t i = 0; i < places.size(); ++i) frames_[places[i]] = std::move(frames[i]);
  }

  static std::string line_of(const HostFrame& frame) {
    if (frame.line == 0) return {};
    return fmt::format("{}:{} {}", basename_of(frame.file), frame.line, without_parameters(frame.function));
  }

  const HostFrame& frame_at(int module, std::uint64_t address) const {
    static const HostFrame kNone;
    const auto found = frames_.find({module, address});
    return found == frames_.end() ? kNone : found->second;
  }

  CodeRegion named_region(const RegionKey& key, const MachineRegion& machine) const {
    CodeRegion region;
    region.loop = key.loop >= 0;
    const std::string path = path_of(key.module);
    region.own = !path.empty() && is_own_native_file(path);
    if (region.loop) {
      name_loop(key, machine, region);
    } else {
      name_function(key, machine, region);
    }
    if (!region.own && !path.empty()) region.library = basename_of(path);
    if (!region.library.empty()) region.name += fmt::format(" ({})", region.library);
    if (const auto caller = main_caller(machine)) region.called_from = line_of(frame_at(caller->first, caller->second));
    return region;
  }

  /// The line of a loop is that of its head or of its jump, whichever comes first in the source: the one of a "for".
  /// Compilers give a head the line at which the function begins if it belongs to several: then the jump's, or the
  /// first one with a sample, is nearer. A jump at that line is of a loop there.
  int line_of_loop(const RegionKey& key, const MachineRegion& machine, const HostFrame& head) const {
    const auto* const symbol = functions_.at(key.module, key.start);
    const HostFrame& entry = frame_at(key.module, symbol == nullptr ? key.start : symbol->first);
    const auto begins = [&](const HostFrame& frame) {
      return symbol != nullptr && frame.file == entry.file && frame.line == entry.line;
    };
    int line = begins(head) ? 0 : head.line;
    const auto take = [&](const HostFrame& frame) {
      const bool same = frame.file == head.file && frame.function == head.function && frame.line > 0;
      if (same && (line == 0 || frame.line < line)) line = frame.line;
    };
    take(frame_at(key.module, loop_of(key).last));
    if (line > 0) return line;
    for (const std::uint64_t address : machine.sampled) {
      if (const HostFrame& frame = frame_at(key.module, address); !begins(frame)) take(frame);
    }
    return line > 0 ? line : head.line;
  }

  void name_loop(const RegionKey& key, const MachineRegion& machine, CodeRegion& region) const {
    HostFrame frame = frame_at(key.module, key.start);
    frame.line = line_of_loop(key, machine, frame);
    region.function = frame.function;
    region.line = line_of(frame);
    const bool known = !frame.function.empty() && frame.function != kUnknown;
    if (!known) region.function = fmt::format("loop at {:#x}", key.start);
    region.name = !region.line.empty() ? region.line + ", loop"
                  : known              ? fmt::format("{}, loop at {:#x}", without_parameters(frame.function), key.start)
                                       : region.function;
    if (!known && region.own) region.name += fmt::format(" ({})", basename_of(path_of(key.module)));
  }

  void name_function(const RegionKey& key, const MachineRegion& machine, CodeRegion& region) const {
    const auto* const symbol = key.start == 0 ? nullptr : functions_.at(key.module, key.start);
    if (symbol == nullptr) {
      region.name =
          key.module < 0 || path_of(key.module).empty() ? "code compiled at run time" : "code without symbols";
      region.function = region.name;
      return;
    }
    region.function = demangled(symbol->second.substr(0, symbol->second.find('@')));
    region.name = without_parameters(region.function);
    if (machine.place != 0) region.line = line_of(frame_at(key.module, machine.place));
  }

  const CountedInstructions& counted_;
  const CodeSamples& samples_;
  CodeModules modules_;
  std::vector<int> counted_module_, sampled_module_;
  std::map<int, CodeLoops> loops_;
  FunctionStarts functions_;
  std::map<RegionKey, MachineRegion> machine_;
  std::map<CodePlace, HostFrame> frames_;
};

}  // namespace

CodeRegions code_regions(const CountedInstructions& counted, const CodeSamples& samples) {
  return RegionBuilder(counted, samples).build();
}

}  // namespace roofline
