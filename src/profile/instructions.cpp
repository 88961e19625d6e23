#include "profile/instructions.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <limits>
#include <map>
#include <tuple>
#include <utility>

#include "host/files.hpp"
#include "model/find.hpp"
#include "profile/gpu_code.hpp"
#include "profile/intervals.hpp"
#include "profile/source_text.hpp"
#include "profile/warp_waits.hpp"
#include "text/demangle.hpp"
#include "text/text.hpp"

namespace roofline {
namespace {

constexpr std::size_t kMostSampledKernels = 200, kMostSampledLines = 200, kMostSampledInstructions = 2000;
constexpr FileLimit kCodeLimit{std::uint64_t{1} << 30, "code of a GPU"};
/// Waits below this share of the samples are not kept for a row.
constexpr double kLeastShare = 0.01;

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
    case WaitFor::immediate:
    case WaitFor::other:
      return true;
    default:
      return false;
  }
}

/// A sample's wait, the line of what is waited for, and that of the warp.
struct Explained {
  WaitFor what = WaitFor::other;
  std::uint64_t waited = 0;  ///< offset
};

/// `waited`: offsets of what the instruction waits for.
Explained explained(const GpuCode& code, std::uint64_t offset, const std::vector<std::uint64_t>& waited,
                    std::string_view reason) {
  if (!code.holds(offset)) return {wait_for(reason, SassKind::other, {}), offset};
  std::vector<SassKind> kinds;
  kinds.reserve(waited.size());
  for (const std::uint64_t one : waited) kinds.push_back(code.at(one).kind);
  Explained result = {wait_for(reason, code.at(offset).kind, kinds), offset};
  if (is_scoreboard(reason)) {
    const auto found = std::find_if(waited.begin(), waited.end(),
                                    [&](std::uint64_t one) { return wait_of(code.at(one).kind) == result.what; });
    if (found != waited.end()) result.waited = *found;
  }
  if (result.what == WaitFor::barrier) result.waited = code.barrier_before(offset);
  // The cache of immediate constants also serves constant loads, by address.
  const bool indexed = code.indexes_constants(result.waited);
  if (result.what == WaitFor::immediate && indexed) result.what = WaitFor::constant;
  if (result.what == WaitFor::constant && !indexed) result.what = WaitFor::immediate;
  if (reason == "drain") {
    if (const auto written = code.written_before(offset)) result = {wait_of(code.at(*written).kind), *written};
  }
  const bool of_reduction = code.reduces(offset) && code.reduces(result.waited);
  if (of_reduction && (is_of_arithmetic(result.what) || result.what == WaitFor::local_memory ||
                       result.what == WaitFor::global_load || result.what == WaitFor::constant)) {
    result.what = WaitFor::reduction;
  }
  const bool of_arithmetic = is_of_arithmetic(result.what);
  if (code.initialises_random(offset) && result.what != WaitFor::barrier) {
    result = {WaitFor::random_init, offset};
  } else if (code.at_trigonometry(offset) && of_arithmetic) {
    result.what = WaitFor::trigonometry;
  } else if (code.divides(offset) && of_arithmetic) {
    result.what = WaitFor::division;
  }
  return result;
}

template <typename Count>
std::vector<Count> largest_first(const auto& counts) {
  std::vector<Count> list;
  list.reserve(counts.size());
  for (const auto& [key, samples] : counts) list.push_back({key, samples});
  std::stable_sort(list.begin(), list.end(), [](const Count& a, const Count& b) { return a.samples > b.samples; });
  return list;
}

