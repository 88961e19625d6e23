// The library's start and end inside a program: the driver, NVTX or both load it.
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <optional>
#include <string>

#include "cupti/library.hpp"
#include "inject/clock.hpp"
#include "inject/collectives.hpp"
#include "inject/counting.hpp"
#include "inject/cupti_library.hpp"
#include "inject/instruction_sampling.hpp"
#include "inject/memory.hpp"
#include "inject/python.hpp"
#include "inject/rank.hpp"
#include "inject/sampling.hpp"
#include "inject/session.hpp"
#include "inject/thread_state.hpp"
#include "inject/torch.hpp"
#include "inject/trace.hpp"

namespace roofline::inject {
namespace {

constexpr std::uint64_t kTick = kSecond / 20;
/// What a process that is killed may lose. The records of kernels come by the bufferful, or when nothing is launched
/// for so long.
constexpr std::uint64_t kWritePause = kSecond / 4;
constexpr std::uint64_t kDrain = 3 * kSecond;
constexpr std::uint64_t kDefaultLimit = std::uint64_t{1} << 30;

std::atomic<Session*> current_session;

/// Nanoseconds from a variable in seconds; 0 where it is absent, or no time.
std::uint64_t duration_of(const char* variable) {
  const char* const text = std::getenv(variable);
  const double seconds = text != nullptr ? std::strtod(text, nullptr) : 0;
  return seconds > 0 && seconds < 1e9 ? static_cast<std::uint64_t>(seconds * 1e9) : 0;
}

/// A child of fork() has neither our thread nor CUPTI. It starts anew if it brings up CUDA by itself, which it can only
/// where its parent had not.
void after_fork() {
  if (Session* const inherited = current_session.exchange(nullptr)) inherited->spool.abandon();
}

Session* make_session() {
  // secure_getenv: the environment of a set-user-ID program is untrusted.
  const char* const folder = secure_getenv(spool::kFolderVariable);
  if (folder == nullptr || *folder == '\0') return nullptr;
  static const int registered = pthread_atfork(nullptr, nullptr, after_fork);
  if (registered != 0) return nullptr;
  auto* const made = new Session;
  made->folder = folder;
  made->started = now();
  made->warmup = duration_of(spool::kWarmupVariable);
  made->window = duration_of(spool::kWindowVariable);
  const char* const python = std::getenv(spool::kPythonVariable);
  made->python = python == nullptr || std::strcmp(python, "off") != 0;
  const char* const record = std::getenv(spool::kRecordVariable);
  const bool windowed = made->warmup > 0 || made->window > 0;
  if (record != nullptr && std::strcmp(record, "sample") == 0 && !windowed) made->sampling = new Sampling(*made);
  Session* expected = nullptr;
  if (current_session.compare_exchange_strong(expected, made)) return made;
  delete made->sampling;
  delete made;
  return expected;
}

std::string command_line() {
  std::string text;
  const int file = ::open("/proc/self/cmdline", O_RDONLY | O_CLOEXEC);
  if (file < 0) return text;
  char part[4096];
  for (ssize_t count = 0; (count = read(file, part, sizeof(part))) > 0 && text.size() < (1 << 16);) {
    text.append(part, static_cast<std::size_t>(count));
  }
  close(file);
  if (!text.empty() && text.back() == '\0') text.pop_back();
  return text;
}

bool open_spool(Session& session) {
  std::uint64_t limit = kDefaultLimit;
  if (const char* const text = std::getenv(spool::kSpoolLimitVariable)) limit = std::strtoull(text, nullptr, 10);
  const std::string path =
      session.folder + "/" + std::to_string(getpid()) + "." + std::to_string(session.started) + spool::kExtension;
  return session.spool.open(path, limit);
}

void write_process(Session& session, int driver_version) {
  timespec wall{};
  clock_gettime(CLOCK_REALTIME, &wall);
  const std::uint64_t wall_ns =
      static_cast<std::uint64_t>(wall.tv_sec) * kSecond + static_cast<std::uint64_t>(wall.tv_nsec);
  spool::Process process = {};
  process.start = session.started;
  process.wall_zero = wall_ns - now();
  process.pid = static_cast<std::uint32_t>(getpid());
  process.parent_pid = static_cast<std::uint32_t>(getppid());
  if (cupti().version != nullptr) cupti().version(&process.cupti_version);
  process.driver_version = static_cast<std::uint32_t>(driver_version);
  session.spool.write_first(spool::Type::process, process, command_line());
  write_rank(session);
}

void end_instructions(Session& session) {
  if (session.instructions == nullptr) return;
  session.instructions->finish();
  session.instructions->modules().forget_unsampled();
}

void finish_window(Session& session) {
  if (session.sampling != nullptr) session.sampling->end();
  end_instructions(session);
  counting_finish();
  flush_activities(true);
  sample_memory(session, now(), true);
  session.phase = Phase::ended;
  stop_trace();
  session.spool.write(spool::Type::note, spool::Note{session.window_ended, spool::NoteCode::window_ended, 0});
  write_tally(session, false);
  session.spool.flush();
}

/// Writes the records so far, ends the window if no launch does, and changes the phases of a sampled recording.
class Writer {
 public:
  explicit Writer(Session& session) : session_(session), last_write_(now()) {}

