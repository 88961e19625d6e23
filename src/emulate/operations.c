/* SPDX-License-Identifier: GPL-2.0-or-later */
/* FLOPs of VEX's operations. The rule is that of Intel's FP_ARITH events: additions, subtractions, multiplications, divisions,
   square roots, minima, maxima and estimates of reciprocals are 1 per lane, a fused multiply-add 2; comparisons, conversions,
   negations and absolute values 0. */
#include "counts.h"

static void flops(Facts* facts, FlopType type, FlopWidth width, UInt lanes) { facts->n[kFlops + 3 * type + width] += lanes; }

static void arithmetic(Facts* f, IROp operation) {
  switch (operation) {
    case Iop_AddF64: case Iop_SubF64: case Iop_MulF64: case Iop_DivF64: case Iop_SqrtF64: case Iop_MaxNumF64:
    case Iop_MinNumF64: case Iop_Add64F0x2: case Iop_Sub64F0x2: case Iop_Mul64F0x2: case Iop_Div64F0x2: case Iop_Max64F0x2:
    case Iop_Min64F0x2: case Iop_Sqrt64F0x2: case Iop_AtanF64: case Iop_Yl2xF64: case Iop_Yl2xp1F64: case Iop_PRemF64:
    case Iop_PRem1F64: case Iop_ScaleF64: case Iop_SinF64: case Iop_CosF64: case Iop_TanF64: case Iop_2xm1F64:
    case Iop_AddF128: case Iop_SubF128: case Iop_MulF128: case Iop_DivF128: case Iop_SqrtF128:
      flops(f, kFp64, kScalar, 1);
      break;
    case Iop_AddF32: case Iop_SubF32: case Iop_MulF32: case Iop_DivF32: case Iop_SqrtF32: case Iop_MaxNumF32:
    case Iop_MinNumF32: case Iop_AddF64r32: case Iop_SubF64r32: case Iop_MulF64r32: case Iop_DivF64r32: case Iop_Add32F0x4:
    case Iop_Sub32F0x4: case Iop_Mul32F0x4: case Iop_Div32F0x4: case Iop_Max32F0x4: case Iop_Min32F0x4:
    case Iop_RecipEst32F0x4: case Iop_Sqrt32F0x4: case Iop_RSqrtEst32F0x4:
      flops(f, kFp32, kScalar, 1);
      break;
    case Iop_AddF16: case Iop_SubF16: case Iop_SqrtF16:
      flops(f, kFp16, kScalar, 1);
      break;
    case Iop_MAddF64: case Iop_MSubF64: flops(f, kFp64, kScalar, 2); break;
    case Iop_MAddF32: case Iop_MSubF32: case Iop_MAddF64r32: case Iop_MSubF64r32: flops(f, kFp32, kScalar, 2); break;
    case Iop_Add64Fx2: case Iop_Sub64Fx2: case Iop_Mul64Fx2: case Iop_Div64Fx2: case Iop_Max64Fx2: case Iop_Min64Fx2:
    case Iop_Sqrt64Fx2: case Iop_RecipEst64Fx2: case Iop_RecipStep64Fx2: case Iop_RSqrtEst64Fx2: case Iop_RSqrtStep64Fx2:
      flops(f, kFp64, k128, 2);
      break;
    case Iop_Add32Fx4: case Iop_Sub32Fx4: case Iop_Mul32Fx4: case Iop_Div32Fx4: case Iop_Max32Fx4: case Iop_Min32Fx4:
    case Iop_PwMax32Fx4: case Iop_PwMin32Fx4: case Iop_Sqrt32Fx4: case Iop_RecipEst32Fx4: case Iop_RecipStep32Fx4:
    case Iop_RSqrtEst32Fx4: case Iop_RSqrtStep32Fx4:
      flops(f, kFp32, k128, 4);
      break;
    case Iop_Add32Fx2: case Iop_Sub32Fx2: case Iop_Mul32Fx2: case Iop_Max32Fx2: case Iop_Min32Fx2: case Iop_PwAdd32Fx2:
    case Iop_PwMax32Fx2: case Iop_PwMin32Fx2: case Iop_RecipEst32Fx2: case Iop_RecipStep32Fx2: case Iop_RSqrtEst32Fx2:
    case Iop_RSqrtStep32Fx2:
      flops(f, kFp32, k128, 2);
      break;
    case Iop_Sqrt16Fx8: case Iop_Add16Fx8: case Iop_Sub16Fx8: flops(f, kFp16, k128, 8); break;
    case Iop_Add64Fx4: case Iop_Sub64Fx4: case Iop_Mul64Fx4: case Iop_Div64Fx4: case Iop_Sqrt64Fx4: case Iop_Max64Fx4:
    case Iop_Min64Fx4:
      flops(f, kFp64, k256, 4);
      break;
    case Iop_Add32Fx8: case Iop_Sub32Fx8: case Iop_Mul32Fx8: case Iop_Div32Fx8: case Iop_Sqrt32Fx8: case Iop_RSqrtEst32Fx8:
    case Iop_RecipEst32Fx8: case Iop_Max32Fx8: case Iop_Min32Fx8:
      flops(f, kFp32, k256, 8);
      break;
    default: break;
  }
}