/// A wait with the line that has most of it.
SampledWait summed_wait(WaitFor what, const std::map<KernelLine, std::map<KernelLine, std::int64_t>>& by_line,
                        std::int64_t samples, const GpuCode& code) {
  SampledWait wait;
  wait.what = what;
  std::int64_t all = 0, most = 0, most_used = 0;
  KernelLine line = kNoLine, used = kNoLine;
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

/// Samples by offset of an instruction.
using SamplesAt = std::map<std::uint64_t, std::int64_t>;

/// The line with the most samples between two offsets, and the samples of all lines there.
std::pair<KernelLine, std::int64_t> busiest_line(const SamplesAt& samples, std::uint64_t from, std::uint64_t to,
                                                 const GpuCode& code) {
  std::map<KernelLine, std::int64_t> lines;
  std::int64_t all = 0;
  for (auto at = samples.lower_bound(from); at != samples.end() && at->first < to; ++at) {
    lines[code.line(at->first)] += at->second;
    all += at->second;
  }
  lines.erase(kNoLine);
  return {lines.empty() ? kNoLine : key_of_largest(lines), all};
}

/// For waits at a barrier, the line of the late warps: the busiest one behind the barrier before it. `waiting`: samples
/// at barriers, by the barrier; `working`: the others.
void name_late_line(SampledKernel& kernel, const SamplesAt& waiting, const SamplesAt& working, const GpuCode& code) {
  constexpr double kSeen = 0.01;  // of the samples at the barrier: a single late warp of 64 has 0.016
  const auto awaited = std::ranges::max_element(waiting, {}, [](const auto& barrier) { return barrier.second; });
  if (awaited == waiting.end()) return;
  std::uint64_t before = 0;
  for (std::uint64_t at = awaited->first; at >= kSassBytes && before == 0;) {
    at -= kSassBytes;
    if (code.holds(at) && code.at(at).kind == SassKind::barrier) before = at;
  }
  auto [late, samples] = busiest_line(working, before, awaited->first, code);
  if (static_cast<double>(samples) < kSeen * static_cast<double>(awaited->second)) {
    late = busiest_line(working, 0, std::numeric_limits<std::uint64_t>::max(), code).first;
  }
  for (SampledWait& wait : kernel.waits) {
    if (wait.what == WaitFor::barrier) wait.used_line = code.place(late);
  }
}

std::int64_t issued(const std::vector<ReasonCount>& reasons) {
  const auto found = std::ranges::find(reasons, "selected", &ReasonCount::reason);
  return found == reasons.end() ? 0 : found->samples;
}

/// True for "MUFU" and, from other tools, "MUFU.EX2".
bool is_named(const SampledInstruction& instruction, std::string_view name) {
  return instruction.name.starts_with(name) &&
         (instruction.name.size() == name.size() || instruction.name[name.size()] == '.');
}

/// The share of an instruction in those that are issued; 0 with too few samples of it.
double issued_share(const SampledKernel& kernel, std::string_view name) {
  constexpr std::int64_t kFewest = 400;  // for 5 %
  std::int64_t of_name = 0;
  for (const SampledInstruction& instruction : kernel.instructions) {
    if (is_named(instruction, name)) of_name += issued(instruction.reasons);
  }
  return of_name < kFewest ? 0 : static_cast<double>(of_name) / static_cast<double>(issued(kernel.reasons));
}

std::string place(const SampledKernel& kernel, int number) {
  const SampledLine& line = kernel.lines[static_cast<std::size_t>(number)];
  return line.file.empty() ? std::string() : fmt::format("{}:{}", last_path_part(line.file), line.line);
}

/// The line with the most stores to global memory.
std::string store_line(const SampledKernel& kernel) {
  std::map<int, std::int64_t> lines;
  for (const SampledInstruction& instruction : kernel.instructions) {
    const bool stores = is_named(instruction, "STG") || is_named(instruction, "ST");
    if (stores && instruction.line >= 0) lines[instruction.line] += issued(instruction.reasons);
  }
  return lines.empty() ? std::string() : place(kernel, key_of_largest(lines));
}

/// Issued instructions that access shared memory.
double shared_share(const SampledKernel& kernel) {
  double share = 0;
  for (const std::string_view name : {"LDS", "STS", "LDSM", "STSM", "ATOMS"}) share += issued_share(kernel, name);
  return share;
}

/// Finds the barrier with the most issued instructions between it and the next one. Exits are left out: all warps of a
/// block execute them.
void add_behind_barrier(SampledKind& result, const SampledKernel& kernel) {
  std::int64_t most = 0, here = 0;
  std::map<int, std::int64_t> lines, most_lines;
  bool behind = false;
  const auto close = [&] {
    if (here > most) std::tie(most, most_lines) = std::pair(here, lines);
    here = 0;
    lines.clear();
  };
  for (const SampledInstruction& instruction : kernel.instructions) {
    if (is_named(instruction, "BAR")) {
      close();
      behind = true;
    } else if (behind && !is_named(instruction, "EXIT")) {
      here += issued(instruction.reasons);
      if (instruction.line >= 0) lines[instruction.line] += issued(instruction.reasons);
    }
  }
  close();
  constexpr std::int64_t kFewest = 400;
  if (most < kFewest) return;
  result.behind_barrier = static_cast<double>(most) / static_cast<double>(issued(kernel.reasons));
  if (!most_lines.empty()) result.behind_line = place(kernel, key_of_largest(most_lines));
}

/// True for instructions that wait in the queue of shared memory, shuffles and special functions.
bool is_queued(WaitFor what) {
  switch (what) {
    case WaitFor::shared_load:
    case WaitFor::shared_store:
    case WaitFor::shared_atomic:
    case WaitFor::exchange:
    case WaitFor::special:
    case WaitFor::conversion:
    case WaitFor::constant:
      return true;
    default:
      return false;
  }
}

/// Waits by line waited for, and line of the warp.
using WaitsByLine = std::map<WaitFor, std::map<KernelLine, std::map<KernelLine, std::int64_t>>>;

/// A full queue stops every instruction that needs it, reads of a thread's index too. What fills it is what warps wait
/// for most in it.
void add_full_queue(WaitsByLine& waits, const std::map<KernelLine, std::int64_t>& stopped) {
  const auto sum = [](const auto& by_user) {
    std::int64_t all = 0;
    for (const auto& [user, count] : by_user) all += count;
    return all;
  };
  WaitFor what = WaitFor::other;
  KernelLine line = kNoLine;
  std::int64_t most = 0;
  for (const auto& [one, by_line] : waits) {
    if (!is_queued(one)) continue;
    std::int64_t all = 0, most_of_line = 0;
    KernelLine busiest = kNoLine;
    for (const auto& [waited, by_user] : by_line) {
      const std::int64_t here = sum(by_user);
      all += here;
      if (here > most_of_line) std::tie(most_of_line, busiest) = std::pair(here, waited);
    }
    if (all > most) std::tie(most, what, line) = std::tuple(all, one, busiest);
  }
  for (const auto& [user, count] : stopped) {
    const KernelLine where = what == WaitFor::other ? user : line;
    waits[what][where][where] += count;
  }
}

/// A file's name in a recording is not trusted.
bool is_plain_name(std::string_view name) {
  return name.ends_with(spool::kCubinExtension) && name.find('/') == std::string_view::npos;
}

/// Checksum of its code, and symbol.
using KernelKey = std::pair<std::uint64_t, std::string>;

}  // namespace

