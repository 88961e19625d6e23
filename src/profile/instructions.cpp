#include "profile/instructions.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <utility>

#include "host/files.hpp"
#include "model/error.hpp"
#include "profile/intervals.hpp"
#include "text/demangle.hpp"
#include "text/parse.hpp"
#include "text/text.hpp"

namespace roofline {
namespace {

constexpr std::size_t kMostKernels = 200, kMostLines = 200, kMostInstructions = 2000;
constexpr FileLimit kCodeLimit{std::uint64_t{1} << 30, "code of a GPU"};
/// Waits below this share of the samples are not kept for a row.
constexpr double kLeastShare = 0.01;

/// What an instruction of that kind has others wait for.
WaitFor wait_of(SassKind kind) {
  switch (kind) {
    case SassKind::global_load:
      return WaitFor::global_load;
    case SassKind::global_store:
      return WaitFor::global_store;
    case SassKind::global_atomic:
      return WaitFor::global_atomic;
    case SassKind::local_load:
    case SassKind::local_store:
      return WaitFor::local_memory;
    case SassKind::shared_load:
      return WaitFor::shared_load;
    case SassKind::shared_store:
      return WaitFor::shared_store;
    case SassKind::shared_atomic:
      return WaitFor::shared_atomic;
    case SassKind::constant_load:
      return WaitFor::constant;
    case SassKind::texture:
      return WaitFor::texture;
    case SassKind::async_copy:
      return WaitFor::async_copy;
    case SassKind::shuffle:
      return WaitFor::exchange;
    case SassKind::special:
      return WaitFor::special;
    case SassKind::conversion:
      return WaitFor::conversion;
    case SassKind::fp64:
      return WaitFor::fp64;
    case SassKind::fp32:
    case SassKind::fp16:
    case SassKind::integer:
      return WaitFor::arithmetic;
    case SassKind::tensor:
    case SassKind::tensor_wait:
      return WaitFor::tensor;
    case SassKind::barrier:
      return WaitFor::barrier;
    case SassKind::fence:
      return WaitFor::fence;
    case SassKind::branch:
      return WaitFor::branch;
    case SassKind::sleep:
      return WaitFor::sleep;
    case SassKind::move:
    case SassKind::other:
      break;
  }
  return WaitFor::other;
}

/// Where results come at times that the compiler doesn't know: from L1 and beyond, or from within the SM.
bool comes_from(WaitFor what, bool far) {
  switch (what) {
    case WaitFor::global_load:
    case WaitFor::global_atomic:
    case WaitFor::local_memory:
    case WaitFor::texture:
    case WaitFor::async_copy:
      return far;
    case WaitFor::shared_load:
    case WaitFor::shared_atomic:
    case WaitFor::shared_store:
    case WaitFor::constant:
    case WaitFor::exchange:
    case WaitFor::special:
    case WaitFor::conversion:
    case WaitFor::fp64:
      return !far;
    default:
      return false;
  }
}

bool is_scoreboard(std::string_view reason) { return reason == "long_scoreboard" || reason == "short_scoreboard"; }

/// The waits that a division or a function in place of an instruction consists of.
bool is_of_arithmetic(WaitFor what) {
  switch (what) {
    case WaitFor::issuing:
    case WaitFor::ready:
    case WaitFor::special:
    case WaitFor::conversion:
    case WaitFor::fp64:
    case WaitFor::arithmetic:
    case WaitFor::result:
    case WaitFor::branch:
    case WaitFor::code:
    case WaitFor::other:
      return true;
    default:
      return false;
  }
}

/// A source line of a kernel, by its file's number.
using Line = std::pair<int, int>;
constexpr Line kNoLine = {-1, 0};

/// The instructions of a kernel and their lines.
class Code {
 public:
  explicit Code(const std::optional<GpuFunction>& function) : function_(function) {
    if (!function) return;
    constexpr std::size_t kBytes = 16;
    const std::span<const std::byte> bytes(function->code);
    for (std::size_t at = 0; at + kBytes <= bytes.size(); at += kBytes) {
      instructions_.push_back(decode_sass(bytes.subspan(at, kBytes), function->architecture, at));
    }
    find_lines();
    find_divisions();
  }

