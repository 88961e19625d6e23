// A program that does with its process what programs may do: unharmed_program MODE. What it prints and writes, and how
// it ends, must not depend on whether it is profiled. It prints no ids, addresses or times.
#include <cuda.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <grp.h>
#include <pthread.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include "fake_gpu.hpp"

namespace {

/// The soft limit that the program gives itself, so that it can try every number.
constexpr int kDescriptors = 1024;
constexpr int kNobody = 65534;

FakeFunction kernel = {"kernel", 0, {}, false};

void launch(unsigned count = 1) {
  for (unsigned i = 0; i < count; ++i) {
    cuLaunchKernel(reinterpret_cast<CUfunction>(&kernel), 1, 1, 1, 64, 1, 1, 0, nullptr, nullptr, nullptr);
  }
}

/// Longer than the pause between two writes of the library.
void wait_for_writes() { std::this_thread::sleep_for(std::chrono::milliseconds(600)); }

void set_limit(int what, rlim_t value) {
  rlimit limit{};
  getrlimit(static_cast<__rlimit_resource>(what), &limit);
  limit.rlim_cur = value;
  if (setrlimit(static_cast<__rlimit_resource>(what), &limit) != 0) std::exit(9);
}

int open_descriptors() {
  int count = 0;
  for (int number = 0; number < kDescriptors; ++number) count += fcntl(number, F_GETFD) >= 0 ? 1 : 0;
  return count;
}

void close_all(int first) {
  for (int number = first; number < kDescriptors; ++number) close(number);
}

int create(const char* name) { return open(name, O_WRONLY | O_CREAT | O_TRUNC, 0644); }

/// Opens files until there is no descriptor left, and prints how many that were.
void open_until_refused() {
  std::vector<int> opened;
  for (int file = 0; (file = open("/dev/null", O_RDONLY)) >= 0;) opened.push_back(file);
  const bool refused = errno == EMFILE;
  for (const int file : opened) close(file);
  dprintf(1, "%zu descriptors, EMFILE %d\n", opened.size(), refused ? 1 : 0);
}

int wait_for_child() {
  int status = 0;
  wait(&status);
  return status;
}

/// Every number up to the limit is a file of the program, also at its exit.
void closes_and_reuses() {
  launch();
  close_all(3);
  const int file = create("mine.txt");
  for (int number = file + 1; number < kDescriptors; ++number) dup2(file, number);
  launch(3);
  wait_for_writes();
  dprintf(kDescriptors - 1, "mine\n");
  launch(3);
}

/// Closes in a loop while the library writes: neither side may disturb the other.
void closes_often() {
  for (int round = 0; round < 200; ++round) {
    close_all(3);
    const int file = create("round.txt");
    dprintf(file, "%d\n", round);
    launch(20);
  }
}

void forks() {
  launch();
  if (fork() == 0) {
    dprintf(1, "child: %d descriptors\n", open_descriptors());
    launch();
    dprintf(create("child.txt"), "child\n");
    std::exit(5);
  }
  dprintf(1, "status %d\n", wait_for_child());
  launch();
}

void executes() {
  launch();
  execl("/proc/self/exe", "program", "counts_descriptors", nullptr);
  std::exit(9);
}

/// As daemon(3) does it, twice over; the parent outlives its daemon to see how that ends.
void becomes_daemon() {
  prctl(PR_SET_CHILD_SUBREAPER, 1);
  launch();
  if (fork() == 0) {
    setsid();
    if (fork() != 0) _exit(0);
    close_all(0);
    const int first = open("/dev/null", O_RDWR), second = open("/dev/null", O_RDWR), third = open("/dev/null", O_RDWR);
    const int file = create("daemon.txt");
    dprintf(file, "%d %d %d %d\n", first, second, third, file);
    launch();
    std::exit(6);
  }
  std::array<int, 2> statuses = {wait_for_child(), wait_for_child()};
  dprintf(1, "statuses %d\n", statuses[0] + statuses[1]);
}

void changes_root() {
  launch();
  mkdir("root", 0755);
  if (chroot("root") != 0 || chdir("/") != 0) std::exit(9);
  launch(3);
  wait_for_writes();
  dprintf(create("/inside.txt"), "inside\n");
  launch(3);
}

void changes_user() {
  chmod(".", 0777);
  launch();
  if (setgroups(0, nullptr) != 0 || setgid(kNobody) != 0 || setuid(kNobody) != 0) std::exit(9);
  launch(3);
  wait_for_writes();
  dprintf(create("nobody.txt"), "%d %d %d\n", static_cast<int>(getuid()), static_cast<int>(getegid()), setuid(0));
  launch(3);
}

void unloads() {
  launch();
  const char* const path = std::getenv("CUDA_INJECTION64_PATH");
  for (int time = 0; path != nullptr && time < 3; ++time) {
    void* const library = dlopen(path, RTLD_NOW | RTLD_NOLOAD);
    if (library == nullptr || dlclose(library) != 0 || dlclose(library) != 0) std::exit(9);
  }
  launch(3);
  wait_for_writes();
  dprintf(1, "unloaded\n");
}

volatile sig_atomic_t size_signals = 0;
void count_size_signal(int) { size_signals = size_signals + 1; }

/// Its own write beyond the limit raises one signal.
void exceed_own_limit() {
  const std::string much(4096, 'x');
  const int file = create("limited.txt");
  ssize_t count = 0;
  while (count >= 0) count = write(file, much.data(), much.size());
  const int reason = errno;
  close(file);
  dprintf(1, "EFBIG %d\n", reason == EFBIG ? 1 : 0);
}

void catches_size_signals() {
  signal(SIGXFSZ, count_size_signal);
  set_limit(RLIMIT_FSIZE, 1024);
  cuInit(0);
  launch(500);
  cuCtxDestroy_v2(nullptr);  // writes in this thread
  exceed_own_limit();
  launch(500);
  dprintf(1, "%d signals\n", static_cast<int>(size_signals));
}

void keeps_a_pending_signal() {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGXFSZ);
  pthread_sigmask(SIG_BLOCK, &set, nullptr);
  set_limit(RLIMIT_FSIZE, 1024);
  exceed_own_limit();
  cuInit(0);
  launch(500);
  cuCtxDestroy_v2(nullptr);
  sigpending(&set);
  dprintf(1, "pending %d\n", sigismember(&set, SIGXFSZ));
}

