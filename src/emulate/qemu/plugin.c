/* SPDX-License-Identifier: GPL-2.0-or-later */
/* roofline_count for QEMU: counts FLOPs, loads and stores of each A64 instruction of a program under qemu-aarch64, and
   writes them as the tool for Valgrind does (../README.md). A file of its own, which QEMU loads:
     qemu-aarch64 -cpu cortex-a76 -plugin roofline_count_qemu.so,counts=FOLDER/%p.counts PROGRAM */
#define _GNU_SOURCE
#include <elf.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "a64.h"
#include "api.h"

EXPORTED int qemu_plugin_version = 1;

enum { kPath = 4096, kThreads = 512, kLargestHeader = 128 };

typedef struct Module {
  struct Module* next;
  unsigned id;
  uint64_t start, end; /* of the mapping, in this process */
  uint64_t to_address; /* what makes an address in this process one of the file */
  char path[kPath];
} Module;

typedef struct {
  uint64_t module, address, executions, taken, target;
  Decoded facts;
} Line;

typedef struct Block {
  struct Block* next;
  uint64_t start, target; /* of the guest; 0: it does not end with a direct jump */
  atomic_ullong executions, taken;
  size_t count;
  Line lines[];
} Block;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static Module* modules = NULL;
static Block* blocks = NULL;
static Block* last[kThreads]; /* block of each thread */
static char file_name[kPath] = "roofline-counts.%p";

/* What makes an offset in the file an address: of the segment with that offset. */
static uint64_t address_of_offset(const char* path, uint64_t offset) {
  Elf64_Ehdr head;
  Elf64_Phdr segment;
  uint64_t address = offset;
  FILE* const file = fopen(path, "rb");
  if (!file) return address;
  if (fread(&head, sizeof head, 1, file) == 1 && !memcmp(head.e_ident, ELFMAG, SELFMAG) &&
      head.e_phnum <= kLargestHeader)
    for (unsigned i = 0; i < head.e_phnum; i++) {
      if (fseek(file, (long)(head.e_phoff + i * sizeof segment), SEEK_SET) ||
          fread(&segment, sizeof segment, 1, file) != 1)
        break;
      if (segment.p_type == PT_LOAD && offset + 4096 > segment.p_offset && offset < segment.p_offset + segment.p_filesz)
        address = segment.p_vaddr - segment.p_offset + offset;
    }
  fclose(file);
  return address;
}

/* The file that an address of this process is mapped from; NULL: none. */
static const Module* module_at(uint64_t host) {
  for (const Module* m = modules; m; m = m->next)
    if (host >= m->start && host < m->end) return m;
  FILE* const maps = fopen("/proc/self/maps", "r");
  char line[kPath + 128];
  Module* found = NULL;
  while (maps && !found && fgets(line, sizeof line, maps)) {
    uint64_t start, end, offset;
    int path = 0;
    if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %*s %" SCNx64 " %*s %*s %n", &start, &end, &offset, &path) < 3 || !path)
      continue;
    if (host < start || host >= end || line[path] != '/') continue;
    found = calloc(1, sizeof *found);
    snprintf(found->path, sizeof found->path, "%.*s", (int)strcspn(line + path, "\n"), line + path);
    found->start = start;
    found->end = end;
    found->to_address = address_of_offset(found->path, offset) - start;
    found->id = modules ? modules->id + 1 : 1;
    for (const Module* m = modules; m; m = m->next)
      if (!strcmp(m->path, found->path)) found->id = m->id;
    found->next = modules;
    modules = found;
  }
  if (maps) fclose(maps);
  return found;
}

static void executed(unsigned int vcpu, void* data) {
  Block* const block = data;
  Block** const before = &last[vcpu % kThreads];
  atomic_fetch_add_explicit(&block->executions, 1, memory_order_relaxed);
  if (*before && (*before)->target == block->start)
    atomic_fetch_add_explicit(&(*before)->taken, 1, memory_order_relaxed);
  *before = block;
}

static void translated(qemu_plugin_id_t id, struct qemu_plugin_tb* from) {
  const size_t count = qemu_plugin_tb_n_insns(from);
  Block* const block = calloc(1, sizeof *block + count * sizeof(Line));
  if (!block) return;
  block->count = count;
  pthread_mutex_lock(&lock);
  for (size_t i = 0; i < count; i++) {
    const struct qemu_plugin_insn* const instruction = qemu_plugin_tb_get_insn(from, i);
    const uint64_t host = (uint64_t)(uintptr_t)qemu_plugin_insn_haddr(instruction);
    const uint64_t guest = qemu_plugin_insn_vaddr(instruction);
    const Module* const module = module_at(host);
    uint32_t word;
    memcpy(&word, qemu_plugin_insn_data(instruction), sizeof word);
    Line* const line = &block->lines[i];
    line->facts = rc_decode_a64(word);
    line->module = module ? module->id : 0;
    line->address = module ? host + module->to_address : guest;
    line->target = line->address + (uint64_t)line->facts.distance;
    if (!i) block->start = guest;
    if (i + 1 == count && line->facts.jumps && line->facts.distance <= 0)
      block->target = guest + (uint64_t)line->facts.distance;
  }
  block->next = blocks;
  blocks = block;
  pthread_mutex_unlock(&lock);
  qemu_plugin_register_vcpu_tb_exec_cb(from, executed, QEMU_PLUGIN_CB_NO_REGS, block);
}

static void put_escaped(FILE* out, const char* text) {
  for (; *text; text++) {
    const unsigned char c = (unsigned char)*text;
    if (c < 32 || c == 127 || c == '%')
      fprintf(out, "%%%02x", c);
    else
      fputc(c, out);
  }
}