  static std::size_t index(std::uint64_t offset) { return static_cast<std::size_t>(offset / 16); }
  bool holds(std::uint64_t offset) const { return index(offset) < instructions_.size(); }
  const SassInstruction& at(std::uint64_t offset) const { return instructions_[index(offset)]; }
  std::vector<std::size_t> waited_for(std::uint64_t offset) const {
    return holds(offset) ? roofline::waited_for(instructions_, index(offset)) : std::vector<std::size_t>();
  }
  Line line(std::uint64_t offset) const { return holds(offset) ? lines_[index(offset)] : kNoLine; }
  SassKind kind(std::size_t index) const { return instructions_[index].kind; }
  bool divides(std::uint64_t offset) const { return holds(offset) && divides_[index(offset)]; }
  std::string file(Line line) const {
    const auto index = static_cast<std::size_t>(line.first);
    return line.first >= 0 && index < function_->files.size() ? function_->files[index] : std::string();
  }
  /// "kernel.cu:41"; empty where the line is not known.
  std::string place(Line line) const {
    const std::string path = file(line);
    return path.empty() ? std::string() : fmt::format("{}:{}", path.substr(path.rfind('/') + 1), line.second);
  }
  /// Whether it loads constants from an address in a register. Others are parameters of the launch.
  bool indexes_constants(std::uint64_t offset) const {
    constexpr std::uint64_t kAddressByte = 3;
    constexpr auto kNoRegister = std::byte{0xff};
    return holds(offset) && at(offset).kind == SassKind::constant_load &&
           function_->code[static_cast<std::size_t>(offset + kAddressByte)] != kNoRegister;
  }
  /// The last store or atomic operation before an instruction at this offset.
  std::optional<std::uint64_t> written_before(std::uint64_t offset) const {
    for (std::size_t i = index(offset); i-- > 0;) {
      if (kind(i) == SassKind::global_store || kind(i) == SassKind::global_atomic) return 16 * std::uint64_t{i};
    }
    return std::nullopt;
  }
  /// The barrier that an instruction at this offset is behind, or is.
  std::uint64_t barrier_before(std::uint64_t offset) const {
    constexpr std::size_t kNear = 4;
    for (std::size_t back = 0; back < kNear && back <= index(offset) && holds(offset); ++back) {
      if (kind(index(offset) - back) == SassKind::barrier) return offset - 16 * back;
    }
    return offset;
  }

 private:
  /// Code in place of an instruction, such as a division of 64 bits, is a function that is called. It has no lines, or
  /// a single one that means nothing, and gets the line of a call of it.
  void find_lines() {
    lines_.assign(instructions_.size(), kNoLine);
    std::map<std::int64_t, Line> called;
    for (std::size_t i = 0; i < instructions_.size(); ++i) {
      if (i < function_->lines.size() && function_->lines[i].file >= 0) {
        lines_[i] = {function_->lines[i].file, function_->lines[i].line};
      }
      if (instructions_[i].name == "CALL" && instructions_[i].target && lines_[i] != kNoLine) {
        called.try_emplace(*instructions_[i].target, lines_[i]);
      }
    }
    for (const auto& [target, line] : called) {
      if (target >= 0 && holds(static_cast<std::uint64_t>(target))) {
        functions_.push_back(index(static_cast<std::uint64_t>(target)));
      }
    }
    for (std::size_t n = 0; n < functions_.size(); ++n) {
      const std::size_t end = n + 1 < functions_.size() ? functions_[n + 1] : instructions_.size();
      const auto first = lines_.begin() + static_cast<std::ptrdiff_t>(functions_[n]);
      const auto last = lines_.begin() + static_cast<std::ptrdiff_t>(end);
      const bool one = std::all_of(first, last, [&](const Line& line) { return line == *first; });
      const Line caller = called.at(static_cast<std::int64_t>(functions_[n] * 16));
      std::for_each(first, last, [&](Line& line) {
        if (one || line == kNoLine) line = caller;
      });
    }
  }

