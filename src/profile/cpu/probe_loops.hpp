// Loops that probe the slots of a hash table with open addressing, by their machine code. Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "profile/cpu/x86_instruction.hpp"

namespace roofline {

struct CodeInstruction {
  std::uint64_t address = 0;
  X86Instruction code;
};

/// A short loop whose only index is masked, or starts again at 0, after each step, and that ends by the values which it
/// loads: the key, or an empty slot. It stores and calls nothing.
bool probes_slots(std::span<const CodeInstruction> loop);

/// True for the instructions that samples hit when the loop waits for memory or begins again behind a mispredicted
/// jump. A good table ends its probes after one or two slots, and takes its time there; in long sequences, jumps are
/// predicted and slots prefetched, so that most samples are at the others.
bool is_wait(std::span<const CodeInstruction> loop, std::size_t index);

}  // namespace roofline
