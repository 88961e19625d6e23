#include "inject/instruction_sampling.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdlib>
#include <cstring>

#include "cupti/profiler.hpp"
#include "inject/clock.hpp"
#include "inject/rank.hpp"
#include "inject/session.hpp"
#include "inject/xla_graphs.hpp"

namespace roofline::inject {
namespace {

/// An SM is sampled every 2^16 cycles, 26,000 times per second at 1.7 GHz. Periods from 2^11 to 2^20 give the same
/// distribution within one point; short ones fill the GPU's buffer.
constexpr std::uint32_t kPeriodExponent = 16;
/// Instructions that CUPTI hands over at a time.
constexpr std::size_t kPlaces = 16'384;
/// CUPTI 13.0 has 40; none is expected to have more.
constexpr std::size_t kMostReasons = 256;

constexpr std::chrono::milliseconds kLockPatience{500};
/// How long a launch waits for other threads to come out of theirs.
constexpr std::uint64_t kLongestCall = kSecond / 20;

constexpr const char* kAfterSampling =
    "CUDA graphs of XLA can fail afterwards; XLA_FLAGS=--xla_gpu_enable_command_buffer= runs without graphs, and "
    "samples";

const char* xla_flags() {
  const char* const flags = std::getenv("XLA_FLAGS");
  return flags != nullptr ? flags : "";
}

CUpti_PCSamplingConfigurationInfo setting(CUpti_PCSamplingConfigurationAttributeType type) {
  CUpti_PCSamplingConfigurationInfo made = {};
  made.attributeType = type;
  return made;
}

}  // namespace

InstructionSampling* InstructionSampling::make(Session& session) {
  const char* const wanted = std::getenv(spool::kInstructionsVariable);
  if (wanted == nullptr || std::strcmp(wanted, "on") != 0) return nullptr;
  // Processes of a job that sample at the same time wait for each other in CUPTI, for seconds; their kernels are alike.
  if (rank_on_node().rank > 0) return nullptr;
  auto* const made = new InstructionSampling(session, session.folder);
  if (made->cupti_.complete()) return made;
  delete made;
  return nullptr;
}

InstructionSampling::InstructionSampling(Session& session, std::string folder)
    : session_(session),
      cupti_(cupti().handle()),
      xla_graphs_(allows_xla_graphs(xla_flags())),
      modules_(session, std::move(folder)) {}

void InstructionSampling::context_destroyed(CUcontext context) {
  CUcontext expected = context;
  last_enabled_.compare_exchange_strong(expected, nullptr);
  // CUPTI may be waiting for this very thread in a call of collect().
  const std::unique_lock lock(mutex_, kLockPatience);
  if (!lock) return;
  const auto found = sampled_.find(context);
  if (found == sampled_.end() || !gate_.close(kLongestCall)) return;
  close(context, found->second, true);
  gate_.open();
  sampled_.erase(found);
  write();
}

void InstructionSampling::before_launch(CUcontext context) {
  if (!on_ || context == nullptr) return;
  const bool begins = !ending_ && last_enabled_.load(std::memory_order_relaxed) != context && !refused_ &&
                      now() - began_ > kLongestCall;
  if (!begins && !ending_) return;
  // Another thread's attempt, or collect(): the next launch will do.
  const std::unique_lock lock(mutex_, std::try_to_lock);
  if (!lock || !on_) return;
  const bool known = sampled_.contains(context);
  if (!ending_ && known) last_enabled_ = context;
  if ((!ending_ && known) || !gate_.close(kLongestCall)) return;
  if (ending_) {
    close_all(true);
  } else {
    enable(context);
    last_enabled_ = context;
  }
  gate_.open();
}

void InstructionSampling::begin() {
  const std::lock_guard lock(mutex_);
  if (on_ || refused_) return;
  began_ = now();
  on_ = true;
}

void InstructionSampling::collect() {
  const std::lock_guard lock(mutex_);
  // Meanwhile no thread may load code or launch: CUPTI finds the functions of its samples in what is loaded. Where a
  // call does not end in time, CUPTI keeps the samples for the next time.
  if (!on_ || sampled_.empty() || !gate_.close(kLongestCall)) return;
  for (auto& [context, sampled] : sampled_) read(context, sampled);
  gate_.open();
}

void InstructionSampling::end() {
  const std::lock_guard lock(mutex_);
  if (!on_ || ending_) return;
  ending_ = true;
  if (sampled_.empty()) close_all(false);
}

void InstructionSampling::finish() {
  const std::unique_lock lock(mutex_, kLockPatience);
  if (lock && on_) close_all(false);
}

void InstructionSampling::close_all(bool disable) {
  const std::uint64_t start = now();
  for (auto& [context, sampled] : sampled_) close(context, sampled, disable);
  const bool any = !sampled_.empty();
  // CUPTI writes to the buffers of contexts in which it is still on.
  if (disable) sampled_.clear();
  last_enabled_ = nullptr;
  if (disable) claims_.give();
  on_ = ending_ = false;
  write();
  if (any) write_overhead(start);
}

void InstructionSampling::write_overhead(std::uint64_t start) {
  session_.spool.write(spool::Type::overhead,
                       spool::Overhead{start, now(), session_.spool.text(spool::kInstructionsOverhead), 0});
}

void InstructionSampling::enable(CUcontext context) {
  // With CUPTI 13.0 on an H200, a graph of copies alone that XLA launched after sampling had ended failed, and with it
  // the program (docs/evidence/profile-counting.md). XLA makes such graphs of any program.
  if (xla_graphs_ && is_xla_loaded()) {
    refuse(kAfterSampling);
    return;
  }
  CUpti_PCSamplingEnableParams asked = {};
  asked.size = CUpti_PCSamplingEnableParamsSize;
  asked.ctx = context;
  CUdevice device = 0;
  if (driver().context_device != nullptr) driver().context_device(&device);
  if (!claims_.take(device)) {
    refuse(CounterClaims::kTaken);
    return;
  }
  Sampled& sampled = sampled_[context];
  sampled.start = now();
  sampled.device = device;
  CUptiResult status = cupti_.enable(&asked);
  if (status == CUPTI_SUCCESS) {
    learn_reasons(context, sampled);
    status = configure(context, sampled);
    if (status == CUPTI_SUCCESS) {
      write_overhead(sampled.start);
      return;
    }
    CUpti_PCSamplingDisableParams undone = {};
    undone.size = CUpti_PCSamplingDisableParamsSize;
    undone.ctx = context;
    cupti_.disable(&undone);
  }
  sampled_.erase(context);
  if (sampled_.empty()) claims_.give();
  const std::string remedy = cupti_remedy(status);
  refuse(remedy.empty() ? cupti_message(cupti_.handle(), status) : remedy);
}

void InstructionSampling::refuse(const std::string& reason) {
  refused_ = true;
  session_.spool.note(spool::NoteCode::remark, "instructions were not sampled: " + reason);
}

void InstructionSampling::learn_reasons(CUcontext context, Sampled& sampled) {
  std::size_t count = 0;
  CUpti_PCSamplingGetNumStallReasonsParams number = {};
  number.size = CUpti_PCSamplingGetNumStallReasonsParamsSize;
  number.ctx = context;
  number.numStallReasons = &count;
  if (cupti_.count_reasons(&number) != CUPTI_SUCCESS || count == 0 || count > kMostReasons) return;
  std::vector<std::array<char, CUPTI_STALL_REASON_STRING_SIZE>> names(count);
  std::vector<char*> pointers;
  pointers.reserve(count);
  for (auto& name : names) pointers.push_back(name.data());
  sampled.reasons.resize(count);
  CUpti_PCSamplingGetStallReasonsParams list = {};
  list.size = CUpti_PCSamplingGetStallReasonsParamsSize;
  list.ctx = context;
  list.numStallReasons = count;
  list.stallReasonIndex = sampled.reasons.data();
  list.stallReasons = pointers.data();
  if (cupti_.reasons(&list) != CUPTI_SUCCESS) {
    sampled.reasons.clear();
    return;
  }
  for (std::size_t i = 0; i < count; ++i) {
    if (!reasons_.insert(sampled.reasons[i]).second) continue;
    names[i].back() = '\0';
    session_.spool.write(spool::Type::stall_reason,
                         spool::StallReason{sampled.reasons[i], session_.spool.text(names[i].data())});
  }
}

void InstructionSampling::Buffer::prepare(std::size_t reasons) {
  places.assign(kPlaces, {});
  stalls.assign(kPlaces * reasons, {});
  for (std::size_t i = 0; i < kPlaces; ++i) {
    places[i].size = sizeof(CUpti_PCSamplingPCData);
    places[i].stallReason = &stalls[i * reasons];
  }
  data = {};
  data.size = sizeof(CUpti_PCSamplingData);
  data.collectNumPcs = kPlaces;
  data.pPcData = places.data();
}

CUptiResult InstructionSampling::configure(CUcontext context, Sampled& sampled) {
  if (sampled.reasons.empty()) return CUPTI_ERROR_NOT_SUPPORTED;
  sampled.read.prepare(sampled.reasons.size());
  sampled.rest.prepare(sampled.reasons.size());
  std::array settings = {setting(CUPTI_PC_SAMPLING_CONFIGURATION_ATTR_TYPE_COLLECTION_MODE),
                         setting(CUPTI_PC_SAMPLING_CONFIGURATION_ATTR_TYPE_SAMPLING_PERIOD),
                         setting(CUPTI_PC_SAMPLING_CONFIGURATION_ATTR_TYPE_STALL_REASON),
                         setting(CUPTI_PC_SAMPLING_CONFIGURATION_ATTR_TYPE_SAMPLING_DATA_BUFFER)};
  settings[0].attributeData.collectionModeData.collectionMode = CUPTI_PC_SAMPLING_COLLECTION_MODE_CONTINUOUS;
  settings[1].attributeData.samplingPeriodData.samplingPeriod = kPeriodExponent;
  settings[2].attributeData.stallReasonData.stallReasonCount = sampled.reasons.size();
  settings[2].attributeData.stallReasonData.pStallReasonIndex = sampled.reasons.data();
  settings[3].attributeData.samplingDataBufferData.samplingDataBuffer = &sampled.rest.data;
  CUpti_PCSamplingConfigurationInfoParams given = {};
  given.size = CUpti_PCSamplingConfigurationInfoParamsSize;
  given.ctx = context;
  given.numAttributes = settings.size();
  given.pPCSamplingConfigurationInfo = settings.data();
  return cupti_.configure(&given);
}

void InstructionSampling::read(CUcontext context, Sampled& sampled) {
  CUpti_PCSamplingGetDataParams asked = {};
  asked.size = CUpti_PCSamplingGetDataParamsSize;
  asked.ctx = context;
  asked.pcSamplingData = &sampled.read.data;
  constexpr int kMostReads = 64;
  for (int i = 0; i < kMostReads; ++i) {
    if (cupti_.data(&asked) != CUPTI_SUCCESS) return;
    take(sampled, sampled.read);
    if (sampled.read.data.remainingNumPcs == 0) return;
  }
}

/// The function's name belongs to CUPTI: records share it.
void InstructionSampling::take(Sampled& sampled, Buffer& buffer) {
  CUpti_PCSamplingData& data = buffer.data;
  sampled.samples += data.totalSamples;
  sampled.dropped += data.droppedSamples;
  sampled.elsewhere += data.nonUsrKernelsTotalSamples;
  for (std::size_t i = 0; i < std::min(data.totalNumPcs, buffer.places.size()); ++i) {
    const CUpti_PCSamplingPCData& at = buffer.places[i];
    auto& by_reason = samples_[{at.cubinCrc, at.pcOffset, at.functionName != nullptr ? at.functionName : ""}];
    for (std::size_t j = 0; j < std::min(at.stallReasonCount, sampled.reasons.size()); ++j) {
      by_reason[at.stallReason[j].pcSamplingStallReasonIndex] += at.stallReason[j].samples;
    }
  }
  data.totalSamples = data.droppedSamples = data.nonUsrKernelsTotalSamples = 0;
  data.totalNumPcs = 0;
}

void InstructionSampling::close(CUcontext context, Sampled& sampled, bool disable) {
  read(context, sampled);
  if (disable) {
    CUpti_PCSamplingDisableParams asked = {};
    asked.size = CUpti_PCSamplingDisableParamsSize;
    asked.ctx = context;
    if (cupti_.disable(&asked) == CUPTI_SUCCESS) take(sampled, sampled.rest);
  }
  session_.spool.write(
      spool::Type::instruction_phase,
      spool::InstructionPhase{sampled.start, now(), sampled.samples, sampled.dropped, sampled.elsewhere,
                              static_cast<std::uint32_t>(sampled.device), std::uint32_t{1} << kPeriodExponent});
}

void InstructionSampling::write() {
  std::set<std::uint64_t> codes;
  for (const auto& [place, by_reason] : samples_) {
    const auto& [code, offset, symbol] = place;
    codes.insert(code);
    const spool::Id function = session_.spool.text(symbol);
    for (const auto& [reason, samples] : by_reason) {
      if (samples == 0) continue;
      session_.spool.write(spool::Type::instruction_samples,
                           spool::InstructionSamples{code, offset, samples, function, reason});
    }
  }
  samples_.clear();
  modules_.name(codes, cupti_);
}

}  // namespace roofline::inject
