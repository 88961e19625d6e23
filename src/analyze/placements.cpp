// Offsets are multiples of the elements' sizes, as CasePlacement requires.
#include "analyze/placements.hpp"

#include <algorithm>
#include <variant>

#include "model/find.hpp"
#include "user/binding.hpp"
#include "user/user_implementation.hpp"

namespace roofline {
namespace {

constexpr std::int64_t kLine = 64;
constexpr std::int64_t kStagger = 17 * kLine;

}  // namespace

CasePlacement staggered_placement(std::size_t tensors) {
  CasePlacement placement;
  for (std::size_t t = 0; t < tensors; ++t) placement.offsets.push_back(static_cast<std::int64_t>(t) * kStagger);
  return placement;
}

std::optional<CasePlacement> aligned_placement(const SuiteEntry& entry, const Workload& workload) {
  const auto tensors = kernel_tensors(*entry.kernel, workload);
  const auto all = configurations(*entry.kernel);
  const auto* configuration = find_in(all, [&](const Configuration& one) {
    return one.text.empty() || entry.workload.implementation.ends_with(one.text);
  });
  if (configuration == nullptr) return std::nullopt;
  CasePlacement aligned{.offsets = std::vector<std::int64_t>(tensors.size())};
  for (const BoundStep& step : bind_kernel(*entry.kernel, *configuration, workload, tensors).steps) {
    for (const BoundArgument& argument : step.arguments) {
      const auto* pointer = std::get_if<BoundPointer>(&argument);
      if (pointer == nullptr || pointer->buffer >= tensors.size()) continue;
      if (pointer->offset_bytes % kLine != 0) aligned.offsets[pointer->buffer] = kLine - pointer->offset_bytes % kLine;
    }
  }
  const bool moves = std::any_of(aligned.offsets.begin(), aligned.offsets.end(), [](auto one) { return one != 0; });
  return moves ? std::optional(aligned) : std::nullopt;
}

std::vector<CasePlacement> shifted_placements(const SuiteEntry& entry, const Workload& workload) {
  std::vector<CasePlacement> placements;
  for (const bool forwards : {false, true}) {
    CasePlacement& moved = placements.emplace_back();
    for (const TensorSpec& tensor : kernel_tensors(*entry.kernel, workload)) {
      const std::int64_t element = element_size(tensor.dtype);
      moved.offsets.push_back(tensor.role == TensorRole::input ? (forwards ? element : kLine - element) : 0);
    }
  }
  return placements;
}

}  // namespace roofline
