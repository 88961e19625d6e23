// Errors of the system, each with its remedy.
#include "host/files.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <iterator>
#include <random>
#include <string_view>
#include <system_error>
#include <utility>

#include "host/interrupt.hpp"
#include "host/output_file.hpp"
#include "host/unfinished_file.hpp"
#include "model/error.hpp"

namespace roofline {
namespace fs = std::filesystem;
namespace {

void make_folder(const fs::path& folder) {
  if (folder.empty()) return;
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) {
    throw UsageError(fmt::format("{}: can't create this folder: {}", folder.string(), error.message()),
                     "name another folder with -o");
  }
}

struct OpenFile {
  explicit OpenFile(int opened) : descriptor(opened) {}
  OpenFile(OpenFile&& other) noexcept
      : descriptor(std::exchange(other.descriptor, -1)), pipe(other.pipe), size(other.size) {}
  OpenFile& operator=(OpenFile&&) = delete;
  ~OpenFile() {
    if (descriptor >= 0) ::close(descriptor);
  }

  int descriptor;
  bool pipe = false;
  std::uint64_t size = 0;  ///< 0 of a pipe, and of what /proc makes up
};

[[noreturn]] void refuse_size(const fs::path& path, const FileLimit& limit, const std::string& hint) {
  throw UsageError(
      fmt::format("{}: is larger than {} MB, the limit for {}", path.string(), limit.bytes >> 20, limit.what), hint);
}

OpenFile open_for_reading(const fs::path& path, const FileLimit& limit, const std::string& hint) {
  const auto refuse = [&](const char* why) { throw UsageError(fmt::format("{}: {}", path.string(), why), hint); };
  // Without O_NONBLOCK a pipe that has no writer would be waited for here.
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
  if (descriptor < 0) refuse(std::strerror(errno));
  OpenFile file(descriptor);
  struct stat about = {};
  if (::fstat(descriptor, &about) != 0) refuse(std::strerror(errno));
  if (S_ISDIR(about.st_mode)) refuse("is a folder, not a file");
  file.pipe = S_ISFIFO(about.st_mode);
  if (!file.pipe && !S_ISREG(about.st_mode)) refuse("is a device, not a file");
  if (!file.pipe) file.size = static_cast<std::uint64_t>(about.st_size);
  if (file.size > limit.bytes) refuse_size(path, limit, hint);
  add_input(path);
  return file;
}

/// Another program makes the text while we wait: long enough for a file that comes from another host.
void wait_for_writer(int descriptor, const fs::path& path, const std::string& hint) {
  constexpr int kPatienceMs = 30000;
  pollfd waiting{descriptor, POLLIN, 0};
  if (::poll(&waiting, 1, kPatienceMs) != 0) return;
  throw UsageError(fmt::format("{}: no data from this pipe for {} s", path.string(), kPatienceMs / 1000), hint);
}

/// 0, or the system's reason.
int write_replacement(const fs::path& path, const fs::path& replaced, std::string_view content) {
  const int file = create_replacement(path, replaced);
  if (file < 0) return errno;
  int error = 0;
  while (!content.empty() && error == 0) {
    const ssize_t written = ::write(file, content.data(), content.size());
    if (written >= 0) {
      content.remove_prefix(static_cast<std::size_t>(written));
    } else if (errno != EINTR) {
      error = errno;
    }
  }
  // Some file systems say only now that there was no room.
  if (::close(file) != 0 && errno != EINTR && error == 0) error = errno;
  return error;
}

}  // namespace

std::string read_file(const fs::path& path, const FileLimit& limit, const std::string& hint) {
  const OpenFile file = open_for_reading(path, limit, hint);
  std::string text(static_cast<std::size_t>(file.size), '\0');
  std::size_t end = 0;
  for (;;) {
    // A byte more than is expected, so that the end shows itself.
    if (text.size() == end) text.resize(std::max<std::size_t>(end + 1, 2 * end));
    const ssize_t got = ::read(file.descriptor, text.data() + end, text.size() - end);
    if (got == 0) break;
    if (got > 0) {
      end += static_cast<std::size_t>(got);
      if (end > limit.bytes) refuse_size(path, limit, hint);
    } else if (errno == EAGAIN) {
      wait_for_writer(file.descriptor, path, hint);
    } else if (errno != EINTR || interrupted()) {
      throw UsageError(fmt::format("{}: {}", path.string(), std::strerror(errno)), hint);
    }
  }
  if (file.pipe && end == 0) throw UsageError(fmt::format("{}: is a pipe without a writer", path.string()), hint);
  text.resize(end);
  return text;
}

void require_file(const fs::path& path, const FileLimit& limit, const std::string& hint) {
  if (open_for_reading(path, limit, hint).pipe) {
    throw UsageError(fmt::format("{}: is a pipe, not a file", path.string()), hint);
  }
}

void write_file(const fs::path& path, const std::string& content) {
  make_folder(path.parent_path());
  const fs::path file = replaced_file(path);
  // Other hosts and containers have processes of the same number and may write to the same folder.
  const fs::path temporary = fmt::format("{}.{}-{:08x}.tmp", file.string(), ::getpid(), std::random_device()());
  const UnfinishedFile unfinished(temporary.c_str());
  int error = 0;
  try {
    error = write_replacement(temporary, file, content);
  } catch (...) {  // out of memory
    ::unlink(temporary.c_str());
    throw;
  }
  if (error == 0 && ::rename(temporary.c_str(), file.c_str()) == 0) return;
  const int reason = error != 0 ? error : errno;
  ::unlink(temporary.c_str());
  throw UsageError(fmt::format("{}: can't be written: {}", path.string(), std::strerror(reason)),
                   "name another place with -o");
}

std::string file_name_of(std::string text) {
  constexpr std::size_t kLongest = 200;
  if (text.empty()) return "unnamed";
  if (text.size() > kLongest) text.erase(0, text.size() - kLongest);
  for (char& character : text) {
    const bool safe = std::isalnum(static_cast<unsigned char>(character)) != 0 || character == '.' ||
                      character == '_' || character == '-';
    if (!safe) character = '-';
  }
  if (text.front() == '.') text.front() = '-';
  return text;
}

void require_writable_folder(const fs::path& folder) {
  const fs::path trial = folder / fmt::format(".roofline-{}", ::getpid());
  write_file(trial, "");
  std::error_code ignored;
  fs::remove(trial, ignored);
}

std::string text_of(const fs::path& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

std::string first_line(const fs::path& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

std::optional<double> number_in(const fs::path& path) {
  std::ifstream file(path);
  double value = 0;
  if (file >> value) return value;
  return std::nullopt;
}

}  // namespace roofline
