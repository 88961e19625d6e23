#include "report/diagnosis/remark_action.hpp"

#include <algorithm>
#include <array>

namespace roofline {
namespace {

constexpr std::string_view kAlias =
    "Declare the pointers restrict (__restrict in C++), and copy what the loop reads through pointers into local "
    "variables before it.";
constexpr std::string_view kBound =
    "Copy the loop's bound into a local variable before it: the compiler assumes that a store in the loop changes "
    "it. Do not leave the loop early.";
constexpr std::string_view kReduction =
    "Let the compiler reorder the sum: -ffast-math, or #pragma omp simd reduction(+:sum).";
constexpr std::string_view kCall =
    "Let the compiler inline the call (define it in this file or a header, -flto), or move it out of the loop.";
constexpr std::string_view kStride =
    "Let consecutive iterations access adjacent elements: arrays of each field (SoA), or another loop order.";
constexpr std::string_view kBranch = "Select values without branches (?:, std::min, std::max).";

struct RemarkAction {
  std::string_view part, action;
};
constexpr auto kActions = std::to_array<RemarkAction>({{"number of iterations cannot be computed", kBound},
                                                       {"could not determine number of loop iterations", kBound},
                                                       {"possible alias", kAlias},
                                                       {"versioning for alias", kAlias},
                                                       {"unsafe dependent memory operations", kAlias},
                                                       {"reorder memory operations", kAlias},
                                                       {"cannot identify array bounds", kAlias},
                                                       {"reorder floating-point operations", kReduction},
                                                       {"clobbers memory", kCall},
                                                       {"call instruction cannot be vectorized", kCall},
                                                       {"complicated access pattern", kStride},
                                                       {"control flow in loop", kBranch}});

}  // namespace

std::string_view action_for_remark(std::string_view remark) {
  const auto found = std::ranges::find_if(
      kActions, [remark](const RemarkAction& of) { return remark.find(of.part) != std::string_view::npos; });
  return found == kActions.end() ? std::string_view() : found->action;
}

}  // namespace roofline
