#include "fleet/read_fleet.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <new>
#include <set>
#include <thread>

#include "host/file_limits.hpp"
#include "host/interrupt.hpp"
#include "host/output_file.hpp"
#include "model/error.hpp"

namespace roofline {
namespace fs = std::filesystem;
namespace {

void list_folder(const fs::path& folder, FleetFiles& found, std::vector<std::string>& files) {
  std::vector<fs::path> left{folder};
  while (!left.empty()) {
    const fs::path here = std::move(left.back());
    left.pop_back();
    std::error_code error;
    fs::directory_iterator entry(here, error);
    for (; !error && entry != fs::directory_iterator(); entry.increment(error)) {
      std::error_code unknown;
      if (entry->is_directory(unknown)) {
        // A symbolic link may form a cycle.
        if (!entry->is_symlink(unknown)) left.push_back(entry->path());
      } else if (entry->path().extension() == ".json") {
        files.push_back(entry->path().string());
      }
    }
    if (error) found.left_out.push_back({here.string(), error.message()});
  }
}

std::vector<std::string> files_at(const std::vector<std::string>& paths, FleetFiles& found) {
  std::vector<std::string> files;
  for (const std::string& path : paths) {
    std::error_code error;
    const fs::file_status status = fs::status(path, error);
    if (!fs::exists(status)) throw UsageError(fmt::format("{}: no such file or folder", path));
    if (fs::is_directory(status)) {
      list_folder(path, found, files);
    } else {
      files.push_back(path);
    }
  }
  std::sort(files.begin(), files.end());
  files.erase(std::unique(files.begin(), files.end()), files.end());
  return files;
}

/// Reads into `text`, whose memory is reused.
void read_whole(const std::string& path, std::string& text) {
  std::error_code error;
  if (!fs::is_regular_file(path, error)) throw UsageError(error ? error.message() : "is not a file");
  const std::uintmax_t size = fs::file_size(path, error);
  if (!error && size > kMachineLimit.bytes) throw UsageError("larger than 64 MB, the limit for a calibration");
  std::ifstream file(path, std::ios::binary);
  if (error || !file) throw UsageError(error ? error.message() : std::strerror(errno));
  text.resize(static_cast<std::size_t>(size));
  file.read(text.data(), static_cast<std::streamsize>(size));
  text.resize(static_cast<std::size_t>(file.gcount()));
}

struct SummariesOrReason {
  std::vector<MachineSummary> summaries;
  std::string reason;
};

}  // namespace

FleetFiles read_fleet(const std::vector<std::string>& paths) {
  FleetFiles found;
  const std::vector<std::string> files = files_at(paths, found);
  found.files = files.size();
  std::vector<SummariesOrReason> outcomes(files.size());
  std::atomic<std::size_t> next = 0;
  const auto work = [&] {
    std::string text;
    for (std::size_t i = next++; i < files.size() && !interrupted(); i = next++) {
      try {
        read_whole(files[i], text);
        outcomes[i].summaries = read_machine_summaries(text, files[i]);
      } catch (const std::bad_alloc&) {
        throw;  // not a defect of the file, without which the norms would be others
      } catch (const std::exception& error) {
        outcomes[i].reason = error.what();
      }
    }
  };
  constexpr unsigned kMostThreads = 16;
  const std::size_t threads = std::clamp<std::size_t>(std::thread::hardware_concurrency(), 1, kMostThreads);
  std::vector<std::jthread> others;
  for (std::size_t i = 1; i < std::min(threads, files.size()); ++i) others.emplace_back(work);
  work();
  others.clear();
  if (interrupted()) throw Error("interrupted");
  const std::set<std::string> named(paths.begin(), paths.end());
  for (std::size_t i = 0; i < files.size(); ++i) {
    // Files of a folder that are not machine files (an earlier fleet.json) are not inputs.
    if (named.contains(files[i]) || !outcomes[i].summaries.empty()) add_input(files[i]);
    if (!outcomes[i].reason.empty()) found.left_out.push_back({files[i], outcomes[i].reason});
    for (MachineSummary& summary : outcomes[i].summaries) found.summaries.push_back(std::move(summary));
  }
  return found;
}

}  // namespace roofline
