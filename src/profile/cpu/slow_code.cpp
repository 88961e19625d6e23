#include "profile/cpu/slow_code.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>

#include "profile/cpu/indirect_loads.hpp"
#include "profile/cpu/loops.hpp"
#include "profile/cpu/probe_loops.hpp"
#include "profile/cpu/x86_instruction.hpp"
#include "sample/code_modules.hpp"
#include "sample/native_names.hpp"
#include "sample/own_files.hpp"

namespace roofline {
namespace {

constexpr std::size_t kLargestFunction = std::size_t{1} << 20U;  ///< bytes
constexpr double kLeastOfProgram = 0.15, kLeastOfLoop = 0.3;     ///< of the samples
constexpr double kLeastSamples = 50;

/// In order, up to the first one that is not known.
std::vector<CodeInstruction> decoded(std::span<const std::uint8_t> code, std::uint64_t start) {
  std::vector<CodeInstruction> all;
  for (std::size_t at = 0; at < code.size();) {
    const std::optional<X86Instruction> one = decode_x86(code.subspan(at));
    if (!one) break;
    all.push_back({start + at, *one});
    at += one->length;
  }
  return all;
}

bool is_slow(X86Kind kind) {
  return kind == X86Kind::division || kind == X86Kind::root || kind == X86Kind::integer_division;
}
bool converts(X86Kind kind) { return kind == X86Kind::widening || kind == X86Kind::narrowing; }

class FunctionLoops {
 public:
  /// `samples`: in the order of their addresses.
  FunctionLoops(std::span<const std::uint8_t> code, std::uint64_t start, std::span<const SampledAddress> samples)
      : all_(decoded(code, start)), samples_(samples) {
    std::vector<LoopJump> jumps;
    for (const CodeInstruction& one : all_) {
      if (one.code.kind != X86Kind::jump || one.code.relative >= 0) continue;
      const std::uint64_t to = one.address + one.code.length + static_cast<std::uint64_t>(one.code.relative);
      if (to >= start) jumps.push_back({one.address, to, 1 + density(to, one.address)});
    }
    loops_ = CodeLoops(jumps);
    found_.resize(loops_.all().size());
    most_.resize(found_.size(), 0);
  }

  std::vector<SlowLoop> find() {
    for (std::size_t i = 0; i < found_.size(); ++i) describe(static_cast<int>(i));
    for (const SampledAddress& one : samples_) add(one);
    note_around();
    for (std::size_t i = 0; i < found_.size(); ++i) note_indirect(static_cast<int>(i));
    return std::move(found_);
  }

 private:
  /// Samples per byte of code: of two loops that overlap, the one with more of them has more iterations.
  double density(std::uint64_t first, std::uint64_t last) const {
    double sum = 0;
    for (auto one = std::ranges::lower_bound(samples_, first, {}, &SampledAddress::address);
         one != samples_.end() && one->address <= last; ++one)
      sum += one->samples;
    return sum / static_cast<double>(last - first + 1);
  }

  /// Inner loops are none of the code that runs once for each sequence.
  void note_around() {
    std::set<int> outer = {-1};
    for (const CodeLoop& loop : loops_.all()) outer.insert(loop.parent);
    double most = 0;
    for (const SampledAddress& one : samples_) {
      if (outer.contains(loops_.innermost(one.address))) most = std::max(most, one.samples);
    }
    for (SlowLoop& loop : found_) loop.around = most;
  }

  /// Samples of waits for memory are at the load or at the next instruction: the interrupt is taken at the oldest one
  /// that is not done, or behind it.
  void note_indirect(int index) {
    SlowLoop& loop = found_[static_cast<std::size_t>(index)];
    if (loop.samples < kLeastSamples || loop.probes) return;
    const auto code = instructions_of(index);
    const std::vector<LoadAddress> addresses = load_addresses(code);
    std::vector<double> waits(code.size(), 0);
    double others = 0;
    std::size_t own = 0, counted = 0;  // other instructions of the loop itself, loads with a good part
    auto sample = std::ranges::lower_bound(samples_, code.front().address, {}, &SampledAddress::address);
    for (std::size_t i = 0; i < code.size(); ++i) {
      if (loops_.innermost(code[i].address) != index) continue;
      const bool load = addresses[i] != LoadAddress::direct, behind = i > 0 && addresses[i - 1] != LoadAddress::direct;
      if (!load && !behind) ++own;
      double here = 0;
      for (; sample != samples_.end() && sample->address <= code[i].address; ++sample) {
        if (sample->address == code[i].address) here += sample->samples;
      }
      if (load || behind) {
        waits[load ? i : i - 1] += here;
        loop.indirect += here;
      } else {
        others += here;
      }
    }
    constexpr double kGoodPart = 0.05;
    double most = 0;
    for (std::size_t i = 0; i < code.size(); ++i) {
      if (addresses[i] == LoadAddress::linked) loop.linked += waits[i];
      if (waits[i] > 0 && waits[i] >= kGoodPart * loop.indirect) ++counted;
      if (waits[i] <= most) continue;
      most = waits[i];
      loop.indirect_address = code[i].address;
    }
    loop.indirect_each = counted > 0 ? loop.indirect / static_cast<double>(counted) : 0;
    loop.direct_each = own > 0 ? others / static_cast<double>(own) : 0;
  }

