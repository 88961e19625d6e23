// Decoded machine code: what cuobjdump wrote beside each instruction, and what instructions of whole kernels wait for.
#include "device/sass.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <set>

#include "device/cubin.hpp"

namespace roofline {
namespace {

struct Listed {
  std::string_view text;  ///< cuobjdump's
  std::uint64_t low, high;
  std::string_view name;
  SassKind kind;
  int width;
  int waits = 0, on_write = -1, on_read = -1;
};

SassInstruction decoded(std::uint64_t low, std::uint64_t high, int architecture = 90, std::uint64_t offset = 0) {
  const std::array words = {low, high};
  return decode_sass(std::as_bytes(std::span(words)), architecture, offset);
}

// Of sm_90, from CUDA's and PyTorch's libraries and this program, except for textures (compiled from one call each).
const std::vector<Listed>& listed_instructions() {
  using enum SassKind;
  // clang-format off
  static const std::vector<Listed> kListed = {
    {"@!P0 LDG.E.128 R12, desc[UR14][R2.64]", 0x0000000e020c8981, 0x008f6e000c1e1d00, "LDG", global_load, 128, 8, 5, -1},
    {"LDG.E.U8 R6, desc[UR4][R10.64]", 0x000000040a067981, 0x000ea2000c1e1100, "LDG", global_load, 8, 0, 2, -1},
    {"LD.E.64 R18, desc[UR10][R18.64]", 0x0000000a12127980, 0x000ea4000c101b00, "LD", global_load, 64, 0, 2, -1},
    {"@P0 STG.E.128 desc[UR14][R28.64], R16", 0x000000101c000986, 0x0001e2000c101d0e, "STG", global_store, 128, 0, -1, 0},
    {"ST.E.U16 desc[UR14][R4.64], R0", 0x0000000004007985, 0x0005e4000c10150e, "ST", global_store, 16, 0, -1, 2},
    {"@P0 ATOMG.E.ADD.STRONG.GPU PT, R3, desc[UR8][R2.64], R5", 0x00000005020309a8, 0x002ea200081ee1c8, "ATOMG", global_atomic, 0, 2, 2, -1},
    {"RED.E.ADD.64.STRONG.GPU [R2.64], R30", 0x0000001e0200798e, 0x000fe2000c10e586, "RED", global_atomic, 0, 0, -1, -1},
    {"REDG.E.ADD.F32.FTZ.RN.STRONG.GPU desc[UR12][R2.64], R5", 0x00000005020079a6, 0x0003e8000c10f38c, "REDG", global_atomic, 0, 0, -1, 1},
    {"ATOM.E.ADD.STRONG.GPU PT, RZ, desc[UR4][R10.64], R21", 0x000000150aff798a, 0x0001e200081ee1c4, "ATOM", global_atomic, 0, 0, -1, 0},
    {"LDL.64 R54, [R1]", 0x0000000001367983, 0x0001620000100a00, "LDL", local_load, 64, 0, 5, 0},
    {"LDL.S16 R169, [R1+0x80]", 0x0000800001a97983, 0x0009280000100600, "LDL", local_load, 16, 0, 4, 4},
    {"STL.128 [R1], R28", 0x0000001c01007387, 0x0171e20000100c00, "STL", local_store, 128, 23, -1, 0},
    {"@P0 LDS.64 R18, [R20]", 0x0000000014120984, 0x000eb00000000a00, "LDS", shared_load, 64, 0, 2, -1},
    {"LDS.U8 R0, [UR4]", 0x00000004ff007984, 0x000e240008000000, "LDS", shared_load, 8, 0, 0, -1},
    {"LDSM.16.M88.4 R104, [R140+0x10000]", 0x010000008c68783b, 0x0006620000000200, "LDSM", shared_load, 128, 0, 1, 3},
    {"@!P1 STS.128 [R25], R12", 0x0000000c19009388, 0x0041e80000000c00, "STS", shared_store, 128, 4, -1, 0},
    {"STS.U16 [R6], R9", 0x0000000906007388, 0x0041e80000000400, "STS", shared_store, 16, 4, -1, 0},
    {"STSM.16.M88.4 [R12], R20", 0x000000140c007844, 0x0005e20000000200, "STSM", shared_store, 128, 0, -1, 2},
    {"@P0 ATOMS.ADD RZ, [RZ], R3", 0x00000003ffff038c, 0x0001e80000000000, "ATOMS", shared_atomic, 0, 0, -1, 0},
    {"LDC.64 R16, c[0x0][0x218]", 0x00008600ff107b82, 0x000e620000000a00, "LDC", constant_load, 64, 0, 1, -1},
    {"LDC.U8 R2, c[0x0][0x240]", 0x00009000ff027b82, 0x000e620000000000, "LDC", constant_load, 8, 0, 1, -1},
    {"ULDC UR10, c[0x0][0x234]", 0x00008d00000a7ab9, 0x000fe20000000800, "ULDC", constant_load, 32, 0, -1, -1},
    {"@!P2 LDGSTS.E.BYPASS.LTC128B.128 [R203+0x10000], desc[UR16][R6.64]", 0x1000000006cbafae, 0x0007e8000b901d50, "LDGSTS", async_copy, 128, 0, -1, 3},
    {"LDGDEPBAR", 0x00000000000079af, 0x000e240000000000, "LDGDEPBAR", async_copy, 0, 0, 0, -1},
    {"UBLKCP.S.G [UR10], [UR6], UR4, desc[UR12]", 0x00000c0a060073ba, 0x0001d80008001204, "UBLKCP", async_copy, 0, 0, -1, 0},
    {"UTMALDG.2D [UR8], [UR20], desc[UR14]", 0x00000e08140075b4, 0x0001d80008009000, "UTMALDG", async_copy, 0, 0, -1, 0},
    {"SHFL.BFLY PT, R8, R19, 0x10, 0x1f", 0x0e001f0013087f89, 0x000e2400000e0000, "SHFL", shuffle, 0, 0, 0, -1},
    {"VOTE.ANY R12, PT, P0", 0x00000000000c7806, 0x000fe400000e0100, "VOTE", shuffle, 0, 0, -1, -1},
    {"MATCH.ANY R17, R0", 0x00000000001173a1, 0x000e3000000e8000, "MATCH", shuffle, 0, 0, 0, -1},
    {"REDUX.SUM UR6, R29", 0x000000001d0673c4, 0x000e62000000c000, "REDUX", shuffle, 0, 0, 1, -1},
    {"MUFU.EX2 R26, R26", 0x0000001a001a7308, 0x000ea20000000800, "MUFU", special, 0, 0, 2, -1},
    {"POPC R5, UR10", 0x0000000a00057d09, 0x000e620008000000, "POPC", special, 0, 0, 1, -1},
    {"F2F.F32.F64 R4, R4", 0x0000000400047310, 0x008ef00000301000, "F2F.F64", conversion, 0, 8, 3, -1},
    {"I2F.S64 R12, UR4", 0x00000004000c7d12, 0x000e620008301400, "I2F", conversion, 0, 0, 1, -1},
    {"F2I.U32.TRUNC.NTZ R7, R7", 0x0000000700077305, 0x000e24000020f000, "F2I", conversion, 0, 0, 0, -1},
    {"FRND.FLOOR R44, R2", 0x00000002002c7307, 0x000e240000205000, "FRND", conversion, 0, 0, 0, -1},
    {"@P0 DFMA R18, R16.reuse, UR8, -R18", 0x0000000810120c2b, 0x040fe40008000812, "DFMA", fp64, 0, 0, -1, -1},
    {"DADD R20, R20, R42", 0x0000000014147229, 0x000fce000000002a, "DADD", fp64, 0, 0, -1, -1},
    {"DSETP.GEU.AND P0, PT, |R8|, 2.2250738585072013831e-308, PT", 0x001000000800742a, 0x020fe20003f0e200, "DSETP", fp64, 0, 32, -1, -1},
    {"@P0 FFMA R19, R18.reuse, R9, -R26", 0x0000000912130223, 0x040fe2000000081a, "FFMA", fp32, 0, 0, -1, -1},
    {"@!P6 FADD R32, -R25, -RZ", 0x800000ff1920e221, 0x004fe20000000100, "FADD", fp32, 0, 4, -1, -1},
    {"FSETP.GEU.AND P0, PT, |R8|, 5.8789094863358348022e-39, PT", 0x004004020800780b, 0x000fe40003f0e200, "FSETP", fp32, 0, 0, -1, -1},
    {"HADD2 R13, R9.H0_H0, RZ.H0_H0", 0x200000ff090d7230, 0x001fca0000000800, "HADD2", fp16, 0, 1, -1, -1},
    {"HFMA2.MMA R32, -RZ, RZ, 0, 0", 0x00000000ff207435, 0x000fe200000001ff, "HFMA2", move, 0, 0, -1, -1},
    {"F2FP.BF16.F32.PACK_AB R0, RZ, R19", 0x00000013ff00723e, 0x000fe200000010ff, "F2FP", fp16, 0, 0, -1, -1},
    {"IADD3 R18, R4, R7, -R10", 0x0000000704127210, 0x000fe40007ffe80a, "IADD3", integer, 0, 0, -1, -1},
    {"IMAD.WIDE R18, R18, 0x4, R14", 0x0000000412127825, 0x001fe200078e020e, "IMAD.WIDE", integer, 0, 1, -1, -1},
    {"IMAD.HI.U32 R22, R19, R21, R18", 0x0000001513167227, 0x000fcc00078e0012, "IMAD.HI", integer, 0, 0, -1, -1},
    {"LOP3.LUT R4, R4, 0x1f, RZ, 0xc0, !PT", 0x0000001f04047812, 0x000fca00078ec0ff, "LOP3", integer, 0, 0, -1, -1},
    {"ISETP.GE.AND P1, PT, R5, R2, PT", 0x000000020500720c, 0x000fc60003f26270, "ISETP", integer, 0, 0, -1, -1},
    {"IMAD.MOV.U32 R3, RZ, RZ, R5", 0x000000ffff037224, 0x000fe200078e0005, "IMAD", move, 0, 0, -1, -1},
    {"HMMA.16816.F32 R4, R16.reuse, R8, RZ", 0x000000081004723c, 0x048fee00000018ff, "HMMA", tensor, 0, 8, -1, -1},
    {"IMMA.16832.S8.S8 R20, R44.ROW, R72.COL, RZ", 0x000000482c147237, 0x022fe20000405cff, "IMMA", tensor, 0, 34, -1, -1},
    {"DMMA.8x8x4 R40, R70, R68, RZ", 0x000000444628723f, 0x021e2200000000ff, "DMMA", tensor, 0, 33, 0, -1},
    {"HGMMA.64x64x16.F32.BF16 R88, R140, gdesc[UR16].tnspB, R88", 0x40e000108c587df0, 0x000fe20008701858, "HGMMA", tensor, 0, 0, -1, -1},
    {"QGMMA.64x256x32.F32.E4M3.E4M3 R24, gdesc[UR12], RZ, !UPT", 0x03e000000c1879f3, 0x000fe2000c7008ff, "QGMMA", tensor, 0, 0, -1, -1},
    {"WARPGROUP.ARRIVE", 0x00000000000079c5, 0x000fe20000000000, "WARPGROUP.ARRIVE", tensor_wait, 0, 0, -1, -1},
    {"WARPGROUP.DEPBAR.LE gsb0, 0x0", 0x00008000000079c5, 0x000fe40000010000, "WARPGROUP.DEPBAR", tensor_wait, 0, 0, -1, -1},
    {"BAR.SYNC.DEFER_BLOCKING 0x0", 0x0000000000007b1d, 0x000fe20000010000, "BAR", barrier, 0, 0, -1, -1},
    {"SYNCS.ARRIVE.TRANS64 RZ, [R14+URZ+0x34000], R3", 0x034000030eff79a7, 0x0003e2000800003f, "SYNCS", barrier, 0, 0, -1, 1},
    {"SYNCS.PHASECHK.TRANS64.TRYWAIT P0, [R11+URZ+0x34000], R12", 0x0340000c0b0075a7, 0x000e24000800017f, "SYNCS", barrier, 0, 0, 0, -1},
    {"UCGABAR_ARV", 0x00000000000079c7, 0x000fe20008000000, "UCGABAR", barrier, 0, 0, -1, -1},
    {"WARPSYNC.ALL", 0x0000000000007948, 0x000fea0003800000, "WARPSYNC", barrier, 0, 0, -1, -1},
    {"MEMBAR.SC.GPU", 0x0000000000007992, 0x000fec0000002000, "MEMBAR", fence, 0, 0, -1, -1},
    {"FENCE.VIEW.ASYNC.S", 0x00000000000073c6, 0x000e360000000000, "FENCE", fence, 0, 0, 0, -1},
    {"CCTL.IVALL", 0x00000000ff00798f, 0x000fe80002000000, "CCTL", fence, 0, 0, -1, -1},
    {"ERRBAR", 0x00000000000079ab, 0x000fc00000000000, "ERRBAR", fence, 0, 0, -1, -1},
    {"@P1 BRA 0xb90", 0x0000000000241947, 0x002fd80003800000, "BRA", branch, 0, 2, -1, -1},
    {"CALL.REL.NOINC 0x7a00", 0x0000007800207944, 0x000fea0003c00000, "CALL", branch, 0, 0, -1, -1},
    {"BSYNC B0", 0x0000000000007941, 0x000fea0003800000, "BSYNC", branch, 0, 0, -1, -1},
    {"BRX R10 -0x1bd0", 0xffffffe40a0c7949, 0x000fea000383ffff, "BRX", branch, 0, 0, -1, -1},
    {"@!P2 EXIT", 0x000000000000a94d, 0x000fea0003800000, "EXIT", branch, 0, 0, -1, -1},
    {"RET.REL.NODEC R20 0x0", 0xffffff8414807950, 0x000fea0003c3ffff, "RET", branch, 0, 0, -1, -1},
    {"NANOSLEEP 0x1", 0x000000010000795d, 0x000fea0003800000, "NANOSLEEP", sleep, 0, 0, -1, -1},
    {"YIELD", 0x0000000000007946, 0x000fea0003800000, "YIELD", sleep, 0, 0, -1, -1},
    {"MOV R9, UR13", 0x0000000d00097c02, 0x002fe20008000f00, "MOV", move, 0, 2, -1, -1},
    {"S2R R4, SR_TID.X", 0x0000000000047919, 0x000e2e0000002100, "S2R", move, 0, 0, 0, -1},
    {"R2UR UR10, R4", 0x00000000040a72ca, 0x000fc400000e0000, "R2UR", move, 0, 0, -1, -1},
    {"NOP", 0x0000000000007918, 0x000fc00000000000, "NOP", other, 0, 0, -1, -1},
    {"DEPBAR.LE SB0, 0x3", 0x000080c00000791a, 0x000fc80000000000, "DEPBAR", other, 0, 1, -1, -1},
    {"TEX (tex2D)", 0x2000040006077f60, 0x008f6400099e01ff, "TEX", texture, 0, 8, 5, -1},
    {"SULD (surf2Dread)", 0x7000040006077f99, 0x008f6400081ea900, "SULD", texture, 0, 8, 5, -1},
  };
  // clang-format on
  return kListed;
}

TEST(Sass, DecodesWhatCuobjdumpLists) {
  for (const Listed& listed : listed_instructions()) {
    SCOPED_TRACE(listed.text);
    const SassInstruction found = decoded(listed.low, listed.high);
    EXPECT_EQ(found.name, listed.name);
    EXPECT_EQ(to_string(found.kind), to_string(listed.kind));
    EXPECT_EQ(found.width, listed.width);
    EXPECT_EQ(found.waits, listed.waits);
    EXPECT_EQ(found.sets_on_write, listed.on_write);
    EXPECT_EQ(found.sets_on_read, listed.on_read);
  }
}

TEST(Sass, EveryKindIsListedAndHasAName) {
  std::set<SassKind> listed;
  std::set<std::string_view> names;
  for (const Listed& one : listed_instructions()) listed.insert(one.kind);
  for (int kind = 0; kind <= static_cast<int>(SassKind::move); ++kind) {
    EXPECT_EQ(listed.count(static_cast<SassKind>(kind)), 1U) << to_string(static_cast<SassKind>(kind));
    names.insert(to_string(static_cast<SassKind>(kind)));
  }
  EXPECT_EQ(names.size(), static_cast<std::size_t>(SassKind::move) + 1);
}

TEST(Sass, WhatIsNotKnownHasNoName) {
  EXPECT_EQ(decoded(0x00000000000071ff, 0x000fe20003800000).name, "?");
  EXPECT_EQ(decode_sass({}, 90, 0).name, "?");
  const SassInstruction unknown = decoded(0x00000000000071ff, 0x004e640003800000);
  EXPECT_EQ(unknown.waits, 4);
  EXPECT_EQ(unknown.sets_on_write, 1);
}

TEST(Sass, BranchesLeadWhereCuobjdumpSays) {
  struct Branch {
    std::uint64_t low, high, offset;
    int architecture;
    std::int64_t target;
    bool falls_through;
  };
  // Two neighbours fix where the branch lies: BSSY's target is the end of what it opens, "BRA 0x820" branches to
  // itself.
  for (const Branch& branch : std::vector<Branch>{
           {0xfffffffc00fc7947, 0x000fc0000383ffff, 0x820, 90, 0x820, false},   // BRA 0x820
           {0xfffffff400bc0947, 0x000fec000383ffff, 0xac0, 90, 0x1c0, true},    // @P0 BRA 0x1c0
           {0x0000007800207944, 0x000fea0003c00000, 0x170, 90, 0x7a00, true},   // CALL.REL.NOINC 0x7a00
           {0xfffffffd00e40947, 0x001fea000393ffff, 0x9750, 90, 0x96f0, true},  // @P0 BRA.U.ANY 0x96f0
           {0x0000000204ac7947, 0x000fea000b800000, 0x3e20, 90, 0x40e0, true},  // BRA.DIV UR4, 0x40e0
           {0x0000012000000947, 0x000fea0003800000, 0xc0, 80, 0x1f0, true},     // @P0 BRA 0x1f0
           {0xfffffff000007947, 0x000fc0000383ffff, 0xa0, 80, 0xa0, false},     // BRA 0xa0
           {0x00000f9000007944, 0x000fea0003c00000, 0x1c0, 80, 0x1160, true},   // CALL.REL.NOINC 0x1160
       }) {
    const SassInstruction found = decoded(branch.low, branch.high, branch.architecture, branch.offset);
    EXPECT_EQ(found.target, branch.target);
    EXPECT_EQ(found.falls_through, branch.falls_through) << branch.target;
  }
  EXPECT_FALSE(decoded(0xffffff8414807950, 0x000fea0003c3ffff).target);  // RET.REL.NODEC R20 0x0
  EXPECT_FALSE(decoded(0xffffff8414807950, 0x000fea0003c3ffff).falls_through);
  EXPECT_TRUE(decoded(0x000000000000a94d, 0x000fea0003800000).falls_through);   // @!P2 EXIT
  EXPECT_FALSE(decoded(0x000000000000794d, 0x000fea0003800000).falls_through);  // EXIT
}

// --- what is waited for ---

SassInstruction plain() {
  SassInstruction instruction;
  instruction.name = "IADD3";
  return instruction;
}
SassInstruction load(int scoreboard) {
  SassInstruction instruction = plain();
  instruction.name = "LDG";
  instruction.sets_on_write = static_cast<std::int8_t>(scoreboard);
  return instruction;
}
SassInstruction waiting(unsigned mask) {
  SassInstruction instruction = plain();
  instruction.waits = static_cast<std::uint8_t>(mask);
  return instruction;
}
SassInstruction jump(std::size_t to, bool falls_through) {
  SassInstruction instruction = plain();
  instruction.name = "BRA";
  instruction.target = static_cast<std::int64_t>(to * kSassBytes);
  instruction.falls_through = falls_through;
  return instruction;
}

using testing::ElementsAre;
using testing::IsEmpty;

TEST(WaitedFor, AllThatSetTheScoreboardSinceItWasLastWaitedFor) {
  const std::vector<SassInstruction> code = {load(2), waiting(4), load(2), load(3), load(2), plain(), waiting(4)};
  EXPECT_THAT(waited_for(code, 6), ElementsAre(4, 2));
  EXPECT_THAT(waited_for(code, 1), ElementsAre(0));
  EXPECT_THAT(waited_for(code, 5), IsEmpty());
  EXPECT_THAT(waited_for(code, 7), IsEmpty());
  EXPECT_THAT(waited_for({}, 0), IsEmpty());
}

TEST(WaitedFor, OperandsThatAreReadCountToo) {
  std::vector<SassInstruction> code = {plain(), plain(), waiting(1)};
  code[0].sets_on_read = 0;
  EXPECT_THAT(waited_for(code, 2), ElementsAre(0));
}

TEST(WaitedFor, ALoopsProducerIsLaterInTheCode) {
  // 0 waits in the second iteration for 1.
  const std::vector<SassInstruction> code = {waiting(2), load(1), plain(), jump(0, true)};
  EXPECT_THAT(waited_for(code, 0), ElementsAre(1));
  // An instruction may wait for itself, one iteration before.
  std::vector<SassInstruction> itself = {load(1), jump(0, true)};
  itself[0].waits = 2;
  EXPECT_THAT(waited_for(itself, 0), ElementsAre(0));
}

TEST(WaitedFor, BothSidesOfABranchNearestFirst) {
  const std::vector<SassInstruction> code = {jump(3, true), load(0), jump(5, false), load(0), plain(), waiting(1)};
  EXPECT_THAT(waited_for(code, 5), ElementsAre(3, 1));
}

TEST(WaitedFor, WhatABranchSkipsIsNotOnThePath) {
  const std::vector<SassInstruction> code = {load(0), jump(3, false), load(0), waiting(1)};
  std::vector<SassInstruction> skipped = code;
  skipped[2].falls_through = false;
  EXPECT_THAT(waited_for(skipped, 3), ElementsAre(0));
}

TEST(WaitedFor, EndsOnCodeWithoutEnd) {
  std::vector<SassInstruction> code(200000, plain());
  for (std::size_t i = 0; i < code.size(); ++i) code[i] = jump(code.size() - 1 - i, true);
  code[7].waits = 63;
  EXPECT_THAT(waited_for(code, 7), IsEmpty());
  for (SassInstruction& one : code) one.sets_on_write = 0;
  EXPECT_LE(waited_for(code, 7).size(), 8U);
}

TEST(WaitedFor, ACommitStandsForItsCopies) {
  std::vector<SassInstruction> code = {load(1), plain(), plain(), load(0), waiting(1)};
  code[1].name = code[2].name = "LDGSTS";
  code[3].name = "LDGDEPBAR";
  EXPECT_THAT(waited_for(code, 4), ElementsAre(2, 1));
  code[1].name = code[2].name = "IADD3";
  EXPECT_THAT(waited_for(code, 4), ElementsAre(3));
}

TEST(WaitedFor, AWarpgroupWaitsForItsMatrixInstructions) {
  std::vector<SassInstruction> code(5, plain());
  code[0].name = code[4].name = "WARPGROUP.DEPBAR";
  code[1].kind = code[2].kind = SassKind::tensor;
  EXPECT_THAT(waited_for(code, 4), ElementsAre(2, 1));
}

}  // namespace
}  // namespace roofline
