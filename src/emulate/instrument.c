/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Adds counters and memory accesses to a block of VEX's intermediate representation. */
#include "counts.h"
#include "pub_tool_libcassert.h"
#include "pub_tool_libcbase.h"
#include "pub_tool_machine.h"
#include "pub_tool_mallocfree.h"

Addr rc_illegal_address = 0;

typedef struct {
  IRSB* in;
  IRSB* out;
  Block* block;
  Instruction* instruction;  /* NULL before the first */
  Decoded decoded;
  Facts facts;
  Bool begins;
  Bool library;
  Bool* addresses;  /* temporaries that are (a part of) an address */
  UInt *chains, *load_chains;  /* of each statement, the cycles and the loads of a chain that ends with it */
} Builder;

static IRExpr* word(const void* pointer) { return IRExpr_Const(IRConst_U64((ULong)(Addr)pointer)); }

IRExpr* rc_assign(IRSB* out, IRType type, IRExpr* value) {
  const IRTemp temporary = newIRTemp(out->tyenv, type);
  addStmtToIRSB(out, IRStmt_WrTmp(temporary, value));
  return IRExpr_RdTmp(temporary);
}

static IRExpr* load(IRSB* out, IRExpr* address) { return rc_assign(out, Ity_I64, IRExpr_Load(Iend_LE, Ity_I64, address)); }

static void store(IRSB* out, IRExpr* address, IRExpr* value) { addStmtToIRSB(out, IRStmt_Store(Iend_LE, address, value)); }

static IRExpr* add(IRSB* out, IRExpr* a, IRExpr* b) { return rc_assign(out, Ity_I64, IRExpr_Binop(Iop_Add64, a, b)); }

static void begin_part(Builder* b) {
  ULong** counts = rc_block_part(b->block);
  IRExpr* counter = word(*counts);
  if (b->library) counter = add(b->out, load(b->out, word(counts)), load(b->out, word(&rc_context_offset)));
  store(b->out, counter, add(b->out, load(b->out, counter), word((void*)1)));
}

static void end_entry(Builder* b) {
  if (!b->instruction) return;
  if (b->decoded.vector256)
    for (UInt type = 0; type < 3; type++) {
      b->facts.n[kFlops + 3 * type + k256] += b->facts.n[kFlops + 3 * type + k128];
      b->facts.n[kFlops + 3 * type + k128] = 0;
    }
  rc_block_entry(b->block, b->instruction, &b->facts, b->begins);
  VG_(memset)(&b->facts, 0, sizeof b->facts);
  b->begins = False;
}

static void call(Builder* b, const HChar* name, void* function, const Site* site, IRExpr* address, IRExpr* guard) {
  IRDirty* dirty = unsafeIRDirty_0_N(2, name, VG_(fnptr_to_fnentry)(function), mkIRExprVec_2(word(site), address));
  if (guard) dirty->guard = guard;
  addStmtToIRSB(b->out, IRStmt_Dirty(dirty));
}

/* Adds an access that always happens. Only one that leaves the line of the last access, or finds it gone, calls the model. */
static void model(Builder* b, IRExpr* address, UInt size, Bool is_store) {
  if (!rc_modelling()) return;
  IRSB* out = b->out;
  const Site* site = rc_site(b->instruction, size, is_store);
  IRExpr* guard = NULL;
  if (size <= rc_line_bytes()) {
    IRExpr* line = load(out, load(out, word(&site->tag)));
    IRExpr* offset = rc_assign(out, Ity_I64, IRExpr_Binop(Iop_Sub64, address, line));
    guard = rc_assign(out, Ity_I1, IRExpr_Binop(Iop_CmpLT64U, IRExpr_Const(IRConst_U64(rc_line_bytes() - size)), offset));
  }
  call(b, "rc_access", &rc_access, site, address, guard);
  store(out, word(&site->last), address);
  store(out, add(out, load(out, word(&site->tag)), IRExpr_Const(IRConst_U64(rc_used_offset(is_store)))), load(out, word(&rc_clock)));
}