static void put_command(FILE* out) {
  char text[kPath];
  FILE* const in = fopen("/proc/self/cmdline", "r");
  const size_t size = in ? fread(text, 1, sizeof text - 1, in) : 0;
  if (in) fclose(in);
  for (size_t i = 0; i + 1 < size; i++)
    if (!text[i]) text[i] = ' ';
  text[size] = 0;
  fputs("command\t", out);
  put_escaped(out, text);
  fputc('\n', out);
}

static void put(FILE* out, const char* key, uint64_t each, uint64_t times) {
  if (each) fprintf(out, "\t%s=%" PRIu64, key, each * times);
}

static void put_line(FILE* out, const Line* line) {
  static const char* const types[] = {"fp32", "fp64", "fp16"};
  const Decoded* const d = &line->facts;
  const uint64_t n = line->executions;
  fprintf(out, "i\t%" PRIu64 "\t0x%" PRIx64 "\t%" PRIu64, line->module, line->address, n);
  if (d->flops) fprintf(out, "\tflops.%s.%s=%" PRIu64, types[d->type], d->vector ? "128" : "scalar", d->flops * n);
  put(out, "divides", d->divides, n);
  put(out, "roots", d->roots, n);
  put(out, "products", d->products, n);
  put(out, "conversions", d->conversions, n);
  put(out, "loads", d->loads, n);
  put(out, "stores", d->stores, n);
  put(out, "load.bytes", d->load_bytes, n);
  put(out, "store.bytes", d->store_bytes, n);
  put(out, "atomics", d->atomic, n);
  put(out, "calls", d->call, n);
  put(out, "branches", d->branch, n);
  fputc('\n', out);
  if (line->taken)
    fprintf(out, "e\t%" PRIu64 "\t0x%" PRIx64 "\t0x%" PRIx64 "\t%" PRIu64 "\n", line->module, line->address,
            line->target, line->taken);
}

static int by_place(const void* left, const void* right) {
  const Line *const x = left, *const y = right;
  if (x->module != y->module) return x->module < y->module ? -1 : 1;
  return x->address < y->address ? -1 : x->address > y->address;
}

/* Every instruction once, by its place. */
static size_t merged(Line** into) {
  size_t size = 0, used = 0;
  for (const Block* b = blocks; b; b = b->next) size += b->executions ? b->count : 0;
  Line* const all = malloc((size + 1) * sizeof *all);
  if (!all) return 0;
  for (const Block* b = blocks; b; b = b->next)
    for (size_t i = 0; b->executions && i < b->count; i++) {
      all[used] = b->lines[i];
      all[used].executions = b->executions;
      all[used++].taken = i + 1 == b->count ? b->taken : 0;
    }
  qsort(all, used, sizeof *all, by_place);
  size_t kept = 0;
  for (size_t i = 0; i < used; i++) {
    if (kept && !by_place(&all[kept - 1], &all[i])) {
      all[kept - 1].executions += all[i].executions;
      all[kept - 1].taken += all[i].taken;
    } else {
      all[kept++] = all[i];
    }
  }
  *into = all;
  return kept;
}

static FILE* open_new(void) {
  char path[2 * kPath];
  const char* const place = strstr(file_name, "%p");
  if (place)
    snprintf(path, sizeof path, "%.*s%d%s", (int)(place - file_name), file_name, (int)getpid(), place + 2);
  else
    snprintf(path, sizeof path, "%s", file_name);
  return fopen(path, "wx");
}

static void finish(qemu_plugin_id_t id, void* data) {
  FILE* const out = open_new();
  if (!out) {
    fprintf(stderr, "roofline_count_qemu: cannot write %s\n", file_name);
    return;
  }
  fprintf(out, "roofline-counts\t1\npid\t%d\t%d\n", (int)getpid(), (int)getppid());
  put_command(out);
  fputs("isa\tneon\n", out);
  unsigned known = 0;
  for (const Module* m = modules; m; m = m->next) known = m->id > known ? m->id : known;
  for (unsigned wanted = 1; wanted <= known; wanted++)
    for (const Module* m = modules; m; m = m->next)
      if (m->id == wanted) {
        fprintf(out, "module\t%u\t0x0\t", m->id);
        put_escaped(out, m->path);
        fputc('\n', out);
        break;
      }
  Line* lines = NULL;
  const size_t count = merged(&lines);
  const Line* unknown = NULL;
  for (size_t i = 0; i < count; i++) {
    put_line(out, &lines[i]);
    if (lines[i].facts.scalable && !unknown) unknown = &lines[i];
  }
  if (unknown)
    fprintf(out, "end\tillegal-instruction\tSVE\t%" PRIu64 "\t0x%" PRIx64 "\n", unknown->module, unknown->address);
  else
    fputs("end\tcomplete\n", out);
  fclose(out);
  free(lines);
}

/* A child counts from its start. */
static void clear(void) {
  for (Block* b = blocks; b; b = b->next) b->executions = b->taken = 0;
}

EXPORTED int qemu_plugin_install(qemu_plugin_id_t id, const qemu_info_t* info, int count, char** arguments);
EXPORTED int qemu_plugin_install(qemu_plugin_id_t id, const qemu_info_t* info, int count, char** arguments) {
  if (strcmp(info->target_name, "aarch64") || info->system_emulation) {
    fprintf(stderr, "roofline_count_qemu: counts programs under qemu-aarch64 only, not %s\n", info->target_name);
    return 1;
  }
  for (int i = 0; i < count; i++)
    if (!strncmp(arguments[i], "counts=", 7)) snprintf(file_name, sizeof file_name, "%s", arguments[i] + 7);
  pthread_atfork(NULL, NULL, clear);
  qemu_plugin_register_vcpu_tb_trans_cb(id, translated);
  qemu_plugin_register_atexit_cb(id, finish, NULL);
  return 0;
}
