/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tables of the Arm Architecture Reference Manual for A-profile, C4.1 ("A64 instruction set encoding"). */
#include "a64.h"

static unsigned bits(uint32_t word, unsigned high, unsigned low) { return word >> low & ((2U << (high - low)) - 1); }
static bool bit(uint32_t word, unsigned at) { return word >> at & 1; }

static int64_t signed_bits(uint32_t word, unsigned high, unsigned low) {
  const unsigned width = high - low + 1;
  return (int64_t)((uint64_t)bits(word, high, low) << (64 - width)) >> (64 - width);
}

static void load(Decoded* d, unsigned number, unsigned bytes) {
  d->loads += number;
  d->load_bytes += number * bytes;
}

static void store(Decoded* d, unsigned number, unsigned bytes) {
  d->stores += number;
  d->store_bytes += number * bytes;
}

static void move(Decoded* d, bool is_load, unsigned number, unsigned bytes) {
  if (is_load)
    load(d, number, bytes);
  else
    store(d, number, bytes);
}

/* Exclusive and ordered accesses, and compare and swap. */
static void decode_exclusive(uint32_t w, Decoded* d) {
  const unsigned size = bits(w, 31, 30), bytes = 1U << size;
  const bool ordered = bit(w, 23), is_load = bit(w, 22), pair = bit(w, 21);
  if (pair && (ordered || size < 2)) { /* CAS; CASP of two registers */
    const unsigned width = ordered ? bytes : 8U << size;
    load(d, 1, width);
    store(d, 1, width);
    d->atomic = true;
    return;
  }
  move(d, is_load, pair ? 2 : 1, bytes);
  d->atomic = !ordered && !is_load;
}

/* LD1 to LD4 and ST1 to ST4. */
static void decode_structures(uint32_t w, Decoded* d) {
  const bool is_load = bit(w, 22);
  if (!bit(w, 24)) {
    static const unsigned char registers[16] = {4, 0, 4, 0, 3, 0, 3, 1, 2, 0, 2};
    move(d, is_load, registers[bits(w, 15, 12)], bit(w, 30) ? 16 : 8);
    return;
  }
  const unsigned opcode = bits(w, 15, 13), elements = ((opcode & 1) << 1 | bit(w, 21)) + 1;
  const unsigned scale = opcode >> 1;
  const unsigned bytes = scale == 3 ? 1U << bits(w, 11, 10) : scale == 2 ? (bit(w, 10) ? 8 : 4) : 1U << scale;
  move(d, is_load, 1, elements * bytes);
}

static void decode_one_register(uint32_t w, Decoded* d) {
  const unsigned size = bits(w, 31, 30), opcode = bits(w, 23, 22);
  const bool vector = bit(w, 26);
  const unsigned bytes = vector && opcode >= 2 ? 16 : 1U << size;
  const bool plain = bit(w, 24) || !bit(w, 21) || bits(w, 11, 10) == 2;
  if (!plain && bits(w, 11, 10) == 0) { /* atomic operations; LDAPR only loads */
    load(d, 1, bytes);
    const bool only_loads = bit(w, 15) && bits(w, 14, 12) == 4;
    if (!only_loads) store(d, 1, bytes);
    d->atomic = !only_loads;
    return;
  }
  if (!vector && size == 3 && opcode == 2 && plain) return; /* PRFM */
  move(d, !plain || (vector ? opcode & 1 : opcode != 0), 1, plain ? bytes : 8);
}

static void decode_access(uint32_t w, Decoded* d) {
  const bool vector = bit(w, 26);
  switch (bits(w, 29, 28)) {
    case 0:
      if (vector)
        decode_structures(w, d);
      else
        decode_exclusive(w, d);
      break;
    case 1: {
      const unsigned opcode = bits(w, 31, 30);
      if (bit(w, 24) || (!vector && opcode == 3)) break; /* LDAPUR and others; PRFM */
      load(d, 1, vector ? 4U << opcode : opcode == 1 ? 8 : 4);
      break;
    }
    case 2: {
      const unsigned opcode = bits(w, 31, 30);
      move(d, bit(w, 22), 2, vector ? 4U << opcode : opcode == 2 ? 8 : 4);
      break;
    }
    default:
      decode_one_register(w, d);
      break;
  }
}

static void count(Decoded* d, FlopType type, unsigned lanes, unsigned each) {
  d->type = type;
  d->flops = lanes * each;
}

static FlopType scalar_type(uint32_t w) { return bits(w, 23, 22) == 1 ? kFp64 : bits(w, 23, 22) == 3 ? kFp16 : kFp32; }

static void decode_scalar(uint32_t w, Decoded* d) {
  const FlopType type = scalar_type(w);
  if (bit(w, 24)) { /* FMADD and its kin */
    count(d, type, 1, 2);
    d->products = 1;
    return;
  }
  if (!bit(w, 21)) return; /* conversions to and from fixed point */
  if (bits(w, 11, 10) == 2) {
    const unsigned opcode = bits(w, 15, 12);
    if (opcode <= 8) count(d, type, 1, 1);
    d->divides = opcode == 1;
    d->products = opcode == 0 || opcode == 1 || opcode == 8;
  } else if (bits(w, 14, 10) == 16) {
    const unsigned opcode = bits(w, 20, 15);
    if (opcode == 3) count(d, type, 1, 1);
    d->roots = opcode == 3;
    d->conversions = opcode >= 4 && opcode <= 5;
  }
}

