// Preloaded into the binary by run.py: the system refuses what $ROOFLINE_FAULT says, from its nth call on, or kills the
// process there. What was called, and how often the fault struck, stands in the shared file $ROOFLINE_FAULT_LOG.
//
//   $ROOFLINE_FAULT = WHO CALL WHAT FIRST COUNT
//     WHO    parent: the process that loaded this; child: what it forks; any
//     CALL   a name of kNames, or "moment": before and after each of those that change files or processes, and in the
//            middle of each write
//     WHAT   an errno, "short" (half of a write), "kill" (SIGKILL), "stop" (SIGSTOP), "int", "term", "hup" (the signals
//            of those names, at moments), "hang", or for how many seconds a clock jumps
//     FIRST  which call is the first to fail, from 1; COUNT: how many do
#include <dlfcn.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdarg>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>

// NOLINTBEGIN: these are the C library's names and signatures
extern "C" {
void* __libc_malloc(size_t);
void* __libc_calloc(size_t, size_t);
void* __libc_realloc(void*, size_t);
void* __libc_memalign(size_t, size_t);
}

namespace {

/// The real one: `syscall` itself is among the calls that can fail.
template <class... Arguments>
long system_call(long number, Arguments... arguments) {
  static const auto next = reinterpret_cast<long (*)(long, ...)>(dlsym(RTLD_NEXT, "syscall"));
  return next(number, arguments...);
}

enum Call {
  kOpen,
  kRead,
  kWrite,
  kClose,
  kRename,
  kLink,
  kUnlink,
  kMkdir,
  kFork,
  kPipe,
  kPoll,
  kWait,
  kMmap,
  kMalloc,
  kPerf,
  kClock,
  kThread,
  kMoment,
  kCalls
};
constexpr const char* kNames[kCalls] = {"open",   "read",   "write", "close", "rename", "link",
                                        "unlink", "mkdir",  "fork",  "pipe",  "poll",   "wait",
                                        "mmap",   "malloc", "perf",  "clock", "thread", "moment"};

struct Log {
  std::atomic<std::uint64_t> calls[2][kCalls];  // of the parent, of its children
  std::atomic<std::uint64_t> struck;
};

struct Fault {
  char who[16] = "";
  int call = -1;
  char what[16] = "";
  std::uint64_t first = 0;
  std::uint64_t count = 0;
  int error = 0;
};

Log private_log;
Log* log_ = &private_log;
Fault fault;
pid_t parent = 0;
bool ready = false;
bool in_main = false;  ///< before that nobody could tell of memory that is missing

int role() { return getpid() == parent ? 0 : 1; }

/// Counts the call; whether the fault strikes here.
bool strikes(Call call) {
  if (!ready) return false;
  const int who = role();
  const std::uint64_t n = ++log_->calls[who][call];
  if (fault.call != call) return false;
  if (strcmp(fault.who, "any") != 0 && (strcmp(fault.who, "parent") == 0) != (who == 0)) return false;
  if (n < fault.first || n - fault.first >= fault.count) return false;
  ++log_->struck;
  return true;
}

bool is(const char* what) { return strcmp(fault.what, what) == 0; }

/// Whether the call is to fail, with errno set; other faults have happened when this returns.
bool refused(Call call) {
  if (!strikes(call)) return false;
  if (is("kill")) kill(getpid(), SIGKILL);
  if (is("stop")) raise(SIGSTOP);
  while (is("hang")) pause();
  errno = fault.error;
  return fault.error != 0;
}

void moment() {
  if (strikes(kMoment)) kill(getpid(), is("int") ? SIGINT : is("term") ? SIGTERM : is("hup") ? SIGHUP : SIGKILL);
}

template <class Function>
Function* real(const char* name) {
  return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}
#define REAL(name) static auto* const next = real<decltype(name)>(#name)

__attribute__((constructor)) void begin() {
  parent = getpid();
  if (const char* text = getenv("ROOFLINE_FAULT")) {
    char call[16] = "";
    unsigned long long first = 0, count = 0;
    sscanf(text, "%15s %15s %15s %llu %llu", fault.who, call, fault.what, &first, &count);
    fault.first = first;
    fault.count = count;
    for (int i = 0; i < kCalls; ++i) {
      if (strcmp(call, kNames[i]) == 0) fault.call = i;
    }
    fault.error = atoi(fault.what);
  }
  if (const char* path = getenv("ROOFLINE_FAULT_LOG")) {
    const int file = static_cast<int>(system_call(SYS_openat, AT_FDCWD, path, O_RDWR | O_CREAT | O_CLOEXEC, 0600));
    if (file >= 0 && ftruncate(file, sizeof(Log)) == 0) {
      void* shared = reinterpret_cast<void*>(
          system_call(SYS_mmap, nullptr, sizeof(Log), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0));
      if (shared != MAP_FAILED) log_ = static_cast<Log*>(shared);
    }
  }
  // Of processes of the binary alone, not of compilers that it starts.
  unsetenv("LD_PRELOAD");
  ready = true;
}

bool writes(int flags) { return (flags & (O_WRONLY | O_RDWR | O_CREAT)) != 0; }

template <class Write>
ssize_t written(size_t size, Write write) {
  moment();
  if (strikes(kWrite)) {
    if (is("short")) return write(size > 1 ? size / 2 : size);
    errno = fault.error;
    return -1;
  }
  if (ready && fault.call == kMoment && size > 1) {
    const ssize_t half = write(size / 2);
    moment();
    return half;
  }
  const ssize_t done = write(size);
  const int error = errno;
  moment();
  errno = error;
  return done;
}

template <class Act>
int acted(Call call, Act act) {
  moment();
  if (refused(call)) return -1;
  const int result = act();
  const int error = errno;
  moment();
  errno = error;
  return result;
}

}  // namespace

