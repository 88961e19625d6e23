// Decodes NVIDIA machine code (SASS) of Volta and later, enough to explain waits of warps: kind of instruction, the
// scoreboards that it sets and waits for, branch targets. Host-only and pure: bytes in, values out.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace roofline {

/// Kind of instruction, in the detail that explains waits.
enum class SassKind : std::uint8_t {
  other,
  global_load,    ///< also of generic addresses
  global_store,   ///< also of generic addresses
  global_atomic,  ///< with and without a result
  local_load,
  local_store,
  shared_load,
  shared_store,
  shared_atomic,
  constant_load,
  texture,     ///< also surfaces
  async_copy,  ///< from global to shared memory or back, without registers
  shuffle,     ///< an exchange between the threads of a warp
  special,     ///< special functions of the XU pipe: MUFU, and bit counts
  conversion,  ///< on the XU pipe
  fp64,
  fp32,
  fp16,  ///< also bfloat16, and packing into either
  integer,
  tensor,
  tensor_wait,  ///< of a warpgroup for its matrix instructions
  barrier,
  fence,
  branch,
  sleep,
  move,  ///< between registers, from special registers
};
/// For people: "global load".
std::string_view to_string(SassKind kind);

struct SassInstruction {
  std::string_view name;  ///< "LDG"; "?" where not known
  SassKind kind = SassKind::other;
  std::uint8_t waits = 0;              ///< mask of the six scoreboards that it waits for before it issues
  std::int8_t sets_on_write = -1;      ///< scoreboard released when its result is there; -1: none
  std::int8_t sets_on_read = -1;       ///< scoreboard released when its operands have been read
  std::uint8_t width = 0;              ///< bits that a thread loads or stores, 0: unknown / no memory instruction
  std::optional<std::int64_t> target;  ///< of a direct branch or call: offset in bytes from the function's start
  bool falls_through = true;           ///< true if a thread may go on with the next instruction
};

constexpr std::size_t kSassBytes = 16;  ///< of an instruction

/// The name of an instruction's opcode, "?" if unknown; `low`: its first eight bytes. The products whose result is wide
/// or high have names of their own, "IMAD.WIDE" and "IMAD.HI", and so have conversions from and to double precision,
/// "F2F.F64", and "WARPGROUP.ARRIVE" and "WARPGROUP.DEPBAR" in SassInstruction.
std::string_view sass_name(std::uint64_t low);

/// `offset`: of the instruction from the function's start. Fewer than sixteen bytes are no known instruction.
SassInstruction decode_sass(std::span<const std::byte> sixteen, int architecture, std::uint64_t offset);

/// The instructions whose result or operands the one at `at` waits for, nearest first: for each scoreboard that it
/// waits for, those before it that set it, on the nearest paths backwards (fall through and branches), at most a few.
/// For a wait for asynchronous copies these are the copies, for one for matrix instructions of a warpgroup those.
std::vector<std::size_t> waited_for(std::span<const SassInstruction> code, std::size_t at);

}  // namespace roofline
