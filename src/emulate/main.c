/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "counts.h"
#include "pub_tool_libcassert.h"
#include "pub_tool_libcbase.h"
#include "pub_tool_libcfile.h"
#include "pub_tool_libcprint.h"
#include "pub_tool_libcproc.h"
#include "pub_tool_options.h"
#include "pub_tool_transtab.h"
#include "pub_tool_vki.h"
#include "pub_tool_vkiscnums.h"

Phase rc_phase = kFirstPhase;
static UInt started_ms = 0;
static UInt phases = 0;  /* that have ended */
static UInt phase_ms = 0;  /* when the phase began */
static Bool late = False;

static UInt now_ms(void) { return VG_(read_millisecond_timer)(); }

static void check_options(void) {
  if (!rc_shapes[0].bytes) VG_(fmsg_bad_option)("--l1", "a first level is needed\n");
  if (!rc_shapes[1].bytes) rc_shapes[2].bytes = 0;
  rc_cache_start();
  started_ms = phase_ms = now_ms();
}

/* The core allows tools to discard translations in client requests only. The block that is about to run has been looked up
   before; it is run once more, which is safe: its code stays in memory, and its exits lead to the core. */
extern Bool VG_(ok_to_discard_translations);

static void translate_again(void) {
  const Bool allowed = VG_(ok_to_discard_translations);
  VG_(ok_to_discard_translations) = True;
  VG_(discard_translations_safely)(0x1000, ~(SizeT)0xfff, "roofline_count");
  VG_(ok_to_discard_translations) = allowed;
}

/* Milliseconds. At most 20 cycles, because old blocks stay in memory. */
static UInt length_of_phase(void) {
  const UInt percent = (rc_stop_after > 80 ? rc_stop_after * 50 : 4000) / 100;
  switch (rc_phase) {
    case kFirstPhase: return percent * rc_model_share;
    case kPlainPhase: return percent * (100 - rc_model_share) / (phases < 3 ? 4 : 1);
    default: return percent * rc_model_share / 2;
  }
}

/* The first phase has the misses of empty caches. In later ones the caches fill again before the models count.
   Translated code models or does not, so that all of it is translated again. */
static void change_phase(UInt now) {
  if (rc_model_share == 100 || now - phase_ms < length_of_phase()) return;
  rc_fold();
  if (rc_phase == kFirstPhase) rc_keep_first();
  const Bool modelled = rc_modelling();
  rc_phase = rc_phase == kPlainPhase ? kWarmPhase : rc_phase == kWarmPhase ? kCountedPhase : kPlainPhase;
  phases++;
  phase_ms = now;
  if (modelled != rc_modelling()) translate_again();
}

/* Before a thread runs for a while. */
static void start_running(ThreadId thread, ULong blocks) {
  rc_cache_switch(thread);
  rc_context_switch(thread);
  const UInt now = now_ms();
  change_phase(now);
  if (rc_stop_after && !late && (now - started_ms) / 900 >= rc_stop_after) {
    late = True;
    rc_keep_early();
  }
  if (!rc_stop_after || (now - started_ms) / 1000 < rc_stop_after) return;
  rc_write("limit");
  VG_(exit)(0);
}

static Bool is_exec(UInt number) { return number == __NR_execve || number == __NR_execveat; }

static void before_syscall(ThreadId thread, UInt number, UWord* arguments, UInt count) {
  if (is_exec(number)) rc_write_before_exec();
}

static void after_syscall(ThreadId thread, UInt number, UWord* arguments, UInt count, SysRes result) {
  if (is_exec(number)) rc_forget_last();
}

static void after_fork(ThreadId thread) { rc_clear(); }

static void finish(Int exit_code) { rc_write("complete"); }

/* The linker option --wrap leads here: the core ends the process by the signal that ended the program. */
void __real_vgPlain_kill_self(Int signal);
void __wrap_vgPlain_kill_self(Int signal);
void __wrap_vgPlain_kill_self(Int signal) {
  rc_rewrite_end(signal);
  __real_vgPlain_kill_self(signal);
}

/* Valgrind's launcher names itself in this variable, and the core starts it for programs that are executed. This tool needs no
   launcher: it starts itself. The core removes the variable from the environment of children. */
HChar* __real_vgPlain_getenv(const HChar* name);
HChar* __wrap_vgPlain_getenv(const HChar* name);
HChar* __wrap_vgPlain_getenv(const HChar* name) {
  static HChar path[4096];
  HChar* value = __real_vgPlain_getenv(name);
  if (value || VG_(strcmp)(name, "VALGRIND_LAUNCHER") != 0) return value;
  const SSizeT length = VG_(readlink)("/proc/self/exe", path, sizeof path - 1);
  if (length <= 0) return NULL;
  path[length] = 0;
  return path;
}

static void before_options(void) {
  VG_(details_name)("roofline_count");
  VG_(details_version)("1");
  VG_(details_description)("counts FLOPs, bytes and modelled cache traffic");
  VG_(details_copyright_author)("Part of roofline; GPL-2.0-or-later.");
  VG_(details_bug_reports_to)("the roofline project");
  VG_(details_avg_translation_sizeB)(600);
  VG_(basic_tool_funcs)(check_options, rc_instrument, finish);
  VG_(needs_command_line_options)(rc_process_option, rc_print_usage, rc_print_debug_usage);
  VG_(needs_syscall_wrapper)(before_syscall, after_syscall);
  VG_(track_start_client_code)(start_running);
  VG_(atfork)(NULL, NULL, after_fork);
  /* An unrolled loop or a block that follows jumps would hide loop edges. */
  VG_(clo_vex_control).iropt_unroll_thresh = 0;
  VG_(clo_vex_control).guest_chase = False;
}

VG_DETERMINE_INTERFACE_VERSION(before_options)
