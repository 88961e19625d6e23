#include "profile/gpu_code.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <numeric>
#include <span>

#include "text/text.hpp"

namespace roofline {

GpuCode::GpuCode(const std::optional<GpuFunction>& function) : function_(function) {
  if (!function) return;
  const std::span<const std::byte> bytes(function->code);
  for (std::size_t at = 0; at + kSassBytes <= bytes.size(); at += kSassBytes) {
    instructions_.push_back(decode_sass(bytes.subspan(at, kSassBytes), function->architecture, at));
  }
  find_lines();
  find_divisions();
  find_reductions();
  find_trigonometry();
}

std::vector<std::uint64_t> GpuCode::waited_for(std::uint64_t offset) const {
  std::vector<std::uint64_t> offsets;
  if (!holds(offset)) return offsets;
  for (const std::size_t found : roofline::waited_for(instructions_, index(offset)))
    offsets.push_back(offset_of(found));
  return offsets;
}

std::string GpuCode::file(KernelLine line) const {
  const auto number = static_cast<std::size_t>(line.first);
  return line.first >= 0 && number < function_->files.size() ? function_->files[number] : std::string();
}

std::string GpuCode::place(KernelLine line) const {
  const std::string path = file(line);
  return path.empty() ? std::string() : fmt::format("{}:{}", last_path_part(path), line.second);
}

bool GpuCode::indexes_constants(std::uint64_t offset) const {
  constexpr std::uint64_t kAddressByte = 3;
  constexpr auto kNoRegister = std::byte{0xff};
  return at(offset).kind == SassKind::constant_load &&
         function_->code[static_cast<std::size_t>(offset_of(index(offset)) + kAddressByte)] != kNoRegister;
}

std::optional<std::uint64_t> GpuCode::written_before(std::uint64_t offset) const {
  for (std::size_t i = index(offset); i-- > 0;) {
    if (kind(i) == SassKind::global_store || kind(i) == SassKind::global_atomic) return offset_of(i);
  }
  return std::nullopt;
}

std::uint64_t GpuCode::barrier_before(std::uint64_t offset) const {
  constexpr std::size_t kNear = 4;
  for (std::size_t back = 0; back < kNear && back <= index(offset); ++back) {
    if (kind(index(offset) - back) == SassKind::barrier) return offset_of(index(offset) - back);
  }
  return offset;
}

/// The first instruction that is not of that one of functions_.
std::size_t GpuCode::end_of(std::size_t function) const {
  return function + 1 < functions_.size() ? functions_[function + 1] : instructions_.size();
}

/// The instruction that a branch or call goes to, if it is in this code.
std::optional<std::size_t> GpuCode::target_of(std::size_t instruction) const {
  const std::optional<std::int64_t> target = instructions_[instruction].target;
  if (!target || *target < 0 || !holds(static_cast<std::uint64_t>(*target))) return std::nullopt;
  return index(static_cast<std::uint64_t>(*target));
}

/// Loops around each instruction: branches back to before it, from behind it.
std::vector<int> GpuCode::loop_depths() const {
  std::vector<int> changes(instructions_.size() + 1, 0);
  for (std::size_t i = 0; i < instructions_.size(); ++i) {
    const std::optional<std::size_t> begin = target_of(i);
    if (instructions_[i].name == "CALL" || !begin || *begin >= i) continue;
    ++changes[*begin];
    --changes[i + 1];
  }
  std::partial_sum(changes.begin(), changes.end(), changes.begin());
  return changes;
}

/// Functions in place of an instruction, such as 64-bit divisions, have no lines, or a single meaningless one; they get
/// the line of the call in the most loops.
void GpuCode::find_lines() {
  lines_.assign(instructions_.size(), kNoLine);
  struct Caller {
    KernelLine line;
    int depth = -1;
  };
  std::map<std::size_t, Caller> called;
  const std::vector<int> depths = loop_depths();
  for (std::size_t i = 0; i < instructions_.size(); ++i) {
    if (i < function_->lines.size() && function_->lines[i].file >= 0) {
      lines_[i] = {function_->lines[i].file, function_->lines[i].line};
    }
    const std::optional<std::size_t> function = target_of(i);
    if (instructions_[i].name != "CALL" || !function || lines_[i] == kNoLine) continue;
    Caller& caller = called[*function];
    if (depths[i] > caller.depth) caller = {lines_[i], depths[i]};
  }
  for (const auto& [first, caller] : called) functions_.push_back(first);
  for (std::size_t n = 0; n < functions_.size(); ++n) {
    const auto first = lines_.begin() + static_cast<std::ptrdiff_t>(functions_[n]);
    const auto last = lines_.begin() + static_cast<std::ptrdiff_t>(end_of(n));
    const bool one = std::all_of(first, last, [&](const KernelLine& line) { return line == *first; });
    const KernelLine caller = called.at(functions_[n]).line;
    std::for_each(first, last, [&](KernelLine& line) {
      if (one || line == kNoLine) line = caller;
    });
  }
}

/// An integer division converts to floating point, takes a reciprocal and converts back; others are functions around a
/// reciprocal.
void GpuCode::find_divisions() {
  struct Parts {
    int special = 0, conversions = 0;
  };
  std::map<KernelLine, Parts> of_lines;
  for (std::size_t i = 0; i < instructions_.size(); ++i) {
    if (lines_[i] == kNoLine) continue;
    Parts& parts = of_lines[lines_[i]];
    if (kind(i) == SassKind::special) ++parts.special;
    if (kind(i) == SassKind::conversion) ++parts.conversions;
  }
  divides_.assign(instructions_.size(), false);
  for (std::size_t i = 0; i < instructions_.size(); ++i) {
    const auto found = of_lines.find(lines_[i]);
    divides_[i] = found != of_lines.end() && found->second.special > 0 && found->second.conversions > 1;
  }
  for (std::size_t n = 0; n < functions_.size(); ++n) {
    bool special = false;
    for (std::size_t i = functions_[n]; i < end_of(n); ++i) special |= kind(i) == SassKind::special;
    for (std::size_t i = functions_[n]; special && i < end_of(n); ++i) divides_[i] = true;
  }
}

/// The second half of an instruction's first word.
std::uint32_t GpuCode::immediate(std::size_t instruction) const {
  constexpr std::size_t kImmediateByte = 4;
  std::uint32_t value = 0;
  std::memcpy(&value, &function_->code[static_cast<std::size_t>(offset_of(instruction)) + kImmediateByte],
              sizeof value);
  return value;
}

/// For arguments above 105,615, sinf and cosf of CUDA multiply with the bits of 2 / pi (Payne and Hanek): a loop over a
/// table puts a product of 192 bits into local memory, and what is left is multiplied by pi / 2 * 2^-64 in double
/// precision. That constant is in no other code.
void GpuCode::find_reductions() {
  constexpr std::uint32_t kConstant = 0x3bf921fb;  // its upper half
  constexpr std::size_t kNear = 64, kOfLoop = 16;  // instructions
  reduces_.assign(instructions_.size(), false);
  for (std::size_t i = 0; i < instructions_.size(); ++i) {
    if (immediate(i) != kConstant) continue;
    std::size_t first = i - std::min(i, kNear), last = i;
    while (first < i && kind(first) != SassKind::local_store) ++first;
    const std::size_t end = std::min(instructions_.size(), i + kNear);
    while (last < end && instructions_[last].name != "F2F.F64") ++last;
    if (first == i || last == end) continue;
    for (std::size_t k = first - std::min(first, kOfLoop); k <= last; ++k) reduces_[k] = true;
  }
}

/// sinf and cosf of CUDA, which Triton calls too, end in a polynomial of the sine or the cosine. Its first coefficient
/// is in no other code; __sinf and __cosf have none.
void GpuCode::find_trigonometry() {
  constexpr std::uint32_t kCoefficient = 0x37cbac00;  // 2.43e-5
  for (std::size_t i = 0; i < instructions_.size(); ++i) {
    if (immediate(i) == kCoefficient && lines_[i] != kNoLine) trigonometry_.insert(lines_[i]);
  }
}

/// cuRAND's functions for kernels are inlined.
bool GpuCode::initialises_random(std::uint64_t offset) const {
  if (index(offset) >= function_->lines.size()) return false;
  const int callee = function_->lines[index(offset)].callee;
  return callee >= 0 &&
         contains_any(function_->callees[static_cast<std::size_t>(callee)], {"curand_init", "skipahead"});
}

}  // namespace roofline
