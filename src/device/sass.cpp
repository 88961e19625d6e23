#include "device/sass.hpp"

#include <array>
#include <cstring>

namespace roofline {
namespace {

/// The lowest nine bits of an instruction; the three above it say which operands are constants, immediates or uniform
/// registers.
constexpr std::uint64_t kOpcodeMask = 0x1FF;

struct Opcode {
  unsigned opcode;
  std::string_view name;
  SassKind kind;
};

// Read from cuobjdump's listings of this program's kernels and of CUDA's and PyTorch's libraries, and from compiled
// programs of one instruction. HFMA2 has two opcodes: the second, HFMA2.MMA, is the same operation issued to the other
// half of the pipe; the compiler alternates between them.
constexpr auto kOpcodes = [] {
  using enum SassKind;
  // clang-format off
  return std::array{
      Opcode{0x001, "PMTRIG", other}, Opcode{0x002, "MOV", move}, Opcode{0x003, "P2R", move},
      Opcode{0x004, "R2P", move}, Opcode{0x005, "CS2R", move}, Opcode{0x006, "VOTE", shuffle},
      Opcode{0x007, "SEL", integer}, Opcode{0x008, "FSEL", fp32}, Opcode{0x009, "FMNMX", fp32},
      Opcode{0x00a, "FSET", fp32}, Opcode{0x00b, "FSETP", fp32}, Opcode{0x00c, "ISETP", integer},
      Opcode{0x00f, "VIMNMX3", integer}, Opcode{0x010, "IADD3", integer}, Opcode{0x011, "LEA", integer},
      Opcode{0x012, "LOP3", integer}, Opcode{0x013, "IABS", integer}, Opcode{0x014, "VABSDIFF", integer},
      Opcode{0x015, "VABSDIFF4", integer}, Opcode{0x016, "PRMT", integer}, Opcode{0x017, "IMNMX", integer},
      Opcode{0x019, "SHF", integer}, Opcode{0x01a, "SGXT", integer}, Opcode{0x01b, "BMSK", integer},
      Opcode{0x01c, "PLOP3", integer}, Opcode{0x020, "FMUL", fp32}, Opcode{0x021, "FADD", fp32},
      Opcode{0x023, "FFMA", fp32}, Opcode{0x024, "IMAD", integer}, Opcode{0x025, "IMAD.WIDE", integer},
      Opcode{0x026, "IDP", integer}, Opcode{0x027, "IMAD.HI", integer}, Opcode{0x028, "DMUL", fp64},
      Opcode{0x029, "DADD", fp64}, Opcode{0x02a, "DSETP", fp64}, Opcode{0x02b, "DFMA", fp64},
      Opcode{0x02d, "PREEXIT", other}, Opcode{0x02e, "ACQBULK", barrier}, Opcode{0x02f, "ELECT", shuffle},
      Opcode{0x030, "HADD2", fp16}, Opcode{0x031, "HFMA2", fp16}, Opcode{0x032, "HMUL2", fp16},
      Opcode{0x033, "HSET2", fp16}, Opcode{0x034, "HSETP2", fp16}, Opcode{0x035, "HFMA2", fp16},
      Opcode{0x036, "VIADD", integer}, Opcode{0x037, "IMMA", tensor}, Opcode{0x038, "I2I", integer},
      Opcode{0x03a, "MOVM", shuffle}, Opcode{0x03b, "LDSM", shared_load}, Opcode{0x03c, "HMMA", tensor},
      Opcode{0x03d, "BMMA", tensor}, Opcode{0x03e, "F2FP", fp16}, Opcode{0x03f, "DMMA", tensor},
      Opcode{0x040, "HMNMX2", fp16}, Opcode{0x044, "STSM", shared_store}, Opcode{0x045, "I2FP", fp32},
      Opcode{0x046, "VIADDMNMX", integer}, Opcode{0x048, "VIMNMX", integer}, Opcode{0x049, "FFMA2", fp32},
      Opcode{0x04a, "FMUL2", fp32}, Opcode{0x04b, "FADD2", fp32}, Opcode{0x076, "FMNMX3", fp32},
      Opcode{0x07a, "QMMA", tensor}, Opcode{0x082, "UMOV", move}, Opcode{0x086, "VOTEU", shuffle},
      Opcode{0x087, "USEL", integer}, Opcode{0x08c, "UISETP", integer}, Opcode{0x090, "UIADD3", integer},
      Opcode{0x091, "ULEA", integer}, Opcode{0x092, "ULOP3", integer}, Opcode{0x096, "UPRMT", integer},
      Opcode{0x097, "UIADD3", integer}, Opcode{0x099, "USHF", integer}, Opcode{0x09c, "UPLOP3", integer},
      Opcode{0x0a4, "UIMAD", integer}, Opcode{0x0a5, "UIMAD", integer}, Opcode{0x0b9, "ULDC", constant_load},
      Opcode{0x0bd, "UFLO", integer}, Opcode{0x0bf, "UPOPC", integer}, Opcode{0x0ca, "R2UR", move},
      Opcode{0x100, "FLO", special}, Opcode{0x101, "BREV", special}, Opcode{0x102, "FCHK", special},
      Opcode{0x104, "F2F", conversion}, Opcode{0x105, "F2I", conversion}, Opcode{0x106, "I2F", conversion},
      Opcode{0x107, "FRND", conversion}, Opcode{0x108, "MUFU", special}, Opcode{0x109, "POPC", special},
      Opcode{0x110, "F2F.F64", conversion}, Opcode{0x111, "F2I", conversion}, Opcode{0x112, "I2F", conversion},
      Opcode{0x113, "FRND", conversion}, Opcode{0x118, "NOP", other}, Opcode{0x119, "S2R", move},
      Opcode{0x11a, "DEPBAR", other}, Opcode{0x11b, "ENDCOLLECTIVE", branch}, Opcode{0x11c, "B2R", barrier},
      Opcode{0x11d, "BAR", barrier}, Opcode{0x141, "BSYNC", branch}, Opcode{0x142, "BREAK", branch},
      Opcode{0x144, "CALL", branch}, Opcode{0x145, "BSSY", branch}, Opcode{0x146, "YIELD", sleep},
      Opcode{0x147, "BRA", branch}, Opcode{0x148, "WARPSYNC", barrier}, Opcode{0x149, "BRX", branch},
      Opcode{0x14d, "EXIT", branch}, Opcode{0x150, "RET", branch}, Opcode{0x155, "BMOV", move},
      Opcode{0x15c, "BPT", other}, Opcode{0x15d, "NANOSLEEP", sleep}, Opcode{0x160, "TEX", texture},
      Opcode{0x161, "TEX", texture}, Opcode{0x163, "TLD4", texture}, Opcode{0x164, "TLD4", texture},
      Opcode{0x166, "TLD", texture}, Opcode{0x167, "TLD", texture}, Opcode{0x16c, "TXD", texture},
      Opcode{0x16d, "TXD", texture}, Opcode{0x16f, "TXQ", texture}, Opcode{0x170, "TXQ", texture},
      Opcode{0x180, "LD", global_load}, Opcode{0x181, "LDG", global_load}, Opcode{0x182, "LDC", constant_load},
      Opcode{0x183, "LDL", local_load}, Opcode{0x184, "LDS", shared_load}, Opcode{0x185, "ST", global_store},
      Opcode{0x186, "STG", global_store}, Opcode{0x187, "STL", local_store}, Opcode{0x188, "STS", shared_store},
      Opcode{0x189, "SHFL", shuffle}, Opcode{0x18a, "ATOM", global_atomic}, Opcode{0x18c, "ATOMS", shared_atomic},
      Opcode{0x18d, "ATOMS", shared_atomic}, Opcode{0x18e, "RED", global_atomic}, Opcode{0x18f, "CCTL", fence},
      Opcode{0x192, "MEMBAR", fence}, Opcode{0x199, "SULD", texture}, Opcode{0x19a, "SULD", texture},
      Opcode{0x19d, "SUST", texture}, Opcode{0x19e, "SUST", texture}, Opcode{0x19f, "SURED", texture},
      Opcode{0x1a0, "SURED", texture}, Opcode{0x1a1, "MATCH", shuffle}, Opcode{0x1a2, "ATOM", global_atomic},
      Opcode{0x1a3, "ATOMG", global_atomic}, Opcode{0x1a6, "REDG", global_atomic}, Opcode{0x1a7, "SYNCS", barrier},
      Opcode{0x1a8, "ATOMG", global_atomic}, Opcode{0x1a9, "ATOMG", global_atomic}, Opcode{0x1aa, "QSPC", other},
      Opcode{0x1ab, "ERRBAR", fence}, Opcode{0x1ac, "LDCU", constant_load}, Opcode{0x1ae, "LDGSTS", async_copy},
      Opcode{0x1af, "LDGDEPBAR", async_copy}, Opcode{0x1b0, "ARRIVES", barrier}, Opcode{0x1b2, "SYNCS", barrier},
      Opcode{0x1b4, "UTMALDG", async_copy}, Opcode{0x1b5, "UTMASTG", async_copy}, Opcode{0x1b6, "UTMAREDG", async_copy},
      Opcode{0x1b7, "UTMACMDFLUSH", async_copy}, Opcode{0x1b8, "UTMAPF", async_copy},
      Opcode{0x1b9, "UTMACCTL", async_copy}, Opcode{0x1ba, "UBLKCP", async_copy}, Opcode{0x1bb, "UBLKRED", async_copy},
      Opcode{0x1bc, "UBLKPF", async_copy}, Opcode{0x1bd, "STAS", async_copy}, Opcode{0x1c2, "R2UR", move},
      Opcode{0x1c3, "S2UR", move}, Opcode{0x1c4, "REDUX", shuffle}, Opcode{0x1c5, "WARPGROUP", tensor_wait},
      Opcode{0x1c6, "FENCE", fence}, Opcode{0x1c7, "UCGABAR", barrier}, Opcode{0x1c8, "USETMAXREG", other},
      Opcode{0x1f0, "HGMMA", tensor}, Opcode{0x1f1, "IGMMA", tensor}, Opcode{0x1f3, "QGMMA", tensor},
  };
  // clang-format on
}();

/// The place in kOpcodes of each opcode; kOpcodes.size() if unknown.
constexpr auto kPlaces = [] {
  std::array<std::uint16_t, kOpcodeMask + 1> places{};
  places.fill(kOpcodes.size());
  for (std::size_t i = 0; i < kOpcodes.size(); ++i) places[kOpcodes[i].opcode] = static_cast<std::uint16_t>(i);
  return places;
}();

constexpr Opcode kUnknown{0, "?", SassKind::other};

const Opcode& opcode_of(std::uint64_t low) {
  const std::size_t place = kPlaces[low & kOpcodeMask];
  return place < kOpcodes.size() ? kOpcodes[place] : kUnknown;
}

/// Bits of an instruction's two words, counted over both.
struct Words {
  std::uint64_t low = 0, high = 0;

