// flock(2), which needs no clean-up after a killed process.
#include "calibrate/measuring_lock.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <utility>

#include "calibrate/machine_store.hpp"
#include "host/host.hpp"
#include "model/error.hpp"

namespace roofline {
namespace {

/// Empty if there is no cache folder. Several hosts may share the cache.
std::filesystem::path lock_path(const DeviceInfo& device) {
  try {
    const std::filesystem::path folder = machine_path(device.identity).parent_path() / "measuring";
    std::error_code hidden;
    std::filesystem::create_directories(folder, hidden);
    // A GPU's identity is unique; a CPU's includes its threads, but all of them share one memory.
    const bool cpu = device.kind == DeviceKind::cpu;
    return (folder / (cpu ? shared_file_name(device, host_name()) : device.identity)).replace_extension("lock");
  } catch (const UsageError&) {
    return {};
  }
}

/// Not where it is none that can be locked.
bool is_held_by_another(int file, int operation) {
  return ::flock(file, operation | LOCK_NB) != 0 && errno == EWOULDBLOCK;
}

}  // namespace

MeasuringLock::MeasuringLock(const DeviceInfo& device)
    : path_(lock_path(device)), file_(::open(path_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0666)) {
  const int error = errno;
  if (file_ >= 0 || error == ENOENT || error == ENOTDIR) return;
  struct stat about = {};
  const bool stands = ::lstat(path_.c_str(), &about) == 0;
  const bool foreign = stands && about.st_uid != ::geteuid();
  problem_ =
      fmt::format("{} can't be locked: {}{}; other calibrations of this device are not noticed. {}", path_.string(),
                  std::strerror(error), foreign ? fmt::format(", it belongs to user {}", about.st_uid) : "",
                  stands ? "Remove it" : "Make its folder writable");
}

MeasuringLock::MeasuringLock(MeasuringLock&& other) noexcept
    : path_(std::move(other.path_)), problem_(std::move(other.problem_)), file_(std::exchange(other.file_, -1)) {}

MeasuringLock::~MeasuringLock() {
  if (file_ < 0) return;
  ::flock(file_, LOCK_UN);  // also releases it in children that still have the file open
  ::close(file_);
}

bool MeasuringLock::take() {
  if (is_held_by_another(file_, LOCK_EX)) return false;
  // Informational; a full disk only loses this text.
  const std::string pid = fmt::format("{}\n", ::getpid());
  if (::ftruncate(file_, 0) == 0) static_cast<void>(!::pwrite(file_, pid.data(), pid.size(), 0));
  return true;
}

std::optional<pid_t> MeasuringLock::holder() const {
  if (!is_held_by_another(file_, LOCK_SH)) {
    ::flock(file_, LOCK_UN);
    return std::nullopt;
  }
  std::array<char, 24> text{};
  const ssize_t size = ::pread(file_, text.data(), text.size(), 0);
  pid_t pid = 0;  // stays 0 without a number
  if (size > 0) std::from_chars(text.data(), text.data() + size, pid);
  return pid;
}

}  // namespace roofline
