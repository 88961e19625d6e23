/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Guests whose instructions VEX keeps whole: nothing to be read from their bytes. */
#include "counts.h"

#if !defined(VGA_amd64)

void rc_decode(const UChar* bytes, UInt length, Decoded* decoded) { *decoded = (Decoded){.fused = False}; }

Bool rc_is_jump_stub(Addr address) { return True; }

Lanes rc_fused_lanes[4];
void* rc_fused_helper(FlopType type, UInt lanes) { return NULL; }

const HChar* rc_isa(const VexArchInfo* host) {
#if defined(VGA_arm64)
  return "neon";
#else
  return "unknown";
#endif
}

#endif