  /// The interrupt is taken at the oldest instruction that is not done, or at the next one.
  const CodeInstruction* cause_of(std::size_t index) const {
    const auto is_cause = [&](std::size_t i) { return is_slow(all_[i].code.kind) || converts(all_[i].code.kind); };
    if (is_cause(index)) return &all_[index];
    return index > 0 && is_cause(index - 1) ? &all_[index - 1] : nullptr;
  }

  void add(const SampledAddress& sample) {
    const auto at = std::ranges::lower_bound(all_, sample.address, {}, &CodeInstruction::address);
    const int index = loops_.innermost(sample.address);
    if (at == all_.end() || at->address != sample.address || index < 0) return;
    SlowLoop& loop = found_[static_cast<std::size_t>(index)];
    loop.samples += sample.samples;
    if (sample.samples > loop.hottest) {
      loop.hottest = sample.samples;
      loop.hot_address = sample.address;
    }
    const auto code = instructions_of(index);
    if (loop.probes && is_wait(code, static_cast<std::size_t>(&*at - code.data()))) loop.waits += sample.samples;
    const CodeInstruction* const cause = cause_of(static_cast<std::size_t>(at - all_.begin()));
    if (cause == nullptr || loops_.innermost(cause->address) != index) return;
    const X86Kind kind = cause->code.kind;
    if (converts(kind)) loop.conversions += sample.samples;
    if (kind == X86Kind::integer_division) loop.integer += sample.samples;
    if (kind == X86Kind::division || kind == X86Kind::root) loop.slow += sample.samples;
    if (cause->code.doubles) loop.doubles += sample.samples;
    if (kind == X86Kind::root) loop.roots += sample.samples;
    double& of_instruction = at_[cause->address];
    of_instruction += sample.samples;
    if (of_instruction <= most_[static_cast<std::size_t>(index)]) return;
    most_[static_cast<std::size_t>(index)] = of_instruction;
    loop.address = cause->address;
  }

  std::span<const CodeInstruction> instructions_of(int index) const {
    const CodeLoop& range = loops_.all()[static_cast<std::size_t>(index)];
    return {std::ranges::lower_bound(all_, range.head, {}, &CodeInstruction::address),
            std::ranges::upper_bound(all_, range.last, {}, &CodeInstruction::address)};
  }

  void describe(int index) {
    const std::span<const CodeInstruction> code = instructions_of(index);
    bool widens = false, narrows = false, calls = false, divides = false;
    std::uint32_t written = 0;
    for (const CodeInstruction& one : code) {
      widens |= one.code.kind == X86Kind::widening;
      narrows |= one.code.kind == X86Kind::narrowing;
      calls |= one.code.kind == X86Kind::call;
      written |= one.code.written;
    }
    bool same = !calls;
    for (const CodeInstruction& one : code) {
      if (one.code.kind != X86Kind::division) continue;
      divides = true;
      const X86Operand& by = one.code.divisor;
      const bool kept = by.kind == X86Operand::Kind::vector && (written >> static_cast<unsigned>(by.number) & 1U) == 0;
      same = same && (kept || by.kind == X86Operand::Kind::constant);
    }
    SlowLoop& loop = found_[static_cast<std::size_t>(index)];
    loop.converts = widens && narrows;
    loop.invariant = divides && same;
    loop.instructions = static_cast<int>(code.size());
    loop.probes = probes_slots(code);
    if (!calls) count_reloads(code, loop);
  }

