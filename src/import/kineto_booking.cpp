#include "import/kineto_booking.hpp"

#include <algorithm>
#include <map>
#include <span>
#include <tuple>

#include "import/kineto_context.hpp"

namespace roofline::kineto {
namespace {

class WorkBooking {
 public:
  explicit WorkBooking(const std::function<WorkRule(const KernelOfOperator&)>& rule) : rule_(rule) {}

  void measure(const KernelOfOperator& kernel) {
    rows_of_[kernel.kind] = kernel.row;
    RowSum& sum = rows_[kernel.row];
    sum.booked = {.kind = kernel.kind, .signature = kernel.signature, .name = kernel.name};
    sum.rule = kernel.operation == kNoSpan ? WorkRule::none : rule_(kernel);
    sum.launches += 1;
    sum.length += static_cast<double>(kernel.length);
  }

  /// The kernels of one call of an operator.
  void book(std::span<const KernelOfOperator> call) {
    for (const KernelOfOperator& kernel : call) {
      BookedKind& booked = rows_.at(kernel.row).booked;
      booked.siblings = std::max(booked.siblings, static_cast<std::uint32_t>(call.size()));
    }
    if (call.size() == 1 && rows_.at(call.front().row).rule == WorkRule::alone) share(call.front().row, 1);
    for (const WorkRule rule : {WorkRule::longest, WorkRule::data_gradient, WorkRule::weight_gradient}) {
      book_longest(call, rule);
    }
  }

  std::vector<BookedKind> done() const {
    std::vector<BookedKind> all;
    for (const auto& [kind, row] : rows_of_) {
      const RowSum& sum = rows_.at(row);
      all.push_back(sum.booked);
      all.back().kind = kind;
      // Where most launches have others beside them, a share would be of the few that have not.
      const bool rarely_alone = sum.rule == WorkRule::alone && sum.shares <= sum.launches / 2;
      all.back().share = rarely_alone ? 0 : sum.shares / sum.launches;
    }
    return all;
  }

 private:
  struct RowSum {
    BookedKind booked;
    WorkRule rule = WorkRule::none;
    double launches = 0, length = 0, shares = 0;
    double mean() const { return length / launches; }
  };

  void share(spool::Id row, double part) { rows_.at(row).shares += part; }

  /// By the mean over the trace, which does not differ from call to call.
  void book_longest(std::span<const KernelOfOperator> call, WorkRule rule) {
    spool::Id longest = 0;
    for (const KernelOfOperator& kernel : call) {
      const RowSum& sum = rows_.at(kernel.row);
      if (sum.rule == rule && (longest == 0 || sum.mean() > rows_.at(longest).mean())) longest = kernel.row;
    }
    if (longest != 0) share(longest, 1);
  }

  const std::function<WorkRule(const KernelOfOperator&)>& rule_;
  std::map<spool::Id, RowSum> rows_;
  std::map<spool::Id, spool::Id> rows_of_;  ///< of kinds
};

}  // namespace

std::vector<BookedKind> book_work(std::vector<KernelOfOperator> kernels,
                                  const std::function<WorkRule(const KernelOfOperator&)>& rule) {
  const auto key = [](const KernelOfOperator& kernel) {
    return std::tie(kernel.operation, kernel.kind, kernel.device, kernel.stream, kernel.start);
  };
  std::sort(kernels.begin(), kernels.end(), [&](const auto& a, const auto& b) { return key(a) < key(b); });
  const auto repeats = [&](const auto& a, const auto& b) { return a.length > 0 && key(a) == key(b); };
  kernels.erase(std::unique(kernels.begin(), kernels.end(), repeats), kernels.end());
  WorkBooking booking(rule);
  for (const KernelOfOperator& kernel : kernels) booking.measure(kernel);
  const std::span<const KernelOfOperator> all = kernels;
  for (std::size_t begin = 0; begin < all.size() && all[begin].operation != kNoSpan;) {
    std::size_t end = begin + 1;
    while (end < all.size() && all[end].operation == all[begin].operation) ++end;
    booking.book(all.subspan(begin, end - begin));
    begin = end;
  }
  return booking.done();
}

Work part_of(const Work& work, double share) {
  Work part = work;
  for (auto* operations : {&part.flops, &part.uncounted}) {
    for (auto& [pipe, count] : *operations) count *= share;
  }
  for (auto& [level, bytes] : part.bytes) {
    bytes.read *= share;
    bytes.write *= share;
  }
  part.extra.read *= share;
  part.extra.write *= share;
  if (part.write_only) *part.write_only *= share;
  return part;
}

}  // namespace roofline::kineto