extern "C" {

int open(const char* path, int flags, ...) {
  va_list more;
  va_start(more, flags);
  const mode_t mode = (flags & O_CREAT) != 0 ? va_arg(more, mode_t) : 0;
  va_end(more);
  const auto act = [&] { return static_cast<int>(system_call(SYS_openat, AT_FDCWD, path, flags, mode)); };
  // What is opened to be read (/proc, /sys) may be absent anyway.
  return writes(flags) ? acted(kOpen, act) : act();
}
int open64(const char* path, int flags, ...) {
  va_list more;
  va_start(more, flags);
  const mode_t mode = (flags & O_CREAT) != 0 ? va_arg(more, mode_t) : 0;
  va_end(more);
  return open(path, flags, mode);
}
ssize_t read(int file, void* to, size_t size) {
  if (refused(kRead)) return -1;
  return system_call(SYS_read, file, to, size);
}
ssize_t write(int file, const void* from, size_t size) {
  return written(size, [&](size_t some) { return system_call(SYS_write, file, from, some); });
}
ssize_t pwrite(int file, const void* from, size_t size, off_t at) {
  return written(size, [&](size_t some) { return system_call(SYS_pwrite64, file, from, some, at); });
}
ssize_t pwrite64(int file, const void* from, size_t size, off64_t at) { return pwrite(file, from, size, at); }
int close(int file) {
  const int result = static_cast<int>(system_call(SYS_close, file));
  return refused(kClose) ? -1 : result;
}
int rename(const char* from, const char* to) {
  return acted(kRename, [&] { return static_cast<int>(system_call(SYS_rename, from, to)); });
}
int renameat2(int a, const char* from, int b, const char* to, unsigned flags) {
  return acted(kRename, [&] { return static_cast<int>(system_call(SYS_renameat2, a, from, b, to, flags)); });
}
int link(const char* from, const char* to) {
  return acted(kLink, [&] { return static_cast<int>(system_call(SYS_link, from, to)); });
}
int unlink(const char* path) {
  return acted(kUnlink, [&] { return static_cast<int>(system_call(SYS_unlink, path)); });
}
int remove(const char* path) {
  REAL(remove);
  return acted(kUnlink, [&] { return next(path); });
}
int mkdir(const char* path, mode_t mode) {
  return acted(kMkdir, [&] { return static_cast<int>(system_call(SYS_mkdir, path, mode)); });
}
pid_t fork() {
  REAL(fork);
  moment();
  if (refused(kFork)) return -1;
  const pid_t child = next();
  if (child != 0) moment();
  return child;
}
int pipe2(int* ends, int flags) {
  if (refused(kPipe)) return -1;
  return static_cast<int>(system_call(SYS_pipe2, ends, flags));
}
int poll(pollfd* files, nfds_t count, int timeout) {
  if (refused(kPoll)) return -1;
  REAL(poll);
  return next(files, count, timeout);
}
pid_t waitpid(pid_t pid, int* status, int options) {
  if (refused(kWait)) return -1;
  return static_cast<pid_t>(system_call(SYS_wait4, pid, status, options, nullptr));
}
void* mmap(void* at, size_t size, int protection, int flags, int file, off_t offset) {
  if (refused(kMmap)) return MAP_FAILED;
  return reinterpret_cast<void*>(system_call(SYS_mmap, at, size, protection, flags, file, offset));
}
void* mmap64(void* at, size_t size, int protection, int flags, int file, off64_t offset) {
  return mmap(at, size, protection, flags, file, offset);
}
void* malloc(size_t size) { return (in_main && refused(kMalloc)) ? nullptr : __libc_malloc(size); }
void* calloc(size_t count, size_t size) { return (in_main && refused(kMalloc)) ? nullptr : __libc_calloc(count, size); }
void* realloc(void* old, size_t size) { return (in_main && refused(kMalloc)) ? nullptr : __libc_realloc(old, size); }
void* aligned_alloc(size_t alignment, size_t size) {
  return (in_main && refused(kMalloc)) ? nullptr : __libc_memalign(alignment, size);
}
int posix_memalign(void** to, size_t alignment, size_t size) {
  if ((in_main && refused(kMalloc))) return ENOMEM;
  *to = __libc_memalign(alignment, size);
  return *to == nullptr ? ENOMEM : 0;
}
long syscall(long number, ...) {
  va_list more;
  va_start(more, number);
  long arguments[6];
  for (long& argument : arguments) argument = va_arg(more, long);
  va_end(more);
  if (number == SYS_perf_event_open && refused(kPerf)) return -1;
  return system_call(number, arguments[0], arguments[1], arguments[2], arguments[3], arguments[4], arguments[5]);
}
int sigaction(int signal, const struct sigaction* action, struct sigaction* old) {
  REAL(sigaction);
  in_main = true;
  return next(signal, action, old);
}
int clock_gettime(clockid_t clock, timespec* time) {
  const int result = static_cast<int>(system_call(SYS_clock_gettime, clock, time));
  if (clock == CLOCK_REALTIME && strikes(kClock)) time->tv_sec += fault.error;
  return result;
}
time_t time(time_t* to) {
  timespec now = {};
  clock_gettime(CLOCK_REALTIME, &now);
  if (to != nullptr) *to = now.tv_sec;
  return now.tv_sec;
}
int pthread_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*run)(void*), void* argument) {
  REAL(pthread_create);
  return refused(kThread) ? errno : next(thread, attributes, run, argument);
}
}
// NOLINTEND
