// ELF images within a file, and the opcodes of sm_70 and later.
#include "device/cubin.hpp"

#include <elf.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <optional>

#include "model/error.hpp"

namespace roofline {
namespace {

constexpr std::uint16_t kMachineCuda = 190;  // EM_CUDA
constexpr std::size_t kInstructionBytes = 16;

/// A T at an offset; nothing past the end.
template <typename T>
std::optional<T> read_at(std::span<const std::byte> bytes, std::uint64_t offset) {
  if (offset > bytes.size() || bytes.size() - offset < sizeof(T)) return std::nullopt;
  T value;
  std::memcpy(&value, bytes.data() + offset, sizeof value);
  return value;
}

std::string_view text_at(std::span<const std::byte> bytes, std::uint64_t offset) {
  if (offset >= bytes.size()) return {};
  const char* const begin = reinterpret_cast<const char*>(bytes.data()) + offset;
  return {begin, strnlen(begin, bytes.size() - offset)};
}

/// CUDA 13 (ABI 8) moved the architecture one byte up and put flags of its own into the lowest.
int architecture_of(const Elf64_Ehdr& header) {
  return static_cast<int>(header.e_ident[EI_ABIVERSION] >= 8 ? header.e_flags >> 8 & 0xFF : header.e_flags & 0xFF);
}

void add_kernels(std::span<const std::byte> image, const Elf64_Ehdr& header, std::vector<KernelCode>& kernels) {
  constexpr std::string_view kPrefix = ".text.";
  const auto section = [&](std::uint64_t i) {
    return read_at<Elf64_Shdr>(image, header.e_shoff + i * sizeof(Elf64_Shdr));
  };
  const auto names = section(header.e_shstrndx);
  if (!names) return;
  for (std::uint64_t i = 0; i < header.e_shnum; ++i) {
    const auto found = section(i);
    if (!found || found->sh_type != SHT_PROGBITS) continue;
    const std::string_view name = text_at(image, names->sh_offset + found->sh_name);
    if (!name.starts_with(kPrefix) || found->sh_offset > image.size()) continue;
    if (image.size() - found->sh_offset < found->sh_size) continue;
    kernels.push_back({.name = std::string(name.substr(kPrefix.size())),
                       .architecture = architecture_of(header),
                       .code = image.subspan(found->sh_offset, found->sh_size)});
  }
}

/// An opcode is the lowest nine bits of an instruction; the three above it say which operands are constants,
/// immediates or uniform registers. Modifiers lie in the second 64-bit word.
struct Opcode {
  std::string_view name;
  unsigned opcode;
  std::uint64_t modifier_mask = 0;
  std::uint64_t modifier = 0;
  bool arithmetic = false;  ///< not counted where its first factor is the zero register: that is a move
};

constexpr std::uint64_t kSizeMask = 7u << 9;
constexpr std::uint64_t kSize128 = 6u << 9;
constexpr std::uint64_t kLongAddress = 1u << 8;  // ".E"
constexpr std::uint64_t kBf16 = 1u << 21;        // ".BF16_V2"
constexpr std::uint64_t kFunctionMask = 15u << 10;
constexpr std::uint64_t kEx2 = 2u << 10;

// Derived from compiled kernels and compared with cuobjdump's output for this whole program (tests/unit/cubin_test.cpp
// does it again wherever cuobjdump is installed). HFMA2 has two opcodes: the second, HFMA2.MMA, is the same operation
// issued to the other half of the pipe; the compiler alternates between them.
constexpr std::array kOpcodes = {
    Opcode{.name = "FFMA", .opcode = 0x023, .arithmetic = true},
    Opcode{.name = "DFMA", .opcode = 0x02b},
    Opcode{.name = "HFMA2", .opcode = 0x031, .modifier_mask = kBf16, .arithmetic = true},
    Opcode{.name = "HFMA2", .opcode = 0x035, .modifier_mask = kBf16, .arithmetic = true},
    Opcode{.name = "HFMA2.BF16", .opcode = 0x031, .modifier_mask = kBf16, .modifier = kBf16, .arithmetic = true},
    Opcode{.name = "HFMA2.BF16", .opcode = 0x035, .modifier_mask = kBf16, .modifier = kBf16, .arithmetic = true},
    Opcode{.name = "IMAD", .opcode = 0x024, .arithmetic = true},
    Opcode{.name = "MUFU.EX2", .opcode = 0x108, .modifier_mask = kFunctionMask, .modifier = kEx2},
    Opcode{.name = "HMMA", .opcode = 0x03c},
    Opcode{.name = "IMMA", .opcode = 0x037},
    Opcode{.name = "DMMA", .opcode = 0x03f},
    Opcode{.name = "QMMA", .opcode = 0x07a},
    Opcode{.name = "HGMMA", .opcode = 0x1f0},
    Opcode{.name = "IGMMA", .opcode = 0x1f1},
    Opcode{.name = "QGMMA", .opcode = 0x1f3},
    Opcode{.name = "LDG.E", .opcode = 0x181, .modifier_mask = kLongAddress, .modifier = kLongAddress},
    Opcode{.name = "LDG.E.128",
           .opcode = 0x181,
           .modifier_mask = kSizeMask | kLongAddress,
           .modifier = kSize128 | kLongAddress},
    Opcode{.name = "STG.E", .opcode = 0x186, .modifier_mask = kLongAddress, .modifier = kLongAddress},
    Opcode{.name = "STG.E.128",
           .opcode = 0x186,
           .modifier_mask = kSizeMask | kLongAddress,
           .modifier = kSize128 | kLongAddress},
    Opcode{.name = "LDS", .opcode = 0x184},
    Opcode{.name = "LDS.128", .opcode = 0x184, .modifier_mask = kSizeMask, .modifier = kSize128},
    Opcode{.name = "STS", .opcode = 0x188},
    Opcode{.name = "STS.128", .opcode = 0x188, .modifier_mask = kSizeMask, .modifier = kSize128},
    Opcode{.name = "LDGSTS", .opcode = 0x1ae},
    Opcode{.name = "UBLKCP", .opcode = 0x1ba},
    Opcode{.name = "BAR", .opcode = 0x11d},
};

}  // namespace

std::vector<KernelCode> find_kernels(std::span<const std::byte> bytes) {
  constexpr std::string_view kMagic = ELFMAG;
  std::vector<KernelCode> kernels;
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  for (std::size_t at = text.find(kMagic); at != text.npos; at = text.find(kMagic, at + kMagic.size())) {
    const auto header = read_at<Elf64_Ehdr>(bytes, at);
    if (!header || header->e_ident[EI_CLASS] != ELFCLASS64 || header->e_machine != kMachineCuda) continue;
    if (header->e_shentsize == sizeof(Elf64_Shdr)) add_kernels(bytes.subspan(at), *header, kernels);
  }
  return kernels;
}

bool has_opcode(std::string_view instruction) {
  return std::any_of(kOpcodes.begin(), kOpcodes.end(), [&](const Opcode& known) { return known.name == instruction; });
}

bool has_opcodes_of(int architecture) { return architecture >= 70 && architecture <= 121; }

int count_instruction(std::span<const std::byte> code, std::string_view instruction) {
  if (!has_opcode(instruction)) throw Error(fmt::format("no opcode is known for {}", instruction));
  constexpr std::uint64_t kZeroRegister = 0xFF;
  int count = 0;
  for (std::size_t at = 0; at + kInstructionBytes <= code.size(); at += kInstructionBytes) {
    const std::uint64_t low = *read_at<std::uint64_t>(code, at);
    const std::uint64_t high = *read_at<std::uint64_t>(code, at + 8);
    for (const Opcode& known : kOpcodes) {
      if (known.name != instruction || (low & 0x1FF) != known.opcode) continue;
      if ((high & known.modifier_mask) != known.modifier) continue;
      if (known.arithmetic && (low >> 24 & 0xFF) == kZeroRegister) continue;
      ++count;
    }
  }
  return count;
}

std::vector<std::string_view> known_instructions() {
  std::vector<std::string_view> names;
  for (const Opcode& known : kOpcodes) {
    if (names.empty() || names.back() != known.name) names.push_back(known.name);
  }
  return names;
}

}  // namespace roofline
