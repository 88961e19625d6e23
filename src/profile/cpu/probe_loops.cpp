#include "profile/cpu/probe_loops.hpp"

#include <algorithm>

namespace roofline {
namespace {

constexpr std::size_t kLongestProbe = 24;  // instructions
constexpr std::size_t kSkid = 2;  // instructions from a loop's head or behind a load that samples of a wait reach

bool is_in_set(std::uint32_t registers, int number) {
  return number >= 0 && (registers >> static_cast<unsigned>(number) & 1U) != 0;
}

/// General registers of a loop, a bit for each.
struct LoopRegisters {
  std::uint32_t written = 0;
  std::uint32_t loaded = 0;                               ///< from addresses that change
  std::uint32_t stepped = 0, wrapped = 0, otherwise = 0;  ///< written by steps, by masks, by other instructions

  std::uint32_t indices() const { return stepped & wrapped & ~otherwise; }
  bool moves(const X86Address& address) const { return address.indexed() || is_in_set(written, address.base); }
};

LoopRegisters registers_of(std::span<const CodeInstruction> loop) {
  LoopRegisters found;
  for (const auto& [address, code] : loop) found.written |= code.general;
  for (const auto& [address, code] : loop) {
    if (code.loads && found.moves(code.address)) found.loaded |= code.general;
  }
  for (const auto& [address, code] : loop) {
    const bool of_value = code.loads || is_in_set(found.loaded, code.address.base);
    (code.kind == X86Kind::step && !of_value ? found.stepped
     : code.kind == X86Kind::mask            ? found.wrapped
                                             : found.otherwise) |= code.general;
  }
  return found;
}

/// Of a loaded value with one that the loop does not change.
bool compares_slot(const X86Instruction& code, const LoopRegisters& registers) {
  const auto kept = [&](int number) { return !is_in_set(registers.written, number); };
  if (code.loads && registers.moves(code.address)) return kept(code.reg);
  const bool first = is_in_set(registers.loaded, code.reg), second = is_in_set(registers.loaded, code.rm);
  return (first && (kept(code.rm) || code.rm == code.reg)) || (second && kept(code.reg));
}

}  // namespace

bool probes_slots(std::span<const CodeInstruction> loop) {
  if (loop.size() > kLongestProbe) return false;
  const auto acts = [](const CodeInstruction& one) {
    return one.code.stores || one.code.packed || one.code.locked || one.code.kind == X86Kind::call;
  };
  if (std::ranges::any_of(loop, acts)) return false;
  const LoopRegisters registers = registers_of(loop);
  if (registers.indices() == 0) return false;
  const auto compares = [&](std::uint32_t set, const X86Instruction& code) {
    return is_in_set(set, code.reg) || is_in_set(set, code.rm);
  };
  bool ends = false;
  for (const auto& [address, code] : loop) {
    if (code.kind != X86Kind::compare) continue;
    const bool slot = compares_slot(code, registers);
    if (!slot && !compares(registers.indices() | registers.loaded, code)) return false;  // it counts
    ends = ends || slot;
  }
  return ends;
}

bool is_wait(std::span<const CodeInstruction> loop, std::size_t index) {
  const auto to_head = [&](const CodeInstruction& one) {
    const std::uint64_t next = one.address + one.code.length;
    return one.code.conditional && next + static_cast<std::uint64_t>(one.code.relative) == loop.front().address;
  };
  if (loop[index].code.loads || (index < kSkid && std::ranges::any_of(loop, to_head))) return true;
  const auto before = loop.subspan(0, index).last(std::min(index, kSkid));
  return std::ranges::any_of(before, [](const CodeInstruction& one) { return one.code.loads; }) ||
         (index > 0 && loop[index - 1].code.conditional);
}

}  // namespace roofline
