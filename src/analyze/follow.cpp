// Rows are announced by number and implementation. Rank 0 reports errors of a row. If a process dies, rank 0 starts
// over and all others restart with it.
#include "analyze/follow.hpp"

#include <fmt/format.h>

#include <atomic>
#include <chrono>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <sstream>
#include <thread>

#include "analyze/choose_implementation.hpp"
#include "device/cuda/open.hpp"
#include "device/isolate.hpp"
#include "model/error.hpp"
#include "op/case.hpp"

namespace roofline {
namespace {

using FollowJson = nlohmann::ordered_json;

int ranks_of_row(const SuiteEntry& entry) { return ranks_of(entry.op->tensors(entry.workload)); }

/// Ends this process when the leader is gone, because it may wait in a kernel that never completes.
class LeaderWatch {
 public:
  explicit LeaderWatch(const Rendezvous& together)
      : thread_([this, &together] {
          while (!done_) {
            std::this_thread::sleep_for(std::chrono::milliseconds(200));
            gone_ = together.abandoned() ? gone_ + 1 : 0;
            // Waiting for a text detects the loss itself and ends normally.
            if (gone_ > 10) std::_Exit(1);
          }
        }) {}
  ~LeaderWatch() {
    done_ = true;
    thread_.join();
  }
  LeaderWatch(const LeaderWatch&) = delete;
  LeaderWatch& operator=(const LeaderWatch&) = delete;

 private:
  std::atomic<bool> done_ = false;
  int gone_ = 0;
  std::thread thread_;
};

/// In the child.
class Follower {
 public:
  Follower(const Suite& suite, const DeviceChoice& choice, const std::shared_ptr<Rendezvous>& together)
      : suite_(suite), choice_(choice), together_(together) {}

  AfterJob run(const Send& send) {
    try {
      if (!device_) {
        device_ = open_cuda_rank(choice_.index, together_);
        if (!begin()) return AfterJob::nothing_left;
        send(FollowJson({{"session", together_->session()}}).dump());
        watch_.emplace(*together_);
      }
      take_part(device_->exchange(together_->world().size, "").front());
      return AfterJob::next;
    } catch (const DeviceError& error) {
      send(FollowJson({{"unusable", error.what()}, {"hint", error.hint()}}).dump());
      return AfterJob::nothing_left;
    } catch (const std::exception&) {
      watch_.reset();
      return AfterJob::fresh_process;  // and begin with rank 0 again, or find that it has ended
    }
  }

 private:
  /// If no leader appears in that time, none will later.
  bool begin() {
    try {
      return together_->begin();
    } catch (const Error& error) {
      throw DeviceError(error.what(), error.hint());
    }
  }

  void take_part(const std::string& announced) {
    std::istringstream words(announced);
    std::size_t row = 0;
    std::string implementation;
    words >> row >> implementation;
    if (row >= suite_.entries.size()) throw Error("rank 0 runs a different suite");
    const SuiteEntry entry = with_implementation(suite_.entries[row], implementation);
    if (!entry.implementation || together_->world().rank >= ranks_of_row(entry)) return;
    try {
      Case workload_case(*entry.op, *entry.implementation, entry.workload, *device_);
      if (!workload_case.verify().passed) return;
      static_cast<void>(workload_case.bench());
      workload_case.follow();
    } catch (const PoisonedDevice&) {
      throw;
    } catch (const Error&) {
      // All ranks have thrown it, and rank 0 reports it; if rank 0 were lost, the next exchange would detect
      // it.
    }
  }

  const Suite& suite_;
  const DeviceChoice& choice_;
  std::shared_ptr<Rendezvous> together_;
  std::unique_ptr<Device> device_;
  std::optional<LeaderWatch> watch_;
};

}  // namespace

std::unique_ptr<Device> open_ranks(const DeviceChoice& choice, const std::shared_ptr<Rendezvous>& together) {
  if (!together) return open_device(choice.kind, choice.index, choice.options);
  std::unique_ptr<Device> device = open_cuda_rank(choice.index, together);
  together->begin();
  return device;
}

void announce_row(const SuiteEntry& entry, std::int64_t row, Device& device, const Rendezvous& together) {
  if (ranks_of_row(entry) < 2) return;
  device.exchange(together.world().size, fmt::format("{} {}", row, entry.workload.implementation));
}

void follow(const Suite& suite, const DeviceChoice& choice, const std::shared_ptr<Rendezvous>& together) {
  std::string unusable, hint;
  Follower follower(suite, choice, together);
  Jobs jobs;
  jobs.count = std::numeric_limits<std::int64_t>::max();
  jobs.run = [&](std::int64_t, const Send& send) { return follower.run(send); };
  jobs.on_message = [&](std::int64_t, std::string_view text) {
    const FollowJson json = FollowJson::parse(text);
    if (json.contains("session")) together->succeed(json["session"]);
    if (json.contains("unusable")) {
      unusable = json["unusable"];
      hint = json["hint"];
    }
  };
  jobs.on_lost = [](std::int64_t, const std::string&) {};  // the next process starts over with rank 0
  run_isolated(jobs);
  if (!unusable.empty()) throw DeviceError(unusable, hint);
}

}  // namespace roofline