  /// An integer division converts to floating point, takes a reciprocal and converts back; others are functions around
  /// a reciprocal.
  void find_divisions() {
    std::map<Line, std::array<int, 2>> of_lines;
    for (std::size_t i = 0; i < instructions_.size(); ++i) {
      if (lines_[i] == kNoLine) continue;
      auto& [special, conversions] = of_lines[lines_[i]];
      if (kind(i) == SassKind::special) special = 1;
      if (kind(i) == SassKind::conversion) ++conversions;
    }
    divides_.assign(instructions_.size(), false);
    for (std::size_t i = 0; i < instructions_.size(); ++i) {
      const auto found = of_lines.find(lines_[i]);
      divides_[i] = found != of_lines.end() && found->second[0] > 0 && found->second[1] > 1;
    }
    for (std::size_t n = 0; n < functions_.size(); ++n) {
      const std::size_t end = n + 1 < functions_.size() ? functions_[n + 1] : instructions_.size();
      const auto has_special = [&](std::size_t i) { return kind(i) == SassKind::special; };
      bool found = false;
      for (std::size_t i = functions_[n]; i < end; ++i) found |= has_special(i);
      for (std::size_t i = functions_[n]; found && i < end; ++i) divides_[i] = true;
    }
  }

  const std::optional<GpuFunction>& function_;
  std::vector<SassInstruction> instructions_;
  std::vector<Line> lines_;
  std::vector<std::size_t> functions_;  ///< first instructions of those that are called
  std::vector<bool> divides_;
};

/// A sample's wait, the line of what is waited for, and that of the warp.
struct Explained {
  WaitFor what = WaitFor::other;
  std::uint64_t waited = 0;  ///< offset
};

Explained explained(const Code& code, std::uint64_t offset, std::string_view reason) {
  if (!code.holds(offset)) return {wait_for(reason, SassKind::other, {}), offset};
  std::vector<SassKind> kinds;
  const std::vector<std::size_t> waited = code.waited_for(offset);
  for (const std::size_t index : waited) kinds.push_back(code.kind(index));
  Explained result = {wait_for(reason, code.at(offset).kind, kinds), offset};
  if (is_scoreboard(reason)) {
    for (const std::size_t index : waited) {
      if (wait_of(code.kind(index)) != result.what) continue;
      result.waited = 16 * static_cast<std::uint64_t>(index);
      break;
    }
  }
  if (result.what == WaitFor::barrier) result.waited = code.barrier_before(offset);
  if (result.what == WaitFor::constant && !code.indexes_constants(result.waited)) result.what = WaitFor::other;
  if (reason == "drain") {
    if (const auto written = code.written_before(offset)) result = {wait_of(code.at(*written).kind), *written};
  }
  if (code.divides(offset) && is_of_arithmetic(result.what)) result.what = WaitFor::division;
  return result;
}

template <typename Count>
std::vector<Count> largest_first(const auto& counts) {
  std::vector<Count> list;
  for (const auto& [key, samples] : counts) list.push_back({key, samples});
  std::stable_sort(list.begin(), list.end(), [](const Count& a, const Count& b) { return a.samples > b.samples; });
  return list;
}

/// A wait with the line that has most of it.
SampledWait summed_wait(WaitFor what, const std::map<Line, std::map<Line, std::int64_t>>& by_line, std::int64_t samples,
                        const Code& code) {
  SampledWait wait;
  wait.what = what;
  std::int64_t all = 0, most = 0, most_used = 0;
  Line line = kNoLine, used = kNoLine;
  for (const auto& [waited, by_user] : by_line) {
    std::int64_t here = 0;
    for (const auto& [user, count] : by_user) here += count;
    all += here;
    if (here <= most || waited == kNoLine) continue;
    most = here;
    line = waited;
    most_used = 0;
    for (const auto& [user, count] : by_user) {
      if (count <= most_used) continue;
      most_used = count;
      used = user;
    }
  }
  const auto total = static_cast<double>(std::max<std::int64_t>(samples, 1));
  wait.share = static_cast<double>(all) / total;
  wait.line = code.place(line);
  wait.line_share = wait.line.empty() ? 0 : static_cast<double>(most) / total;
  if (used != line) wait.used_line = code.place(used);
  return wait;
}

/// Who waits at a barrier waits for warps that are at some other line.
void name_late_line(SampledKernel& kernel, const std::map<Line, std::map<WaitFor, std::int64_t>>& lines,
                    const Code& code) {
  std::int64_t most = 0;
  Line late = kNoLine;
  for (const auto& [line, waits] : lines) {
    std::int64_t elsewhere = 0;
    for (const auto& [what, count] : waits) elsewhere += what == WaitFor::barrier ? 0 : count;
    if (line == kNoLine || elsewhere <= most) continue;
    most = elsewhere;
    late = line;
  }
  for (SampledWait& wait : kernel.waits) {
    if (wait.what == WaitFor::barrier) wait.used_line = code.place(late);
  }
}

/// A file's name in a recording is not trusted.
bool is_plain_name(std::string_view name) {
  return name.ends_with(spool::kCubinExtension) && name.find('/') == std::string_view::npos;
}

struct KernelKey {
  std::uint64_t code;
  std::string symbol;
  auto operator<=>(const KernelKey&) const = default;
};

}  // namespace

std::string_view stall_reason(std::string_view metric) {
  constexpr std::string_view kPrefix = "smsp__pcsamp_warps_issue_stalled_";
  if (!metric.starts_with(kPrefix) || metric.ends_with("_not_issued")) return {};
  return metric.substr(kPrefix.size());
}

WaitFor wait_for(std::string_view reason, SassKind kind, std::span<const SassKind> waited) {
  static constexpr std::array<std::pair<std::string_view, WaitFor>, 13> kFixed = {{
      {"selected", WaitFor::issuing},
      {"not_selected", WaitFor::ready},
      {"barrier", WaitFor::barrier},
      {"membar", WaitFor::fence},
      {"branch_resolving", WaitFor::branch},
      {"no_instructions", WaitFor::code},
      {"imc_miss", WaitFor::constant},
      {"drain", WaitFor::global_store},
      {"sleeping", WaitFor::sleep},
      {"gmma", WaitFor::tensor},
      {"warpgroup_arrive", WaitFor::tensor},
      {"tex_throttle", WaitFor::texture},
      {"wait", WaitFor::result},
  }};
  for (const auto& [name, what] : kFixed) {
    if (name == reason) return what;
  }
  if (is_scoreboard(reason)) {
    const bool far = reason == "long_scoreboard";
    for (const SassKind one : waited) {
      if (comes_from(wait_of(one), far)) return wait_of(one);
    }
    return !waited.empty() && wait_of(waited.front()) != WaitFor::arithmetic ? wait_of(waited.front())
           : far                                                             ? WaitFor::global_load
                                                                             : WaitFor::other;
  }
  const WaitFor own = wait_of(kind);
  if (reason == "lg_throttle") {
    const bool memory = own == WaitFor::global_store || own == WaitFor::global_atomic || own == WaitFor::local_memory;
    return memory ? own : WaitFor::global_load;
  }
  if (reason == "mio_throttle" || reason == "math_pipe_throttle") return own;
  return WaitFor::other;
}

SampledKernel explain_samples(std::string_view symbol, const SamplesByReason& samples,
                              const std::optional<GpuFunction>& function) {
  const Code code(function);
  SampledKernel kernel;
  kernel.name = demangled(symbol);
  std::map<std::string, std::int64_t> reasons;
  std::map<WaitFor, std::map<Line, std::map<Line, std::int64_t>>> waits;  ///< by line waited for, and line of the warp
  std::map<Line, std::map<WaitFor, std::int64_t>> lines;
  std::map<std::uint64_t, SampledInstruction> instructions;
  for (const auto& [offset, by_reason] : samples) {
    SampledInstruction& instruction = instructions[offset];
    for (const auto& [reason, count] : by_reason) {
      const Explained wait = explained(code, offset, reason);
      kernel.samples += count;
      instruction.samples += count;
      reasons[reason] += count;
      waits[wait.what][code.line(wait.waited)][code.line(offset)] += count;
      lines[code.line(offset)][wait.what] += count;
    }
    instruction.reasons = largest_first<ReasonCount>(by_reason);
    for (const std::size_t index : code.waited_for(offset)) {
      instruction.waits_for.push_back(static_cast<std::int64_t>(index * 16));
    }
  }
  kernel.reasons = largest_first<ReasonCount>(reasons);
  for (const auto& [what, by_line] : waits) kernel.waits.push_back(summed_wait(what, by_line, kernel.samples, code));
  std::stable_sort(kernel.waits.begin(), kernel.waits.end(),
                   [](const SampledWait& a, const SampledWait& b) { return a.share > b.share; });
  name_late_line(kernel, lines, code);

  // The instructions with the most samples, and what these wait for.
  std::vector<std::pair<std::int64_t, std::uint64_t>> order;
  for (const auto& [offset, instruction] : instructions) order.emplace_back(-instruction.samples, offset);
  std::sort(order.begin(), order.end());
  if (order.size() > kMostInstructions) order.resize(kMostInstructions);
  std::map<std::uint64_t, SampledInstruction> kept;
  for (const auto& [negative, offset] : order) kept[offset] = instructions[offset];
  for (const auto& [negative, offset] : order) {
    for (const std::int64_t waited : instructions[offset].waits_for)
      kept.try_emplace(static_cast<std::uint64_t>(waited));
  }
  std::map<Line, std::int64_t> of_lines;
  for (const auto& [offset, instruction] : kept) of_lines[code.line(offset)] += instruction.samples;
  std::vector<std::pair<std::int64_t, Line>> by_samples;
  for (const auto& [line, count] : of_lines) by_samples.emplace_back(-count, line);
  std::sort(by_samples.begin(), by_samples.end());
  if (by_samples.size() > kMostLines) by_samples.resize(kMostLines);
  std::map<Line, int> numbers;
  for (const auto& [negative, line] : by_samples) {
    SampledLine made;
    made.file = code.file(line);
    made.line = line.second;
    made.waits = largest_first<WaitCount>(lines[line]);
    for (const WaitCount& wait : made.waits) made.samples += wait.samples;
    numbers[line] = static_cast<int>(kernel.lines.size());
    kernel.lines.push_back(std::move(made));
  }
  for (auto& [offset, instruction] : kept) {
    instruction.offset = static_cast<std::int64_t>(offset);
    instruction.name = code.holds(offset) ? std::string(code.at(offset).name) : "?";
    const auto number = numbers.find(code.line(offset));
    instruction.line = number != numbers.end() ? number->second : -1;
    kernel.instructions.push_back(std::move(instruction));
  }
  return kernel;
}

SampledKind sampled_kind(const SampledKernel& kernel) {
  SampledKind result;
  result.samples = kernel.samples;
  std::copy_if(kernel.waits.begin(), kernel.waits.end(), std::back_inserter(result.waits),
               [](const SampledWait& wait) { return wait.share >= kLeastShare; });
  return result;
}

void add_source_text(KernelSamples& samples) {
  constexpr FileLimit kSourceLimit{std::uint64_t{16} << 20, "a source file"};
  constexpr std::size_t kMostText = 160;
  std::map<std::string, std::vector<std::string>> sources;
  for (SampledKernel& kernel : samples.kernels) {
    for (SampledLine& line : kernel.lines) {
      if (line.file.empty() || line.line <= 0) continue;
      const auto [source, added] = sources.try_emplace(line.file);
      std::error_code missing;
      if (added && std::filesystem::is_regular_file(line.file, missing)) {
        try {
          source->second = split(read_file(line.file, kSourceLimit), '\n');
        } catch (const Error&) {  // the page shows the line's number
        }
      }
      const auto index = static_cast<std::size_t>(line.line - 1);
      if (index >= source->second.size()) continue;
      const std::string& text = source->second[index];
      const std::size_t first = text.find_first_not_of(" \t");
      if (first != std::string::npos) line.text = clean_line(text.substr(first, kMostText));
    }
  }
}

KernelSamples kernel_samples(const std::vector<ProcessTrace>& traces) {
  KernelSamples all;
  std::map<KernelKey, SamplesByReason> kernels;
  std::map<std::uint64_t, std::filesystem::path> files;
  std::vector<Span> phases;
  for (const ProcessTrace& trace : traces) {
    std::map<std::uint32_t, std::string> reasons;
    for (const spool::StallReason& reason : trace.stall_reasons) {
      if (const std::string_view name = stall_reason(trace.text(reason.name)); !name.empty()) {
        reasons.emplace(reason.index, name);
      }
    }
    for (const spool::GpuModule& module : trace.gpu_modules) {
      const std::string_view name = trace.text(module.file);
      if (is_plain_name(name)) files.emplace(module.code, trace.folder / name);
    }
    for (const spool::InstructionPhase& phase : trace.instruction_phases) {
      phases.push_back({phase.start, phase.end});
      all.samples += static_cast<std::int64_t>(phase.samples);
      all.dropped += static_cast<std::int64_t>(phase.dropped);
      all.elsewhere += static_cast<std::int64_t>(phase.elsewhere);
      all.period = phase.period;
    }
    for (const spool::InstructionSamples& one : trace.instruction_samples) {
      const auto reason = reasons.find(one.reason);
      if (reason == reasons.end()) continue;
      SamplesByReason& kernel = kernels[{one.code, std::string(trace.text(one.function))}];
      kernel[one.offset][reason->second] += static_cast<std::int64_t>(one.samples);
    }
  }
  all.seconds = seconds(total_length(covered(std::move(phases))));
  std::vector<std::pair<std::int64_t, const KernelKey*>> order;
  for (const auto& [key, samples] : kernels) {
    std::int64_t total = 0;
    for (const auto& [offset, by_reason] : samples) {
      for (const auto& [reason, count] : by_reason) total += count;
    }
    order.emplace_back(-total, &key);
  }
  std::sort(order.begin(), order.end());
  if (order.size() > kMostKernels) order.resize(kMostKernels);
  std::map<std::uint64_t, std::string> contents;
  for (const auto& [negative, key] : order) {
    std::optional<GpuFunction> function;
    if (const auto file = files.find(key->code); file != files.end()) {
      const auto [content, added] = contents.try_emplace(key->code);
      std::error_code missing;
      if (added && std::filesystem::is_regular_file(file->second, missing)) {
        content->second = read_file(file->second, kCodeLimit);
      }
      function = read_gpu_function(std::as_bytes(std::span(content->second)), key->symbol);
    }
    SampledKernel kernel = explain_samples(key->symbol, kernels[*key], function);
    // Instantiations of one name in several modules: the one with the most samples stands for them.
    if (all.find(kernel.name) == nullptr) all.kernels.push_back(std::move(kernel));
  }
  return all;
}

}  // namespace roofline