static Bool is_always(const IRExpr* guard) {
  return !guard || (guard->tag == Iex_Const && guard->Iex.Const.con->Ico.U1);
}

/* VEX loads the operand of a fused multiply-add lane by lane; the first lane's address is that of the whole. */
static void access(Builder* b, IRExpr* address, UInt size, Bool is_store, IRExpr* guard, Bool modelled) {
  if (!b->instruction || !size) return;
  if (!is_always(guard)) {
    call(b, "rc_access_guarded", &rc_access_guarded, rc_site(b->instruction, size, is_store), address, guard);
    return;
  }
  if (!is_store && b->decoded.fused) {
    if (b->facts.n[kLoads]) return;
    size = b->decoded.lanes * (b->decoded.type == kFp64 ? 8 : 4);
  }
  b->facts.n[is_store ? kStores : kLoads] += 1;
  b->facts.n[is_store ? kStoreBytes : kLoadBytes] += size;
  if (is_store && b->decoded.non_temporal) b->facts.n[kNonTemporalBytes] += size;
  else if (modelled) model(b, address, size, is_store);
}

static UInt bytes_of(const Builder* b, const IRExpr* value) { return sizeofIRType(typeOfIRExpr(b->in->tyenv, value)); }

static Bool same_atom(const IRExpr* a, const IRExpr* b) {
  return a->tag == Iex_RdTmp && b->tag == Iex_RdTmp && a->Iex.RdTmp.tmp == b->Iex.RdTmp.tmp;
}

/* Whether the instruction stores, later, to the address that it loads: the store then stands for both in the model. */
static Bool is_updated(const Builder* b, Int from, const IRExpr* address) {
  for (Int i = from; i < b->in->stmts_used; i++) {
    const IRStmt* s = b->in->stmts[i];
    if (s->tag == Ist_IMark || s->tag == Ist_Exit) return False;
    if (s->tag == Ist_Store && same_atom(s->Ist.Store.addr, address)) return !b->decoded.non_temporal;
  }
  return False;
}

static const IRExpr* address_in(const IRStmt* s) {
  switch (s->tag) {
    case Ist_WrTmp: return s->Ist.WrTmp.data->tag == Iex_Load ? s->Ist.WrTmp.data->Iex.Load.addr : NULL;
    case Ist_Store: return s->Ist.Store.addr;
    case Ist_LoadG: return s->Ist.LoadG.details->addr;
    case Ist_StoreG: return s->Ist.StoreG.details->addr;
    case Ist_CAS: return s->Ist.CAS.details->addr;
    case Ist_LLSC: return s->Ist.LLSC.addr;
    case Ist_Dirty: return s->Ist.Dirty.details->mAddr;
    default: return NULL;
  }
}

static void mark(Builder* b, const IRExpr* e) {
  if (e && e->tag == Iex_RdTmp) b->addresses[e->Iex.RdTmp.tmp] = True;
}

/* One integer operation for an instruction that does any that is not part of an address. */
static void count_scalar_integer(Builder* b, Int first, Int end) {
  for (Int i = end - 1; i >= first; i--) {
    const IRStmt* s = b->in->stmts[i];
    mark(b, address_in(s));
    if (s->tag == Ist_Exit && s->Ist.Exit.jk != Ijk_Boring) mark(b, s->Ist.Exit.guard);  /* an alignment check */
    if (s->tag != Ist_WrTmp || s->Ist.WrTmp.data->tag != Iex_Binop) continue;
    const IRExpr* e = s->Ist.WrTmp.data;
    if (!rc_is_integer(e->Iex.Binop.op)) continue;
    if (b->addresses[s->Ist.WrTmp.tmp]) {
      mark(b, e->Iex.Binop.arg1);
      mark(b, e->Iex.Binop.arg2);
    } else {
      b->facts.n[kInt] = 1;
    }
  }
}

