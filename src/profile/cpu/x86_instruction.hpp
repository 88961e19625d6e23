// Lengths and kinds of x86-64 instructions, as far as slow ones and loops need them. Pure; the bytes are not trusted.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace roofline {

/// Numbers of general registers in instructions.
inline constexpr int kStackRegister = 4, kFrameRegister = 5;

enum class X86Kind : std::uint8_t {
  other,
  jump,
  call,
  division,
  root,
  integer_division,
  widening,
  narrowing,
  step,     ///< addition to a general register
  mask,     ///< it keeps some bits of a general register, or may set it to another value
  compare,  ///< of general registers, memory and constants
};

/// An operand of vector instructions: a register, or memory relative to the instruction (constants) or elsewhere.
struct X86Operand {
  enum class Kind : std::uint8_t { none, vector, constant, memory };
  Kind kind = Kind::none;
  int number = 0;  ///< of the register
};

/// Memory at an address of general registers and a constant; not relative to the instruction.
struct X86Address {
  int base = -1;   ///< number of the register; -1: none
  int index = -1;  ///< the same; of a gather or scatter the number of a vector register
  std::int32_t displacement = 0;
  bool indexed() const { return index >= 0; }
  auto operator<=>(const X86Address&) const = default;
};

struct X86Instruction {
  std::size_t length = 0;
  X86Kind kind = X86Kind::other;
  bool doubles = false;       ///< divisions and roots: in double precision
  std::int64_t relative = 0;  ///< jumps: target relative to the next instruction
  bool conditional = false;   ///< jumps
  int reg = -1, rm = -1;      ///< general registers of a comparison; -1: memory or a constant
  X86Operand divisor;
  std::uint32_t written = 0;           ///< vector registers that it may write, a bit for each
  std::uint32_t general = 0;           ///< general registers that it may write, a bit for each
  std::uint32_t read = 0;              ///< general registers that it may read, also for addresses
  bool loads = false, stores = false;  ///< it reads from memory, or writes to it
  bool gathers = false;                ///< it loads each element of a vector from an address of its own
  bool packed = false;                 ///< it computes with more than one element of a vector
  bool locked = false;                 ///< atomic
  X86Address address;                  ///< of what it loads or stores
};

/// The instruction at the beginning of these bytes; std::nullopt if it is not known.
std::optional<X86Instruction> decode_x86(std::span<const std::uint8_t> bytes);

}  // namespace roofline
