#include "inject/spool_file.hpp"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <ctime>

namespace roofline::inject {
namespace {

/// With fewer descriptors than this, the one that we hold could be the one that the program needs.
constexpr rlim_t kFewDescriptors = 256;
/// The kernel's table reaches up to the highest number, and each fork() copies it: 8 bytes per number.
constexpr rlim_t kHighestNumber = 1 << 14;
constexpr int kNumbersToTry = 64;

/// Holds back this thread's SIGXFSZ while it lives. The mask and what was pending before are as they were afterwards.
class SizeSignalBlock {
 public:
  SizeSignalBlock() {
    sigemptyset(&signal_);
    sigaddset(&signal_, SIGXFSZ);
    sigset_t pending;
    was_pending_ = sigpending(&pending) == 0 && sigismember(&pending, SIGXFSZ) == 1;
    pthread_sigmask(SIG_BLOCK, &signal_, &before_);
  }
  ~SizeSignalBlock() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  SizeSignalBlock(const SizeSignalBlock&) = delete;
  SizeSignalBlock& operator=(const SizeSignalBlock&) = delete;

  /// After a write that failed with EFBIG: removes the signal that it raised.
  void consume() const {
    const timespec no_wait = {};
    while (!was_pending_ && sigtimedwait(&signal_, nullptr, &no_wait) < 0 && errno == EINTR) {
    }
  }

 private:
  sigset_t signal_{}, before_{};
  bool was_pending_ = false;
};

/// Moves a descriptor to a number near the limit; -1, and closed, if no number is free.
int move_up(int file) {
  rlimit limit{};
  int moved = -1;
  if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur >= kFewDescriptors) {
    const int highest = static_cast<int>(std::min(limit.rlim_cur, kHighestNumber)) - 1;
    for (int below = 0; moved < 0 && below < kNumbersToTry; ++below) {
      moved = fcntl(file, F_DUPFD_CLOEXEC, highest - below);
    }
  }
  ::close(file);
  return moved;
}

}  // namespace

bool SpoolFile::create(const std::string& path) {
  const int low = ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0600);
  const int file = low >= 0 ? move_up(low) : -1;
  if (file < 0) return false;
  struct stat status {};
  if (fstat(file, &status) != 0) {
    ::close(file);
    return false;
  }
  device_ = status.st_dev;
  inode_ = status.st_ino;
  file_ = file;
  return true;
}

bool SpoolFile::is_own_file(off_t& size) const {
  struct stat status {};
  if (!is_open() || fstat(file_, &status) != 0) return false;
  size = status.st_size;
  return status.st_dev == device_ && status.st_ino == inode_;
}

bool SpoolFile::accepts(std::size_t size) const {
  off_t length = 0;
  rlimit limit{};
  if (!is_own_file(length)) return false;
  if (getrlimit(RLIMIT_FSIZE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return true;
  return static_cast<rlim_t>(length) + size <= limit.rlim_cur;
}

bool SpoolFile::write(const char* data, std::size_t size) {
  const SizeSignalBlock block;  // the program may lower its limit after accepts()
  while (size > 0 && accepts(size)) {
    const ssize_t count = ::write(file_, data, size);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0 && errno == EFBIG) block.consume();
    if (count <= 0) break;
    data += count;
    size -= static_cast<std::size_t>(count);
  }
  if (size > 0) close();  // nothing may follow a torn record
  return size == 0;
}

void SpoolFile::close() {
  off_t size = 0;
  if (is_own_file(size)) ::close(file_);
  file_ = -1;
}

}  // namespace roofline::inject
