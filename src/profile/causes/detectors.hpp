// Detectors for causes_of(), one file per family.
#pragma once

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "model/machine.hpp"
#include "profile/actions.hpp"
#include "profile/causes/step_activities.hpp"
#include "report/report.hpp"

namespace roofline {

class SourceTexts;

/// A cause, and the copies and kernels whose time it would save.
struct FoundCause {
  Saving saving;
  std::set<const Activity*> activities;
  bool in_part = false;  ///< it is a part of the work of each, and other causes may be in the rest
};

struct CauseInputs;

/// Kernels with one fault.
struct FaultyKernels {
  FaultyActivities sum;
  std::set<const Activity*> activities = {};

  void add(const StepActivities& steps, const StepActivity& kernel);
  /// "40 products in fp64, 12 ms, 30 % of the kernel time".
  std::string amount(const StepActivities& steps, std::string_view what) const;
  /// A cause that saves all of their time, at the line and row with most of it. Its description is left empty.
  FoundCause cause(SavingCause cause, const CauseInputs& inputs, CauseDetail detail = CauseDetail::none) const;
};

struct CauseInputs {
  const StepActivities& steps;
  const std::vector<Point>& points;
  const Machine& machine;
  Framework framework = Framework::cuda;
  SourceTexts* sources = nullptr;          ///< null: the program's source text is not known
  std::set<const Activity*> claimed = {};  ///< claimed by earlier causes: excluded

