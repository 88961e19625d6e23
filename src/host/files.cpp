// std::filesystem and streams, with the reason and the fix in every message.
#include "host/files.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <iterator>
#include <random>
#include <system_error>

#include "model/error.hpp"

namespace roofline {
namespace fs = std::filesystem;
namespace {

void make_folder(const fs::path& folder) {
  if (folder.empty()) return;
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) {
    throw UsageError(fmt::format("{}: can't make this folder: {}", folder.string(), error.message()),
                     "name another folder with -o");
  }
}

}  // namespace

std::string read_file(const fs::path& path, const std::string& hint) {
  std::error_code hidden;  // a folder above that may not be looked into: opening the file says so
  if (fs::is_directory(path, hidden)) {
    throw UsageError(fmt::format("{}: is a folder, not a file", path.string()), hint);
  }
  std::ifstream file(path, std::ios::binary);
  if (!file) throw UsageError(fmt::format("{}: {}", path.string(), std::strerror(errno)), hint);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

void write_file(const fs::path& path, const std::string& content) {
  make_folder(path.parent_path());
  // Other hosts and containers have processes of the same number and may write to the same folder.
  const fs::path temporary = fmt::format("{}.{}-{:08x}.tmp", path.string(), ::getpid(), std::random_device()());
  std::ofstream file(temporary, std::ios::binary | std::ios::trunc);
  file.write(content.data(), static_cast<std::streamsize>(content.size()));
  file.close();
  std::error_code error;
  if (file) fs::rename(temporary, path, error);
  if (!file || error) {
    const std::string reason = error ? error.message() : std::strerror(errno);
    fs::remove(temporary, error);
    throw UsageError(fmt::format("{}: can't be written: {}", path.string(), reason), "name another place with -o");
  }
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