  unsigned bits(unsigned first, unsigned count) const {
    constexpr unsigned kWord = 64;
    const std::uint64_t word = first < kWord ? low >> first : high >> (first - kWord);
    return static_cast<unsigned>(word & ((std::uint64_t{1} << count) - 1));
  }
};

std::uint8_t width_of(const Words& words, const Opcode& opcode) {
  constexpr unsigned kSize = 73, kMatrices = 72;
  constexpr std::array<std::uint8_t, 8> kWidths = {8, 8, 16, 16, 32, 64, 128, 0};
  using enum SassKind;
  switch (opcode.kind) {
    case global_load:
    case global_store:
    case local_load:
    case local_store:
    case constant_load:
      return kWidths[words.bits(kSize, 3)];
    case shared_load:
    case shared_store: {
      if (opcode.name != "LDSM" && opcode.name != "STSM") return kWidths[words.bits(kSize, 3)];
      constexpr std::array<std::uint8_t, 4> kOfMatrices = {32, 64, 128, 0};
      return kOfMatrices[words.bits(kMatrices, 2)];
    }
    case async_copy:
      return opcode.name == "LDGSTS" ? kWidths[words.bits(kSize, 3)] : std::uint8_t{0};
    default:
      return 0;
  }
}

/// Fifty bits from bit 32, which count bytes from the next instruction. Hopper keeps two for the kind of the branch and
/// has eight below the rest, at bit 16; it counts four bytes each.
std::int64_t branch_distance(const Words& words, int architecture) {
  constexpr unsigned kFirst = 32, kKind = 2, kUnused = 14, kHopperLow = 16, kLowBits = 8;
  const std::uint64_t field = words.low >> kFirst | words.high << kFirst;  // what lies above is shifted out
  const auto distance = static_cast<std::int64_t>(field << kUnused) >> kUnused;
  constexpr int kHopper = 90;
  if (architecture < kHopper) return distance & ~std::int64_t{3};
  return ((distance >> kKind) * (1 << kLowBits) + words.bits(kHopperLow, kLowBits)) * (1 << kKind);
}

/// True if a thread may go on with the next instruction: not after a branch that every thread takes.
bool may_fall_through(const Words& words, std::string_view name) {
  if (name != "BRA" && name != "BRX" && name != "EXIT" && name != "RET") return true;
  constexpr unsigned kGuard = 12, kPredicate = 87, kPredicateBits = 4, kAlways = 7, kKind = 32;
  if (words.bits(kGuard, kPredicateBits) != kAlways || words.bits(kPredicate, kPredicateBits) != kAlways) return true;
  return name == "BRA" && words.bits(kKind, 2) != 0;  // .DIV, .CONV, .U: by the state of the warp
}

/// What the scoreboards of a dependency barrier are is among its operands: "DEPBAR.LE SB0, 0x3", "DEPBAR {5, 4}".
unsigned depbar_waits(const Words& words) {
  constexpr unsigned kMask = 32, kScoreboards = 6, kScoreboard = 44, kIsLessOrEqual = 47;
  const unsigned one = words.bits(kIsLessOrEqual, 1) << words.bits(kScoreboard, 3);
  return (words.bits(kMask, kScoreboards) | one) & ((1U << kScoreboards) - 1);
}

std::string_view warpgroup_name(const Words& words) {
  constexpr unsigned kVariant = 80, kVariantBits = 2;
  return words.bits(kVariant, kVariantBits) == 1 ? "WARPGROUP.DEPBAR" : "WARPGROUP.ARRIVE";
}

bool is_move(const Words& words, std::string_view name) {
  constexpr unsigned kFirstFactor = 24, kRegisterBits = 8, kZeroRegister = 0xFF;
  const bool multiplies = name == "FFMA" || name == "IMAD" || name == "HFMA2";
  return multiplies && words.bits(kFirstFactor, kRegisterBits) == kZeroRegister;
}

}  // namespace

std::string_view to_string(SassKind kind) {
  using enum SassKind;
  switch (kind) {
    case other:
      return "other";
    case global_load:
      return "global load";
    case global_store:
      return "global store";
    case global_atomic:
      return "global atomic";
    case local_load:
      return "local load";
    case local_store:
      return "local store";
    case shared_load:
      return "shared load";
    case shared_store:
      return "shared store";
    case shared_atomic:
      return "shared atomic";
    case constant_load:
      return "constant load";
    case texture:
      return "texture";
    case async_copy:
      return "asynchronous copy";
    case shuffle:
      return "warp shuffle";
    case special:
      return "special function";
    case conversion:
      return "conversion";
    case fp64:
      return "fp64";
    case fp32:
      return "fp32";
    case fp16:
      return "fp16";
    case integer:
      return "integer";
    case tensor:
      return "tensor";
    case tensor_wait:
      return "tensor wait";
    case barrier:
      return "barrier";
    case fence:
      return "memory fence";
    case branch:
      return "branch";
    case sleep:
      return "sleep";
    case move:
      return "move";
  }
  return "other";
}

std::string_view sass_name(std::uint64_t low) { return opcode_of(low).name; }

SassInstruction decode_sass(std::span<const std::byte> sixteen, int architecture, std::uint64_t offset) {
  Words words;
  SassInstruction instruction;
  instruction.name = kUnknown.name;
  if (sixteen.size() < sizeof words) return instruction;
  std::memcpy(&words, sixteen.data(), sizeof words);
  const Opcode& opcode = opcode_of(words.low);
  instruction.name = opcode.name;
  instruction.kind = opcode.kind;

  constexpr unsigned kWriteIndex = 110, kReadIndex = 113, kWaitMask = 116, kScoreboards = 6;
  const auto scoreboard = [&](unsigned at) {
    const unsigned index = words.bits(at, 3);
    return static_cast<std::int8_t>(index < kScoreboards ? static_cast<int>(index) : -1);
  };
  instruction.sets_on_write = scoreboard(kWriteIndex);
  instruction.sets_on_read = scoreboard(kReadIndex);
  unsigned waits = words.bits(kWaitMask, kScoreboards);
  if (opcode.name == "DEPBAR") waits |= depbar_waits(words);
  instruction.waits = static_cast<std::uint8_t>(waits);

  if (is_move(words, opcode.name)) instruction.kind = SassKind::move;
  if (opcode.name == "WARPGROUP") instruction.name = warpgroup_name(words);
  instruction.width = width_of(words, opcode);
  instruction.falls_through = may_fall_through(words, opcode.name);
  if (opcode.name == "BRA" || opcode.name == "CALL") {
    instruction.target = static_cast<std::int64_t>(offset + kSassBytes +
                                                   static_cast<std::uint64_t>(branch_distance(words, architecture)));
  }
  return instruction;
}

}  // namespace roofline
