/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A model of the caches: set-associative, least recently used, write-back, write-allocate. L1 and L2 are private to each
   thread, L3 is shared. There is no prefetching. What a thread wrote leaves the L1 of the others when they run next.
   Each thread has a TLB for pages of 4 KiB. */
#include "counts.h"
#include "pub_tool_libcbase.h"
#include "pub_tool_mallocfree.h"

enum { kMaxThreads = 64, kOuter = 2 };

/* L1: for each set, `ways` words of each kind. Generated code compares addresses with the first or second kind, and writes the
   third. */
enum {
  kBase,   /* first address of the line; 0: empty */
  kDirty,  /* the same if the line is dirty, else 0 */
  kUsed,   /* the clock at the last access: the smallest of a set is replaced */
  kBy,     /* the instruction that dirtied the line */
  kMask,   /* parts of the line that were accessed, a bit for each byte (of lines above 64 bytes: for several) */
  kFor,    /* the instruction that fetched the line */
  kKinds
};
static ULong* l1;
static ULong l1_sets;
static UInt l1_ways;

/* L2 and L3: sets of `ways` words, the most recently used first. A word is the line's number, the id of the instruction that
   dirtied it, and 1 if it is dirty; 0: empty. Host lines are what the model itself waits for, so words are packed. */
typedef struct {
  ULong* words;
  ULong sets;
  UInt ways;
} Level;

enum { kAddressBits = 47 };

ULong rc_clock = 0;
static Level outer[kOuter];
static Level tlb;  /* second-level TLB: pages instead of lines */
enum { kPageShift = 12, kTlbEntries = 2048, kTlbWays = 16 };
static UInt outer_count = 0;
static UInt line_shift = 6;
static ULong* saved_l1[kMaxThreads];
static ULong* l2_of[kMaxThreads];
static ULong* tlb_of[kMaxThreads];
static UInt running = 0;
static ULong nothing[1 + kKinds * 64];

UInt rc_line_bytes(void) { return 1U << line_shift; }
ULong* rc_no_tag(void) { return nothing; }

/* From a tag to the time of its use, in bytes. */
ULong rc_used_offset(Bool store) { return (store ? kUsed - kDirty : kUsed - kBase) * l1_ways * sizeof(ULong); }

static ULong sets_of(const CacheShape* shape) {
  const ULong sets = shape->bytes / ((ULong)shape->ways << line_shift);
  return sets ? sets : 1;
}

static ULong* new_words(const Level* level) { return VG_(calloc)("rc.level", level->sets * level->ways, sizeof(ULong)); }

static UInt id_bits(void) { return 63 - (kAddressBits - line_shift); }

void rc_cache_start(void) {
  for (line_shift = 4; (1U << line_shift) != rc_shapes[0].line;) line_shift++;
  l1_sets = sets_of(&rc_shapes[0]);
  l1_ways = rc_shapes[0].ways;
  l1 = VG_(calloc)("rc.l1", l1_sets * l1_ways * kKinds, sizeof(ULong));
  for (UInt i = 0; i < kOuter && rc_shapes[i + 1].bytes; i++) {
    outer[i].sets = sets_of(&rc_shapes[i + 1]);
    outer[i].ways = rc_shapes[i + 1].ways;
    outer[i].words = new_words(&outer[i]);
    outer_count = i + 1;
  }
  tlb = (Level){.sets = kTlbEntries / kTlbWays, .ways = kTlbWays};
  tlb.words = new_words(&tlb);
}

/* Lines that a thread had written when it stopped running: the bytes of its last store there, and who has not seen it since. */
enum { kWrittenLines = 4096 };
typedef struct {
  ULong base, from, to, unseen, writers;
  UInt writer;
} Written;
static Written written[kWrittenLines];
static Bool several = False;  /* threads ran */

static Written* written_at(ULong base) { return &written[(base >> line_shift) % kWrittenLines]; }

static void publish(ULong base, const Instruction* by) {
  for (const Site* s = by->sites; s; s = s->next) {
    if (!s->store || (s->last & ~(ULong)(rc_line_bytes() - 1)) != base) continue;
    const Written* before = written_at(base);
    const ULong writers = (before->base == base ? before->writers : 0) | 1ULL << running;
    *written_at(base) = (Written){base, s->last, s->last + s->size, ~(1ULL << running), writers, running};
    return;
  }
}

static Bool is_unseen(const Written* w, ULong base) {
  return w->base == base && w->writer != running && (w->unseen >> running & 1);
}

/* Calls `visit` for the ways of L1. */
static void each_l1(void (*visit)(ULong* way)) {
  for (ULong set = 0; set < l1_sets; set++)
    for (UInt way = 0; way < l1_ways; way++) visit(l1 + (set * kKinds) * l1_ways + way);
}

static void publish_way(ULong* way) {
  if (way[kDirty * l1_ways]) publish(way[kDirty * l1_ways], (const Instruction*)way[kBy * l1_ways]);
}