/* Instructions with three registers of a kind: `low` are the last three bits of the opcode. */
static void decode_three_same(uint32_t w, Decoded* d, FlopType type, unsigned lanes, unsigned low) {
  const bool u = bit(w, 29), a = bit(w, 23);
  switch (low) {
    case 1:
      if (!u) count(d, type, lanes, 2);
      d->products = !u;
      break;
    case 3:
      if (!a) count(d, type, lanes, 1);
      d->products = !a;
      break;
    case 4:
    case 5:
      break; /* comparisons */
    case 7:
      count(d, type, lanes, u ? 1 : 2); /* FDIV; FRECPS and FRSQRTS, which are fused */
      if (u) d->divides = lanes;
      d->products = 1;
      break;
    default:
      count(d, type, lanes, 1);
      break; /* additions, minima and maxima, also of neighbours */
  }
}

static void decode_two_registers(uint32_t w, Decoded* d, FlopType type, unsigned lanes) {
  const unsigned opcode = bits(w, 16, 12);
  const bool u = bit(w, 29), a = bit(w, 23);
  if (opcode == 31 && u && a) {
    count(d, type, lanes, 1);
    d->roots = lanes;
  }
  if (opcode == 29 && a) count(d, type, lanes, 1);                       /* estimates of reciprocals and their roots */
  if (opcode == 22 || opcode == 23) d->conversions = bit(w, 22) ? 2 : 0; /* between single and double */
}

/* Reductions: of a vector of floats to one; scalar ones are of two. */
static void decode_across(uint32_t w, Decoded* d, FlopType type, bool scalar) {
  const unsigned opcode = bits(w, 16, 12);
  if (opcode != 12 && opcode != 13 && opcode != 15) return;
  if (scalar)
    count(d, bit(w, 29) ? type : kFp16, 1, 1);
  else if (opcode != 13)
    count(d, bit(w, 29) ? kFp32 : kFp16, bit(w, 29) || !bit(w, 30) ? 3 : 7, 1);
}

static void decode_vector(uint32_t w, Decoded* d) {
  const bool scalar = bit(w, 28) && bits(w, 31, 30) == 1, element = bit(w, 24);
  const FlopType type = bit(w, 22) ? kFp64 : kFp32;
  const unsigned bytes = bit(w, 30) ? 16 : 8;
  const unsigned lanes = scalar ? 1 : bytes / (type == kFp64 ? 8 : 4), halves = scalar ? 1 : bytes / 2;
  d->vector = !scalar;
  if (element) { /* by an element; also immediates and shifts, whose bit 10 is set */
    const unsigned opcode = bits(w, 15, 12), size = bits(w, 23, 22);
    if (bit(w, 10) || size == 1) return;
    const bool fused = (opcode == 1 || opcode == 5) && !bit(w, 29), product = opcode == 9;
    const bool complex = bit(w, 29) && (opcode & 9) == 1 && size == 2;
    if (fused || product || complex) count(d, size ? type : kFp16, size ? lanes : halves, product ? 1 : 2);
    d->products = d->flops > 0;
  } else if (bit(w, 21) && bit(w, 10)) {
    const unsigned opcode = bits(w, 15, 11);
    if (opcode >= 24) decode_three_same(w, d, type, lanes, opcode & 7);
  } else if (bit(w, 22) && !bit(w, 21) && bits(w, 15, 14) == 0 && bit(w, 10)) {
    decode_three_same(w, d, kFp16, halves, bits(w, 13, 11));
  } else if (!bit(w, 21) && bits(w, 15, 13) == 6 && bit(w, 10) && bit(w, 29)) {
    count(d, bits(w, 23, 22) == 1 ? kFp16 : type, bits(w, 23, 22) == 1 ? halves : lanes, 2); /* FCMLA */
  } else if (!bit(w, 21) && bits(w, 15, 13) == 7 && !bit(w, 11) && bit(w, 10) && bit(w, 29)) {
    count(d, bits(w, 23, 22) == 1 ? kFp16 : type, bits(w, 23, 22) == 1 ? halves : lanes, 1); /* FCADD */
  } else if (bits(w, 11, 10) == 2 && bits(w, 21, 17) == 16) {
    decode_two_registers(w, d, type, lanes);
  } else if (bits(w, 11, 10) == 2 && bits(w, 21, 17) == 24) {
    decode_across(w, d, type, scalar);
  }
}

static void decode_jump(uint32_t w, Decoded* d) {
  if (bits(w, 30, 26) == 5) { /* B and BL */
    d->call = bit(w, 31);
    d->jumps = !d->call;
    d->distance = signed_bits(w, 25, 0) * 4;
  } else if (bits(w, 30, 25) == 26 || bits(w, 31, 24) == 0x54) { /* CBZ, CBNZ; B.cond */
    d->branch = d->jumps = true;
    d->distance = signed_bits(w, 23, 5) * 4;
  } else if (bits(w, 30, 25) == 27) { /* TBZ, TBNZ */
    d->branch = d->jumps = true;
    d->distance = signed_bits(w, 18, 5) * 4;
  } else if (bits(w, 31, 25) == 0x6b) { /* BR and BLR are branches to computed addresses, RET is not */
    d->call = bits(w, 24, 21) == 1;
    d->branch = bits(w, 24, 21) <= 1;
  }
}

Decoded rc_decode_a64(uint32_t w) {
  Decoded d = {0};
  const unsigned group = bits(w, 28, 25);
  if (group == 2 || (group == 0 && bit(w, 31))) {
    d.scalable = true;
  } else if (group == 10 || group == 11) {
    decode_jump(w, &d);
  } else if ((group & 5) == 4) {
    decode_access(w, &d);
  } else if ((group & 7) == 7) {
    if (bits(w, 31, 25) == 0x0f)
      decode_scalar(w, &d);
    else if (!bit(w, 31))
      decode_vector(w, &d);
  } else if ((group & 7) == 5 && bits(w, 30, 21) == 0xd6 && bits(w, 15, 11) == 1) {
    d.divides = 1; /* UDIV, SDIV */
  }
  return d;
}