  /// The time of its next call; std::nullopt: the recording has ended.
  std::optional<std::uint64_t> tick() {
    // The end of the process waits for a tick, as it takes CUPTI down.
    const std::lock_guard lock(session_.writer_mutex);
    const std::uint64_t time = now();
    const Phase phase = session_.phase;
    if (phase == Phase::ended) return std::nullopt;
    if (phase != Phase::draining && over(time, phase)) end_window(session_);
    if (session_.phase == Phase::draining) {
      drain(time);
      return time + kTick;
    }
    Sampling* const sampling = session_.sampling;
    sample_memory(session_, time, false);
    const std::uint64_t next = sampling != nullptr ? sampling->tick(time) : time + kTick;
    if (time - last_write_ < kWritePause) return next;
    last_write_ = time;
    look_for_python(session_);
    look_for_torch();
    look_for_allocators();
    look_for_nccl();
    if (session_.phase != Phase::quiet) flush_at_rest(time);
    write_tally(session_, false);
    session_.spool.flush();
    if (session_.spool.full()) {
      session_.spool.note(spool::NoteCode::spool_full, {});
      end_window(session_);
    } else if (sampling != nullptr) {
      sampling->look(time);
    }
    return next;
  }

 private:
  bool over(std::uint64_t time, Phase phase) const {
    struct stat status {};
    if (stat((session_.folder + "/" + spool::kStopFile).c_str(), &status) == 0) return true;
    return phase == Phase::recording && session_.window > 0 && time >= window_end(session_);
  }

  /// Takes the records of a buffer that nothing fills, while the program launches nothing.
  void flush_at_rest(std::uint64_t time) {
    const std::uint64_t launches = session_.launches;
    if (launches != seen_launches_) {
      seen_launches_ = launches;
      launched_ = time;
    } else if (launches != flushed_launches_ && time - launched_ >= kWritePause) {
      flush_activities(false);
      if (session_.kernels >= launches) flushed_launches_ = launches;
    }
  }

  /// Until the kernels of the window have run. The launches behind the window fill the last buffer, if there are any.
  void drain(std::uint64_t time) {
    if (time >= next_flush_) {
      if (next_flush_ != 0) flush_activities(false);
      const std::uint64_t since = time - session_.window_ended;
      next_flush_ = time + std::max(since, kSecond / 8);
    }
    const std::uint64_t kernels = session_.kernels;
    const std::uint64_t launches = session_.launches;
    const bool all =
        kernels == drained_kernels_ && kernels - session_.earlier_kernels >= launches - session_.earlier_launches;
    drained_kernels_ = kernels;
    if (!all && time <= session_.window_ended + kDrain) return;
    drained_kernels_ = UINT64_MAX;
    next_flush_ = 0;
    if (session_.sampling != nullptr && session_.sampling->pausing()) {
      session_.sampling->drained();
    } else {
      finish_window(session_);
    }
  }

