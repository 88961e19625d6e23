// ELF images within a file, and the spellings of instructions of sm_70 and later.
#include "device/cubin.hpp"

#include <elf.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "device/sass.hpp"
#include "host/elf_image.hpp"
#include "model/error.hpp"

namespace roofline {
namespace {

void add_kernels(const ElfImage& image, std::vector<KernelCode>& kernels) {
  constexpr std::string_view kPrefix = ".text.";
  for (std::size_t i = 0; i < image.section_count(); ++i) {
    const auto section = image.section(i);
    if (!section || section->type != SHT_PROGBITS || !section->name.starts_with(kPrefix)) continue;
    kernels.push_back({.name = std::string(section->name.substr(kPrefix.size())),
                       .architecture = cuda_architecture(image.header()),
                       .code = section->content});
  }
}

/// A spelling of an instruction: the name of its opcode (sass_name), and modifiers, which lie in the second 64-bit
/// word.
struct Spelling {
  std::string_view spelling;
  std::string_view name;
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

// Compared with cuobjdump's output for this whole program (tests/unit/cubin_test.cpp does it again wherever cuobjdump
// is installed).
constexpr std::array kSpellings = {
    Spelling{.spelling = "FFMA", .name = "FFMA", .arithmetic = true},
    Spelling{.spelling = "DFMA", .name = "DFMA"},
    Spelling{.spelling = "HFMA2", .name = "HFMA2", .modifier_mask = kBf16, .arithmetic = true},
    Spelling{.spelling = "HFMA2.BF16", .name = "HFMA2", .modifier_mask = kBf16, .modifier = kBf16, .arithmetic = true},
    Spelling{.spelling = "IMAD", .name = "IMAD", .arithmetic = true},
    Spelling{.spelling = "MUFU.EX2", .name = "MUFU", .modifier_mask = kFunctionMask, .modifier = kEx2},
    Spelling{.spelling = "HMMA", .name = "HMMA"},
    Spelling{.spelling = "IMMA", .name = "IMMA"},
    Spelling{.spelling = "DMMA", .name = "DMMA"},
    Spelling{.spelling = "QMMA", .name = "QMMA"},
    Spelling{.spelling = "HGMMA", .name = "HGMMA"},
    Spelling{.spelling = "IGMMA", .name = "IGMMA"},
    Spelling{.spelling = "QGMMA", .name = "QGMMA"},
    Spelling{.spelling = "LDG.E", .name = "LDG", .modifier_mask = kLongAddress, .modifier = kLongAddress},
    Spelling{.spelling = "LDG.E.128",
             .name = "LDG",
             .modifier_mask = kSizeMask | kLongAddress,
             .modifier = kSize128 | kLongAddress},
    Spelling{.spelling = "STG.E", .name = "STG", .modifier_mask = kLongAddress, .modifier = kLongAddress},
    Spelling{.spelling = "STG.E.128",
             .name = "STG",
             .modifier_mask = kSizeMask | kLongAddress,
             .modifier = kSize128 | kLongAddress},
    Spelling{.spelling = "LDS", .name = "LDS"},
    Spelling{.spelling = "LDS.128", .name = "LDS", .modifier_mask = kSizeMask, .modifier = kSize128},
    Spelling{.spelling = "STS", .name = "STS"},
    Spelling{.spelling = "STS.128", .name = "STS", .modifier_mask = kSizeMask, .modifier = kSize128},
    Spelling{.spelling = "LDGSTS", .name = "LDGSTS"},
    Spelling{.spelling = "UBLKCP", .name = "UBLKCP"},
    Spelling{.spelling = "BAR", .name = "BAR"},
};

}  // namespace

std::vector<KernelCode> find_kernels(std::span<const std::byte> bytes) {
  constexpr std::string_view kMagic = ELFMAG;
  std::vector<KernelCode> kernels;
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  for (std::size_t at = text.find(kMagic); at != text.npos; at = text.find(kMagic, at + kMagic.size())) {
    if (const auto image = ElfImage::at_start_of(bytes.subspan(at), kMachineCuda)) add_kernels(*image, kernels);
  }
  return kernels;
}

bool has_opcode(std::string_view instruction) {
  return std::ranges::find(kSpellings, instruction, &Spelling::spelling) != kSpellings.end();
}

bool has_opcodes_of(int architecture) { return architecture >= 70 && architecture <= 121; }

int count_instruction(std::span<const std::byte> code, std::string_view instruction) {
  if (!has_opcode(instruction)) throw Error(fmt::format("no opcode is known for {}", instruction));
  const Spelling& known = *std::ranges::find(kSpellings, instruction, &Spelling::spelling);
  constexpr std::uint64_t kZeroRegister = 0xFF;
  int count = 0;
  for (std::size_t at = 0; at + kSassBytes <= code.size(); at += kSassBytes) {
    const std::uint64_t low = *elf_record<std::uint64_t>(code.subspan(at), 0);
    const std::uint64_t high = *elf_record<std::uint64_t>(code.subspan(at), 1);
    if (sass_name(low) != known.name || (high & known.modifier_mask) != known.modifier) continue;
    if (known.arithmetic && (low >> 24 & 0xFF) == kZeroRegister) continue;
    ++count;
  }
  return count;
}

std::vector<std::string_view> known_instructions() {
  std::vector<std::string_view> names;
  for (const Spelling& known : kSpellings) names.push_back(known.spelling);
  return names;
}

}  // namespace roofline
