#define _GNU_SOURCE
#include "mpi/recorder.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>
#include <unwind.h>

static struct RooflineMpiCalls* calls; /* null: nothing is recorded */
static void* library;                  /* of MPI */
static int pointers;                   /* whether its handles are pointers (Open MPI), else int (MPICH) */
static Argument world;

static __thread int depth;    /* of calls of MPI within each other */
static __thread int is_first; /* this thread has initialised MPI */

static char busy; /* a lock of few instructions, which are no calls of MPI */
static void lock(void) {
  while (__atomic_test_and_set(&busy, __ATOMIC_ACQUIRE)) {
  }
}
static void unlock(void) { __atomic_clear(&busy, __ATOMIC_RELEASE); }

static uint64_t now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

static const char* last_part(const char* path) {
  const char* slash = strrchr(path, '/');
  return slash != NULL ? slash + 1 : path;
}

/* ---- The MPI library ---- */

static int keep_library(struct dl_phdr_info* info, size_t size, void* to) {
  (void)size;
  if (strncmp(last_part(info->dlpi_name), "libmpi", 6) != 0) return 0;
  void* found = dlopen(info->dlpi_name, RTLD_LAZY | RTLD_NOLOAD);
  if (found == NULL || dlsym(found, "MPI_Init") == NULL) return 0;
  *(void**)to = found;
  return 1;
}

/* A function behind this library; also of an MPI library that was loaded for one module only, as Python does. */
static void* find_next(const char* name) {
  void* found = dlsym(RTLD_NEXT, name);
  if (found != NULL) return found;
  if (library == NULL) dl_iterate_phdr(keep_library, &library);
  return library != NULL ? dlsym(library, name) : NULL;
}

static void* next_of(struct Function* function, int profiled) {
  void* found = __atomic_load_n(&function->next[profiled], __ATOMIC_RELAXED);
  if (found != NULL) return found;
  char name[ROOFLINE_MPI_NAME + 1] = "P";
  strncat(name, function->name, ROOFLINE_MPI_NAME - 1);
  found = find_next(profiled ? name : function->name);
  if (found == NULL) {
    static const char text[] = "roofline: a function of MPI was called, but no MPI library has it\n";
    (void)!write(STDERR_FILENO, text, sizeof text - 1);
    abort();
  }
  __atomic_store_n(&function->next[profiled], found, __ATOMIC_RELAXED);
  return found;
}

static void* function_of_mpi(const char* name) {
  void* found = find_next(name);
  return found != NULL ? found : find_next(name + 1); /* without its P */
}

static void find_world(void) {
  const void* open_mpi = dlsym(RTLD_DEFAULT, "ompi_mpi_comm_world"); /* the program may have its own copy of it */
  if (open_mpi == NULL) open_mpi = find_next("ompi_mpi_comm_world");
  pointers = open_mpi != NULL;
  world = pointers ? (Argument)open_mpi : 0x44000000; /* MPICH's and Intel's ABI */
}

Argument handle_at(const void* where) {
  if (where == NULL) return 0;
  if (pointers) return *(const Argument*)where;
  return *(const int*)where;
}

static int ask(const char* name, Argument handle) {
  int (*const function)(Argument, int*) = (int (*)(Argument, int*))function_of_mpi(name);
  int value = 0;
  return function != NULL && function(handle, &value) == 0 ? value : 0;
}

/* ---- Communicators ---- */

struct Communicator {
  Argument handle; /* 0: unused */
  uint64_t key, number;
  uint32_t ranks;
};
enum { kCommunicators = 512, kMembers = 1 << 16 };
static struct Communicator communicators[kCommunicators];
static uint64_t known_members[kCommunicators]; /* of all communicators so far: they are never forgotten */
static int known_count;

static uint64_t mixed(uint64_t hash, uint64_t value) {
  hash = (hash ^ value) * 0x9e3779b97f4a7c15u;
  return hash ^ (hash >> 29);
}

/* A number of its members' ranks in the job; 0: not known. */
static uint64_t members_of(Argument communicator, uint32_t ranks) {
  int (*const group_of)(Argument, void*) = (int (*)(Argument, void*))function_of_mpi("PMPI_Comm_group");
  int (*const translate)(Argument, int, const int*, Argument, int*) =
      (int (*)(Argument, int, const int*, Argument, int*))function_of_mpi("PMPI_Group_translate_ranks");
  int (*const free_group)(void*) = (int (*)(void*))function_of_mpi("PMPI_Group_free");
  if (group_of == NULL || translate == NULL || free_group == NULL || ranks == 0 || ranks > kMembers) return 0;
  Argument group = 0, all = 0;
  uint64_t hash = 0;
  int* const numbers = malloc(2 * ranks * sizeof(int));
  if (numbers != NULL && group_of(communicator, &group) == 0 && group_of(world, &all) == 0) {
    for (uint32_t i = 0; i < ranks; ++i) numbers[i] = (int)i;
    if (translate(handle_at(&group), (int)ranks, numbers, handle_at(&all), numbers + ranks) == 0) {
      hash = mixed(1, ranks);
      for (uint32_t i = 0; i < ranks; ++i) hash = mixed(hash, (uint64_t)numbers[ranks + i]);
    }
    free_group(&all);
    free_group(&group);
  }
  free(numbers);
  return hash;
}

