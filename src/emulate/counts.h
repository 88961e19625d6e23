/* SPDX-License-Identifier: GPL-2.0-or-later */
/* roofline_count: a Valgrind tool that counts FLOPs, loads, stores and modelled cache traffic per instruction.
   It is a program of its own; roofline (MIT) starts it and reads its file, and never links it. See README.md. */
#ifndef ROOFLINE_EMULATE_COUNTS_H
#define ROOFLINE_EMULATE_COUNTS_H

#include "pub_tool_basics.h"
#include "pub_tool_tooliface.h"
#include "pub_tool_machine.h"

/* What is counted for each instruction. The first kStaticKeys are known when the instruction is translated. */
typedef enum {
  kFlops,                        /* + 3 * type (fp32, fp64, fp16) + width (scalar, 128, 256) */
  kDivides = kFlops + 9,         /* lanes of divisions, floating point and integer */
  kRoots,
  kInt,
  kLoads,
  kStores,
  kLoadBytes,
  kStoreBytes,
  kNonTemporalBytes,
  kGathers,
  kChain,                        /* cycles of the longest loop-carried chain of floating-point operations */
  kLoadChain,                    /* loads of the longest chain in which each one's address comes from the one before */
  kCalls,                        /* executed calls of functions */
  kAtomics,                      /* atomic updates of memory */
  kConversions,                  /* lanes of conversions between single and double precision */
  kBranches,                     /* conditional branches and indirect jumps and calls */
  kProducts,                     /* multiplications, divisions and fused multiply-adds */
  kStaticKeys,
  kL1Fills = kStaticKeys,        /* + level - 1 */
  kL1Writebacks = kL1Fills + 3,  /* + level - 1 */
  kStrideLine = kL1Writebacks + 3,
  kStrideNext,
  kStrideOther,
  kFalselyShared,                /* times that a thread found other bytes of an operand's line written by another thread */
  kL1Used,                       /* bytes that were accessed of the lines that came into L1 */
  kPageWalks,                    /* accesses to pages that the modelled TLB does not hold */
  kMispredicted,                 /* branches that the modelled predictor guessed wrongly */
  kSubnormals,                   /* multiplications and divisions with a subnormal result */
  kKeys
} Key;

typedef enum { kFp32, kFp64, kFp16 } FlopType;
typedef enum { kScalar, k128, k256 } FlopWidth;

typedef struct {
  UInt n[kStaticKeys];
} Facts;

typedef struct Module {
  struct Module* next;
  HChar* path;
  ULong bias;  /* address − address in the file */
  UInt id;     /* 0: memory that is mapped from no file */
  Bool own;    /* the program's own code, not a library's */
} Module;

/* Totals of a library's instruction for one call site in the program's own code. */
typedef struct Via {
  struct Via* next;    /* of the same instruction */
  struct Via* hashed;  /* in its hash chain */
  struct Instruction* instruction;
  UInt call;
  ULong n[kKeys];
} Via;

typedef struct Edge {
  struct Edge* next;
  Addr to;
  ULong taken;
} Edge;

typedef struct Site Site;

typedef struct Instruction {
  struct Instruction* next;  /* in its hash chain */
  Addr address;
  Module* module;
  ULong executions;
  ULong first;     /* of these, those in the first modelled phase, */
  ULong later;     /* and those in all others */
  ULong* n_first;  /* totals at the end of the first phase; NULL: none */
  ULong early;     /* of these, those before the last tenth of the time */
  ULong* n;  /* kKeys totals; NULL as long as all are 0 */
  Edge* edges;
  Via* vias;
  Site* sites;
  UInt id;       /* of an instruction that stores; else 0 */
  UInt call;     /* the id of a call that can leave the program's own code; else 0 */
} Instruction;

/* A memory operand of an instruction. Generated code skips the model as long as the operand stays in one cached line. */
struct Site {
  ULong* tag;  /* where L1 keeps the address of the line that was accessed last; for a store: of a dirty line */
  Addr last;   /* the address that was accessed last */
  Addr entry;  /* the first one in its line */
  Site* next;  /* of the same instruction */
  Instruction* instruction;
  ULong line;      /* the line that was accessed last */
  ULong page;
  Long strides[4]; /* candidates for the most frequent stride, with votes (Misra-Gries) */
  ULong votes[4];
  UInt size;
  Bool store;
};

/* A conditional branch or an indirect jump. Generated code skips the model in long runs of the same outcome. */
typedef struct {
  ULong last;    /* the latest outcome: whether it was taken, or the target */
  ULong streak;  /* how often that has been the outcome */
  Instruction* instruction;
  Char counter;  /* taken from 0 on */
} Branch;

/* options.c */
extern const HChar* rc_counts_file;
extern UInt rc_stop_after;
extern UInt rc_model_share;  /* percent of the time in which caches, branches and subnormal results are modelled */
Bool rc_is_own_option(const HChar* path);
Bool rc_process_option(const HChar* argument);
void rc_print_usage(void);
void rc_print_debug_usage(void);

/* modules.c */
Module* rc_module_of(Addr address);
Module* rc_modules(void);

