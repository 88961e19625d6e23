/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Guests whose instructions VEX keeps whole: nothing to be read from their bytes. */
#include "counts.h"
#include "pub_tool_guest.h"

#if !defined(VGA_amd64)

void rc_decode(const UChar* bytes, UInt length, Decoded* decoded) { *decoded = (Decoded){.fused = False}; }

Bool rc_is_jump_stub(Addr address) { return True; }

#if defined(VGA_arm64)
enum { kVectors = offsetof(VexGuestArchState, guest_Q0), kVectorBytes = sizeof(U128) };

Int rc_vector_unit(Int offset) {
  return offset >= kVectors && offset < kVectors + 32 * kVectorBytes ? (offset - kVectors) / 4 : -1;
}

Int rc_units_of_vector(void) { return kVectorBytes / 4; }

Int rc_general_register(Int offset) {
  const Int first = offsetof(VexGuestArchState, guest_X0), last = offsetof(VexGuestArchState, guest_X30);
  return offset >= first && offset < last + 8 ? (offset - first) / 8 : -1;
}
#else
Int rc_general_register(Int offset) { return -1; }
Int rc_vector_unit(Int offset) { return -1; }
Int rc_units_of_vector(void) { return 1; }
#endif

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
