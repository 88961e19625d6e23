/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Writes the counts; README.md says in which format. */
#include "counts.h"
#include "pub_tool_aspacemgr.h"
#include "pub_tool_libcassert.h"
#include "pub_tool_libcbase.h"
#include "pub_tool_libcfile.h"
#include "pub_tool_libcprint.h"
#include "pub_tool_libcproc.h"
#include "pub_tool_clientstate.h"
#include "pub_tool_mallocfree.h"
#include "pub_tool_options.h"
#include "pub_tool_vki.h"
#include "pub_tool_xarray.h"

enum { kBuffer = 1 << 16 };
static const ULong kWorthAFile = 1000000;  /* instructions of an image that calls exec; a shell's are fewer */

static const HChar* const names[kKeys] = {
    "flops.fp32.scalar", "flops.fp32.128", "flops.fp32.256", "flops.fp64.scalar", "flops.fp64.128", "flops.fp64.256",
    "flops.fp16.scalar", "flops.fp16.128", "flops.fp16.256", "divides",           "roots",          "int",
    "loads",             "stores",         "load.bytes",     "store.bytes",       "nt.bytes",       "gathers",
    "chain.cycles",   "chain.loads",    "calls",          "atomics",        "conversions",    "branches",       "products", "l1.fills",          "l2.fills",       "l3.fills",       "l1.writebacks",     "l2.writebacks",  "l3.writebacks",
    "stride.line",       "stride.next",    "stride.other",    "falsely.shared", "l1.used", "page.walks", "mispredicted", "subnormals"};

static Int file = -1;
static HChar buffer[kBuffer];
static UInt used = 0;
static Long end_at = -1;
static HChar* written = NULL;  /* the file's name */

static void flush(void) {
  UInt done = 0;
  while (done < used) {
    const Int n = VG_(write)(file, buffer + done, used - done);
    if (n <= 0) break;
    done += n;
  }
  used = 0;
}

static void put(const HChar* format, ...) PRINTF_CHECK(1, 2);
static void put(const HChar* format, ...) {
  if (used > kBuffer - 512) flush();
  va_list arguments;
  va_start(arguments, format);
  used += VG_(vsnprintf)(buffer + used, 512, format, arguments);
  va_end(arguments);
}

static void put_escaped(const HChar* text) {
  for (; *text; text++) {
    const UChar c = (UChar)*text;
    if (c < 32 || c == 127 || c == '%') put("%%%02x", c);
    else put("%c", c);
  }
}

static void put_command(void) {
  put("command\t");
  put_escaped(VG_(args_the_exename));
  for (Word i = 0; i < VG_(sizeXA)(VG_(args_for_client)); i++) {
    put(" ");
    put_escaped(*(HChar**)VG_(indexXA)(VG_(args_for_client), i));
  }
  put("\n");
}

static void put_head(void) {
  VexArch arch;
  VexArchInfo host;
  VG_(machine_get_VexArchInfo)(&arch, &host);
  put("roofline-counts\t1\npid\t%d\t%d\n", VG_(getpid)(), VG_(getppid)());
  put_command();
  put("isa\t%s\n", rc_isa(&host));
  for (UInt i = 0; i < 3 && rc_shapes[i].bytes; i++)
    put("cache\t%u\t%llu\t%u\t%u\t%s\n", i + 1, rc_shapes[i].bytes, rc_shapes[i].ways, rc_line_bytes(),
        i < 2 ? "private" : "shared");
  for (const Module* m = rc_modules(); m; m = m->next) {
    put("module\t%u\t0x%llx\t", m->id, m->bias);
    put_escaped(m->path);
    put("\n");
  }
}

static ULong offset_of(const Module* module, Addr address) { return address - module->bias; }

/* A modelled total of all executions over that of the modelled ones. All others are taken to be as those after the first
   phase, in which caches were empty. False sharing is found or not, and is not scaled. */
static double scale_of(const Instruction* i, UInt key) {
  const ULong modelled = i->first + i->later;
  if (key < kStaticKeys || key == kFalselyShared || modelled == 0 || modelled >= i->executions || !i->n[key]) return 1;
  if (!i->later) return (double)i->executions / (double)i->first;
  const double first = i->n_first ? (double)i->n_first[key] : 0, later = (double)i->n[key] - first;
  return (first + later * (double)(i->executions - i->first) / (double)i->later) / (double)i->n[key];
}

static ULong whole(const Instruction* i, UInt key, ULong n) { return (ULong)((double)n * scale_of(i, key) + 0.5); }

static void put_keys(const Instruction* i, const ULong* n) {
  for (UInt k = 0; k < kKeys; k++)
    if (n[k] && k != kStrideLine) put("\t%s=%llu", names[k], whole(i, k, n[k]));
}

/* Accesses that stay in their line: all but those that the model saw moving. */
static void put_stride_line(const Instruction* i) {
  if (!i->n || i->n[kNonTemporalBytes]) return;
  const ULong accesses = i->n[kLoads] + i->n[kStores];
  const ULong moved = whole(i, kStrideNext, i->n[kStrideNext]) + whole(i, kStrideOther, i->n[kStrideOther]);
  if (accesses > moved) put("\t%s=%llu", names[kStrideLine], accesses - moved);
}

/* The stride with the most votes among all operands, if it has a quarter of all moves from line to line at least. */
static Long frequent_stride(const Instruction* i) {
  if (!i->n) return 0;
  ULong best = (i->n[kStrideNext] + i->n[kStrideOther]) / 4;
  Long stride = 0;
  for (const Site* s = i->sites; s; s = s->next)
    for (UInt v = 0; v < 4; v++)
      if (s->votes[v] > best) {
        best = s->votes[v];
        stride = s->strides[v];
      }
  return stride;
}

