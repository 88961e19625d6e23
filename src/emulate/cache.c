/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A model of the caches: set-associative, least recently used, write-back, write-allocate. L1 and L2 are private to each
   thread, L3 is shared. There is no prefetching and no coherence traffic. */
#include "counts.h"
#include "pub_tool_libcbase.h"
#include "pub_tool_mallocfree.h"

enum { kMaxThreads = 64, kLevels = 3 };

typedef struct {
  Slot* slots;
  ULong sets;
  UInt ways;
} Level;

ULong rc_clock = 0;
static Level levels[kLevels];  /* of the running thread; levels[0].slots stays in one place, as sites point into it */
static UInt level_count = 0;
static UInt line_shift = 6;
static Slot* saved_l1[kMaxThreads];
static Slot* l2_of[kMaxThreads];
static UInt running = 0;
static ULong empty_slot[4];

UInt rc_line_bytes(void) { return 1U << line_shift; }
ULong* rc_no_tag(void) { return empty_slot; }

static SizeT slot_bytes(UInt level) { return levels[level].sets * levels[level].ways * sizeof(Slot); }

void rc_cache_start(void) {
  while ((1U << line_shift) != rc_shapes[0].line) line_shift = line_shift == 12 ? 4 : line_shift + 1;
  for (UInt i = 0; i < kLevels && rc_shapes[i].bytes; i++) {
    levels[i].ways = rc_shapes[i].ways;
    levels[i].sets = rc_shapes[i].bytes / ((ULong)rc_shapes[i].ways << line_shift);
    if (levels[i].sets == 0) levels[i].sets = 1;
    levels[i].slots = VG_(calloc)("rc.cache", 1, slot_bytes(i));
    level_count = i + 1;
  }
  l2_of[0] = levels[1].slots;
}

static void* zeroed_if_new(Slot** slots, UInt level) {
  if (!*slots) *slots = VG_(calloc)("rc.cache.thread", 1, slot_bytes(level));
  return *slots;
}

/* Exchanges the private caches when another thread runs. Threads beyond 64 share caches. */
void rc_cache_switch(ThreadId thread) {
  const UInt next = thread % kMaxThreads;
  if (next == running) return;
  if (running == 0 && !saved_l1[0] && l2_of[next] == NULL && rc_clock == 0) {  /* the first thread gets what there is */
    l2_of[next] = l2_of[0];
    l2_of[0] = NULL;
    running = next;
    return;
  }
  VG_(memcpy)(zeroed_if_new(&saved_l1[running], 0), levels[0].slots, slot_bytes(0));
  VG_(memcpy)(levels[0].slots, zeroed_if_new(&saved_l1[next], 0), slot_bytes(0));
  if (level_count > 1) levels[1].slots = zeroed_if_new(&l2_of[next], 1);
  running = next;
}

static Slot* set_of(const Level* level, ULong base) {
  const ULong line = base >> line_shift;
  const ULong sets = level->sets;
  return level->slots + ((sets & (sets - 1)) ? line % sets : line & (sets - 1)) * level->ways;
}

static Slot* find(const Level* level, ULong base) {
  Slot* set = set_of(level, base);
  for (UInt i = 0; i < level->ways; i++)
    if (set[i].base == base) return &set[i];
  return NULL;
}

static void put_dirty(UInt level, ULong base, Instruction* by);

/* Frees the least recently used slot of the line's set; a dirty line goes to the next level. */
static Slot* replace(UInt level, ULong base) {
  Slot* set = set_of(&levels[level], base);
  Slot* oldest = set;
  for (UInt i = 1; i < levels[level].ways; i++)
    if (set[i].used < oldest->used) oldest = &set[i];
  if (oldest->dirty_base) {
    rc_add(oldest->dirtied_by, kL1Writebacks + level, 1);
    put_dirty(level + 1, oldest->dirty_base, oldest->dirtied_by);
  }
  oldest->base = base;
  oldest->dirty_base = 0;
  oldest->used = rc_clock;
  return oldest;
}

static void put_dirty(UInt level, ULong base, Instruction* by) {
  if (level >= level_count) return;
  Slot* slot = find(&levels[level], base);
  if (!slot) slot = replace(level, base);
  slot->dirty_base = base;
  slot->dirtied_by = by;
}

static Slot* fetch(UInt level, ULong base, Instruction* by) {
  if (level >= level_count) return NULL;
  Slot* slot = find(&levels[level], base);
  if (slot) {
    slot->used = rc_clock;
    return slot;
  }
  fetch(level + 1, base, by);
  rc_add(by, kL1Fills + level, 1);
  return replace(level, base);
}

static void vote(Site* site, Long stride) {
  UInt weakest = 0;
  for (UInt i = 0; i < 4; i++) {
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

VG_REGPARM(2) void rc_access(Site* site, Addr address) {
  Instruction* by = site->instruction;
  const ULong mask = ~(ULong)(rc_line_bytes() - 1);
  const ULong first = address & mask;
  const ULong last = (address + site->size - 1) & mask;
  rc_clock++;
  const ULong entered = first != site->line ? first : last;
  if (site->line && entered != site->line) {
    const Bool next = entered == site->line + rc_line_bytes() || entered == site->line - rc_line_bytes();
    rc_add(by, next ? kStrideNext : kStrideOther, 1);
    vote(site, (Long)(address - site->last));
  }
  Slot* slot = NULL;
  for (ULong base = first;; base += rc_line_bytes()) {
    slot = fetch(0, base, by);
    if (site->store) {
      slot->dirty_base = base;
      slot->dirtied_by = by;
    }
    if (base == last) break;
  }
  site->line = last;
  site->tag = site->store ? &slot->dirty_base : &slot->base;
}

/* An access under a mask or a condition: executions of the instruction do not tell its number. */
VG_REGPARM(2) void rc_access_guarded(Site* site, Addr address) {
  rc_add(site->instruction, site->store ? kStores : kLoads, 1);
  rc_add(site->instruction, site->store ? kStoreBytes : kLoadBytes, site->size);
  rc_access(site, address);
  site->last = address;
}
