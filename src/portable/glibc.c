// What a glibc of 2.31 has under another name, or not at all.
#define _GNU_SOURCE
#include <errno.h>
#include <link.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#define HIDDEN __attribute__((visibility("hidden")))

// stat() and its kind were inline functions around these until 2.33. The structures are the system's: opaque here.
struct stat;
int roofline_xstat(int version, const char* path, struct stat* result);
int roofline_lxstat(int version, const char* path, struct stat* result);
int roofline_fxstat(int version, int fd, struct stat* result);
int roofline_fxstatat(int version, int fd, const char* path, struct stat* result, int flags);
__asm__(".symver roofline_xstat, __xstat@GLIBC_2.2.5");
__asm__(".symver roofline_lxstat, __lxstat@GLIBC_2.2.5");
__asm__(".symver roofline_fxstat, __fxstat@GLIBC_2.2.5");
__asm__(".symver roofline_fxstatat, __fxstatat@GLIBC_2.4");
enum { kStatVersion = 1 };  // of x86-64

HIDDEN int stat(const char* path, struct stat* result) { return roofline_xstat(kStatVersion, path, result); }
HIDDEN int lstat(const char* path, struct stat* result) { return roofline_lxstat(kStatVersion, path, result); }
HIDDEN int fstat(int fd, struct stat* result) { return roofline_fxstat(kStatVersion, fd, result); }
HIDDEN int fstatat(int fd, const char* path, struct stat* result, int flags) {
  return roofline_fxstatat(kStatVersion, fd, path, result, flags);
}
// On x86-64 the two are one.
HIDDEN int stat64(const char* path, struct stat* result) { return stat(path, result); }
HIDDEN int lstat64(const char* path, struct stat* result) { return lstat(path, result); }
HIDDEN int fstat64(int fd, struct stat* result) { return fstat(fd, result); }
HIDDEN int fstatat64(int fd, const char* path, struct stat* result, int flags) {
  return fstatat(fd, path, result, flags);
}

// Randomness without a file (2.36).
HIDDEN void arc4random_buf(void* buffer, size_t bytes) {
  char* at = buffer;
  while (bytes > 0) {
    const ssize_t got = getrandom(at, bytes, 0);
    if (got < 0 && errno != EINTR) abort();
    if (got < 0) continue;
    at += got;
    bytes -= (size_t)got;
  }
}

HIDDEN uint32_t arc4random(void) {
  uint32_t value;
  arc4random_buf(&value, sizeof value);
  return value;
}

// Where the unwinder finds an address's tables (2.35), by what it used before.
struct search {
  uintptr_t address;
  struct dl_find_object* found;
};

static int covers(struct dl_phdr_info* object, size_t size, void* data) {
  (void)size;
  const struct search* const search = data;
  const ElfW(Phdr)* frames = NULL;
  int inside = 0;
  for (int i = 0; i < object->dlpi_phnum; ++i) {
    const ElfW(Phdr)* const segment = &object->dlpi_phdr[i];
    const uintptr_t begin = object->dlpi_addr + segment->p_vaddr;
    if (segment->p_type == PT_GNU_EH_FRAME) frames = segment;
    if (segment->p_type != PT_LOAD || search->address < begin || search->address - begin >= segment->p_memsz) continue;
    inside = 1;
    search->found->dlfo_map_start = (void*)begin;
    search->found->dlfo_map_end = (void*)(begin + segment->p_memsz);
  }
  if (!inside || frames == NULL) return 0;
  search->found->dlfo_eh_frame = (void*)(object->dlpi_addr + frames->p_vaddr);
  return 1;
}

HIDDEN int _dl_find_object(void* address, struct dl_find_object* found) {
  memset(found, 0, sizeof *found);
  struct search search = {(uintptr_t)address, found};
  return dl_iterate_phdr(covers, &search) == 1 ? 0 : -1;
}