static UInt divided_lanes(IROp operation) {
  switch (operation) {
    case Iop_DivF64: case Iop_DivF32: case Iop_DivF64r32: case Iop_DivF128: case Iop_Div64F0x2: case Iop_Div32F0x4:
    case Iop_DivU32: case Iop_DivS32: case Iop_DivU64: case Iop_DivS64: case Iop_DivU128: case Iop_DivS128: case Iop_DivU32E:
    case Iop_DivS32E: case Iop_DivU64E: case Iop_DivS64E: case Iop_DivModU64to32: case Iop_DivModS64to32:
    case Iop_DivModU128to64: case Iop_DivModS128to64: case Iop_DivModS64to64: case Iop_DivModU64to64: case Iop_DivModS32to32:
    case Iop_DivModU32to32:
      return 1;
    case Iop_Div64Fx2: return 2;
    case Iop_Div32Fx4: case Iop_Div64Fx4: return 4;
    case Iop_Div32Fx8: return 8;
    default: return 0;
  }
}

static UInt rooted_lanes(IROp operation) {
  switch (operation) {
    case Iop_SqrtF64: case Iop_SqrtF32: case Iop_SqrtF16: case Iop_SqrtF128: case Iop_Sqrt64F0x2: case Iop_Sqrt32F0x4:
      return 1;
    case Iop_Sqrt64Fx2: return 2;
    case Iop_Sqrt32Fx4: case Iop_Sqrt64Fx4: return 4;
    case Iop_Sqrt16Fx8: case Iop_Sqrt32Fx8: return 8;
    default: return 0;
  }
}

static UInt converted_lanes(IROp operation) {
  switch (operation) {
    case Iop_F32toF64: case Iop_F64toF32: return 1;
    default: return 0;
  }
}

/* Lanes of the common integer vector operations. */
static UInt integer_lanes(IROp operation) {
  switch (operation) {
    case Iop_Add64x2: case Iop_Sub64x2: case Iop_CmpEQ64x2: case Iop_CmpGT64Sx2: case Iop_Add64x4: case Iop_Sub64x4:
    case Iop_CmpEQ64x4: case Iop_CmpGT64Sx4:
      return operation >= Iop_Add8x32 ? 4 : 2;
    case Iop_Add32x4: case Iop_Sub32x4: case Iop_Mul32x4: case Iop_CmpEQ32x4: case Iop_CmpGT32Sx4: case Iop_Max32Sx4:
    case Iop_Min32Sx4: case Iop_Max32Ux4: case Iop_Min32Ux4: case Iop_Abs32x4:
      return 4;
    case Iop_Add16x8: case Iop_Sub16x8: case Iop_Mul16x8: case Iop_CmpEQ16x8: case Iop_CmpGT16Sx8: case Iop_Max16Sx8:
    case Iop_Min16Sx8: case Iop_MulHi16Sx8: case Iop_MulHi16Ux8: case Iop_Abs16x8: case Iop_Add32x8: case Iop_Sub32x8:
    case Iop_Mul32x8: case Iop_CmpEQ32x8: case Iop_CmpGT32Sx8: case Iop_Max32Sx8: case Iop_Min32Sx8: case Iop_Max32Ux8:
    case Iop_Min32Ux8:
      return 8;
    case Iop_Add8x16: case Iop_Sub8x16: case Iop_CmpEQ8x16: case Iop_CmpGT8Sx16: case Iop_Max8Ux16: case Iop_Min8Ux16:
    case Iop_Abs8x16: case Iop_Avg8Ux16: case Iop_Add16x16: case Iop_Sub16x16: case Iop_Mul16x16: case Iop_CmpEQ16x16:
    case Iop_CmpGT16Sx16: case Iop_MulHi16Sx16: case Iop_MulHi16Ux16: case Iop_Max16Sx16: case Iop_Min16Sx16:
      return 16;
    case Iop_Add8x32: case Iop_Sub8x32: case Iop_CmpEQ8x32: case Iop_CmpGT8Sx32: case Iop_Max8Ux32: case Iop_Min8Ux32:
    case Iop_Avg8Ux32:
      return 32;
    default: return 0;
  }
}

void rc_count_operation(Facts* facts, IROp operation) {
  arithmetic(facts, operation);
  facts->n[kDivides] += divided_lanes(operation);
  facts->n[kRoots] += rooted_lanes(operation);
  facts->n[kInt] += integer_lanes(operation);
  facts->n[kConversions] += converted_lanes(operation);
}

/* Scalar integer arithmetic: VEX's enumeration begins with it. */
Bool rc_is_integer(IROp operation) {
  return operation >= Iop_Add8 && operation <= Iop_CmpLE64U;
}

/* Cycles from an operand to the result, the fewest of any CPU (an addition takes 2 on Golden Cove, 3 on Zen, 4 on Skylake; a
   product 3 on Zen, 4 elsewhere): instruction tables of Agner Fog. 0: no floating-point arithmetic. */
UInt rc_latency(IROp operation) {
  Facts facts;
  for (UInt i = 0; i < kStaticKeys; i++) facts.n[i] = 0;
  switch (operation) {
    case Iop_MAddF64: case Iop_MSubF64: case Iop_MAddF32: case Iop_MSubF32: return 4;
    case Iop_MulF64: case Iop_MulF32: case Iop_Mul64F0x2: case Iop_Mul32F0x4: case Iop_Mul64Fx2: case Iop_Mul32Fx4:
    case Iop_Mul64Fx4: case Iop_Mul32Fx8:
      return 3;
    default: break;
  }
  rc_count_operation(&facts, operation);
  if (facts.n[kRoots]) return 12;
  Bool any = False;
  for (UInt k = kFlops; k < kDivides; k++) any = any || facts.n[k];
  if (!any) return 0;
  return facts.n[kDivides] ? 10 : 2;
}