/* Counts the bytes of a line that were accessed while it was in L1. */
static void count_used(ULong* way) {
  ULong parts = 0;
  for (ULong mask = way[kMask * l1_ways]; mask; mask &= mask - 1) parts++;
  if (parts) rc_add((Instruction*)way[kFor * l1_ways], kL1Used, line_shift > 6 ? parts << (line_shift - 6) : parts);
  way[kMask * l1_ways] = 0;
}

static ULong mask_of(ULong base, Addr from, Addr to) {
  const UInt shift = line_shift > 6 ? line_shift - 6 : 0;
  const ULong end = base + rc_line_bytes();
  if (from < base) from = base;
  if (to > end) to = end;
  if (from >= to) return 0;
  const UInt first = (from - base) >> shift, last = (to - 1 - base) >> shift;
  return (~0ULL >> (63 - (last - first))) << first;
}

/* An operand leaves its line: what lies between its first and its last access there counts as accessed. */
static void mark_run(const Site* site) {
  const UInt kind = site->store ? kDirty : kBase;
  if (!site->line || *site->tag != site->line) return;
  const Bool forwards = site->entry <= site->last;
  const Addr from = forwards ? site->entry : site->last, to = (forwards ? site->last : site->entry) + site->size;
  site->tag[(kMask - kind) * l1_ways] |= mask_of(site->line, from, to);
}

/* The lines that are in L1 now. */
void rc_cache_finish(void) {
  ULong* const current = l1;
  each_l1(count_used);
  for (UInt thread = 0; thread < kMaxThreads; thread++) {
    if (thread == running || !saved_l1[thread]) continue;
    l1 = saved_l1[thread];
    each_l1(count_used);
  }
  l1 = current;
}

static void withdraw_way(ULong* way) {
  if (!way[kBase] || !is_unseen(written_at(way[kBase]), way[kBase])) return;
  count_used(way);
  way[kBase] = way[kDirty * l1_ways] = way[kUsed * l1_ways] = 0;
}

/* Exchanges the private caches when another thread runs. Threads beyond 64 share caches. */
void rc_cache_switch(ThreadId thread) {
  const UInt next = (thread - 1) % kMaxThreads;
  const SizeT bytes = l1_sets * l1_ways * kKinds * sizeof(ULong);
  if (next == running) return;
  several = True;
  each_l1(publish_way);
  if (!saved_l1[running]) saved_l1[running] = VG_(malloc)("rc.l1.saved", bytes);
  VG_(memcpy)(saved_l1[running], l1, bytes);
  if (saved_l1[next]) VG_(memcpy)(l1, saved_l1[next], bytes);
  else VG_(memset)(l1, 0, bytes);
  if (outer_count) {
    l2_of[running] = outer[0].words;
    if (!l2_of[next]) l2_of[next] = new_words(&outer[0]);
    outer[0].words = l2_of[next];
  }
  tlb_of[running] = tlb.words;
  if (!tlb_of[next]) tlb_of[next] = new_words(&tlb);
  tlb.words = tlb_of[next];
  running = next;
  each_l1(withdraw_way);
}

/* An operand that stays in one line, of which another thread wrote other bytes meanwhile. A thread that only reads the line
   shares what the other one wrote before: in parallel loops over data that a serial part updates between them. */
static void see(const Site* site, ULong base, Addr address) {
  Written* const w = written_at(base);
  if (!is_unseen(w, base)) return;
  w->unseen &= ~(1ULL << running);
  const Bool apart = address + site->size <= w->from || address >= w->to;
  if (site->line == base && apart && (w->writers >> running & 1)) rc_add(site->instruction, kFalselyShared, 1);
}

static ULong first_of_set(ULong base, ULong sets, UInt ways) {
  const ULong line = base >> line_shift;
  return ((sets & (sets - 1)) ? line % sets : line & (sets - 1)) * ways;
}

/* Makes the line the most recently used of its set, and returns whether it was there. If not, `word` takes its place and
   the least recently used one leaves through `word`. */
static Bool touch(const Level* level, ULong line, ULong* word) {
  ULong* set = level->words + first_of_set(line << line_shift, level->sets, level->ways);
  const UInt shift = id_bits() + 1;
  ULong moved = *set;
  if (moved >> shift == line) return True;
  for (UInt i = 1; i < level->ways; i++) {
    const ULong here = set[i];
    set[i] = moved;
    moved = here;
    if (here >> shift == line) {
      *set = here;
      return True;
    }
  }
  *set = *word;
  *word = moved;
  return False;
}

static void leave(UInt at, ULong word);

static void put_dirty(UInt at, ULong word) {
  if (at >= outer_count) return;
  const ULong line = word >> (id_bits() + 1);
  ULong out = word;
  const Bool present = touch(&outer[at], line, &out);
  outer[at].words[first_of_set(line << line_shift, outer[at].sets, outer[at].ways)] = word;
  if (!present) leave(at, out);
}

