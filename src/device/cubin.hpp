// Reads GPU machine code back out of an executable and counts its instructions, so that an audit can say
// "HGMMA appears 64 times in the timed kernel" on a machine that has no disassembler.
// Host-only: ELF files and opcodes, no CUDA header.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace roofline {

/// The machine code of one kernel for one architecture.
struct KernelCode {
  std::string name;                 ///< mangled, as cudaFuncGetName and cuobjdump give it
  int architecture = 0;             ///< 90 for sm_90 and sm_90a: the file does not distinguish them
  std::span<const std::byte> code;  ///< 16 bytes an instruction
};

/// Every kernel in the uncompressed device images ("cubins") that lie in `bytes`: an executable, an object file,
/// a .nv_fatbin section or a cubin. The result points into `bytes`. What is no whole image is passed over.
std::vector<KernelCode> find_kernels(std::span<const std::byte> bytes);

/// True if count_instruction knows that spelling: cuobjdump's, without operands and with the modifiers that matter:
/// "HGMMA", "LDG.E.128", "MUFU.EX2", "HFMA2.BF16".
bool has_opcode(std::string_view instruction);

/// True if the opcodes are known to hold for that architecture (70 to 121; 16-byte instructions since Volta).
bool has_opcodes_of(int architecture);

/// Number of occurrences in the code. "FFMA", "IMAD" and "HFMA2" leave out those that only move a register or
/// a constant, which the compiler writes as 0 * 0 + x. Throws Error for an instruction that is not known.
int count_instruction(std::span<const std::byte> code, std::string_view instruction);

/// Every spelling that count_instruction knows.
std::vector<std::string_view> known_instructions();

}  // namespace roofline