/* Under the lock; calls MPI where it is new. Null: there are too many. */
static struct Communicator* communicator_of(Argument handle) {
  struct Communicator* unused = NULL;
  for (int i = 0; i < kCommunicators; ++i) {
    if (communicators[i].handle == handle) return &communicators[i];
    if (unused == NULL && communicators[i].handle == 0) unused = &communicators[i];
    if (communicators[i].handle == 0) break;
  }
  if (unused == NULL || known_count == kCommunicators) return NULL;
  const uint32_t ranks = (uint32_t)ask("PMPI_Comm_size", handle);
  const uint64_t members = members_of(handle, ranks);
  uint64_t same = 0; /* communicators with these members, in the order of their first use */
  for (int i = 0; i < known_count; ++i) same += known_members[i] == members ? 1 : 0;
  known_members[known_count++] = members;
  *unused = (struct Communicator){handle, members != 0 ? mixed(members, same) : 0, 0, ranks};
  return unused;
}

void forget_communicator(Argument handle) {
  lock();
  for (int i = 0; i < kCommunicators; ++i) {
    if (communicators[i].handle == handle) communicators[i].handle = -1; /* no end of the table */
  }
  unlock();
}

/* ---- Places ---- */

struct Known {
  uintptr_t address;
  const struct Function* function;
  uint32_t site;
};
enum { kKnown = 4 * ROOFLINE_MPI_SITES, kNone = UINT32_MAX };
static struct Known known[kKnown];

/* Zeros are behind it: the file begins as such. */
static void copy_text(char* to, size_t size, const char* text) {
  const size_t length = strlen(text);
  memcpy(to, text, length < size ? length : size - 1);
}

static uint32_t module_of(const char* path) {
  for (uint32_t i = 0; i < calls->modules; ++i) {
    if (strncmp(calls->module[i], path, ROOFLINE_MPI_PATH - 1) == 0) return i;
  }
  if (calls->modules == ROOFLINE_MPI_MODULES) return kNone;
  copy_text(calls->module[calls->modules], ROOFLINE_MPI_PATH, path);
  return calls->modules++;
}

static uint32_t new_site(uintptr_t address, const struct Function* function) {
  if (calls->sites == ROOFLINE_MPI_SITES) return kNone;
  struct RooflineMpiSite* const site = &calls->site[calls->sites];
  copy_text(site->function, ROOFLINE_MPI_NAME, function->name);
  site->kind = function->kind;
  site->module = kNone;
  Dl_info about;
  struct link_map* map = NULL;
  if (dladdr1((void*)address, &about, (void**)&map, RTLD_DL_LINKMAP) != 0 && map != NULL) {
    char program[ROOFLINE_MPI_PATH] = "";
    if (map->l_name[0] == '\0' && readlink("/proc/self/exe", program, sizeof program - 1) < 0) program[0] = '\0';
    site->module = module_of(map->l_name[0] != '\0' ? map->l_name : program);
    site->address = address - map->l_addr;
  }
  return calls->sites++;
}

static uint32_t site_of(uintptr_t address, const struct Function* function) {
  const uint64_t hash = mixed(address, (uint64_t)(uintptr_t)function);
  for (uint32_t i = 0; i < kKnown; ++i) {
    struct Known* const entry = &known[(hash + i) % kKnown];
    if (entry->address == address && entry->function == function) return entry->site;
    if (entry->address != 0) continue;
    *entry = (struct Known){address, function, new_site(address, function)};
    return entry->site;
  }
  return kNone;
}

/* The first caller that is no library of MPI: its bindings for Fortran call the functions of C. */
struct Walk {
  uintptr_t from, address;
  int begun, left;
};
static int is_of_mpi(uintptr_t address) {
  Dl_info about;
  return dladdr((void*)address, &about) != 0 && about.dli_fname != NULL &&
         strncmp(last_part(about.dli_fname), "libmpi", 6) == 0;
}
static _Unwind_Reason_Code step(struct _Unwind_Context* context, void* data) {
  struct Walk* const walk = data;
  const uintptr_t address = (uintptr_t)_Unwind_GetIP(context);
  if (address == walk->from) walk->begun = 1;
  if (!walk->begun) return _URC_NO_REASON;
  if (!is_of_mpi(address)) {
    walk->address = address;
    return _URC_END_OF_STACK;
  }
  return --walk->left > 0 ? _URC_NO_REASON : _URC_END_OF_STACK;
}

