// Two inodes, each with a name of its own; the file's name is a second link to one of them. A single file written in
// place would not do: a kill between two pages of a write would leave half a row and no closing.
#include "host/growing_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <system_error>
#include <utility>

#include "host/output_file.hpp"
#include "model/error.hpp"

namespace roofline {
namespace fs = std::filesystem;

GrowingFile::GrowingFile(const fs::path& path, const std::string& opening, std::string closing)
    : path_(replaced_file(path)), closing_(std::move(closing)) {
  for (std::size_t i = 0; i < copies_.size(); ++i) {
    Copy& copy = copies_[i];
    copy.name = fmt::format("{}.{}.{}.tmp", path_.string(), ::getpid(), i);
    ::unlink(copy.name.c_str());  // of a killed process of this number
    copy.file = create_replacement(copy.name, path_);
    if (copy.file < 0) fail(errno);
    copy.unfinished.emplace(copy.name.c_str());
    write(copy, opening, 0);
    copy.end = opening.size();
  }
}

GrowingFile::Copy::~Copy() {
  if (file < 0) return;
  ::close(file);
  std::error_code ignored;
  fs::remove(name, ignored);
}

void GrowingFile::append(std::string_view text) {
  for (Copy& copy : copies_) copy.missing += text;
  Copy& copy = copies_[turn_];
  turn_ = 1 - turn_;
  write(copy, copy.missing + closing_, copy.end);
  write(copy, replacement_, replaced_at_);
  copy.end += copy.missing.size();
  copy.missing.clear();
  publish(copy);
}

void GrowingFile::replace(std::size_t offset, std::string text) {
  replaced_at_ = offset;
  replacement_ = std::move(text);
}

void GrowingFile::write(const Copy& copy, std::string_view text, std::size_t offset) const {
  while (!text.empty()) {
    const ssize_t written = ::pwrite(copy.file, text.data(), text.size(), static_cast<off_t>(offset));
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) fail(errno);
    text.remove_prefix(static_cast<std::size_t>(written));
    offset += static_cast<std::size_t>(written);
  }
}

void GrowingFile::publish(const Copy& copy) const {
  const fs::path link = fmt::format("{}.{}.tmp", path_.string(), ::getpid());
  const UnfinishedFile unfinished(link.c_str());
  std::error_code error;
  fs::create_hard_link(copy.name, link, error);
  // FAT and some network file systems have no links. A whole copy gets dearer with each row, and is as safe.
  if (error) fs::copy_file(copy.name, link, fs::copy_options::overwrite_existing, error);
  if (error) fail(error.value());
  // ext4 sends what is renamed over another file to the disk at once, which costs more than all the rest; what changes
  // places with it waits its turn. The first time there may be nothing to change places with.
  if (::renameat2(AT_FDCWD, link.c_str(), AT_FDCWD, path_.c_str(), RENAME_EXCHANGE) == 0) {
    fs::remove(link, error);
  } else {
    fs::rename(link, path_, error);
  }
  if (error) fail(error.value());
}

void GrowingFile::fail(int error) const {
  throw UsageError(fmt::format("{}: can't be written: {}", path_.string(), std::generic_category().message(error)),
                   "name another place with -o");
}

}  // namespace roofline
