// The work of operators, booked once over the kernels that each call of them launched.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "import/imported.hpp"
#include "model/work.hpp"

namespace roofline::kineto {

struct KernelOfOperator {
  std::uint32_t operation = 0;  ///< the call of the operator; kNoSpan: none
  std::uint32_t signature = 0;
  spool::Id kind = 0;
  spool::Id row = 0;       ///< kinds of one row of the report: those of all iterations of a range
  std::uint32_t name = 0;  ///< word
  std::uint64_t start = 0, length = 0;
  std::uint32_t device = 0, stream = 0;
};

/// Which kernels of an operator's call do its work.
enum class WorkRule : std::uint8_t {
  none,           ///< not known
  alone,          ///< one that has no others beside it
  longest,        ///< those of the launch signature that takes longest
  data_gradient,  ///< the same, among the kernels of that gradient
  weight_gradient
};

/// What a launch of a kind does, on average over its row.
struct BookedKind {
  spool::Id kind = 0;
  std::uint32_t signature = 0, name = 0;  ///< of its kernels
  std::uint32_t siblings = 0;             ///< most kernels of a call that it was launched by
  double share = 0;                       ///< of the operator's work; 0: none
};

/// One entry per kind; a kernel that is in the file twice counts once. The shares of a call's kernels add up to 1, or
/// are all 0 if the division is unknown.
std::vector<BookedKind> book_work(std::vector<KernelOfOperator> kernels,
                                  const std::function<WorkRule(const KernelOfOperator&)>& rule);

/// That part of the work.
Work part_of(const Work& work, double share);

}  // namespace roofline::kineto