  /// Compilers keep a value in a register unless a store may change it, or a branch may skip its load. Memory of the
  /// stack has what did not fit into registers.
  static void count_reloads(std::span<const CodeInstruction> instructions, SlowLoop& loop) {
    std::uint32_t written = 0;
    bool stores = false;
    for (const CodeInstruction& one : instructions) {
      if (one.code.packed || one.code.locked) return;
      written |= one.code.general;
      const int base = one.code.address.base;
      stores |= one.code.stores && base != kStackRegister && base != kFrameRegister;
    }
    if (!stores) return;
    std::set<X86Address> reloads;
    std::uint64_t skipped_to = 0;  // the farthest target of a jump before
    for (const CodeInstruction& one : instructions) {
      const X86Address& at = one.code.address;
      const bool known = at.base >= 0 && at.base != kStackRegister && at.base != kFrameRegister;
      const bool kept = known && !at.indexed() && (written >> static_cast<unsigned>(at.base) & 1U) == 0;
      if (one.code.loads && kept && one.address >= skipped_to) reloads.insert(at);
      if ((one.code.loads || one.code.stores) && known && !kept) ++loop.accesses;
      if (one.code.kind != X86Kind::jump || one.code.relative <= 0) continue;
      skipped_to = std::max(skipped_to, one.address + one.code.length + static_cast<std::uint64_t>(one.code.relative));
    }
    loop.reloads = static_cast<int>(reloads.size());
  }

  std::vector<CodeInstruction> all_;
  std::span<const SampledAddress> samples_;
  CodeLoops loops_;
  std::vector<SlowLoop> found_;  ///< by loop
  std::vector<double> most_;     ///< by loop: samples of its instruction with the most
  std::map<std::uint64_t, double> at_;
};

/// Samples of the program's own files, by module and address.
std::map<int, std::vector<SampledAddress>> samples_by_module(const CodeSamples& samples, CodeModules& modules) {
  std::vector<double> count(samples.code.size(), 0);
  for (const CodeSample& sample : samples.samples) ++count[static_cast<std::size_t>(sample.code)];
  std::map<int, std::vector<SampledAddress>> found;
  for (std::size_t i = 0; i < count.size(); ++i) {
    const SampledCode& code = samples.code[i];
    if (code.module < 0 || static_cast<std::size_t>(code.module) >= samples.modules.size()) continue;
    const std::string& path = samples.modules[static_cast<std::size_t>(code.module)];
    if (is_own_native_file(path)) found[modules.find(path)].push_back({code.address, count[i]});
  }
  for (auto& [module, of_module] : found) std::ranges::sort(of_module, {}, &SampledAddress::address);
  return found;
}

class Finder {
 public:
  explicit Finder(const CodeSamples& samples) : samples_(samples) {}

  std::vector<HostSlowCode> find() {
    for (auto& [module, of_module] : samples_by_module(samples_, modules_)) add_module(module, of_module);
    for (const HostSlowCode* const sum : {&probes_, &gathers_, &linked_}) {
      if (!sum->kind.empty()) found_.push_back(*sum);
    }
    std::ranges::stable_sort(found_, std::ranges::greater(), &HostSlowCode::seconds);
    return std::move(found_);
  }

 private:
  void add_module(int module, const std::vector<SampledAddress>& samples) {
    const auto& elf = modules_[module].elf;
    if (!elf) return;
    std::vector<std::uint64_t> addresses;
    for (const SampledAddress& one : samples) addresses.push_back(one.address);
    const std::vector<ElfSymbol> symbols = elf->functions_at(addresses);
    std::map<std::uint64_t, std::pair<std::uint64_t, std::vector<SampledAddress>>> functions;
    for (std::size_t i = 0; i < samples.size(); ++i) {
      if (symbols[i].size == 0 || symbols[i].size > kLargestFunction) continue;
      auto& [size, of_function] = functions[symbols[i].address];
      size = symbols[i].size;
      of_function.push_back(samples[i]);
    }
    for (const auto& [start, function] : functions) {
      std::vector<std::uint8_t> code(function.first);
      if (!elf->read_address(start, code.data(), code.size())) continue;
      for (const SlowLoop& loop : slow_loops(code, start, function.second)) add_loop(module, loop);
    }
  }

  void add_loop(int module, const SlowLoop& loop) {
    const auto all = static_cast<double>(samples_.samples.size());
    if (loop.probes) return add_probes(module, loop);
    if (is_of_waits(loop)) return add_waits(module, loop);
    if (loop.samples < std::max(kLeastSamples, kLeastOfProgram * all)) return;
    const bool converted = loop.converts && loop.doubles + loop.conversions >= kLeastOfLoop * loop.samples;
    const double slow = loop.slow + (converted ? loop.conversions : 0);
    if (std::max(slow, loop.integer) < kLeastOfLoop * loop.samples) return add_reloads(module, loop);
    const bool integer = loop.integer > slow;
    HostSlowCode code;
    code.kind = integer                        ? "integer_division"
                : loop.conversions > loop.slow ? "conversion"
                : 2 * loop.roots > loop.slow   ? "root"
                                               : "division";
    code.place = own_place(module, loop.address);
    code.seconds = (integer ? loop.integer : slow) * samples_.period_s;
    code.loop_s = loop.samples * samples_.period_s;
    code.doubles = 2 * loop.doubles > loop.slow;
    code.converted = converted && !integer;
    code.invariant = loop.invariant && !integer;
    if (code.place.own && code.place.line > 0) found_.push_back(std::move(code));
  }