/* cache.c */
extern ULong rc_clock;
typedef struct {
  ULong bytes;
  UInt ways, line;
} CacheShape;
extern CacheShape rc_shapes[3];
UInt rc_line_bytes(void);
void rc_cache_start(void);
void rc_cache_switch(ThreadId thread);
void rc_cache_finish(void);
ULong* rc_no_tag(void);
ULong rc_used_offset(Bool store);
VG_REGPARM(2) void rc_access(Site* site, Addr address);
VG_REGPARM(2) void rc_access_guarded(Site* site, Addr address);

/* main.c */
typedef enum { kFirstPhase, kPlainPhase, kWarmPhase, kCountedPhase } Phase;
extern Phase rc_phase;
static inline Bool rc_modelling(void) { return rc_phase != kPlainPhase; }

/* branches.c */
enum { kLongStreak = 64 };
Branch* rc_branch(Instruction* instruction);
VG_REGPARM(2) void rc_branched(Branch* branch, ULong outcome);
VG_REGPARM(2) void rc_jumped(Branch* branch, Addr to);

/* subnormals.c */
extern UInt rc_vector_control;  /* MXCSR, as the program last set it; 0: as at its start */
extern ULong rc_fused_subnormal;  /* not 0: the last fused multiply-add had a subnormal result */
IRExpr* rc_is_subnormal(IRSB* out, IROp operation, IRExpr* result);  /* of type I1; NULL: no product or quotient */
VG_REGPARM(1) void rc_subnormal(Instruction* instruction);

/* store.c: instructions, superblocks and call sites */
typedef struct Block Block;
Instruction* rc_instruction(Addr address);
Site* rc_site(Instruction* instruction, UInt size, Bool store);
Instruction* rc_by_id(UInt id);
ULong* rc_totals(Instruction* instruction);
ULong* rc_via(Instruction* instruction, UInt call);
Block* rc_block_new(Bool library);
ULong** rc_block_part(Block* block);
void rc_block_entry(Block* block, Instruction* instruction, const Facts* facts, Bool begins);
void rc_block_exit(Block* block, Instruction* from, Addr to);
void rc_fold(void);
void rc_clear(void);
void rc_keep_early(void);
void rc_keep_first(void);
void rc_each_instruction(void (*visit)(Instruction*));
extern ULong rc_context_offset;  /* 8 × the id of the running thread's last call that left its own code */
UInt rc_call_id(Instruction* instruction);
const Instruction* rc_call_by_id(UInt id);
void rc_context_switch(ThreadId thread);

/* operations.c */
void rc_count_operation(Facts* facts, IROp operation);
Bool rc_is_integer(IROp operation);
UInt rc_latency(IROp operation);

/* chains.c */
void rc_chains(const IRSB* in, UInt* cycles);
void rc_load_chains(const IRSB* in, UInt* loads);

/* guest_amd64.c or guest_other.c: what the bytes of an instruction say and VEX's IR does not */
typedef struct {
  Bool fused;  /* a fused multiply-add of `lanes` lanes */
  FlopType type;
  UInt lanes;
  FlopWidth width;
  Bool vector256;     /* a 256-bit instruction that VEX may have split */
  Bool gather;
  Bool non_temporal;  /* a store that bypasses the caches */
  Bool sets_control;  /* loads MXCSR */
} Decoded;
void rc_decode(const UChar* bytes, UInt length, Decoded* decoded);
Bool rc_is_jump_stub(Addr address);
Int rc_vector_unit(Int offset);  /* of an offset into the guest's state, the number of four bytes in its vector registers; -1: none */
Int rc_units_of_vector(void);
enum { kGeneral = 32 };
Int rc_general_register(Int offset);  /* of an offset into the guest's state, below kGeneral; -1: none */
const HChar* rc_isa(const VexArchInfo* host);

/* The lanes of three operands and of the result. */
typedef union {
  double d[8];
  float f[8];
} Lanes;
extern Lanes rc_fused_lanes[4];
void* rc_fused_helper(FlopType type, UInt lanes);  /* NULL: VEX's way is kept */

/* fused.c */
void rc_fused_begin_block(UInt temporaries);
void rc_fused_begin(IRStmt** statements, Int count, const Decoded* decoded);
Bool rc_fused_add(IRSB* out, IRStmt* statement);  /* False: it is kept for later */
Bool rc_fused_end(IRSB* out);  /* True: lanes were computed in one call */

/* instrument.c */
IRExpr* rc_assign(IRSB* out, IRType type, IRExpr* value);  /* to a new temporary */
IRSB* rc_instrument(VgCallbackClosure* closure, IRSB* in, const VexGuestLayout* layout, const VexGuestExtents* extents,
                    const VexArchInfo* host, IRType guest_word, IRType host_word);
extern Addr rc_illegal_address;  /* of the last instruction that VEX could not decode and the program reached */

/* report.c */
void rc_write(const HChar* end);
void rc_write_before_exec(void);
void rc_forget_last(void);
void rc_rewrite_end(Int signal);

/* Counts something of an instruction that has a site. */
static inline void rc_add_always(Instruction* instruction, Key key, ULong amount) {
  instruction->n[key] += amount;
  if (rc_context_offset && !instruction->module->own) rc_via(instruction, rc_context_offset / sizeof(ULong))[key] += amount;
}

/* What the models find. */
static inline void rc_add(Instruction* instruction, Key key, ULong amount) {
  if (rc_phase != kWarmPhase) rc_add_always(instruction, key, amount);
}

#endif