static void begin_instruction(Builder* b, Int at) {
  const IRStmt* s = b->in->stmts[at];
  end_entry(b);
  b->instruction = rc_instruction(s->Ist.IMark.addr);
  b->begins = True;
  rc_decode((const UChar*)s->Ist.IMark.addr, s->Ist.IMark.len, &b->decoded);
  if (b->decoded.fused) b->facts.n[kFlops + 3 * b->decoded.type + b->decoded.width] = 2 * b->decoded.lanes;
  if (b->decoded.gather) b->facts.n[kGathers] = 1;
  Int end = at + 1;
  while (end < b->in->stmts_used && b->in->stmts[end]->tag != Ist_IMark) end++;
  count_scalar_integer(b, at + 1, end);
  rc_fused_begin(b->in->stmts + at + 1, end - at - 1, &b->decoded);
}

static void count_operation(Builder* b, IROp operation) {
  if (!b->decoded.fused) rc_count_operation(&b->facts, operation);
}

static void if_subnormal(Builder* b, IRExpr* guard) {
  b->facts.n[kProducts] = 1;
  if (!rc_modelling()) return;
  rc_totals(b->instruction);
  IRDirty* dirty = unsafeIRDirty_0_N(1, "rc_subnormal", VG_(fnptr_to_fnentry)(&rc_subnormal), mkIRExprVec_1(word(b->instruction)));
  dirty->guard = guard;
  addStmtToIRSB(b->out, IRStmt_Dirty(dirty));
}

/* After the statement. */
static void visit_result(Builder* b, const IRStmt* s) {
  if (!b->instruction || s->tag != Ist_WrTmp) return;
  const IRExpr* e = s->Ist.WrTmp.data;
  IROp operation = Iop_INVALID;
  if (e->tag == Iex_Binop) operation = e->Iex.Binop.op;
  if (e->tag == Iex_Triop) operation = e->Iex.Triop.details->op;
  if (e->tag == Iex_Qop) operation = e->Iex.Qop.details->op;
  if (operation == Iop_INVALID) return;
  /* Outside the modelled part only whether it is a product matters. */
  IRSB* out = rc_modelling() ? b->out : emptyIRSB();
  IRExpr* guard = rc_is_subnormal(out, operation, IRExpr_RdTmp(s->Ist.WrTmp.tmp));
  if (guard) if_subnormal(b, guard);
}

static void end_fused(Builder* b) {
  if (!rc_fused_end(b->out)) return;
  if_subnormal(b, rc_assign(b->out, Ity_I1, IRExpr_Binop(Iop_CmpNE64, load(b->out, word(&rc_fused_subnormal)), word(NULL))));
}

static void keep_control(Builder* b, IRExpr* address) {
  IRExpr* control = rc_assign(b->out, Ity_I32, IRExpr_Load(Iend_LE, Ity_I32, address));
  store(b->out, word(&rc_vector_control), control);
}

static void visit_expression(Builder* b, Int at, const IRExpr* e) {
  switch (e->tag) {
    case Iex_Unop: count_operation(b, e->Iex.Unop.op); break;
    case Iex_Binop: count_operation(b, e->Iex.Binop.op); break;
    case Iex_Triop: count_operation(b, e->Iex.Triop.details->op); break;
    case Iex_Qop: count_operation(b, e->Iex.Qop.details->op); break;
    case Iex_Load:
      if (b->decoded.sets_control) keep_control(b, e->Iex.Load.addr);
      access(b, e->Iex.Load.addr, sizeofIRType(e->Iex.Load.ty), False, NULL, !is_updated(b, at, e->Iex.Load.addr));
      break;
    default: break;
  }
}

static void visit_load_guarded(Builder* b, const IRLoadG* g) {
  IRType loaded, widened;
  typeOfIRLoadGOp(g->cvt, &widened, &loaded);
  access(b, g->addr, sizeofIRType(loaded), False, g->guard, True);
}