  /// Of loops that their instructions limit: samples are spread, and few accesses are to new addresses. In others a
  /// wait for memory may hide the loads.
  void add_reloads(int module, const SlowLoop& loop) {
    constexpr int kLeast = 3;
    constexpr double kLeastOfInstructions = 0.2, kLeastTime = 0.3, kMostAtOne = 0.6;
    const auto all = static_cast<double>(samples_.samples.size());
    if (loop.reloads < kLeast || loop.reloads < 2 * loop.accesses ||
        loop.reloads < kLeastOfInstructions * loop.instructions)
      return;
    if (loop.samples < kLeastTime * all || loop.hottest > kMostAtOne * loop.samples) return;
    HostSlowCode code;
    code.kind = "reload";
    code.place = own_place(module, loop.hot_address);
    code.seconds = code.loop_s = loop.samples * samples_.period_s;
    if (code.place.own && code.place.line > 0) found_.push_back(std::move(code));
  }

  /// All of the program's tables together: the same keys are inserted, found and erased. Where a loop mostly waits, or
  /// its instructions take little more time than those around it, its sequences are short.
  void add_probes(int module, const SlowLoop& loop) {
    constexpr double kMostWaits = 0.8, kTimesAround = 3;
    if (loop.samples < kLeastSamples || loop.waits > kMostWaits * loop.samples) return;
    if (loop.hottest < kTimesAround * loop.around) return;
    const double seconds = loop.samples * samples_.period_s;
    add_up(probes_,
           {.kind = "probe", .place = own_place(module, loop.hot_address), .seconds = seconds, .loop_s = seconds});
  }

  /// Where loads hit a cache, samples are spread over the loop.
  static bool is_of_waits(const SlowLoop& loop) {
    constexpr double kLeastOfWaits = 0.5, kTimesOthers = 20;
    const double slow = std::max(loop.slow + loop.conversions, loop.integer);
    return loop.indirect >= kLeastSamples && loop.indirect >= kLeastOfWaits * loop.samples &&
           loop.indirect_each >= kTimesOthers * loop.direct_each && slow < kLeastOfLoop * loop.samples;
  }

  void add_waits(int module, const SlowLoop& loop) {
    const bool linked = 2 * loop.linked > loop.indirect;
    add_up(linked ? linked_ : gathers_, {.kind = linked ? "linked" : "gather",
                                         .place = own_place(module, loop.indirect_address),
                                         .seconds = loop.indirect * samples_.period_s,
                                         .loop_s = loop.samples * samples_.period_s});
  }

  /// All loops of one kind together, with the place of the largest.
  static void add_up(HostSlowCode& sum, HostSlowCode loop) {
    if (!loop.place.own || loop.place.line <= 0) return;
    const double seconds = sum.seconds + loop.seconds;
    if (loop.loop_s >= sum.loop_s) sum = std::move(loop);
    sum.seconds = seconds;
  }

  /// The innermost line of the program: the instruction may be of a library's function that is inlined there.
  HostFrame own_place(int module, std::uint64_t address) const {
    const std::vector<HostFrame> frames = native_frames(modules_, {{module, address}});
    const auto own = std::ranges::find_if(frames, [](const HostFrame& frame) { return frame.own && frame.line > 0; });
    return own == frames.end() ? frames.front() : *own;
  }

  const CodeSamples& samples_;
  CodeModules modules_;
  HostSlowCode probes_, gathers_, linked_;
  std::vector<HostSlowCode> found_;
};

}  // namespace

std::vector<SlowLoop> slow_loops(std::span<const std::uint8_t> code, std::uint64_t start,
                                 const std::vector<SampledAddress>& samples) {
  return FunctionLoops(code, start, samples).find();
}

std::vector<HostSlowCode> slow_code(const CodeSamples& samples) {
#if defined(__x86_64__)
  return Finder(samples).find();
#else
  static_cast<void>(samples);
  return {};
#endif
}

}  // namespace roofline
