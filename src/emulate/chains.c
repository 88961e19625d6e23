/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Loop-carried chains of floating-point operations: in a block that jumps back to its own beginning, a vector register that is
   read before it is written, and ends with a value that was computed from it, delays the next iteration by its operations.
   Chains of loads: the same for a general register, of values that were loaded from addresses computed from it. */
#include "counts.h"
#include "pub_tool_libcbase.h"
#include "pub_tool_mallocfree.h"

enum { kNone = -1, kUnits = 256, kUnitBytes = 4 };  /* of all vector registers */

/* A value: the register at the beginning of the block that it depends on longest, and for how many cycles. */
typedef struct {
  Int origin;
  UInt cycles;
} Chain;

static const Chain independent = {kNone, 0};

static Chain longer(Chain a, Chain b) {
  if (a.origin == kNone) return b;
  if (b.origin == kNone) return a;
  return a.cycles >= b.cycles ? a : b;
}

static Bool to_itself(const IRSB* in) {
  Addr first = 0;
  for (Int i = 0; i < in->stmts_used && !first; i++)
    if (in->stmts[i]->tag == Ist_IMark) first = in->stmts[i]->Ist.IMark.addr;
  if (in->jumpkind == Ijk_Boring && in->next->tag == Iex_Const && in->next->Iex.Const.con->Ico.U64 == first) return True;
  for (Int i = 0; i < in->stmts_used; i++) {
    const IRStmt* s = in->stmts[i];
    if (s->tag == Ist_Exit && s->Ist.Exit.jk == Ijk_Boring && s->Ist.Exit.dst->Ico.U64 == first) return True;
  }
  return False;
}

typedef struct {
  Chain* temporaries;
  Chain units[kUnits];  /* of the vector registers: lanes have chains of their own */
} State;

static Chain chain_of(const State* state, const IRExpr* e);

static Chain with(Chain chain, IROp operation) {
  if (chain.origin != kNone) chain.cycles += rc_latency(operation);
  return chain;
}

static Chain chain_of(const State* state, const IRExpr* e) {
  switch (e->tag) {
    case Iex_RdTmp: return state->temporaries[e->Iex.RdTmp.tmp];
    case Iex_Get: {
      const Int first = rc_vector_unit(e->Iex.Get.offset);
      Chain longest = independent;
      if (first == kNone) return longest;
      for (Int u = first; u < kUnits && (u - first) * kUnitBytes < sizeofIRType(e->Iex.Get.ty); u++)
        longest = longer(longest, state->units[u]);
      return longest;
    }
    case Iex_Unop: return with(chain_of(state, e->Iex.Unop.arg), e->Iex.Unop.op);
    case Iex_Binop:
      return with(longer(chain_of(state, e->Iex.Binop.arg1), chain_of(state, e->Iex.Binop.arg2)), e->Iex.Binop.op);
    case Iex_Triop: {
      const IRTriop* t = e->Iex.Triop.details;
      return with(longer(chain_of(state, t->arg1), longer(chain_of(state, t->arg2), chain_of(state, t->arg3))), t->op);
    }
    case Iex_Qop: {
      const IRQop* q = e->Iex.Qop.details;
      return with(longer(longer(chain_of(state, q->arg1), chain_of(state, q->arg2)),
                         longer(chain_of(state, q->arg3), chain_of(state, q->arg4))),
                  q->op);
    }
    case Iex_ITE: return longer(chain_of(state, e->Iex.ITE.iftrue), chain_of(state, e->Iex.ITE.iffalse));
    default: return independent;
  }
}

/* The units that a statement writes, from `first` to before the result; none: not a vector register. */
static Int written_units(const IRSB* in, const IRStmt* s, Int* first) {
  *first = s->tag == Ist_Put ? rc_vector_unit(s->Ist.Put.offset) : kNone;
  if (*first == kNone) return kNone;
  const Int end = *first + (sizeofIRType(typeOfIRExpr(in->tyenv, s->Ist.Put.data)) + kUnitBytes - 1) / kUnitBytes;
  return end < kUnits ? end : kUnits;
}

