/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What an A64 instruction does that is counted: FLOPs, divisions, loads, stores, jumps. SVE is not decoded. */
#ifndef ROOFLINE_EMULATE_QEMU_A64_H
#define ROOFLINE_EMULATE_QEMU_A64_H

#include <stdbool.h>
#include <stdint.h>

typedef enum { kFp32, kFp64, kFp16 } FlopType;

typedef struct {
  unsigned flops; /* lanes; a fused multiply-add has 2 for each */
  FlopType type;
  bool vector; /* of 64 or 128 bits */
  unsigned divides, roots, products, conversions;
  unsigned loads, stores, load_bytes, store_bytes;
  bool atomic, call, branch;
  bool jumps;       /* a direct jump, */
  int64_t distance; /* over this many bytes */
  bool scalable;    /* an instruction of SVE or SME: its work is not known */
} Decoded;

Decoded rc_decode_a64(uint32_t instruction);

#endif