static void visit_dirty(Builder* b, const IRDirty* d) {
  if (d->mFx == Ifx_None) return;
  if (d->mFx != Ifx_Write) access(b, d->mAddr, d->mSize, False, d->guard, d->mFx == Ifx_Read);
  if (d->mFx != Ifx_Read) access(b, d->mAddr, d->mSize, True, d->guard, True);
}

static void visit_linked(Builder* b, const IRStmt* s) {
  const Bool is_store = s->Ist.LLSC.storedata != NULL;
  if (is_store) b->facts.n[kAtomics] = 1;
  const UInt size = is_store ? bytes_of(b, s->Ist.LLSC.storedata)
                             : sizeofIRType(typeOfIRTemp(b->in->tyenv, s->Ist.LLSC.result));
  access(b, s->Ist.LLSC.addr, size, is_store, NULL, True);
}

/* A long run of the same outcome, which every predictor knows, costs no call of the model. */
static void predict(Builder* b, IRExpr* guard) {
  b->facts.n[kBranches] += 1;
  if (!rc_modelling()) return;
  IRSB* out = b->out;
  const Branch* branch = rc_branch(b->instruction);
  IRExpr* outcome = rc_assign(out, Ity_I64, IRExpr_Unop(Iop_1Uto64, guard));
  IRExpr* changed = rc_assign(out, Ity_I64, IRExpr_Binop(Iop_Xor64, outcome, load(out, word(&branch->last))));
  IRExpr* room = rc_assign(out, Ity_I64, IRExpr_Binop(Iop_Shl64, changed, IRExpr_Const(IRConst_U8(62))));
  IRExpr* most = add(out, room, word((void*)(Addr)kLongStreak));
  IRExpr* asked = rc_assign(out, Ity_I1, IRExpr_Binop(Iop_CmpLT64U, load(out, word(&branch->streak)), most));
  IRDirty* dirty =
      unsafeIRDirty_0_N(2, "rc_branched", VG_(fnptr_to_fnentry)(&rc_branched), mkIRExprVec_2(word(branch), outcome));
  dirty->guard = asked;
  addStmtToIRSB(out, IRStmt_Dirty(dirty));
  store(out, word(&branch->streak), add(out, load(out, word(&branch->streak)), word((void*)1)));
}

static void predict_target(Builder* b, IRExpr* target) {
  b->facts.n[kBranches] += 1;
  if (!rc_modelling()) return;
  IRDirty* dirty = unsafeIRDirty_0_N(2, "rc_jumped", VG_(fnptr_to_fnentry)(&rc_jumped),
                                     mkIRExprVec_2(word(rc_branch(b->instruction)), target));
  addStmtToIRSB(b->out, IRStmt_Dirty(dirty));
}

static void visit_exit(Builder* b, const IRStmt* s) {
  if (!b->instruction) return;
  const Addr to = s->Ist.Exit.dst->tag == Ico_U64 ? s->Ist.Exit.dst->Ico.U64 : s->Ist.Exit.dst->Ico.U32;
  if (s->Ist.Exit.jk == Ijk_Boring && to != b->instruction->address) predict(b, s->Ist.Exit.guard);
  end_entry(b);
  if (s->Ist.Exit.jk == Ijk_Boring && to <= b->instruction->address) rc_block_exit(b->block, b->instruction, to);
}

/* What has to be done before the statement: counters of memory accesses. */
static void visit(Builder* b, Int at) {
  const IRStmt* s = b->in->stmts[at];
  switch (s->tag) {
    case Ist_IMark: begin_instruction(b, at); break;
    case Ist_WrTmp: visit_expression(b, at, s->Ist.WrTmp.data); break;
    case Ist_Store: access(b, s->Ist.Store.addr, bytes_of(b, s->Ist.Store.data), True, NULL, True); break;
    case Ist_LoadG: visit_load_guarded(b, s->Ist.LoadG.details); break;
    case Ist_StoreG: {
      const IRStoreG* g = s->Ist.StoreG.details;
      access(b, g->addr, bytes_of(b, g->data), True, g->guard, True);
      break;
    }
    case Ist_CAS: {
      b->facts.n[kAtomics] = 1;
      const IRCAS* c = s->Ist.CAS.details;
      const UInt size = bytes_of(b, c->dataLo) * (c->dataHi ? 2 : 1);
      access(b, c->addr, size, False, NULL, False);
      access(b, c->addr, size, True, NULL, True);
      break;
    }
    case Ist_LLSC: visit_linked(b, s); break;
    case Ist_Dirty: visit_dirty(b, s->Ist.Dirty.details); break;
    case Ist_Put:
      b->facts.n[kChain] += b->chains[at];
      b->facts.n[kLoadChain] += b->load_chains[at];
      break;
    case Ist_Exit: visit_exit(b, s); break;
    default: break;
  }
}