/* Cycles by which each statement makes the longest chain of the block longer; all 0 if there is none. */
void rc_chains(const IRSB* in, UInt* cycles) {
  VG_(memset)(cycles, 0, in->stmts_used * sizeof *cycles);
  if (!to_itself(in)) return;
  State state;
  state.temporaries = VG_(malloc)("rc.chains", (in->tyenv->types_used + 1) * sizeof(Chain));
  for (Int i = 0; i < in->tyenv->types_used; i++) state.temporaries[i] = independent;
  Int written[kUnits];  /* the statement that wrote it last */
  for (Int u = 0; u < kUnits; u++) {
    state.units[u] = independent;  /* what the block never writes is the same in each iteration */
    written[u] = kNone;
  }
  for (Int i = 0; i < in->stmts_used; i++) {
    Int first;
    const Int end = written_units(in, in->stmts[i], &first);
    for (Int u = first; u < end; u++) state.units[u] = (Chain){u / rc_units_of_vector(), 0};
  }
  for (Int i = 0; i < in->stmts_used; i++) {
    const IRStmt* s = in->stmts[i];
    if (s->tag == Ist_WrTmp) state.temporaries[s->Ist.WrTmp.tmp] = chain_of(&state, s->Ist.WrTmp.data);
    Int first;
    const Int end = written_units(in, s, &first);
    if (end == kNone) continue;
    const Chain value = chain_of(&state, s->Ist.Put.data);
    for (Int u = first; u < end; u++) {
      state.units[u] = value;
      written[u] = i;
    }
  }
  Int longest = kNone;
  for (Int u = 0; u < kUnits; u++) {
    const Chain chain = state.units[u];
    if (written[u] == kNone || !chain.cycles || chain.origin != u / rc_units_of_vector()) continue;
    if (longest == kNone || chain.cycles > state.units[longest].cycles) longest = u;
  }
  if (longest != kNone) cycles[written[longest]] = state.units[longest].cycles;
  VG_(free)(state.temporaries);
}

/* The general registers at the beginning of the block that a value is computed from: a bit for each, and the loads between. */
typedef struct {
  UInt origins;
  UChar loads[kGeneral];
} Loaded;

static void add_origins(Loaded* to, const Loaded* from) {
  for (UInt r = 0; r < kGeneral; r++)
    if (from->loads[r] > to->loads[r]) to->loads[r] = from->loads[r];
  to->origins |= from->origins;
}

static void add_load(Loaded* value) {
  for (UInt r = 0; r < kGeneral; r++)
    if ((value->origins >> r & 1) && value->loads[r] < 255) value->loads[r]++;
}

static void add_expression(Loaded* to, const Loaded* temporaries, const Loaded* registers, const IRExpr* e) {
  switch (e->tag) {
    case Iex_RdTmp: add_origins(to, &temporaries[e->Iex.RdTmp.tmp]); break;
    case Iex_Get: {
      const Int r = rc_general_register(e->Iex.Get.offset);
      if (r != kNone) add_origins(to, &registers[r]);
      break;
    }
    case Iex_Unop: add_expression(to, temporaries, registers, e->Iex.Unop.arg); break;
    case Iex_Binop:
      add_expression(to, temporaries, registers, e->Iex.Binop.arg1);
      add_expression(to, temporaries, registers, e->Iex.Binop.arg2);
      break;
    case Iex_ITE:
      add_expression(to, temporaries, registers, e->Iex.ITE.iftrue);
      add_expression(to, temporaries, registers, e->Iex.ITE.iffalse);
      break;
    case Iex_Load:
      add_expression(to, temporaries, registers, e->Iex.Load.addr);
      add_load(to);
      break;
    default: break;
  }
}

/* For each statement the loads by which it makes the longest chain of loads longer; all 0 if there is none. */
void rc_load_chains(const IRSB* in, UInt* loads) {
  VG_(memset)(loads, 0, in->stmts_used * sizeof *loads);
  if (!to_itself(in)) return;
  Loaded* temporaries = VG_(calloc)("rc.loads", in->tyenv->types_used + 1, sizeof(Loaded));
  Loaded registers[kGeneral];
  Int written[kGeneral];
  VG_(memset)(registers, 0, sizeof registers);
  for (UInt r = 0; r < kGeneral; r++) {
    registers[r].origins = 1U << r;
    written[r] = kNone;
  }
  for (Int i = 0; i < in->stmts_used; i++) {
    const IRStmt* s = in->stmts[i];
    if (s->tag == Ist_WrTmp) add_expression(&temporaries[s->Ist.WrTmp.tmp], temporaries, registers, s->Ist.WrTmp.data);
    if (s->tag == Ist_LoadG) {
      Loaded* to = &temporaries[s->Ist.LoadG.details->dst];
      add_expression(to, temporaries, registers, s->Ist.LoadG.details->addr);
      add_load(to);
    }
    const Int r = s->tag == Ist_Put ? rc_general_register(s->Ist.Put.offset) : kNone;
    if (r == kNone) continue;
    Loaded value = {0};
    add_expression(&value, temporaries, registers, s->Ist.Put.data);
    registers[r] = value;
    written[r] = i;
  }
  Int longest = kNone;
  for (Int r = 0; r < kGeneral; r++) {
    if (written[r] == kNone || !(registers[r].origins >> r & 1) || !registers[r].loads[r]) continue;
    if (longest == kNone || registers[r].loads[r] > registers[longest].loads[longest]) longest = r;
  }
  if (longest != kNone) loads[written[longest]] = registers[longest].loads[longest];
  VG_(free)(temporaries);
}
