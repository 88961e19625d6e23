// Samples which instructions the warps of all kernels are at, and why they wait there: CUPTI's PC sampling, in
// phases. Kernels run as they would without it; launches by the host take some microseconds longer meanwhile.
//
// Sampling begins and ends in a thread of the program that is about to launch something, while no other one is inside
// such a call; samples are collected while none is. Otherwise CUPTI samples next to nothing, or it waits for a thread
// that waits for it. Nothing is sampled while another process uses the counters of the GPU (CounterClaims).
#pragma once

#include <cuda.h>
#include <cupti.h>

#include <atomic>
#include <cstdint>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "inject/cupti_library.hpp"
#include "inject/gate.hpp"
#include "inject/gpu_claim.hpp"
#include "inject/gpu_modules.hpp"
#include "inject/spool.hpp"

namespace roofline::inject {

struct Session;

/// One per process, never freed.
class InstructionSampling {
 public:
  /// nullptr: not requested, or CUPTI is too old.
  static InstructionSampling* make(Session& session);

  GpuModules& modules() { return modules_; }

  // From callbacks, in the program's threads.
  void context_destroyed(CUcontext context);
  /// Before a launch into that context, never during a capture: begins or ends sampling, if that is due.
  void before_launch(CUcontext context);
  /// Around each call that gives the GPU work, while on().
  void work_begins() { gate_.enter(); }
  void work_ends() { gate_.leave(); }

  // From the thread that writes, and at the end of the process.
  /// Samples each context from its next launch on.
  void begin();
  /// Collects the samples so far. Called a few times per second.
  void collect();
  /// Sampling is to end with the next launch.
  void end();
  /// Called at the end of the process: collects the samples. CUPTI stops on its own.
  void finish();
  bool on() const { return on_; }
  /// Some context is being sampled.
  bool taking() const { return last_enabled_ != nullptr; }
  /// It was refused: there will be no samples.
  bool refused() const { return refused_; }

 private:
  /// What CUPTI fills.
  struct Buffer {
    std::vector<CUpti_PCSamplingPCData> places;
    std::vector<CUpti_PCSamplingStallReason> stalls;
    CUpti_PCSamplingData data = {};

    void prepare(std::size_t reasons);
  };
  /// A context in which instructions are being sampled.
  struct Sampled {
    std::uint64_t start = 0;
    CUdevice device = 0;
    std::uint64_t samples = 0, dropped = 0, elsewhere = 0;
    std::vector<std::uint32_t> reasons;
    Buffer read;  ///< filled on request
    Buffer rest;  ///< filled when sampling ends; CUPTI has it all the time
  };
  /// Checksum of its code, offset, and the function.
  using Place = std::tuple<std::uint64_t, std::uint64_t, std::string>;

  InstructionSampling(Session& session, std::string folder);
  void enable(CUcontext context);
  void learn_reasons(CUcontext context, Sampled& sampled);
  CUptiResult configure(CUcontext context, Sampled& sampled);
  void read(CUcontext context, Sampled& sampled);
  void take(Sampled& sampled, Buffer& buffer);
  /// `disable`: also in CUPTI.
  void close(CUcontext context, Sampled& sampled, bool disable);
  void close_all(bool disable);
  void write_overhead(std::uint64_t start);
  void write();
  void refuse(const std::string& reason);

  Session& session_;
  CuptiInstructions cupti_;
  const bool xla_graphs_;  ///< that XLA may launch graphs, if it is loaded
  GpuModules modules_;
  std::atomic<CUcontext> last_enabled_ = nullptr;
  std::atomic<bool> on_ = false, ending_ = false, refused_ = false;
  Gate gate_;

  std::atomic<std::uint64_t> began_ = 0;

  std::timed_mutex mutex_;  // of what follows
  std::map<CUcontext, Sampled> sampled_;
  CounterClaims claims_;
  std::set<std::uint32_t> reasons_;  ///< with a record each
  std::map<Place, std::map<std::uint32_t, std::uint64_t>> samples_;
};

}  // namespace roofline::inject