/* Whether a direct call or jump leaves the program's own code: to another object, or to a stub that jumps there. */
static Bool leaves(const Builder* b, const IRExpr* next, IRJumpKind kind) {
  if (next->tag != Iex_Const) return kind == Ijk_Call;
  const Addr to = next->Iex.Const.con->Ico.U64;
  return rc_module_of(to) != b->instruction->module || rc_is_jump_stub(to);
}

static void visit_end(Builder* b) {
  IRSB* in = b->in;
  if (!b->instruction) return;
  if (in->jumpkind == Ijk_Call) b->facts.n[kCalls] = 1;
  if (in->next->tag == Iex_RdTmp && (in->jumpkind == Ijk_Boring || in->jumpkind == Ijk_Call)) predict_target(b, in->next);
  end_entry(b);
  if (in->jumpkind == Ijk_NoDecode) store(b->out, word(&rc_illegal_address), in->next);
  if (in->jumpkind == Ijk_Boring && in->next->tag == Iex_Const && in->next->Iex.Const.con->Ico.U64 <= b->instruction->address)
    rc_block_exit(b->block, b->instruction, in->next->Iex.Const.con->Ico.U64);
  if (b->library || (in->jumpkind != Ijk_Call && in->jumpkind != Ijk_Boring) || !leaves(b, in->next, in->jumpkind)) return;
  store(b->out, word(&rc_context_offset), word((void*)(Addr)(rc_call_id(b->instruction) * sizeof(ULong))));
}

IRSB* rc_instrument(VgCallbackClosure* closure, IRSB* in, const VexGuestLayout* layout, const VexGuestExtents* extents,
                    const VexArchInfo* host, IRType guest_word, IRType host_word) {
  if (guest_word != Ity_I64 || host_word != Ity_I64) VG_(tool_panic)("roofline_count needs a 64-bit machine");
  Builder b = {.in = in, .out = deepCopyIRSBExceptStmts(in)};
  b.library = !rc_module_of(extents->base[0])->own;
  b.block = rc_block_new(b.library);
  b.addresses = VG_(calloc)("rc.addresses", in->tyenv->types_used + 1, sizeof(Bool));
  b.chains = VG_(malloc)("rc.chains", (in->stmts_used + 1) * sizeof(UInt));
  b.load_chains = VG_(malloc)("rc.chains", (in->stmts_used + 1) * sizeof(UInt));
  rc_chains(in, b.chains);
  rc_load_chains(in, b.load_chains);
  rc_fused_begin_block(in->tyenv->types_used);
  Bool begun = False;
  for (Int i = 0; i < in->stmts_used; i++) {
    const IRStmt* s = in->stmts[i];
    if (!s || s->tag == Ist_NoOp) continue;
    if (s->tag == Ist_IMark && !begun) {
      begin_part(&b);
      begun = True;
    }
    if (s->tag == Ist_IMark) end_fused(&b);
    visit(&b, i);
    if (rc_fused_add(b.out, in->stmts[i])) visit_result(&b, s);
    if (s->tag == Ist_Exit && begun) begin_part(&b);
  }
  end_fused(&b);
  visit_end(&b);
  VG_(free)(b.addresses);
  VG_(free)(b.chains);
  VG_(free)(b.load_chains);
  return b.out;
}
