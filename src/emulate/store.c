/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What is counted, and where: instructions, translated blocks and their counters, and calls that leave the program's own code. */
#include "counts.h"
#include "pub_tool_libcbase.h"
#include "pub_tool_mallocfree.h"

enum { kBuckets = 1 << 16, kThreads = 512, kMaxContextBytes = 128 << 20 };

typedef struct Entry {
  struct Entry* next;
  Instruction* instruction;
  const Facts* facts;  /* NULL: all 0 */
  Bool begins;         /* False: the rest of an instruction that has an exit inside */
} Entry;

/* Straight-line code: no exit but at its end. Its instructions are executed equally often. */
typedef struct Part {
  struct Part* next;        /* in its block */
  struct Part* next_library;
  ULong* counts;            /* one for each call site in library code, else &own */
  ULong own;
  Entry* entries;
} Part;

typedef struct Exit {
  struct Exit* next;
  Part* part;  /* that it ends */
  Instruction* from;
  Addr to;
} Exit;

struct Block {
  Block* next;
  Part* first;
  Part* last;
  Exit* exits;
  Bool library;
};

static Instruction* buckets[kBuckets];
static Block* blocks = NULL;
static Part* library_parts = NULL;
static ULong library_part_count = 0;
static ULong context_capacity = 8;
static const Instruction** calls = NULL;  /* by id; [0] is unused */
static UInt call_count = 0;
static ULong contexts[kThreads];
ULong rc_context_offset = 0;

Instruction* rc_instruction(Addr address) {
  Module* module = rc_module_of(address);
  Instruction** bucket = &buckets[(address ^ (address >> 16)) % kBuckets];
  for (Instruction* i = *bucket; i; i = i->next)
    if (i->address == address && i->module == module) return i;
  Instruction* made = VG_(calloc)("rc.instruction", 1, sizeof *made);
  made->address = address;
  made->module = module;
  made->next = *bucket;
  return *bucket = made;
}

void rc_each_instruction(void (*visit)(Instruction*)) {
  for (UInt b = 0; b < kBuckets; b++)
    for (Instruction* i = buckets[b]; i; i = i->next) visit(i);
}

ULong* rc_totals(Instruction* instruction) {
  if (!instruction->n) instruction->n = VG_(calloc)("rc.totals", kKeys, sizeof(ULong));
  return instruction->n;
}

static Instruction** by_id = NULL;
static UInt id_count = 0;
static UInt id_capacity = 0;

Instruction* rc_by_id(UInt id) { return id && id <= id_count ? by_id[id - 1] : NULL; }

static void give_id(Instruction* instruction) {
  if (id_count == id_capacity) {
    id_capacity = id_capacity ? 2 * id_capacity : 1024;
    by_id = VG_(realloc)("rc.ids", by_id, id_capacity * sizeof *by_id);
  }
  by_id[id_count++] = instruction;
  instruction->id = id_count;
}

Site* rc_site(Instruction* instruction, UInt size, Bool store) {
  Site* made = VG_(calloc)("rc.site", 1, sizeof *made);
  made->tag = rc_no_tag();
  made->instruction = instruction;
  made->size = size;
  made->store = store;
  rc_totals(instruction);
  if (store && !instruction->id) give_id(instruction);
  made->next = instruction->sites;
  return instruction->sites = made;
}

static Via** vias = NULL;
static ULong via_buckets = 0;
static ULong via_count = 0;

static Via** via_bucket(const Instruction* instruction, UInt call) {
  return &vias[((Addr)instruction / 16 + 0x9e3779b1ULL * call) & (via_buckets - 1)];
}

static void grow_vias(void) {
  Via** old = vias;
  const ULong count = via_buckets;
  via_buckets = count ? 2 * count : 1024;
  vias = VG_(calloc)("rc.vias", via_buckets, sizeof *vias);
  for (ULong b = 0; b < count; b++)
    for (Via *v = old[b], *next; v; v = next) {
      next = v->hashed;
      Via** bucket = via_bucket(v->instruction, v->call);
      v->hashed = *bucket;
      *bucket = v;
    }
  if (old) VG_(free)(old);
}

ULong* rc_via(Instruction* instruction, UInt call) {
  if (via_count >= via_buckets) grow_vias();
  Via** bucket = via_bucket(instruction, call);
  for (Via* v = *bucket; v; v = v->hashed)
    if (v->instruction == instruction && v->call == call) return v->n;
  Via* made = VG_(calloc)("rc.via", 1, sizeof *made);
  made->instruction = instruction;
  made->call = call;
  made->hashed = *bucket;
  *bucket = made;
  made->next = instruction->vias;
  instruction->vias = made;
  via_count++;
  return made->n;
}

Block* rc_block_new(Bool library) {
  Block* block = VG_(calloc)("rc.block", 1, sizeof *block);
  block->library = library;
  block->next = blocks;
  return blocks = block;
}

/* Begins a part. Generated code increments (*result)[rc_context_offset / 8] in library code, else (*result)[0]. */
ULong** rc_block_part(Block* block) {
  Part* part = VG_(calloc)("rc.part", 1, sizeof *part);
  part->counts = &part->own;
  if (block->library) {
    part->counts = VG_(calloc)("rc.contexts", context_capacity, sizeof(ULong));
    part->next_library = library_parts;
    library_parts = part;
    library_part_count++;
  }
  if (block->last) block->last->next = part;
  else block->first = part;
  block->last = part;
  return &part->counts;
}