/* A line left the outer level `at`; a dirty one goes to the next. */
static void leave(UInt at, ULong word) {
  if (!(word & 1)) return;
  Instruction* by = rc_by_id((word >> 1) & ((1U << id_bits()) - 1));
  if (by) rc_add(by, kL1Writebacks + at + 1, 1);
  put_dirty(at + 1, word);
}

static void fetch(UInt at, ULong line, Instruction* by) {
  if (at >= outer_count) return;
  ULong word = line << (id_bits() + 1);
  if (touch(&outer[at], line, &word)) return;
  rc_add(by, kL1Fills + at + 1, 1);
  fetch(at + 1, line, by);
  leave(at, word);
}

static ULong dirty_word(ULong base, const Instruction* by) {
  const ULong id = by->id >> id_bits() ? 0 : by->id;
  return (base >> line_shift << (id_bits() + 1)) | id << 1 | 1;
}

static UInt least_used(const ULong* used) {
  UInt index = 0;
  ULong least = used[0];
  for (UInt i = 1; i < l1_ways; i++) {
    index = used[i] < least ? i : index;
    least = used[i] < least ? used[i] : least;
  }
  return index;
}

/* The word of the line's address, of the first kind. */
static ULong* fetch_l1(ULong base, Instruction* by) {
  const UInt ways = l1_ways;
  ULong* set = l1 + kKinds * first_of_set(base, l1_sets, ways);
  UInt index = ways;
  for (UInt i = 0; i < ways; i++) index = set[i] == base ? i : index;  /* no branch: the way cannot be predicted */
  if (index == ways) {
    index = least_used(set + kUsed * ways);
    const ULong dirty = set[kDirty * ways + index];
    if (dirty) {
      Instruction* dirtied_by = (Instruction*)set[kBy * ways + index];
      rc_add(dirtied_by, kL1Writebacks, 1);
      put_dirty(0, dirty_word(dirty, dirtied_by));
    }
    count_used(set + index);
    fetch(0, base >> line_shift, by);
    rc_add(by, kL1Fills, 1);
    set[index] = base;
    set[kFor * ways + index] = (ULong)by;
    set[kDirty * ways + index] = 0;
  }
  set[kUsed * ways + index] = rc_clock;
  return set + index;
}

static void vote(Site* site, Long stride) {
  if (site->votes[0] && site->strides[0] == stride) {
    site->votes[0]++;
    return;
  }
  UInt weakest = 0;
  for (UInt i = 1; i < 4; i++) {
    if (site->votes[i] && site->strides[i] == stride) {
      site->votes[i]++;
      return;
    }
    if (site->votes[i] < site->votes[weakest]) weakest = i;
  }
  if (site->votes[weakest]) {
    for (UInt i = 0; i < 4; i++) site->votes[i]--;
  } else {
    site->strides[weakest] = stride;
    site->votes[weakest] = 1;
  }
}

/* An operand that leaves its page needs a translation: a page walk if the TLB does not hold it. */
static void translate(Site* site, Addr address) {
  const ULong page = address >> kPageShift;
  if (page == site->page) return;
  site->page = page;
  ULong word = page << (id_bits() + 1);
  if (!touch(&tlb, page, &word)) rc_add(site->instruction, kPageWalks, 1);
}

VG_REGPARM(2) void rc_access(Site* site, Addr address) {
  Instruction* by = site->instruction;
  const ULong mask = ~(ULong)(rc_line_bytes() - 1);
  const ULong first = address & mask;
  const ULong last = (address + site->size - 1) & mask;
  rc_clock++;
  translate(site, address);
  mark_run(site);
  const ULong entered = first != site->line ? first : last;
  if (site->line && entered != site->line) {
    const Bool next = entered == site->line + rc_line_bytes() || entered == site->line - rc_line_bytes();
    rc_add(by, next ? kStrideNext : kStrideOther, 1);
    vote(site, (Long)(address - site->last));
  }
  if (several) see(site, first, address);
  ULong* tag = NULL;
  for (ULong base = first;; base += rc_line_bytes()) {
    tag = fetch_l1(base, by);
    tag[kMask * l1_ways] |= mask_of(base, address, address + site->size);
    if (site->store) {
      tag += l1_ways;
      tag[0] = base;
      tag[(kBy - kDirty) * l1_ways] = (ULong)by;
    }
    if (base == last) break;
  }
  site->line = last;
  site->entry = address;
  site->tag = tag;
}

/* An access under a mask or a condition: executions of the instruction do not tell its number. */
VG_REGPARM(2) void rc_access_guarded(Site* site, Addr address) {
  rc_add_always(site->instruction, site->store ? kStores : kLoads, 1);
  rc_add_always(site->instruction, site->store ? kStoreBytes : kLoadBytes, site->size);
  if (!rc_modelling()) return;
  rc_access(site, address);
  site->last = address;
}
