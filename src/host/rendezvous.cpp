// The handshake. Every process has a nonce, which distinguishes files of an earlier start in the same folder from
// those that answer this process:
//
//   hello.R  follower R's nonce
//   offer    the leader's nonce, and every follower's as the leader has read it
//   ack.R    the leader's nonce: follower R has found its own in the offer
//   go       the leader's nonce: all have acknowledged
//
// A follower that comes late, or a successor, changes its hello; the leader then offers anew under a new nonce, until
// one offer is acknowledged by all.
#include "host/rendezvous.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <fstream>
#include <optional>
#include <random>
#include <sstream>
#include <thread>

#include "host/host.hpp"
#include "host/process.hpp"
#include "model/error.hpp"

namespace roofline {
namespace fs = std::filesystem;
namespace {

/// Ends every file, so that one is known to be whole also where a rename is seen before what was written.
constexpr std::string_view kEndMark = "\n.";
constexpr std::uintmax_t kLargest = 1 << 20;

std::string new_nonce() {
  std::random_device random;
  return fmt::format("{:08x}{:08x}{:08x}", random(), random(), static_cast<unsigned>(::getpid()));
}

std::optional<std::string> read_whole(const fs::path& path) {
  std::error_code error;
  const std::uintmax_t size = fs::file_size(path, error);
  if (error || size > kLargest) return std::nullopt;
  std::ifstream file(path, std::ios::binary);
  std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  if (!text.ends_with(kEndMark)) return std::nullopt;
  text.resize(text.size() - kEndMark.size());
  return text;
}

/// Whole, or not at all.
void write_whole(const fs::path& path, const std::string& text) {
  // Other users may have write access to the folder: the name is random, and an existing file or link is never opened.
  const fs::path draft = fmt::format("{}.{}.tmp", path.string(), new_nonce());
  {
    const Descriptor file(::open(draft.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666));
    if (file.get() < 0 || !write_all(file.get(), text) || !write_all(file.get(), kEndMark))
      throw Error(fmt::format("can't write {}: {}", draft.string(), std::strerror(errno)),
                  "check the free space of the rendezvous folder");
  }
  std::error_code error;
  fs::rename(draft, path, error);
  if (error) throw Error(fmt::format("can't write {}: {}", path.string(), error.message()));
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

/// Looks often at first, for an answer is a matter of microseconds on one node; seldom where it takes long.
class PollUntil {
 public:
  explicit PollUntil(double seconds) : until_s_(wall_seconds() + seconds) {}
  bool over() {
    if (wall_seconds() > until_s_) return true;
    std::this_thread::sleep_for(pause_);
    pause_ = std::min(std::chrono::microseconds(5000), pause_ + pause_ / 8);
    return false;
  }

 private:
  double until_s_;
  std::chrono::microseconds pause_{40};
};

}  // namespace

Rendezvous::Rendezvous(const fs::path& folder, World world, double patience_s)
    : folder_(folder / ("roofline-" + world.job)), world_(std::move(world)), patience_s_(patience_s) {
  std::error_code error;
  fs::create_directories(folder_, error);
  if (error)
    throw UsageError(fmt::format("can't create {}: {}", folder_.string(), error.message()),
                     "set ROOFLINE_RENDEZVOUS to a folder that all processes can write to");
}

bool Rendezvous::begin() {
  exchanges_.clear();
  return leads() ? lead() : follow();
}

bool Rendezvous::lead() {
  leader_.clear();
  std::error_code ignored;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder_, ignored)) {
    // A draft (.tmp) stays: a follower that is about to rename it has yet to see that this leader is a new one.
    const bool text = entry.path().filename().string().starts_with("text.") && entry.path().extension() != ".tmp";
    if (text) fs::remove(entry.path(), ignored);
  }
  std::vector<std::string> offered;
  PollUntil poll(patience_s_);
  for (;;) {
    std::vector<std::string> hellos;
    std::string missing;
    for (int rank = 1; rank < world_.size; ++rank) {
      hellos.push_back(read_whole(file(fmt::format("hello.{}", rank))).value_or(""));
      if (hellos.back().empty()) missing += fmt::format("{}{}", missing.empty() ? "" : ", ", rank);
    }
    if (missing.empty() && (offered != hellos || leader_.empty())) {
      offered = hellos;
      leader_ = new_nonce();
      write_whole(file("offer"), fmt::format("{}\n{}", leader_, fmt::join(hellos, "\n")));
    }
    bool all = missing.empty();
    for (int rank = 1; rank < world_.size && all; ++rank) {
      all = read_whole(file(fmt::format("ack.{}", rank))) == leader_;
      if (!all) missing = fmt::to_string(rank);
    }
    if (all) break;
    if (poll.over())
      throw Error(
          fmt::format("rank {1} of {0} processes did not join within {2:g} s", world_.size, missing, patience_s_),
          "set the same ROOFLINE_RENDEZVOUS, on a shared file system, for all processes");
  }
  write_whole(file("go"), leader_);
  return true;
}

