#include "profile/job_folder.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "host/clock.hpp"
#include "host/files.hpp"
#include "host/interrupt.hpp"
#include "text/parse.hpp"

namespace roofline {
namespace {

namespace fs = std::filesystem;

constexpr const char* kBegun = "begun";  // each with its time, in seconds since 1970
constexpr const char* kEnded = "ended";
constexpr const char* kPrefix = "rank-";

/// Ranks of a job begin and end within this of each other, where one does not wait for the other.
constexpr double kApart = 60;

double unix_seconds() { return static_cast<double>(clock_ns(CLOCK_REALTIME)) * 1e-9; }

/// std::nullopt if there is no such file.
std::optional<double> time_in(const fs::path& file) { return number_in(file); }

std::optional<int> rank_of(const fs::path& folder) {
  const std::string name = folder.filename().string();
  return name.starts_with(kPrefix) ? parsed_number<int>(std::string_view(name).substr(5)) : std::nullopt;
}

}  // namespace

JobFolder::JobFolder(fs::path folder, World world)
    : folder_(std::move(folder)), world_(std::move(world)), began_s_(unix_seconds()) {
  std::error_code hidden;  // what is left of it is of an earlier time
  fs::remove(own() / kEnded, hidden);
  write_file(own() / kBegun, fmt::format("{:.3f}\n", began_s_));
}

fs::path JobFolder::own() const { return folder_ / fmt::format("{}{:06}", kPrefix, world_.rank); }

void JobFolder::end() const { write_file(own() / kEnded, fmt::format("{:.3f}\n", unix_seconds())); }

std::vector<fs::path> JobFolder::await(double patience_s,
                                       const std::function<void(const std::string&)>& print_status) const {
  constexpr useconds_t kPoll = 100'000;
  constexpr double kLate = 2;  // for ranks that have not even begun
  const double began_waiting = unix_seconds();
  double since = began_waiting;
  std::size_t last = 0;
  bool said = false;
  while (true) {
    std::vector<fs::path> ended;
    std::size_t begun = 0;
    for (const fs::path& folder : rank_folders(folder_)) {
      const std::optional<double> start = time_in(folder / kBegun), end = time_in(folder / kEnded);
      if (*rank_of(folder) >= world_.size || !start || *start < began_s_ - kApart) continue;
      ++begun;
      if (end && *end >= *start) ended.push_back(folder);
    }
    const double now = unix_seconds();
    if (ended.size() != last) since = now;
    last = ended.size();
    const bool all = ended.size() >= static_cast<std::size_t>(world_.size);
    const bool no_more = ended.size() >= begun && now - began_waiting > kLate;
    if (all || no_more || now - since > patience_s || interrupts() > 0) return ended;
    if (!said && now - began_waiting > kLate) {
      print_status(fmt::format("waiting for {} of {} ranks", begun - ended.size(), world_.size));
      said = true;
    }
    usleep(kPoll);
  }
}

void JobFolder::remove() const {
  std::error_code hidden;  // what cannot be removed stays
  fs::remove_all(folder_, hidden);
}

std::vector<fs::path> rank_folders(const fs::path& folder) {
  std::vector<std::pair<int, fs::path>> found;
  std::error_code hidden;  // a folder that cannot be listed has none
  for (const auto& entry : fs::directory_iterator(folder, hidden)) {
    const std::optional<int> rank = rank_of(entry.path());
    if (rank && *rank >= 0 && entry.is_directory(hidden)) found.emplace_back(*rank, entry.path());
  }
  std::ranges::sort(found);
  std::vector<fs::path> folders;
  for (auto& [rank, path] : found) folders.push_back(std::move(path));
  return folders;
}

}  // namespace roofline