void rc_block_entry(Block* block, Instruction* instruction, const Facts* facts, Bool begins) {
  Bool any = False;
  for (UInt i = 0; i < kStaticKeys; i++) any = any || facts->n[i];
  Entry* entry = VG_(malloc)("rc.entry", sizeof *entry);
  entry->instruction = instruction;
  entry->facts = NULL;
  entry->begins = begins;
  if (any) {
    Facts* copy = VG_(malloc)("rc.facts", sizeof *copy);
    *copy = *facts;
    entry->facts = copy;
  }
  entry->next = block->last->entries;
  block->last->entries = entry;
}

void rc_block_exit(Block* block, Instruction* from, Addr to) {
  Exit* made = VG_(malloc)("rc.exit", sizeof *made);
  made->part = block->last;
  made->from = from;
  made->to = to;
  made->next = block->exits;
  block->exits = made;
}

static ULong executions(const Block* block, const Part* part) {
  if (!block->library) return part->own;
  ULong sum = 0;
  for (ULong i = 0; i < context_capacity; i++) sum += part->counts[i];
  return sum;
}

static void fold_exit(const Block* block, const Exit* left) {
  const ULong entered = executions(block, left->part);
  const ULong stayed = left->part->next ? executions(block, left->part->next) : 0;
  if (entered <= stayed) return;
  Edge* edge = left->from->edges;
  while (edge && edge->to != left->to) edge = edge->next;
  if (!edge) {
    edge = VG_(calloc)("rc.edge", 1, sizeof *edge);
    edge->to = left->to;
    edge->next = left->from->edges;
    left->from->edges = edge;
  }
  edge->taken += entered - stayed;
}

static void fold_part(const Block* block, Part* part) {
  const ULong times = executions(block, part);
  if (!times) return;
  for (const Entry* entry = part->entries; entry; entry = entry->next) {
    Instruction* instruction = entry->instruction;
    if (entry->begins) instruction->executions += times;
    if (entry->begins && rc_phase == kFirstPhase) instruction->first += times;
    if (entry->begins && rc_phase == kCountedPhase) instruction->later += times;
    if (!entry->facts) continue;
    for (UInt k = 0; k < kStaticKeys; k++)
      if (entry->facts->n[k]) rc_totals(instruction)[k] += times * entry->facts->n[k];
    if (!block->library) continue;
    for (ULong site = 1; site < context_capacity; site++) {
      if (!part->counts[site]) continue;
      ULong* n = rc_via(instruction, site);
      for (UInt k = 0; k < kStaticKeys; k++) n[k] += part->counts[site] * entry->facts->n[k];
    }
  }
}

/* Adds the counters of all blocks to their instructions, and clears the counters. */
void rc_fold(void) {
  for (Block* block = blocks; block; block = block->next) {
    for (const Exit* left = block->exits; left; left = left->next) fold_exit(block, left);
    for (Part* part = block->first; part; part = part->next) fold_part(block, part);
    for (Part* part = block->first; part; part = part->next)
      VG_(memset)(part->counts, 0, block->library ? context_capacity * sizeof(ULong) : sizeof(ULong));
  }
}

static void clear_instruction(Instruction* i) {
  i->executions = i->first = i->later = i->early = 0;
  if (i->n_first) VG_(free)(i->n_first);
  i->n_first = NULL;
  if (i->n) VG_(memset)(i->n, 0, kKeys * sizeof(ULong));
  for (Edge* edge = i->edges; edge; edge = edge->next) edge->taken = 0;
  for (Via* v = i->vias; v; v = v->next) VG_(memset)(v->n, 0, sizeof v->n);
}

void rc_clear(void) {
  rc_fold();
  rc_each_instruction(clear_instruction);
}

static void keep_early(Instruction* i) { i->early = i->executions; }

void rc_keep_early(void) {
  rc_fold();
  rc_each_instruction(keep_early);
}

static void keep_first(Instruction* i) {
  if (!i->n) return;
  i->n_first = VG_(malloc)("rc.totals", kKeys * sizeof(ULong));
  VG_(memcpy)(i->n_first, i->n, kKeys * sizeof(ULong));
}

void rc_keep_first(void) { rc_each_instruction(keep_first); }

static Bool grow_contexts(void) {
  if (library_part_count * context_capacity * 2 * sizeof(ULong) > kMaxContextBytes) return False;
  for (Part* part = library_parts; part; part = part->next_library) {
    ULong* counts = VG_(calloc)("rc.contexts", context_capacity * 2, sizeof(ULong));
    VG_(memcpy)(counts, part->counts, context_capacity * sizeof(ULong));
    VG_(free)(part->counts);
    part->counts = counts;
  }
  context_capacity *= 2;
  return True;
}

const Instruction* rc_call_by_id(UInt id) { return calls[id]; }

/* 0 if there are too many: library code is then not told apart by its callers. */
UInt rc_call_id(Instruction* instruction) {
  if (instruction->call) return instruction->call;
  if (!calls) calls = VG_(malloc)("rc.calls", context_capacity * sizeof *calls);
  if (call_count + 1 == context_capacity) {
    if (!grow_contexts()) return 0;
    calls = VG_(realloc)("rc.calls", calls, context_capacity * sizeof *calls);
  }
  calls[++call_count] = instruction;
  return instruction->call = call_count;
}

void rc_context_switch(ThreadId thread) {
  static UInt running = 0;
  contexts[running] = rc_context_offset;
  running = thread % kThreads;
  rc_context_offset = contexts[running];
}