bool Rendezvous::follow() {
  past_ = leader_;
  leader_.clear();
  const std::string me = new_nonce();
  write_whole(file(fmt::format("hello.{}", world_.rank)), me);
  PollUntil poll(patience_s_);
  std::string offer;
  for (;;) {
    const std::vector<std::string> lines = lines_of(read_whole(file("offer")).value_or(""));
    const bool for_me =
        lines.size() == static_cast<std::size_t>(world_.size) && lines[static_cast<std::size_t>(world_.rank)] == me;
    if (for_me && lines[0] != offer) {
      offer = lines[0];
      write_whole(file(fmt::format("ack.{}", world_.rank)), offer);
    }
    if (!offer.empty() && read_whole(file("go")) == offer) break;
    if (!past_.empty() && read_whole(file("over")) == past_) return false;
    if (poll.over())
      throw Error(fmt::format("rank 0 did not start within {:g} s", patience_s_),
                  "set the same ROOFLINE_RENDEZVOUS, on a shared file system, for all processes");
  }
  leader_ = offer;
  return true;
}

std::vector<std::string> Rendezvous::exchange(int ranks, const std::string& mine) {
  const std::int64_t number = exchanges_[ranks]++;
  const auto name = [&](std::int64_t of, int rank) {
    return file(fmt::format("text.{}.{}.{}.{}", leader_, ranks, of, rank));
  };
  try {
    write_whole(name(number, world_.rank), mine);
  } catch (const Error&) {
    if (!leads() && abandoned()) throw Error("rank 0 has restarted");
    throw;
  }
  // Who writes the next one has read all of this; so all have read the one before the last.
  std::error_code ignored;
  if (number >= 2) fs::remove(name(number - 2, world_.rank), ignored);
  std::vector<std::string> texts;
  PollUntil poll(patience_s_);
  for (int rank = 0; rank < ranks; ++rank) {
    std::optional<std::string> text = read_whole(name(number, rank));
    while (!text) {
      const bool gone = !leads() && abandoned();
      // The last thing that it did may have been to give its text.
      if (gone && !(text = read_whole(name(number, rank)))) throw Error("rank 0 has restarted");
      if (text) break;
      const bool over = poll.over();
      if (leads() && over)
        throw Error(fmt::format("rank {} sent nothing within {:g} s", rank, patience_s_),
                    "check that its process is running");
      text = read_whole(name(number, rank));
    }
    texts.push_back(std::move(*text));
  }
  return texts;
}

bool Rendezvous::abandoned() const {
  const std::vector<std::string> lines = lines_of(read_whole(file("offer")).value_or(""));
  return (!lines.empty() && lines[0] != leader_) || read_whole(file("over")) == leader_;
}

void Rendezvous::end() const {
  if (const auto last = read_whole(file("go"))) write_whole(file("over"), *last);
}

}  // namespace roofline
