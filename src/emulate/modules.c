/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The files that code was loaded from, and the difference between addresses in memory and in the file. */
#include <elf.h>

#include "counts.h"
#include "pub_tool_aspacemgr.h"
#include "pub_tool_libcbase.h"
#include "pub_tool_libcfile.h"
#include "pub_tool_mallocfree.h"
#include "pub_tool_vki.h"
#include "pub_tool_vkiscnums.h"

static Module anonymous = {NULL, NULL, 0, 0, True};
static Module* modules = NULL;
static UInt module_count = 0;

Module* rc_modules(void) { return modules; }

/* The address in the file of the byte at `offset`, from the ELF program headers; the offset itself if there are none. */
static ULong file_address(const HChar* path, ULong offset) {
  SysRes opened = VG_(open)(path, VKI_O_RDONLY, 0);
  if (sr_isError(opened)) return offset;
  const Int file = sr_Res(opened);
  ULong address = offset;
  Elf64_Ehdr header;
  if (VG_(read)(file, &header, sizeof header) == sizeof header && VG_(memcmp)(header.e_ident, ELFMAG, SELFMAG) == 0 &&
      header.e_ident[EI_CLASS] == ELFCLASS64 && header.e_phentsize == sizeof(Elf64_Phdr)) {
    VG_(lseek)(file, header.e_phoff, VKI_SEEK_SET);
    for (UInt i = 0; i < header.e_phnum; i++) {
      Elf64_Phdr segment;
      if (VG_(read)(file, &segment, sizeof segment) != sizeof segment) break;
      if (segment.p_type != PT_LOAD) continue;
      const ULong first = segment.p_offset & ~0xfffULL;  /* mapped from the start of its page */
      if (offset < first || offset >= segment.p_offset + segment.p_filesz) continue;
      address = segment.p_vaddr + (offset - segment.p_offset);
      if (segment.p_flags & PF_X) break;
    }
  }
  VG_(close)(file);
  return address;
}

static Bool starts_with(const HChar* path, const HChar* folder) {
  return VG_(strncmp)(path, folder, VG_(strlen)(folder)) == 0;
}

/* Own code: everything outside the system's folders, or as `--own` says. */
static Bool is_own(const HChar* path) {
  if (rc_is_own_option(path)) return True;
  if (starts_with(path, "/usr/local/bin/")) return True;
  return !starts_with(path, "/usr/") && !starts_with(path, "/lib") && !starts_with(path, "/opt/");
}

Module* rc_module_of(Addr address) {
  const NSegment* segment = VG_(am_find_nsegment)(address);
  const HChar* path = segment && segment->kind == SkFileC ? VG_(am_get_filename)(segment) : NULL;
  if (!path) return &anonymous;
  /* The same file may be loaded again at another place. */
  static Addr cached_start = 0, cached_end = 0;
  static Module* cached = NULL;
  if (cached && segment->start == cached_start && segment->end == cached_end && VG_(strcmp)(cached->path, path) == 0)
    return cached;
  const ULong bias = address - file_address(path, segment->offset + (address - segment->start));
  cached_start = segment->start;
  cached_end = segment->end;
  for (cached = modules; cached; cached = cached->next)
    if (cached->bias == bias && VG_(strcmp)(cached->path, path) == 0) return cached;
  cached = VG_(calloc)("rc.module", 1, sizeof *cached);
  cached->path = VG_(strdup)("rc.module.path", path);
  cached->bias = bias;
  cached->id = ++module_count;
  cached->own = is_own(path);
  cached->next = modules;
  return modules = cached;
}
