/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "counts.h"
#include "pub_tool_libcbase.h"
#include "pub_tool_libcprint.h"
#include "pub_tool_mallocfree.h"
#include "pub_tool_options.h"

const HChar* rc_counts_file = "roofline-counts.%p";
UInt rc_stop_after = 0;
UInt rc_model_share = 100;
CacheShape rc_shapes[3] = {{32768, 8, 64}, {1048576, 16, 64}, {33554432, 16, 64}};

enum { kMaxOwn = 64 };
static const HChar* own_paths[kMaxOwn];
static UInt own_count = 0;

/* `--own`: a file, or a folder with everything below it. */
Bool rc_is_own_option(const HChar* path) {
  for (UInt i = 0; i < own_count; i++) {
    SizeT length = VG_(strlen)(own_paths[i]);
    while (length > 1 && own_paths[i][length - 1] == '/') length--;
    if (VG_(strncmp)(path, own_paths[i], length) == 0 && (path[length] == 0 || path[length] == '/')) return True;
  }
  return False;
}

/* "bytes,ways,line"; 0 bytes: the machine has no such level. */
static Bool read_shape(const HChar* text, CacheShape* shape) {
  HChar* end = NULL;
  ULong numbers[3];
  for (UInt i = 0; i < 3; i++) {
    numbers[i] = (ULong)VG_(strtoll10)(text, &end);
    if (end == text || *end != (i < 2 ? ',' : 0)) return False;
    text = end + 1;
  }
  const Bool line_fits = numbers[2] >= 16 && numbers[2] <= 4096 && (numbers[2] & (numbers[2] - 1)) == 0;
  if (!line_fits || numbers[1] < 1 || numbers[1] > 64 || numbers[0] > (1ULL << 30)) return False;
  if (numbers[0] && numbers[0] < numbers[1] * numbers[2]) return False;
  shape->bytes = numbers[0];
  shape->ways = numbers[1];
  shape->line = numbers[2];
  return True;
}

static Bool process_shape(const HChar* argument, const HChar* text, CacheShape* shape) {
  if (!read_shape(text, shape)) VG_(fmsg_bad_option)(argument, "expected BYTES,WAYS,LINE\n");
  return True;
}

Bool rc_process_option(const HChar* argument) {
  const HChar* text = NULL;
  if (VG_STR_CLO(argument, "--counts-file", rc_counts_file)) return True;
  if (VG_STR_CLO(argument, "--l1", text)) return process_shape(argument, text, &rc_shapes[0]);
  if (VG_STR_CLO(argument, "--l2", text)) return process_shape(argument, text, &rc_shapes[1]);
  if (VG_STR_CLO(argument, "--l3", text)) return process_shape(argument, text, &rc_shapes[2]);
  if (VG_STR_CLO(argument, "--own", text)) {
    if (own_count == kMaxOwn) VG_(fmsg_bad_option)(argument, "at most 64 paths\n");
    own_paths[own_count++] = VG_(strdup)("rc.own", text);
    return True;
  }
  Int seconds = 0;
  if (VG_BINT_CLO(argument, "--stop-after", seconds, 1, 1000000)) {
    rc_stop_after = seconds;
    return True;
  }
  if (VG_BINT_CLO(argument, "--model-share", seconds, 1, 100)) {
    rc_model_share = seconds;
    return True;
  }
  return False;
}

void rc_print_usage(void) {
  VG_(printf)(
      "    --counts-file=FILE            write the counts here; %%p is the process id [roofline-counts.%%p]\n"
      "    --l1= --l2= --l3=BYTES,WAYS,LINE  caches; L1 and L2 private to each thread, L3 shared\n"
      "    --own=PATH                    this file or folder is the program's own code (may be repeated)\n"
      "    --stop-after=SECONDS          write the counts and end the process after this time\n"
      "    --model-share=PERCENT         model caches, branches and subnormal results in this part of the time [100]\n");
}

void rc_print_debug_usage(void) { VG_(printf)("    (none)\n"); }
