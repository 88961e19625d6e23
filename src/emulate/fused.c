/* SPDX-License-Identifier: GPL-2.0-or-later */
/* VEX splits a vector's fused multiply-add into lanes and calls a function for each. Here the lanes of one instruction become
   one call: operands are stored to a buffer, and statements that need a result come after the call. */
#include "counts.h"
#include "pub_tool_libcbase.h"
#include "pub_tool_mallocfree.h"

enum { kMaxStatements = 128, kMaxLanes = 8 };

static Bool active = False;
static FlopType type;
static Bool* late = NULL;  /* temporaries that need a result of this instruction */
static UInt late_count = 0;
static IRTemp results[kMaxLanes];
static UInt result_count = 0;
static IRStmt* waiting[kMaxStatements];
static UInt waiting_count = 0;

static Bool is_fused(const IRStmt* s) {
  if (s->tag != Ist_WrTmp || s->Ist.WrTmp.data->tag != Iex_Qop) return False;
  const IROp operation = s->Ist.WrTmp.data->Iex.Qop.details->op;
  return operation == Iop_MAddF64 || operation == Iop_MSubF64 || operation == Iop_MAddF32 || operation == Iop_MSubF32;
}

void rc_fused_begin_block(UInt temporaries) {
  active = False;
  if (temporaries > late_count) {
    if (late) VG_(free)(late);
    late_count = 2 * temporaries;
    late = VG_(malloc)("rc.late", late_count * sizeof *late);
  }
  VG_(memset)(late, 0, temporaries * sizeof *late);
}

/* The statements of one instruction, which has `lanes` lanes: whether they are of the expected form. */
void rc_fused_begin(IRStmt** statements, Int count, const Decoded* decoded) {
  UInt fused = 0;
  active = False;
  if (!decoded->fused || decoded->lanes < 2 || count > kMaxStatements || !rc_fused_helper(decoded->type, kMaxLanes)) return;
  for (Int i = 0; i < count; i++) {
    const IRStmt* s = statements[i];
    if (s->tag != Ist_WrTmp && s->tag != Ist_Put && s->tag != Ist_NoOp && s->tag != Ist_AbiHint) return;
    fused += is_fused(s);
  }
  active = fused >= 2 && fused <= kMaxLanes;
  type = decoded->type;
  result_count = waiting_count = 0;
}

static Bool is_late(const IRExpr* e) {
  switch (e->tag) {
    case Iex_RdTmp: return late[e->Iex.RdTmp.tmp];
    case Iex_Unop: return is_late(e->Iex.Unop.arg);
    case Iex_Binop: return is_late(e->Iex.Binop.arg1) || is_late(e->Iex.Binop.arg2);
    case Iex_Triop: {
      const IRTriop* t = e->Iex.Triop.details;
      return is_late(t->arg1) || is_late(t->arg2) || is_late(t->arg3);
    }
    case Iex_Qop: {
      const IRQop* q = e->Iex.Qop.details;
      return is_late(q->arg1) || is_late(q->arg2) || is_late(q->arg3) || is_late(q->arg4);
    }
    case Iex_ITE: return is_late(e->Iex.ITE.cond) || is_late(e->Iex.ITE.iftrue) || is_late(e->Iex.ITE.iffalse);
    default: return False;
  }
}

static IRExpr* place(UInt operand, UInt lane) {
  const Addr start = (Addr)&rc_fused_lanes[operand];
  return IRExpr_Const(IRConst_U64(start + lane * (type == kFp64 ? sizeof(double) : sizeof(float))));
}

static void store_operands(IRSB* out, const IRStmt* s) {
  const IRQop* q = s->Ist.WrTmp.data->Iex.Qop.details;
  IRExpr* addend = q->arg4;
  if (q->op == Iop_MSubF64 || q->op == Iop_MSubF32) {
    const IRTemp negated = newIRTemp(out->tyenv, type == kFp64 ? Ity_F64 : Ity_F32);
    addStmtToIRSB(out, IRStmt_WrTmp(negated, IRExpr_Unop(type == kFp64 ? Iop_NegF64 : Iop_NegF32, addend)));
    addend = IRExpr_RdTmp(negated);
  }
  addStmtToIRSB(out, IRStmt_Store(Iend_LE, place(0, result_count), q->arg2));
  addStmtToIRSB(out, IRStmt_Store(Iend_LE, place(1, result_count), q->arg3));
  addStmtToIRSB(out, IRStmt_Store(Iend_LE, place(2, result_count), addend));
  results[result_count++] = s->Ist.WrTmp.tmp;
  late[s->Ist.WrTmp.tmp] = True;
}

/* Adds a statement, or keeps it for later: False. */
Bool rc_fused_add(IRSB* out, IRStmt* s) {
  const Bool sets = s->tag == Ist_WrTmp;
  if (active && is_fused(s)) {
    store_operands(out, s);
  } else if (active && (sets || s->tag == Ist_Put) && is_late(sets ? s->Ist.WrTmp.data : s->Ist.Put.data)) {
    if (sets) late[s->Ist.WrTmp.tmp] = True;
    waiting[waiting_count++] = s;
  } else {
    addStmtToIRSB(out, s);
    return True;
  }
  return False;
}

/* At the end of the instruction. */
Bool rc_fused_end(IRSB* out) {
  if (!active) return False;
  active = False;
  void* helper = rc_fused_helper(type, result_count);
  addStmtToIRSB(out, IRStmt_Dirty(unsafeIRDirty_0_N(0, "rc_fused", VG_(fnptr_to_fnentry)(helper), mkIRExprVec_0())));
  for (UInt lane = 0; lane < result_count; lane++) {
    addStmtToIRSB(out, IRStmt_WrTmp(results[lane], IRExpr_Load(Iend_LE, type == kFp64 ? Ity_F64 : Ity_F32, place(3, lane))));
    late[results[lane]] = False;
  }
  for (UInt i = 0; i < waiting_count; i++) {
    addStmtToIRSB(out, waiting[i]);
    if (waiting[i]->tag == Ist_WrTmp) late[waiting[i]->Ist.WrTmp.tmp] = False;
  }
  return True;
}