  Session& session_;
  std::uint64_t last_write_;
  std::uint64_t drained_kernels_ = UINT64_MAX;
  std::uint64_t next_flush_ = 0;  ///< of drain(); 0: it begins
  std::uint64_t seen_launches_ = 0, flushed_launches_ = 0;
  std::uint64_t launched_ = 0;  ///< when launches were last seen to grow
};

void* write_until_the_end(void* given) {
  pthread_setname_np(pthread_self(), "roofline");
  try {
    Writer writer(*static_cast<Session*>(given));
    while (const std::optional<std::uint64_t> next = writer.tick()) {
      const timespec until = {static_cast<time_t>(*next / kSecond), static_cast<long>(*next % kSecond)};
      clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, nullptr);
    }
  } catch (...) {  // the program runs on without its profile
  }
  return nullptr;
}

/// With all signals blocked: they are the program's.
bool start_writer(Session& session) {
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  pthread_t thread{};
  const int status = pthread_create(&thread, nullptr, write_until_the_end, &session);
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  if (status == 0) pthread_detach(thread);
  return status == 0;
}

void at_exit() {
  Session* const ending = session();
  if (ending == nullptr) return;
  try {
    if (thread_state(*ending).working) return;  // exit() from a signal handler that interrupted us: locks may be held
    const std::lock_guard lock(ending->writer_mutex);
    if (ending->phase != Phase::ended) {
      end_instructions(*ending);
      counting_finish();
      flush_activities(true);
      if (ending->sampling != nullptr) ending->sampling->end();
      place_allocations(*ending, thread_state(*ending), 0);
      sample_memory(*ending, now(), true);
      ending->phase = Phase::ended;
    }
    write_tally(*ending, true);
    ending->spool.flush();
  } catch (...) {  // the program ends all the same
  }
}

void initialize() {
  Session* const started = make_session();
  if (started == nullptr || started->phase != Phase::loaded || !open_spool(*started)) return;
  int driver_version = 0;
  if (driver().version != nullptr) driver().version(&driver_version);
  const bool found = open_cupti(driver_version);
  write_process(*started, driver_version);
  if (found && started->sampling != nullptr) started->sampling->begin(InstructionSampling::make(*started));
  const std::string reason = found ? start_trace(*started) : std::string(kCuptiNotFound) + ": " + kCuptiRemedy;
  if (reason.empty()) {
    look_for_python(*started);
    look_for_torch();
    look_for_allocators();
    look_for_nccl();
    started->spool.note(spool::NoteCode::recording, "with " + cupti().path);
    std::atexit(at_exit);
    if (!start_writer(*started)) started->spool.note(spool::NoteCode::remark, "the writer thread can't be started");
  } else {
    started->spool.note(spool::NoteCode::not_traced, reason);
    started->phase = Phase::ended;
  }
  started->spool.flush();
}

}  // namespace

Session* session() { return current_session.load(std::memory_order_acquire); }

Session* session_or_new() {
  Session* const found = session();
  return found != nullptr ? found : make_session();
}

std::uint64_t window_end(const Session& session) { return session.window_began + session.window + counting_cost(); }

void begin_window(Session& session, std::uint32_t correlation) {
  const bool again = session.window_ended != 0;  // of a sampled recording
  // Several threads may launch at the same time: the window begins with the lowest correlation.
  std::uint32_t first = 0;
  while (!session.first_correlation.compare_exchange_weak(first, correlation)) {
    if (first != 0 && !precedes(correlation, first)) break;
  }
  session.earlier_launches = session.launches.load();
  session.earlier_kernels = session.kernels.load();
  session.window_began = now();
  Phase expected = Phase::warming;
  if (session.phase.compare_exchange_strong(expected, Phase::recording)) {
    session.spool.note(again ? spool::NoteCode::recording_began : spool::NoteCode::window_began, {});
  }
}

void end_window(Session& session) {
  const std::uint64_t time = now();
  for (Phase expected : {Phase::recording, Phase::warming, Phase::quiet}) {
    if (!session.phase.compare_exchange_strong(expected, Phase::draining)) continue;
    session.window_ended = time;
    return;
  }
}

void write_tally(Session& session, bool last) {
  session.spool.write(spool::Type::tally,
                      spool::Tally{now(), session.launches, session.kernels, session.dropped, session.without_time,
                                   counting_cost(), last ? std::uint64_t{1} : 0});
}

}  // namespace roofline::inject

/// The driver calls this once, as it starts.
// NOLINTNEXTLINE(readability-identifier-naming): the driver's name for it
extern "C" __attribute__((visibility("default"))) int InitializeInjection() {
  try {
    roofline::inject::initialize();
  } catch (...) {  // the program runs on without its profile
  }
  return 1;
}
