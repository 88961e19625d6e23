#include "import/ncu_samples.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <tuple>
#include <utility>

#include "import/ncu_metrics.hpp"
#include "profile/warp_waits.hpp"
#include "text/format.hpp"

namespace roofline {
namespace {

constexpr std::size_t kMostCode = std::size_t{512} << 20, kMostSourceText = std::size_t{64} << 20;
constexpr std::size_t kMostSources = std::size_t{1} << 20, kMostKernelNames = std::size_t{64} << 20;
/// Limit of counts: one for each kernel, instruction and reason.
constexpr std::size_t kMostRecords = std::size_t{1} << 20;
constexpr std::size_t kMostReasons = 256;
/// Limit of one count, so that no sum overflows.
constexpr std::uint64_t kMostSamples = std::uint64_t{1} << 36, kMostTotal = std::uint64_t{1} << 58;
/// Bytes of a kernel's code.
constexpr std::uint64_t kLongestKernel = std::uint64_t{1} << 26;
/// Alignment of a kernel's start.
constexpr std::uint64_t kAlignment = 128;

/// Both are limited.
void add_to(std::uint64_t& total, std::uint64_t samples) { total = std::min(total + samples, kMostTotal); }

/// Cycles from sample to sample of an SM; 0: not in the report.
std::uint32_t period_of(const NcuLaunch& launch) {
  constexpr double kMost = 4e9, kMostInterval = 26, kLeastCycles = 32;
  if (const auto cycles = ncu_value(launch, "smsp__pcsamp_interval_cycles"); cycles && *cycles < kMost) {
    return static_cast<std::uint32_t>(*cycles);
  }
  // As in --sampling-interval.
  const auto interval = ncu_value(launch, "smsp__pcsamp_interval");
  if (!interval || *interval > kMostInterval) return 0;
  return static_cast<std::uint32_t>(std::exp2(*interval) * kLeastCycles);
}

bool lost_samples(const NcuLaunch& launch) {
  return ncu_value(launch, "smsp__pcsamp_dropped_bytes").value_or(0) > 0 ||
         ncu_value(launch, "smsp__pcsamp_sample_buffer_full").value_or(0) > 0;
}

auto key_of(const spool::InstructionSamples& record) {
  return std::tuple(record.code, record.function, record.offset, record.reason);
}

}  // namespace

void NcuSamples::add_source(NcuSource source) {
  if (sources_.size() >= kMostSources) return;
  KeptSource kept;
  for (const auto& [symbol, begin] : source.kernels) name_bytes_ += symbol.size() + sizeof(symbol);
  if (name_bytes_ <= kMostKernelNames) kept.kernels = std::move(source.kernels);
  if (!source.code.empty()) {
    // Reports number their code each for themselves; joined ones have samples in one report.
    const std::uint64_t code = std::max<std::uint64_t>(std::hash<std::string>()(source.code), 1);
    const bool known = code_.contains(code), fits = source.code.size() <= kMostCode - code_bytes_;
    if (!known && fits) {
      code_bytes_ += source.code.size();
      code_.emplace(code, std::move(source.code));
    }
    if (known || fits) kept.code = code;
    code_left_out_ |= !known && !fits;
  }
  for (auto& [path, text] : source.files) {
    if (files_.contains(path) || text.size() > kMostSourceText - file_bytes_) continue;
    file_bytes_ += text.size();
    files_.emplace(path, std::move(text));
  }
  sources_.insert_or_assign(source.id, std::move(kept));
}

std::optional<std::uint32_t> NcuSamples::reason(std::string_view metric) {
  if (stall_reason(metric).empty()) return std::nullopt;
  if (const auto known = reasons_.find(metric); known != reasons_.end()) return known->second;
  if (reason_names_.size() >= kMostReasons) return std::nullopt;
  const auto number = static_cast<std::uint32_t>(reason_names_.size());
  reasons_.emplace(metric, number);
  reason_names_.emplace_back(metric);
  return number;
}

void NcuSamples::add_count(NcuLaunchSamples& samples, const NcuLaunchSamples::At& at) {
  samples.lowest = std::min(samples.lowest.value_or(at.address), at.address);
  const std::uint64_t count = std::min(at.samples, kMostSamples);
  if (count == 0) return;
  if (samples.at.size() >= kMostRecords) {
    add_to(samples.left_out, count);
    return;
  }
  samples.at.push_back({at.address, count, at.reason});
}

std::uint32_t NcuSamples::kernel(std::string_view symbol) {
  const auto [found, is_new] =
      kernels_.try_emplace(std::string(symbol), static_cast<std::uint32_t>(kernel_names_.size()));
  if (is_new) kernel_names_.emplace_back(symbol);
  return found->second;
}

/// As the report says; else the first instruction that ran or was sampled is in the first 128 bytes.
std::uint64_t NcuSamples::begin_of(std::string_view symbol, const NcuLaunchSamples& samples) const {
  const std::uint64_t lowest = samples.lowest.value_or(0);
  if (const auto source = sources_.find(samples.source); source != sources_.end()) {
    const auto stated = source->second.kernels.find(symbol);
    if (stated != source->second.kernels.end()) {
      const bool any = std::any_of(samples.at.begin(), samples.at.end(), [&](const NcuLaunchSamples::At& at) {
        return at.address >= stated->second && at.address - stated->second < kLongestKernel;
      });
      if (any) return stated->second;
    }
  }
  return lowest - lowest % kAlignment;
}

void NcuSamples::add_launch(const NcuLaunch& launch, const NcuLaunchSamples& samples) {
  if (samples.at.empty()) return;
  ++launches_;
  if (lost_samples(launch)) ++cut_off_;
  if (const std::uint32_t period = period_of(launch); period > 0) period_ = period;
  const auto source = sources_.find(samples.source);
  spool::InstructionSamples record = {};
  record.code = source == sources_.end() ? 0 : source->second.code;
  record.function = kernel(launch.name);
  const std::uint64_t begin = begin_of(launch.name, samples);
  for (const NcuLaunchSamples::At& at : samples.at) {
    add_to(taken_, at.samples);
    if (at.address < begin || at.address - begin >= kLongestKernel) {
      add_to(elsewhere_, at.samples);
      continue;
    }
    record.offset = at.address - begin;
    record.samples = at.samples;
    record.reason = at.reason;
    add_record(record);
  }
  add_to(taken_, samples.left_out);
  add_to(left_out_, samples.left_out);
}

void NcuSamples::add_record(const spool::InstructionSamples& record) {
  if (full_) {
    add_to(left_out_, record.samples);
    return;
  }
  records_.push_back(record);
  if (records_.size() < 2 * kMostRecords) return;
  sum_records();
  full_ = records_.size() > kMostRecords;
}

/// One for each kernel, instruction and reason.
void NcuSamples::sum_records() {
  std::sort(records_.begin(), records_.end(), [](const auto& a, const auto& b) { return key_of(a) < key_of(b); });
  std::size_t kept = 0;
  for (std::size_t i = 0; i < records_.size(); ++i) {
    if (kept > 0 && key_of(records_[kept - 1]) == key_of(records_[i])) {
      std::uint64_t& sum = records_[kept - 1].samples;
      sum = std::min(sum + records_[i].samples, kMostSamples);
    } else {
      records_[kept++] = records_[i];
    }
  }
  records_.resize(kept);
}

void NcuSamples::add_notes(ImportedProfile& profile, const std::set<std::uint64_t>& used) const {
  if (used.contains(0)) {
    profile.notes.push_back(
        fmt::format("{} of some sampled kernels: their instructions have no names and no source lines",
                    code_left_out_ ? "no room for the code" : "the report has no code"));
  }
  if (cut_off_ > 0) {
    profile.notes.push_back(
        fmt::format("ncu had no room for all samples of {} of {} launches; collect them with a larger "
                    "--sampling-buffer-size or --sampling-interval",
                    cut_off_, launches_));
  }
  if (left_out_ > 0) {
    profile.notes.push_back(fmt::format("{} of {} samples of instructions are left out: more than {} counts",
                                        count(static_cast<std::int64_t>(left_out_)),
                                        count(static_cast<std::int64_t>(taken_)),
                                        count(static_cast<std::int64_t>(kMostRecords))));
  }
}

void NcuSamples::finish(ImportedProfile& profile) {
  if (launches_ == 0) return;
  ProcessTrace& trace = profile.trace;
  const auto add_text = [&trace](const std::string& text) {
    trace.texts.push_back(text);
    return static_cast<spool::Id>(trace.texts.size() - 1);
  };
  sum_records();
  for (std::size_t i = 0; i < reason_names_.size(); ++i) {
    trace.stall_reasons.push_back({.index = static_cast<std::uint32_t>(i), .name = add_text(reason_names_[i])});
  }
  std::vector<spool::Id> functions;
  functions.reserve(kernel_names_.size());
  for (const std::string& name : kernel_names_) functions.push_back(add_text(name));
  std::set<std::uint64_t> used;
  for (spool::InstructionSamples& record : records_) {
    record.function = functions[record.function];
    used.insert(record.code);
  }
  trace.samples_by = profile.tool;
  trace.instruction_samples = std::move(records_);
  // Samples have no times: ncu runs launches one after another.
  spool::InstructionPhase phase = {};
  phase.samples = taken_;
  phase.dropped = left_out_;
  phase.elsewhere = elsewhere_;
  phase.period = period_;
  trace.instruction_phases.push_back(phase);
  add_notes(profile, used);
  std::erase_if(code_, [&](const auto& code) { return !used.contains(code.first); });
  trace.gpu_code = std::move(code_);
  trace.source_files = std::move(files_);
}

}  // namespace roofline