static uintptr_t caller_outside_mpi(uintptr_t from) {
  static __thread uintptr_t last_inside, last_outside;
  if (from == last_outside) return from;
  if (from != last_inside && !is_of_mpi(from)) {
    last_outside = from;
    return from;
  }
  last_inside = from;
  struct Walk walk = {from, from, 0, 4};
  _Unwind_Backtrace(step, &walk);
  return walk.address;
}

/* ---- Recording ---- */

/* Half of them make room. The same numbers stay on all ranks. */
static void thin_out(void) {
  calls->stride *= 2;
  uint32_t kept = 0;
  for (uint32_t i = 0; i < calls->collectives; ++i) {
    if (calls->collective[i].number % calls->stride == 0) calls->collective[kept++] = calls->collective[i];
  }
  calls->collectives = kept;
}

static void add_collective(const struct Call* call, struct Communicator* communicator, uint32_t site, uint64_t end) {
  const uint64_t number = communicator->number++;
  if (communicator->key == 0 || communicator->ranks < 2) return;
  while (calls->collectives == ROOFLINE_MPI_COLLECTIVES) thin_out();
  if (number % calls->stride != 0) return;
  struct RooflineMpiCollective* const to = &calls->collective[calls->collectives];
  *to = (struct RooflineMpiCollective){communicator->key,  number, call->start, end - call->start, site,
                                       communicator->ranks};
  ++calls->collectives;
}

static uint64_t bytes_of(Argument count, Argument type) {
  const int elements = (int)count;
  return elements > 0 ? (uint64_t)elements * (uint64_t)ask("PMPI_Type_size", type) : 0;
}

struct Call begin_call(struct Function* function, int profiled, void* from) {
  struct Call call = {function, next_of(function, profiled), from, 0};
  if (depth++ == 0 && calls != NULL) call.start = now();
  return call;
}

void end_call(const struct Call* call, int result, Argument communicator, int messages, Argument count, Argument type) {
  const uint64_t end = now();
  if (call->start != 0 && calls != NULL && result == 0) {
    const uint64_t bytes = messages ? bytes_of(count, type) : 0;
    const uintptr_t from = caller_outside_mpi((uintptr_t)call->from);
    lock();
    const uint32_t site = site_of(from, call->function);
    ++calls->calls;
    if (site == kNone) {
      ++calls->lost;
    } else {
      struct RooflineMpiSite* const to = &calls->site[site];
      ++to->calls;
      to->messages += (uint64_t)messages;
      to->small += messages && bytes <= ROOFLINE_MPI_SMALL ? 1 : 0;
      to->bytes += bytes;
      if (is_first) to->ns += end - call->start;
      if (call->function->kind != ROOFLINE_MPI_OTHER && is_first) {
        struct Communicator* const of = communicator_of(communicator);
        if (of != NULL) add_collective(call, of, site, end);
      }
    }
    if (is_first) {
      calls->ns += end - call->start;
      calls->end = end;
    }
    unlock();
  }
  --depth;
}

static struct RooflineMpiCalls* map_file(void) {
  const char* const folder = getenv(ROOFLINE_MPI_FOLDER);
  if (folder == NULL || *folder == '\0') return NULL;
  char path[4096];
  const int length = snprintf(path, sizeof path, "%s/%d%s", folder, (int)getpid(), ROOFLINE_MPI_EXTENSION);
  if (length <= 0 || (size_t)length >= sizeof path) return NULL;
  const int file = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (file < 0) return NULL;
  void* mapping = MAP_FAILED;
  if (ftruncate(file, sizeof(struct RooflineMpiCalls)) == 0) {
    mapping = mmap(NULL, sizeof(struct RooflineMpiCalls), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  }
  close(file);
  return mapping != MAP_FAILED ? mapping : NULL;
}

void start_recording(void) {
  if (calls != NULL) return;
  struct RooflineMpiCalls* const to = map_file();
  if (to == NULL) return;
  ++depth; /* what follows calls MPI */
  find_world();
  is_first = 1;
  to->bytes = sizeof *to;
  to->pid = getpid();
  to->rank = ask("PMPI_Comm_rank", world);
  to->ranks = ask("PMPI_Comm_size", world);
  to->stride = 1;
  gethostname(to->host, sizeof to->host - 1);
  copy_text(to->launcher, sizeof to->launcher,
            getenv("OMPI_COMM_WORLD_RANK") != NULL ? "Open MPI"
            : getenv("PMI_RANK") != NULL           ? "MPICH"
            : getenv("SLURM_PROCID") != NULL       ? "Slurm"
                                                   : "");
  to->start = to->end = now();
  memcpy(to->magic, ROOFLINE_MPI_MAGIC, sizeof to->magic);
  --depth;
  calls = to;
}

void finish_recording(void) {
  if (calls == NULL) return;
  lock();
  calls->end = now();
  calls->finalized = 1;
  calls = NULL; /* the mapping stays: a thread may still write */
  unlock();
}
