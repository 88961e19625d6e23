// How enumerations of a profile are spelled in files.
#include <array>

#include "model/spelling.hpp"
#include "report/profile.hpp"

namespace roofline {
namespace {

constexpr std::array<std::string_view, 61> kSavingCauses = {"data_loading",
                                                            "few_workers",
                                                            "pageable_copy",
                                                            "repeated_copy",
                                                            "repeated_cast",
                                                            "item_sync",
                                                            "synchronize",
                                                            "logging_sync",
                                                            "profiler_on",
                                                            "gil",
                                                            "tiny_kernels",
                                                            "unfused_attention",
                                                            "masked_attention",
                                                            "unfused_optimizer",
                                                            "allocation",
                                                            "recompilation",
                                                            "checkpointing",
                                                            "no_tf32",
                                                            "double_precision",
                                                            "unaligned_product",
                                                            "indexed_sum",
                                                            "full_sort",
                                                            "unused_results",
                                                            "one_hot",
                                                            "padding",
                                                            "fft_length",
                                                            "layout_copy",
                                                            "small_batch",
                                                            "wait_disk",
                                                            "wait_network",
                                                            "wait_queue",
                                                            "wait_lock",
                                                            "sleep",
                                                            "slow_steps",
                                                            "host_python",
                                                            "host_native",
                                                            "module_load",
                                                            "launch_rate",
                                                            "fusion",
                                                            "kernel",
                                                            "memory_growth",
                                                            "fragmentation",
                                                            "out_of_memory",
                                                            "host_memory_growth",
                                                            "copies",
                                                            "between_kernels",
                                                            "late_stream",
                                                            "late_rank",
                                                            "slow_gpu",
                                                            "unequal_work",
                                                            "serial_part",
                                                            "uneven_ranks",
                                                            "uneven_hosts",
                                                            "barrier",
                                                            "exposed_communication",
                                                            "small_messages",
                                                            "slow_link",
                                                            "shared_gpu",
                                                            "communication_hook",
                                                            "new_communicators",
                                                            "unknown_idle"};
static_assert(kSavingCauses.size() == static_cast<std::size_t>(SavingCause::unknown_idle) + 1);

constexpr std::array<std::string_view, 3> kStepSources = {"repetition", "range", "optimizer"};
constexpr std::array<std::string_view, kStartUpParts> kStartUp = {"before_cuda", "counting", "loading", "allocating",
                                                                  "compiling",   "gpu",      "host"};
constexpr std::array<std::string_view, 5> kBetweenWorks = {"launched", "saving", "compiling", "starting_workers",
                                                           "computing"};
constexpr std::array<std::string_view, 2> kMemorySources = {"torch", "cuda"};
constexpr std::array<std::string_view, 4> kLaneKinds = {"stream", "idle", "calls", "samples"};

}  // namespace

std::string_view to_string(SavingCause cause) { return spell(kSavingCauses, cause); }
std::string_view to_string(StepSource source) { return spell(kStepSources, source); }
std::string_view to_string(LaneKind kind) { return spell(kLaneKinds, kind); }
std::string_view to_string(BetweenWork work) { return spell(kBetweenWorks, work); }
std::string_view to_string(StartUpPart part) { return spell(kStartUp, part); }
std::optional<SavingCause> parse_saving_cause(std::string_view text) {
  return unspell<SavingCause>(kSavingCauses, text);
}
std::optional<LaneKind> parse_lane_kind(std::string_view text) { return unspell<LaneKind>(kLaneKinds, text); }
std::string_view to_string(MemorySource source) { return spell(kMemorySources, source); }
std::optional<MemorySource> parse_memory_source(std::string_view text) {
  return unspell<MemorySource>(kMemorySources, text);
}
std::optional<StepSource> parse_step_source(std::string_view text) { return unspell<StepSource>(kStepSources, text); }
std::optional<BetweenWork> parse_between_work(std::string_view text) {
  return unspell<BetweenWork>(kBetweenWorks, text);
}
std::optional<StartUpPart> parse_start_up_part(std::string_view text) { return unspell<StartUpPart>(kStartUp, text); }

}  // namespace roofline
