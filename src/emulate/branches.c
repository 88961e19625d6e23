/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A model of branch prediction: how often a current CPU would have guessed a conditional branch or the target of an indirect jump
   wrongly. Tables of several lengths of history, after Seznec and Michaud, "A case for (partially) TAgged GEometric history length
   branch prediction", 2006: the longest history that is known decides. It is smaller than the predictors of current CPUs. */
#include "counts.h"
#include "pub_tool_mallocfree.h"

enum { kTables = 4, kEntryBits = 12, kTargets = 4096, kMostCounter = 3, kLeastCounter = -4 };

typedef struct {
  UShort tag;
  Char counter;  /* taken from 0 on */
  UChar useful;
} Entry;

typedef struct {
  Addr target;
  ULong tag;
} Target;

static const UInt lengths[kTables] = {5, 14, 30, 64};  /* outcomes */
static Entry tables[kTables][1 << kEntryBits];
static Target targets[kTargets];
static ULong history = 0;  /* the latest outcome in the lowest bit */

Branch* rc_branch(Instruction* instruction) {
  Branch* made = VG_(calloc)("rc.branch", 1, sizeof *made);
  made->instruction = instruction;
  rc_totals(instruction);
  return made;
}

static ULong mixed(ULong value) {
  value = (value ^ (value >> 31)) * 0x9e3779b97f4a7c15ULL;
  return value ^ (value >> 29);
}

static ULong hash_of(const Branch* branch, UInt length) {
  const ULong recent = length < 64 ? history & ((1ULL << length) - 1) : history;
  return mixed(mixed(recent + length) + branch->instruction->address);
}

static void wrong(const Branch* branch) { rc_add(branch->instruction, kMispredicted, 1); }

static void move(Char* counter, Bool taken) {
  if (taken && *counter < kMostCounter) ++*counter;
  if (!taken && *counter > kLeastCounter) --*counter;
}

/* After a wrong guess a longer history gets an entry, in place of one that has not been useful. */
static void allocate(const ULong* hashes, Int decided, Bool taken) {
  for (UInt t = (UInt)(decided + 1); t < kTables; t++) {
    Entry* entry = &tables[t][hashes[t] >> (64 - kEntryBits)];
    if (entry->useful) {
      entry->useful--;
      continue;
    }
    *entry = (Entry){.tag = (UShort)hashes[t], .counter = taken ? 0 : -1, .useful = 0};
    return;
  }
}

VG_REGPARM(2) void rc_branched(Branch* branch, ULong outcome) {
  const Bool taken = outcome != 0;
  ULong hashes[kTables];
  Entry* deciding = NULL;
  Int decided = -1;
  Bool shorter = branch->counter >= 0;  /* the guess without the deciding table */
  Bool guess = shorter;
  for (UInt t = 0; t < kTables; t++) {
    hashes[t] = hash_of(branch, lengths[t]);
    Entry* entry = &tables[t][hashes[t] >> (64 - kEntryBits)];
    if (entry->tag != (UShort)hashes[t]) continue;
    shorter = guess;
    guess = entry->counter >= 0;
    deciding = entry;
    decided = (Int)t;
  }
  if (deciding) {
    if (guess != shorter && guess == taken && deciding->useful < 3) deciding->useful++;
    move(&deciding->counter, taken);
  } else {
    move(&branch->counter, taken);
  }
  if (guess != taken) {
    wrong(branch);
    allocate(hashes, decided, taken);
  }
  history = history << 1 | taken;
  if (branch->last != outcome) branch->streak = 0;
  branch->last = outcome;
}

VG_REGPARM(2) void rc_jumped(Branch* branch, Addr to) {
  const ULong hash = hash_of(branch, lengths[2]);
  Target* known = &targets[hash % kTargets];
  const Addr guess = known->tag == hash ? known->target : branch->last;
  if (guess != to && branch->last) wrong(branch);
  *known = (Target){.target = to, .tag = hash};
  history = history << 3 ^ mixed(to) >> 56;
  branch->last = to;
}