  bool free(const StepActivity& activity) const { return !claimed.contains(activity.activity); }
};

/// Unclaimed kernels for which `is_faulty` holds: their sum, and by program line.
using IsFaulty = std::function<bool(const StepActivity&)>;
FaultyKernels faulty_kernels(const CauseInputs& inputs, const IsFaulty& is_faulty);
std::map<std::string, FaultyKernels> faulty_kernels_by_line(const CauseInputs& inputs, const IsFaulty& is_faulty);

/// The cause of all these kernels at the line that has most of them; `saved`: of their time. None if they take little.
std::vector<FoundCause> found_if_large(const FaultyKernels& kernels, const CauseInputs& inputs, SavingCause cause,
                                       double saved, const char* noun, CauseDetail detail = CauseDetail::none);

/// A row; null if it is none of them.
const Point* point_of_row(const std::vector<Point>& points, int row);

/// What a row's launch moves at that level, as counted or modelled; zeros: unknown.
Traffic traffic_of_row(const std::vector<Point>& points, int row, Level level);

/// Bytes of a row's launch that pass the caches of the SMs, or main memory; 0: unknown.
double bytes_of_row(const std::vector<Point>& points, int row);

/// The part of a row's time above its roof; `unknown` without a roof, or above it.
double lost_share(const std::vector<Point>& points, int row, double unknown);

/// The text of the program line that launches it, or of one so many lines after that; empty where it is not known.
std::string source_line(const CauseInputs& inputs, const StepActivity& kernel, std::int64_t after = 0);
/// True if that line, or one of the two before it, contains one of these: a view of a tensor has no kernel of its own.
bool is_near_text(const CauseInputs& inputs, const StepActivity& kernel, std::initializer_list<std::string_view> texts);

// communication_hooks.cpp
std::vector<FoundCause> find_communication_hooks(const CauseInputs& inputs);
// copies.cpp
std::vector<FoundCause> find_repeated_copies(const CauseInputs& inputs);
std::vector<FoundCause> find_small_copies(const CauseInputs& inputs);
std::vector<FoundCause> find_pageable_copies(const CauseInputs& inputs);
// migrations.cpp
std::vector<FoundCause> find_migrations(const CauseInputs& inputs);
// promotions.cpp
/// An elementwise kernel of CuPy that combines an array of single precision with one of double precision.
bool promotes_to_double(std::string_view symbol);
std::vector<FoundCause> find_promotions(const CauseInputs& inputs);
// growth.cpp
/// What an assignment such as "self.k = torch.cat([self.k, k])" grows.
enum class Growth : std::uint8_t {
  none,
  local,  ///< a local variable, as also in networks that concatenate features
  kept    ///< an attribute or an element, which outlives the call
};
Growth growth_at(std::string_view text);
std::vector<FoundCause> find_grown_tensors(const CauseInputs& inputs);
// casts.cpp
std::vector<FoundCause> find_repeated_casts(const CauseInputs& inputs);
// layouts.cpp
/// Conversions around convolutions, and what batch normalisation takes above its roof in the same layout.
std::vector<FoundCause> find_channels_first(const CauseInputs& inputs);
std::vector<FoundCause> find_layout_copies(const CauseInputs& inputs);
// attention.cpp
std::vector<FoundCause> find_unfused_attention(const CauseInputs& inputs);
/// True if a call of PyTorch's scaled_dot_product_attention has a mask among its arguments.
bool gives_mask(std::string_view call);
/// False if the attention kernel has no mask as a tensor, although such a call gives one.
bool may_have_mask(std::string_view symbol, std::string_view call);
std::vector<FoundCause> find_masked_attention(const CauseInputs& inputs);
// streams.cpp
std::vector<FoundCause> find_default_streams(const CauseInputs& inputs);
// library_choices.cpp
std::vector<FoundCause> find_unaligned_products(const CauseInputs& inputs);
std::vector<FoundCause> find_indexed_sums(const CauseInputs& inputs);
std::vector<FoundCause> find_sparse_builds(const CauseInputs& inputs);
std::vector<FoundCause> find_full_sorts(const CauseInputs& inputs);
/// Lines that sort data of one size several times per step. Whether the keys are the same is not known.
std::vector<FoundCause> find_repeated_sorts(const CauseInputs& inputs);
std::vector<FoundCause> find_one_hot_products(const CauseInputs& inputs);
std::vector<FoundCause> find_unfavourable_transforms(const CauseInputs& inputs);
// unused_results.cpp
/// Products followed by a line that takes the last position of their result, by a kernel that moves little of it, and
/// products whose result is freed before the kernels after them can have read much of it.
std::vector<FoundCause> find_unused_results(const CauseInputs& inputs);
// compiled_loops.cpp
std::vector<FoundCause> find_compiled_loops(const CauseInputs& inputs);
// padding.cpp
std::vector<FoundCause> find_padding(const CauseInputs& inputs);
// embeddings.cpp
std::vector<FoundCause> find_dense_embeddings(const CauseInputs& inputs);
// optimizers.cpp
/// Values read and written per parameter: by Adam in one kernel, and on average by a kernel for one operation.
inline constexpr double kValuesOfAdam = 7, kValuesOfAPass = 2.5;
/// A kernel on lists of parameters, outside of the backward pass.
bool updates_lists(const StepActivity& kernel);
std::vector<FoundCause> find_unfused_optimizers(const CauseInputs& inputs);
std::vector<FoundCause> find_optimizer_passes(const CauseInputs& inputs);
// checkpoints.cpp
std::vector<FoundCause> find_checkpointing(const CauseInputs& inputs);
// products.cpp
std::vector<FoundCause> find_plain_fp32_products(const CauseInputs& inputs);
std::vector<FoundCause> find_double_precision_products(const CauseInputs& inputs);
std::vector<FoundCause> find_small_grids(const CauseInputs& inputs);

/// Sources of the copies of one process, by the call; one map for each process.
using CopySources = std::unordered_map<std::uint32_t, const spool::CopySource*>;
std::vector<CopySources> copy_sources(const Recording& recording);

/// Largest copy, in bytes, whose time is dominated by the call and not by the link.
inline constexpr std::uint64_t kSmallCopy = 64 << 10;

/// A place in one process that sends many small copies to the GPU in each step.
struct CopyPlace {
  int process = 0;
  spool::Id place = 0;

  auto operator<=>(const CopyPlace&) const = default;  // NOLINT(modernize-use-nullptr): clang-tidy 14
};
std::set<CopyPlace> places_of_small_copies(const StepActivities& steps);

/// Copies of tensors that nearly every step copies to a GPU with the same contents.
std::set<const Activity*> repeated_copies(const StepActivities& steps);

/// Launches of one optimizer update that uses a kernel per parameter and operation.
struct OptimizerRun {
  std::vector<const StepActivity*> launches;
  std::size_t period = 1;  ///< kernels per parameter
};
/// Elementwise kernels after a backward pass, on one line, repeated for each parameter.
std::vector<OptimizerRun> optimizer_runs(const StepActivities& steps);

/// Smallest fraction of the steps' time that is worth a finding.
inline constexpr double kLeastShareOfSteps = 0.01;

}  // namespace roofline