SampledKernel explain_samples(std::string_view symbol, const SamplesByReason& samples,
                              const std::optional<GpuFunction>& function) {
  const GpuCode code(function);
  SampledKernel kernel;
  kernel.name = demangled(symbol);
  std::map<std::string, std::int64_t> reasons;
  WaitsByLine waits;
  std::map<KernelLine, std::int64_t> stopped;  ///< by a full queue, at instructions that fill no queue
  std::map<KernelLine, std::map<WaitFor, std::int64_t>> lines;
  SamplesAt waiting, working;
  std::map<std::uint64_t, SampledInstruction> instructions;
  for (const auto& [offset, by_reason] : samples) {
    SampledInstruction& instruction = instructions[offset];
    const std::vector<std::uint64_t> waited = code.waited_for(offset);
    for (const auto& [reason, count] : by_reason) {
      const Explained wait = explained(code, offset, waited, reason);
      kernel.samples += count;
      instruction.samples += count;
      reasons[reason] += count;
      if (reason == "mio_throttle" && wait.what == WaitFor::other) {
        stopped[code.line(offset)] += count;
      } else {
        waits[wait.what][code.line(wait.waited)][code.line(offset)] += count;
      }
      lines[code.line(offset)][wait.what] += count;
      (wait.what == WaitFor::barrier ? waiting[wait.waited] : working[offset]) += count;
    }
    instruction.reasons = largest_first<ReasonCount>(by_reason);
    instruction.waits_for.assign(waited.begin(), waited.end());
  }
  kernel.reasons = largest_first<ReasonCount>(reasons);
  add_full_queue(waits, stopped);
  for (const auto& [what, by_line] : waits) kernel.waits.push_back(summed_wait(what, by_line, kernel.samples, code));
  std::stable_sort(kernel.waits.begin(), kernel.waits.end(),
                   [](const SampledWait& a, const SampledWait& b) { return a.share > b.share; });
  name_late_line(kernel, waiting, working, code);

  // The instructions with the most samples, and what these wait for.
  std::vector<std::pair<std::int64_t, std::uint64_t>> order;
  order.reserve(instructions.size());
  for (const auto& [offset, instruction] : instructions) order.emplace_back(-instruction.samples, offset);
  std::sort(order.begin(), order.end());
  if (order.size() > kMostSampledInstructions) order.resize(kMostSampledInstructions);
  std::map<std::uint64_t, SampledInstruction> kept;
  for (const auto& [negative, offset] : order) kept[offset] = instructions[offset];
  for (const auto& [negative, offset] : order) {
    for (const std::int64_t waited : instructions[offset].waits_for)
      kept.try_emplace(static_cast<std::uint64_t>(waited));
  }
  std::map<KernelLine, std::int64_t> of_lines;
  for (const auto& [offset, instruction] : kept) of_lines[code.line(offset)] += instruction.samples;
  std::vector<std::pair<std::int64_t, KernelLine>> by_samples;
  by_samples.reserve(of_lines.size());
  for (const auto& [line, count] : of_lines) by_samples.emplace_back(-count, line);
  std::sort(by_samples.begin(), by_samples.end());
  if (by_samples.size() > kMostSampledLines) by_samples.resize(kMostSampledLines);
  std::map<KernelLine, int> numbers;
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
  result.special = issued_share(kernel, "MUFU");
  result.double_conversions = issued_share(kernel, "F2F.F64");
  result.store_line = store_line(kernel);
  result.shared = shared_share(kernel);
  const auto full = std::ranges::find(kernel.reasons, "mio_throttle", &ReasonCount::reason);
  if (full != kernel.reasons.end() && kernel.samples > 0)
    result.queue_full = static_cast<double>(full->samples) / static_cast<double>(kernel.samples);
  add_behind_barrier(result, kernel);
  return result;
}