static Bool has_edge(const Instruction* i) {
  for (const Edge* e = i->edges; e; e = e->next)
    if (e->taken) return True;
  return False;
}

static Bool any(const ULong* n) {
  for (UInt k = 0; n && k < kKeys; k++)
    if (n[k]) return True;
  return False;
}

static void put_vias(const Instruction* i) {
  for (const Via* v = i->vias; v; v = v->next) {
    if (!any(v->n)) continue;
    const Instruction* call = rc_call_by_id(v->call);
    put("via\t%u\t0x%llx\t%u\t0x%llx", i->module->id, offset_of(i->module, i->address), call->module->id,
        offset_of(call->module, call->address));
    put_keys(i, v->n);
    put("\n");
  }
}

static Bool limited = False;  /* the time limit ended the process */

static void put_instruction(Instruction* i) {
  if (!i->executions && !any(i->n) && !has_edge(i)) return;
  put("i\t%u\t0x%llx\t%llu", i->module->id, offset_of(i->module, i->address), i->executions);
  if (i->n) put_keys(i, i->n);
  put_stride_line(i);
  if (limited && i->executions > i->early) put("\tlate=%llu", i->executions - i->early);
  const Long stride = frequent_stride(i);
  if (stride) put("\tstride.bytes=%lld", stride);
  put("\n");
  for (const Edge* e = i->edges; e; e = e->next)
    if (e->taken)
      put("e\t%u\t0x%llx\t0x%llx\t%llu\n", i->module->id, offset_of(i->module, i->address), offset_of(i->module, e->to),
          e->taken);
  put_vias(i);
}

static Instruction** sorted = NULL;
static UInt sorted_count = 0;

static void count_one(Instruction* i) { sorted_count++; }
static void collect(Instruction* i) { sorted[sorted_count++] = i; }

static Int by_place(const void* a, const void* b) {
  const Instruction* x = *(Instruction* const*)a;
  const Instruction* y = *(Instruction* const*)b;
  if (x->module->id != y->module->id) return x->module->id < y->module->id ? -1 : 1;
  return x->address < y->address ? -1 : x->address > y->address;
}

static void put_instructions(void) {
  sorted_count = 0;
  rc_each_instruction(count_one);
  sorted = VG_(malloc)("rc.sorted", (sorted_count + 1) * sizeof *sorted);
  sorted_count = 0;
  rc_each_instruction(collect);
  VG_(ssort)(sorted, sorted_count, sizeof *sorted, by_place);
  for (UInt i = 0; i < sorted_count; i++) put_instruction(sorted[i]);
  VG_(free)(sorted);
}

/* A process that calls exec keeps its id: the next image's file gets a number. */
static Int open_new(void) {
  HChar* base = VG_(expand_file_name)("--counts-file", rc_counts_file);
  for (UInt i = 1; i < 1000; i++) {
    HChar* path = VG_(malloc)("rc.path", VG_(strlen)(base) + 16);
    if (i == 1) VG_(sprintf)(path, "%s", base);
    else VG_(sprintf)(path, "%s.%u", base, i);
    SysRes opened = VG_(open)(path, VKI_O_CREAT | VKI_O_EXCL | VKI_O_WRONLY, VKI_S_IRUSR | VKI_S_IWUSR);
    if (!sr_isError(opened)) {
      written = path;
      VG_(free)(base);
      return sr_Res(opened);
    }
    VG_(free)(path);
    if (sr_Err(opened) != VKI_EEXIST) break;
  }
  VG_(umsg)("roofline_count: cannot write %s\n", base);
  VG_(free)(base);
  return -1;
}

void rc_write(const HChar* end) {
  rc_cache_finish();
  rc_fold();
  limited = VG_(strcmp)(end, "limit") == 0;
  file = open_new();
  if (file < 0) return;
  put_head();
  put_instructions();
  flush();
  end_at = VG_(lseek)(file, 0, VKI_SEEK_CUR);
  put("end\t%s\n", end);
  flush();
  VG_(close)(file);
}

static ULong executed = 0;
static void add_executed(Instruction* i) { executed += i->executions; }

void rc_write_before_exec(void) {
  rc_fold();
  executed = 0;
  rc_each_instruction(add_executed);
  if (executed >= kWorthAFile) rc_write("complete");
}

/* exec failed: the image goes on. */
void rc_forget_last(void) {
  if (!written) return;
  VG_(unlink)(written);
  VG_(free)(written);
  written = NULL;
}

static void put_illegal(void) {
  const Module* module = rc_module_of(rc_illegal_address);
  const NSegment* segment = VG_(am_find_nsegment)(rc_illegal_address);
  put("end\tillegal-instruction\t");
  for (UInt i = 0; segment && i < 16 && rc_illegal_address + i <= segment->end; i++)
    put("%02x", ((const UChar*)rc_illegal_address)[i]);
  put("\t%u\t0x%llx\n", module->id, offset_of(module, rc_illegal_address));
}

/* A signal ends the process after its counts were written. */
void rc_rewrite_end(Int signal) {
  if (!written || end_at < 0) return;
  SysRes opened = VG_(open)(written, VKI_O_WRONLY, 0);
  if (sr_isError(opened)) return;
  file = sr_Res(opened);
  VG_(lseek)(file, end_at, VKI_SEEK_SET);
  if (signal == VKI_SIGILL && rc_illegal_address) put_illegal();
  else put("end\tsignal %d\n", signal);
  flush();
  VG_(close)(file);
}
