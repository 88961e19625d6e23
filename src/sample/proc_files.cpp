#include "sample/proc_files.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <unistd.h>

#include <array>

#include "host/process.hpp"
#include "text/parse.hpp"

namespace roofline {

std::string read_proc(const std::string& path) {
  constexpr std::size_t kMost = std::size_t{64} << 20U;
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  std::string text;
  if (file.get() < 0) return text;
  std::array<char, 16384> part;
  for (ssize_t size = 0; text.size() < kMost && (size = ::read(file.get(), part.data(), part.size())) > 0;) {
    text.append(part.data(), static_cast<std::size_t>(size));
  }
  return text;
}

std::string read_proc_link(const std::string& path) {
  std::array<char, 4096> target;
  const ssize_t size = ::readlink(path.c_str(), target.data(), target.size());
  return size < 0 ? std::string() : std::string(target.data(), static_cast<std::size_t>(size));
}

std::vector<pid_t> list_proc_ids(const std::string& folder) {
  std::vector<pid_t> ids;
  DIR* const open = ::opendir(folder.c_str());
  if (open == nullptr) return ids;
  while (const dirent* entry = ::readdir(open)) {
    if (const auto id = parsed_number<pid_t>(static_cast<const char*>(entry->d_name))) ids.push_back(*id);
  }
  ::closedir(open);
  return ids;
}

}  // namespace roofline