KernelSamples kernel_samples(const std::vector<ProcessTrace>& traces) {
  KernelSamples all;
  std::map<KernelKey, SamplesByReason> kernels;
  std::map<std::uint64_t, std::filesystem::path> files;
  std::map<std::uint64_t, std::string_view> contents;
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
    for (const auto& [code, content] : trace.gpu_code) contents.emplace(code, content);
    if (!trace.samples_by.empty()) all.by = trace.samples_by;
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
  if (order.size() > kMostSampledKernels) order.resize(kMostSampledKernels);
  std::map<std::uint64_t, std::string> read;
  for (const auto& [negative, key] : order) {
    // Instantiations with one name in several modules are represented by the one with the most samples.
    if (all.find(demangled(key->second)) != nullptr) continue;
    const std::uint64_t code = key->first;
    std::error_code missing;
    const auto file = files.find(code);
    if (!contents.contains(code) && file != files.end() && std::filesystem::is_regular_file(file->second, missing)) {
      contents[code] = read[code] = read_file(file->second, kCodeLimit);
    }
    std::optional<GpuFunction> function;
    if (const auto content = contents.find(code); content != contents.end()) {
      function = read_gpu_function(std::as_bytes(std::span(content->second)), key->second);
    }
    all.kernels.push_back(explain_samples(key->second, kernels[*key], function));
  }
  SourceTexts sources([&traces](const std::string& path) -> std::string {
    for (const ProcessTrace& trace : traces) {
      if (const auto found = trace.source_files.find(path); found != trace.source_files.end()) return found->second;
    }
    return {};
  });
  add_source_text(all, sources);
  return all;
}

}  // namespace roofline
