// Machine code read back from an executable: a device image of known instructions, this very program, and, where it
// is installed, NVIDIA's own disassembler over the same bytes.
#include "device/cubin.hpp"

#include <cxxabi.h>
#include <elf.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <sstream>

#include "model/error.hpp"
#include "model/names.hpp"

namespace roofline {
namespace {

using Instruction = std::array<std::uint64_t, 2>;

std::span<const std::byte> bytes_of(const std::string& text) { return std::as_bytes(std::span(text)); }

template <typename T>
std::string text_of(const T& value) {
  return {reinterpret_cast<const char*>(&value), sizeof value};
}

std::string code_of(const std::vector<Instruction>& instructions) {
  std::string code;
  for (const Instruction& instruction : instructions) code += text_of(instruction);
  return code;
}

/// A device image with one kernel "k" for sm_90, as CUDA 12 (ABI 7) or 13 (ABI 8) writes it.
std::string cubin(const std::string& code, int abi) {
  const std::string names = std::string("\0.shstrtab\0.text.k\0.nv.info\0", 28);
  Elf64_Ehdr header{};
  std::memcpy(header.e_ident, ELFMAG, SELFMAG);
  header.e_ident[EI_CLASS] = ELFCLASS64;
  header.e_ident[EI_ABIVERSION] = static_cast<unsigned char>(abi);
  header.e_machine = 190;
  header.e_flags = abi >= 8 ? 0x6005A04 : 0x5A055A;
  header.e_shentsize = sizeof(Elf64_Shdr);
  header.e_shnum = 3;
  header.e_shstrndx = 1;
  header.e_shoff = sizeof header;
  std::array<Elf64_Shdr, 3> sections{};
  sections[1].sh_name = 1;
  sections[1].sh_type = SHT_STRTAB;
  sections[1].sh_offset = sizeof header + sizeof sections;
  sections[1].sh_size = names.size();
  sections[2].sh_name = 11;
  sections[2].sh_type = SHT_PROGBITS;
  sections[2].sh_offset = sections[1].sh_offset + names.size();
  sections[2].sh_size = code.size();
  return text_of(header) + text_of(sections) + names + code;
}

// As nvcc 13.0 assembled them for sm_90a, with what cuobjdump wrote beside them.
const std::vector<Instruction> kKnown = {
    {0x8000000000007308, 0x004e300000000800},  // MUFU.EX2 R0, -R0
    {0x0000000602087981, 0x000ee2000c0e1d00},  // LDG.E.EF.128 R8, desc[UR6][R2.64]
    {0x0000000402007981, 0x000ea4000c1e1900},  // LDG.E R0, desc[UR4][R2.64]
    {0x0000000c04007986, 0x001fe2000c101d06},  // STG.E.128 desc[UR6][R4.64], R12
    {0x0000000800007988, 0x008fe20008000c04},  // STS.128 [R0+UR4], R8
    {0x0000000200007235, 0x001fd40000200003},  // HFMA2.MMA.BF16_V2 R0, R0, R2, R3
    {0x0000000200007231, 0x000fcc0000200003},  // HFMA2.BF16_V2 R0, R0, R2, R3
    {0x0000000400007224, 0x001fc800078e0205},  // IMAD R0, R0, R4, R5
    {0x00000000041879f0, 0x000fe2000c0018ff},  // HGMMA.64x8x16.F32.BF16 R24, gdesc[UR4], RZ, !UPT, gsb0
    {0x00000000041879f3, 0x000fe2000c0008ff},  // QGMMA.64x8x32.F32.E4M3.E4M3 R24, gdesc[UR4], RZ, !UPT, gsb0
    {0x000000060404723f, 0x004e240000000008},  // DMMA.8x8x4 R4, R4, R6, R8
};

TEST(Cubin, FindsAKernelAmongOtherBytesAndCountsItsInstructions) {
  for (const int abi : {7, 8}) {
    SCOPED_TRACE(abi);
    const std::string file = std::string(1234, '\x7F') + cubin(code_of(kKnown), abi) + std::string(99, '\0');
    const std::vector<KernelCode> kernels = find_kernels(bytes_of(file));
    ASSERT_EQ(kernels.size(), 1u);
    EXPECT_EQ(kernels[0].name, "k");
    EXPECT_EQ(kernels[0].architecture, 90);
    const std::map<std::string, int> expected = {{"MUFU.EX2", 1},   {"LDG.E", 2}, {"LDG.E.128", 1}, {"STG.E.128", 1},
                                                 {"STS.128", 1},    {"HFMA2", 0}, {"IMAD", 1},      {"HGMMA", 1},
                                                 {"HFMA2.BF16", 2}, {"QGMMA", 1}, {"DMMA", 1},      {"FFMA", 0}};
    for (const auto& [name, count] : expected) EXPECT_EQ(count_instruction(kernels[0].code, name), count) << name;
  }
}

TEST(Cubin, MovesThatPoseAsMultiplyAddsAreNotCounted) {
  const std::string code =
      code_of({{0x00000000ff037435, 0x000fe200000001ff},    // HFMA2.MMA R3, -RZ, RZ, 0, 0
               {0x000000ff0a0b7224, 0x000fe200078e00ff}});  // IMAD R11, R10, RZ, RZ: an addend only
  EXPECT_EQ(count_instruction(bytes_of(code), "HFMA2"), 0);
  EXPECT_EQ(count_instruction(bytes_of(code), "IMAD"), 1);
}

TEST(Cubin, PassesOverWhatIsNoWholeImage) {
  std::string image = cubin(code_of(kKnown), 8);
  image.resize(image.size() - 1);
  EXPECT_TRUE(find_kernels(bytes_of(image)).empty());
  image.resize(80);
  EXPECT_TRUE(find_kernels(bytes_of(image)).empty());
  std::string host = cubin(code_of(kKnown), 8);
  host[18] = 62;  // EM_X86_64
  EXPECT_TRUE(find_kernels(bytes_of(host)).empty());
  EXPECT_TRUE(find_kernels({}).empty());
}

TEST(Cubin, RefusesAnInstructionItDoesNotKnow) {
  EXPECT_THROW(count_instruction({}, "FROB"), Error);
  EXPECT_FALSE(has_opcode("HGMM"));
  EXPECT_TRUE(has_opcodes_of(90));
  EXPECT_FALSE(has_opcodes_of(61));
}

// --- this program ---

std::string own_file() {
  std::ifstream file("/proc/self/exe", std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::string demangled(const std::string& name) {
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> text(abi::__cxa_demangle(name.c_str(), nullptr, nullptr, &status),
                                                         &std::free);
  return status == 0 ? text.get() : name;
}

class OwnCode : public testing::Test {
 protected:
  void SetUp() override {
    for (const KernelCode& kernel : find_kernels(bytes_of(file_))) {
      if (kernel.architecture == 90) kernels_.push_back(kernel);
    }
    if (kernels_.empty()) GTEST_SKIP() << "this build holds no CUDA code for sm_90";
  }

  /// Expects exactly that many in every kernel whose name contains `name`, and at least one such kernel.
  void expect(const std::string& name, std::string_view instruction, int count) {
    SCOPED_TRACE(name);
    int found = 0;
    for (const KernelCode& kernel : kernels_) {
      if (demangled(kernel.name).find(name) == std::string::npos) continue;
      ++found;
      EXPECT_EQ(count_instruction(kernel.code, instruction), count) << instruction;
    }
    EXPECT_GT(found, 0) << "no such kernel";
  }

  const std::string file_ = own_file();
  std::vector<KernelCode> kernels_;
};

std::string of_pipe(const std::string& kernel, Pipe pipe) {
  return fmt::format("{}<(roofline::Pipe){}", kernel, static_cast<int>(pipe));
}

TEST_F(OwnCode, EveryArithmeticProbeUnrollsItsInstruction) {
  constexpr int kUnroll = 16;
  for (const int chains : {4, 16}) {
    const std::string shape = fmt::format(", {}>", chains);
    expect(of_pipe("fma_kernel", Pipe::fp32) + shape, "FFMA", chains * kUnroll);
    expect(of_pipe("fma_kernel", Pipe::fp64) + shape, "DFMA", chains * kUnroll);
    expect(of_pipe("fma_kernel", Pipe::fp16) + shape, "HFMA2", chains * kUnroll);
    expect(of_pipe("fma_kernel", Pipe::bf16) + shape, "HFMA2.BF16", chains * kUnroll);
  }
  expect("exponential_kernel<8>", "MUFU.EX2", 8 * kUnroll);
  // Indices are multiplied too.
  for (const KernelCode& kernel : kernels_) {
    if (demangled(kernel.name).find(of_pipe("fma_kernel", Pipe::int32) + ", 16>") == std::string::npos) continue;
    EXPECT_GE(count_instruction(kernel.code, "IMAD"), 16 * kUnroll);
  }
}

TEST_F(OwnCode, EveryTensorProbeUsesTheWarpgroupInstructions) {
  constexpr int kOfARound = 64;
  expect("wgmma_kernel<__nv_bfloat16,", "HGMMA", kOfARound);
  expect("wgmma_kernel<__half,", "HGMMA", kOfARound);
  expect("wgmma_kernel<float,", "HGMMA", kOfARound);
  expect("wgmma_kernel<__nv_fp8_e4m3,", "QGMMA", kOfARound);
  expect("wgmma_kernel<signed char,", "IGMMA", kOfARound);
}

TEST_F(OwnCode, MatrixInstructionsOfAWarp) {
  expect("mma_sync_kernel<roofline::mma_sync::Bf16, 8>", "HMMA", 16 * 2 * 8);
  expect("mma_sync_kernel<roofline::mma_sync::Tf32, 8>", "HMMA", 16 * 2 * 8);
  expect("mma_sync_kernel<roofline::mma_sync::Int8, 8>", "IMMA", 16 * 2 * 8);
  expect("mma_sync_kernel<roofline::mma_sync::Fp64Large, 4>", "DMMA", 16 * 1 * 4);
  expect("mma_sync_kernel<roofline::mma_sync::Fp64Small, 8>", "DMMA", 16 * 2 * 8);
}

// --- the disassembler's word ---

std::string find_cuobjdump() {
  for (const char* variable : {"CUDA_HOME", "CUDA_PATH"}) {
    if (const char* home = std::getenv(variable)) {
      std::string tool = std::string(home) + "/bin/cuobjdump";
      if (std::filesystem::exists(tool)) return tool;
    }
  }
  if (std::filesystem::exists("/usr/local/cuda/bin/cuobjdump")) return "/usr/local/cuda/bin/cuobjdump";
  return std::system("command -v cuobjdump >/dev/null") == 0 ? "cuobjdump" : "";
}

/// "FFMA.FTZ" and the first source operand, of a line "/*0070*/ @!P0 FFMA.FTZ R1, R2, R3, R4 ;".
struct ListingLine {
  std::vector<std::string> parts;
  std::string first_source;
};

std::optional<ListingLine> parse_listing(const std::string& text) {
  const std::size_t comment = text.find("*/");
  if (text.find("/*") == text.npos || comment == text.npos || text.find(';') == text.npos) return std::nullopt;
  std::istringstream words(text.substr(comment + 2));
  std::string name;
  while (words >> name && (name.front() == '@' || name == "{")) {
  }
  ListingLine line;
  std::istringstream parts(name);
  for (std::string part; std::getline(parts, part, '.');) line.parts.push_back(part);
  std::string target;
  words >> target >> line.first_source;
  return line;
}

bool is(const ListingLine& line, std::string_view spelling) {
  const auto has = [&](std::string_view part) {
    return std::find(line.parts.begin(), line.parts.end(), part) != line.parts.end();
  };
  std::istringstream wanted{std::string(spelling)};
  std::string part;
  std::getline(wanted, part, '.');
  if (line.parts.empty() || line.parts.front() != part) return false;
  if (part == "IMAD" && (has("WIDE") || has("HI"))) return false;
  if (spelling == "HFMA2" && has("BF16_V2")) return false;
  while (std::getline(wanted, part, '.')) {
    if (!has(part) && !has(part + "_V2")) return false;
  }
  const bool arithmetic = line.parts[0] == "FFMA" || line.parts[0] == "IMAD" || line.parts[0] == "HFMA2";
  return !arithmetic || line.first_source.find("RZ") == std::string::npos;
}

TEST_F(OwnCode, CuobjdumpCountsTheSame) {
  const std::string tool = find_cuobjdump();
  if (tool.empty()) GTEST_SKIP() << "cuobjdump is not installed";
  const std::string file = std::filesystem::read_symlink("/proc/self/exe").string();
  const auto close = [](FILE* pipe) { pclose(pipe); };
  const std::unique_ptr<FILE, decltype(close)> pipe(
      popen(fmt::format("'{}' --dump-sass '{}' 2>&1", tool, file).c_str(), "r"), close);
  ASSERT_NE(pipe, nullptr);
  std::map<std::string, std::map<std::string_view, int>> counts;
  bool hopper = false;
  std::string kernel;
  std::array<char, 65536> buffer{};
  while (std::fgets(buffer.data(), buffer.size(), pipe.get()) != nullptr) {
    const std::string text = buffer.data();
    if (text.find("arch = sm_") != text.npos) hopper = text.find("arch = sm_90") != text.npos;
    const std::size_t name = text.find("Function : ");
    if (name != text.npos) {
      kernel = text.substr(name + 11, text.find_last_not_of("\n ") - name - 10);
      counts.erase(kernel);  // a template that several files use is there several times
      continue;
    }
    if (!hopper || kernel.empty()) continue;
    const auto line = parse_listing(text);
    if (!line) continue;
    for (const std::string_view known : known_instructions()) counts[kernel][known] += is(*line, known) ? 1 : 0;
  }
  int compared = 0;
  for (const KernelCode& own : kernels_) {
    const auto theirs = counts.find(own.name);
    if (theirs == counts.end()) continue;
    ++compared;
    for (const auto& [instruction, count] : theirs->second) {
      EXPECT_EQ(count_instruction(own.code, instruction), count) << instruction << " in " << demangled(own.name);
    }
  }
  EXPECT_GT(compared, 50) << "kernels that both know";
}

}  // namespace
}  // namespace roofline
