/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Products and quotients with subnormal results, on which many CPUs take a hundred cycles. Sums of normal numbers are rarely
   subnormal where no product is. */
#include "counts.h"

enum { kFlushToZero = 1 << 15, kSubnormalsAreZero = 1 << 6 };  /* bits of MXCSR */

UInt rc_vector_control = 0;
ULong rc_fused_subnormal = 0;

/* Valgrind computes subnormal numbers also where the program told the CPU not to (-ffast-math does). */
VG_REGPARM(1) void rc_subnormal(Instruction* instruction) {
  if (rc_vector_control & (kFlushToZero | kSubnormalsAreZero)) return;
  rc_add(instruction, kSubnormals, 1);
}

static IRExpr* unary(IRSB* out, IRType type, IROp operation, IRExpr* a) {
  return rc_assign(out, type, IRExpr_Unop(operation, a));
}

static IRExpr* binary(IRSB* out, IRType type, IROp operation, IRExpr* a, IRExpr* b) {
  return rc_assign(out, type, IRExpr_Binop(operation, a, b));
}

static IRExpr* number(ULong value) { return IRExpr_Const(IRConst_U64(value)); }
static IRExpr* bits(UChar value) { return IRExpr_Const(IRConst_U8(value)); }

/* Without its sign a subnormal number is below the smallest normal one, and not 0. */
static IRExpr* is_subnormal_64(IRSB* out, IRExpr* value) {
  IRExpr* magnitude = binary(out, Ity_I64, Iop_Shl64, value, bits(1));
  IRExpr* without_zero = binary(out, Ity_I64, Iop_Sub64, magnitude, number(1));
  return binary(out, Ity_I1, Iop_CmpLT64U, without_zero, number((1ULL << 53) - 1));
}

static IRExpr* is_subnormal_32(IRSB* out, IRExpr* value) {
  IRExpr* magnitude = binary(out, Ity_I64, Iop_Shl64, unary(out, Ity_I64, Iop_32Uto64, value), bits(33));
  IRExpr* without_zero = binary(out, Ity_I64, Iop_Sub64, magnitude, number(1));
  return binary(out, Ity_I1, Iop_CmpLT64U, without_zero, number((((1ULL << 24) - 1) << 32)));
}

static IRExpr* either(IRSB* out, IRExpr* a, IRExpr* b) {
  IRExpr* both = binary(out, Ity_I64, Iop_Or64, unary(out, Ity_I64, Iop_1Uto64, a), unary(out, Ity_I64, Iop_1Uto64, b));
  return binary(out, Ity_I1, Iop_CmpNE64, both, number(0));
}

static IRExpr* any_of_two_64(IRSB* out, IRExpr* vector) {
  return either(out, is_subnormal_64(out, unary(out, Ity_I64, Iop_V128to64, vector)),
                is_subnormal_64(out, unary(out, Ity_I64, Iop_V128HIto64, vector)));
}

/* Lanes whose exponent is 0 and that are not 0. */
static IRExpr* any_of_four_32(IRSB* out, IRExpr* vector) {
  IRExpr* zero = IRExpr_Const(IRConst_V128(0));
  IRExpr* magnitude = binary(out, Ity_V128, Iop_ShlN32x4, vector, bits(1));
  IRExpr* exponent = binary(out, Ity_V128, Iop_ShrN32x4, magnitude, bits(24));
  IRExpr* found = binary(out, Ity_V128, Iop_XorV128, binary(out, Ity_V128, Iop_CmpEQ32x4, exponent, zero),
                         binary(out, Ity_V128, Iop_CmpEQ32x4, magnitude, zero));
  IRExpr* halves = binary(out, Ity_I64, Iop_Or64, unary(out, Ity_I64, Iop_V128to64, found),
                          unary(out, Ity_I64, Iop_V128HIto64, found));
  return binary(out, Ity_I1, Iop_CmpNE64, halves, number(0));
}

IRExpr* rc_is_subnormal(IRSB* out, IROp operation, IRExpr* result) {
  switch (operation) {
    case Iop_MulF64: case Iop_DivF64: case Iop_MAddF64: case Iop_MSubF64:
      return is_subnormal_64(out, unary(out, Ity_I64, Iop_ReinterpF64asI64, result));
    case Iop_MulF32: case Iop_DivF32: case Iop_MAddF32: case Iop_MSubF32:
      return is_subnormal_32(out, unary(out, Ity_I32, Iop_ReinterpF32asI32, result));
    case Iop_Mul64F0x2: case Iop_Div64F0x2: return is_subnormal_64(out, unary(out, Ity_I64, Iop_V128to64, result));
    case Iop_Mul32F0x4: case Iop_Div32F0x4: return is_subnormal_32(out, unary(out, Ity_I32, Iop_V128to32, result));
    case Iop_Mul64Fx2: case Iop_Div64Fx2: return any_of_two_64(out, result);
    case Iop_Mul32Fx4: case Iop_Div32Fx4: return any_of_four_32(out, result);
    case Iop_Mul64Fx4: case Iop_Div64Fx4:
      return either(out, any_of_two_64(out, unary(out, Ity_V128, Iop_V256toV128_0, result)),
                    any_of_two_64(out, unary(out, Ity_V128, Iop_V256toV128_1, result)));
    case Iop_Mul32Fx8: case Iop_Div32Fx8:
      return either(out, any_of_four_32(out, unary(out, Ity_V128, Iop_V256toV128_0, result)),
                    any_of_four_32(out, unary(out, Ity_V128, Iop_V256toV128_1, result)));
    default: return NULL;
  }
}