/// The mask, what is pending, and the dispositions; glibc keeps 32 and 33 for itself, from the first thread on.
void print_signal_state(const char* when) {
  sigset_t mask, pending;
  pthread_sigmask(SIG_SETMASK, nullptr, &mask);
  sigpending(&pending);
  for (int number = 1; number < NSIG; ++number) {
    struct sigaction action {};
    if (sigaction(number, nullptr, &action) != 0) continue;
    const bool standard = action.sa_handler == SIG_DFL;
    if (standard && sigismember(&mask, number) == 0 && sigismember(&pending, number) == 0) continue;
    dprintf(1, "%s: %d default %d ignored %d blocked %d pending %d\n", when, number, standard ? 1 : 0,
            action.sa_handler == SIG_IGN ? 1 : 0, sigismember(&mask, number), sigismember(&pending, number));
  }
}

pthread_t main_thread;
volatile sig_atomic_t received = 0, received_elsewhere = 0;
void receive(int) {
  received = received + 1;
  if (pthread_equal(pthread_self(), main_thread) == 0) received_elsewhere = received_elsewhere + 1;
}

void handles_signals() {
  main_thread = pthread_self();
  signal(SIGUSR1, receive);
  signal(SIGUSR2, SIG_IGN);
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGTERM);
  sigaddset(&set, SIGXFSZ);
  pthread_sigmask(SIG_BLOCK, &set, nullptr);
  cuInit(0);
  print_signal_state("after cuInit");
  for (int count = 0; count < 100; ++count) {
    launch(10);
    kill(getpid(), SIGUSR1);
  }
  wait_for_writes();
  cuCtxDestroy_v2(nullptr);
  print_signal_state("at the end");
  dprintf(1, "%d received, %d elsewhere\n", static_cast<int>(received), static_cast<int>(received_elsewhere));
  raise(SIGUSR2);
  kill(getpid(), SIGKILL);
}

}  // namespace

int main(int count, char** arguments) {
  if (count < 2) return 2;
  const std::map<std::string, std::function<void()>> before_cuda = {
      {"few_descriptors",
       [] {
         set_limit(RLIMIT_NOFILE, 32);
         cuInit(0);
         launch();
         open_until_refused();
       }},
      {"small_files",
       [] {
         set_limit(RLIMIT_FSIZE, 1024);
         cuInit(0);
         dprintf(create("small.txt"), "small\n");
         launch(500);  // written at exit
       }},
      {"no_files",
       [] {
         set_limit(RLIMIT_FSIZE, 0);
         cuInit(0);
         launch(500);
         _exit(4);
       }},
      {"catches_size_signals", catches_size_signals},
      {"keeps_a_pending_signal", keeps_a_pending_signal},
      {"handles_signals", handles_signals},
      {"counts_descriptors", [] { dprintf(1, "%d descriptors\n", open_descriptors()); }},
  };
  const std::map<std::string, std::function<void()>> after_cuda = {
      {"closes_and_reuses", closes_and_reuses},
      {"closes_often", closes_often},
      {"forks", forks},
      {"executes", executes},
      {"becomes_daemon", becomes_daemon},
      {"changes_root", changes_root},
      {"changes_user", changes_user},
      {"unloads", unloads},
      {"ends",
       [] {
         launch(500);
         cuCtxDestroy_v2(nullptr);
         launch(500);
       }},
      {"fewer_descriptors_later",
       [] {
         launch();
         set_limit(RLIMIT_NOFILE, 32);
         open_until_refused();
       }},
      {"smaller_files_later",
       [] {
         launch(500);
         set_limit(RLIMIT_FSIZE, 256);
         wait_for_writes();
         launch(500);
       }},
  };
  set_limit(RLIMIT_NOFILE, kDescriptors);
  if (const auto found = before_cuda.find(arguments[1]); found != before_cuda.end()) {
    found->second();
    return 0;
  }
  cuInit(0);
  after_cuda.at(arguments[1])();
  return 7;
}
