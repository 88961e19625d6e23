/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The only file that reads x86 machine code. */
#include "counts.h"
#include "pub_tool_aspacemgr.h"
#include "pub_tool_guest.h"

#if defined(VGA_amd64)

typedef struct {
  const UChar* opcode;  /* NULL: not understood */
  UInt map;             /* 1: 0f, 2: 0f38, 3: 0f3a */
  UInt prefix;          /* 0, 0x66, 0xf2, 0xf3 */
  Bool vex, w, l;
} Parsed;

static const UInt prefixes[4] = {0, 0x66, 0xf3, 0xf2};

static Parsed parse_vex(const UChar* p, const UChar* end, Parsed parsed) {
  const Bool two = *p == 0xc5;
  if (end - p < (two ? 3 : 4)) return parsed;
  const UChar last = two ? p[1] : p[2];
  parsed.vex = True;
  parsed.map = two ? 1 : p[1] & 31;
  parsed.w = !two && (last & 0x80);
  parsed.l = (last & 4) != 0;
  parsed.prefix = prefixes[last & 3];
  parsed.opcode = p + (two ? 2 : 3);
  return parsed;
}

static Parsed parse(const UChar* p, UInt length) {
  Parsed parsed = {NULL, 0, 0, False, False, False};
  const UChar* end = p + length;
  for (; p < end; p++) {
    if (*p == 0x66 || *p == 0xf2 || *p == 0xf3) parsed.prefix = *p;
    else if (*p != 0x2e && *p != 0x36 && *p != 0x3e && *p != 0x26 && (*p & 0xfe) != 0x64 && *p != 0x67 && *p != 0xf0) break;
  }
  if (p < end && (*p == 0xc5 || *p == 0xc4)) return parse_vex(p, end, parsed);
  if (p < end && (*p & 0xf0) == 0x40) p++;  /* REX */
  if (end - p < 2 || *p != 0x0f) return parsed;
  parsed.map = p[1] == 0x38 ? 2 : p[1] == 0x3a ? 3 : 1;
  p += parsed.map == 1 ? 1 : 2;
  if (p < end) parsed.opcode = p;
  return parsed;
}

void rc_decode(const UChar* bytes, UInt length, Decoded* decoded) {
  const Parsed parsed = parse(bytes, length);
  *decoded = (Decoded){.fused = False};
  if (!parsed.opcode) return;
  const UChar opcode = *parsed.opcode;
  decoded->vector256 = parsed.vex && parsed.l;
  decoded->gather = parsed.vex && parsed.map == 2 && opcode >= 0x90 && opcode <= 0x93;
  decoded->non_temporal = (parsed.map == 1 && (opcode == 0x2b || opcode == 0xe7 || opcode == 0xc3)) &&
                          !(opcode == 0xc3 && parsed.vex) && !(opcode == 0xe7 && parsed.prefix != 0x66 && parsed.prefix != 0);
  decoded->sets_control = parsed.map == 1 && opcode == 0xae && parsed.opcode + 1 < bytes + length &&
                          ((parsed.opcode[1] >> 3) & 7) == 2 && parsed.opcode[1] < 0xc0;  /* ldmxcsr */
  const UInt low = opcode & 15;
  const Bool fused_row = (opcode >> 4) == 9 || (opcode >> 4) == 10 || (opcode >> 4) == 11;
  decoded->fused = parsed.vex && parsed.map == 2 && parsed.prefix == 0x66 && fused_row && low >= 6;
  if (!decoded->fused) return;
  const Bool scalar = low >= 9 && (low & 1);  /* 9, b, d, f */
  const UInt bits = parsed.w ? 64 : 32;
  decoded->type = parsed.w ? kFp64 : kFp32;
  decoded->lanes = scalar ? 1 : (parsed.l ? 256 : 128) / bits;
  decoded->width = scalar ? kScalar : parsed.l ? k256 : k128;
}

/* An entry of the procedure linkage table: jmp *offset(%rip), after endbr64 and with bnd perhaps. */
Bool rc_is_jump_stub(Addr address) {
  const NSegment* segment = VG_(am_find_nsegment)(address);
  if (!segment || !segment->hasX || segment->end - address < 16) return False;
  const UChar* p = (const UChar*)address;
  if (p[0] == 0xf3 && p[1] == 0x0f && p[2] == 0x1e && p[3] == 0xfa) p += 4;
  if (*p == 0xf2) p++;
  return p[0] == 0xff && p[1] == 0x25;
}

const HChar* rc_isa(const VexArchInfo* host) {
  if (host->hwcaps & VEX_HWCAPS_AMD64_AVX2) return "avx2";
  if (host->hwcaps & VEX_HWCAPS_AMD64_AVX) return "avx";
  return host->hwcaps & VEX_HWCAPS_AMD64_SSE3 ? "sse3" : "sse2";
}

/* VEX computes each lane of a fused multiply-add in software, 10 times slower than this. The linker option --wrap leads here. A guest
   can only execute such an instruction if the host can: VEX offers it by the host's CPUID. */
void __wrap_h_generic_calc_MAddF32(float* result, float* a, float* b, float* c);
void __wrap_h_generic_calc_MAddF32(float* result, float* a, float* b, float* c) {
  float x = *a;
  __asm__("vfmadd213ss %2, %1, %0" : "+x"(x) : "x"(*b), "m"(*c));
  *result = x;
}

void __wrap_h_generic_calc_MAddF64(double* result, double* a, double* b, double* c);
void __wrap_h_generic_calc_MAddF64(double* result, double* a, double* b, double* c) {
  double x = *a;
  __asm__("vfmadd213sd %2, %1, %0" : "+x"(x) : "x"(*b), "m"(*c));
  *result = x;
}

Lanes rc_fused_lanes[4];

/* 1 for a subnormal result. */
static inline ULong fuse_float(UInt i) {
  __wrap_h_generic_calc_MAddF32(&rc_fused_lanes[3].f[i], &rc_fused_lanes[0].f[i], &rc_fused_lanes[1].f[i], &rc_fused_lanes[2].f[i]);
  UInt bits;
  __builtin_memcpy(&bits, &rc_fused_lanes[3].f[i], sizeof bits);
  return (bits << 1) - 1 < (1U << 24) - 1;
}

static inline ULong fuse_double(UInt i) {
  __wrap_h_generic_calc_MAddF64(&rc_fused_lanes[3].d[i], &rc_fused_lanes[0].d[i], &rc_fused_lanes[1].d[i], &rc_fused_lanes[2].d[i]);
  ULong bits;
  __builtin_memcpy(&bits, &rc_fused_lanes[3].d[i], sizeof bits);
  return (bits << 1) - 1 < (1ULL << 53) - 1;
}

/* Lane by lane: loads of a whole vector would wait for the stores of its lanes. */
static void fuse_floats_4(void) {
  ULong any = 0;
  for (UInt i = 0; i < 4; i++) any |= fuse_float(i);
  rc_fused_subnormal = any;
}

static void fuse_floats_8(void) {
  ULong any = 0;
  for (UInt i = 0; i < 8; i++) any |= fuse_float(i);
  rc_fused_subnormal = any;
}

static void fuse_doubles_2(void) {
  ULong any = 0;
  for (UInt i = 0; i < 2; i++) any |= fuse_double(i);
  rc_fused_subnormal = any;
}

static void fuse_doubles_4(void) {
  ULong any = 0;
  for (UInt i = 0; i < 4; i++) any |= fuse_double(i);
  rc_fused_subnormal = any;
}

void* rc_fused_helper(FlopType type, UInt lanes) {
  if (type == kFp32) return lanes <= 4 ? fuse_floats_4 : fuse_floats_8;
  return lanes <= 2 ? fuse_doubles_2 : fuse_doubles_4;
}

enum { kVectors = offsetof(VexGuestArchState, guest_YMM0), kVectorBytes = sizeof(U256) };

Int rc_vector_unit(Int offset) {
  return offset >= kVectors && offset < kVectors + 16 * kVectorBytes ? (offset - kVectors) / 4 : -1;
}

Int rc_units_of_vector(void) { return kVectorBytes / 4; }

Int rc_general_register(Int offset) {
  const Int first = offsetof(VexGuestArchState, guest_RAX), last = offsetof(VexGuestArchState, guest_R15);
  return offset >= first && offset < last + 8 ? (offset - first) / 8 : -1;
}

#endif
