// The comparison: |out - ref| of each element against the op's bound for it, on all host threads.
#include "op/compare.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <mutex>
#include <numeric>
#include <random>
#include <vector>

#include "op/host_parallel.hpp"
#include "op/sampling.hpp"
#include "op/tolerance.hpp"

namespace roofline {
namespace {

/// 16,777,216: counts of elements are too long to read without separators.
std::string grouped(std::int64_t count) {
  const std::string digits = std::to_string(count);
  std::string text;
  for (std::size_t i = 0; i < digits.size(); ++i) {
    if (i > 0 && (digits.size() - i) % 3 == 0) text += ',';
    text += digits[i];
  }
  return text;
}

/// The output tensors seen as one row of elements.
class Outputs {
 public:
  Outputs(std::span<const HostTensor> tensors, std::int64_t before) : tensors_(tensors), before_(before) {
    for (const auto& tensor : tensors) starts_.push_back(starts_.back() + tensor.spec().elements);
  }

  std::int64_t elements() const { return starts_.back(); }
  /// Number of elements of all outputs before these.
  std::int64_t before() const { return before_; }

  struct Element {
    std::size_t output;
    double value;
  };
  Element operator[](std::int64_t index) const {
    const auto [tensor, local] = locate(index);
    return {tensor, tensors_[tensor][local]};
  }
  /// An element of an integer output.
  Whole whole(std::int64_t index) const {
    const auto [tensor, local] = locate(index);
    return tensors_[tensor].whole(local);
  }

  /// "y[12]"
  std::string name(std::int64_t index) const {
    const auto [tensor, local] = locate(index);
    return fmt::format("{}[{}]", tensors_[tensor].spec().name, local);
  }

  std::size_t count() const { return tensors_.size(); }
  const TensorSpec& spec(std::size_t tensor) const { return tensors_[tensor].spec(); }

 private:
  std::pair<std::size_t, std::int64_t> locate(std::int64_t index) const {
    const auto after = std::upper_bound(starts_.begin(), starts_.end(), index);
    const auto tensor = static_cast<std::size_t>(after - starts_.begin() - 1);
    return {tensor, index - starts_[tensor]};
  }

  std::span<const HostTensor> tensors_;
  std::int64_t before_;
  std::vector<std::int64_t> starts_{0};
};

struct Blanks {
  std::int64_t unwritten = 0;  ///< elements that still hold the poison
  std::int64_t nan = 0;        ///< NaNs that the kernel wrote
};

Blanks count_blanks(const HostTensor& tensor, std::int64_t begin, std::int64_t end) {
  constexpr std::int64_t kBlock = 4096;
  std::vector<double> values(kBlock);
  const std::int64_t size = element_size(tensor.spec().dtype);
  Blanks blanks;
  for (std::int64_t first = begin; first < end; first += kBlock) {
    const std::span block(values.data(), static_cast<std::size_t>(std::min(kBlock, end - first)));
    tensor.read(first, block);
    // One branch-free pass detects that a block is clean, as nearly all are.
    const bool clean = std::count_if(block.begin(), block.end(), [](double value) { return value != value; }) == 0;
    if (clean) continue;
    for (std::size_t i = 0; i < block.size(); ++i) {
      if (!std::isnan(block[i])) continue;
      const auto bytes = tensor.bytes().subspan(static_cast<std::size_t>((first + static_cast<std::int64_t>(i)) * size),
                                                static_cast<std::size_t>(size));
      const bool poison = std::all_of(bytes.begin(), bytes.end(), [](std::byte byte) { return byte == kPoison; });
      ++(poison ? blanks.unwritten : blanks.nan);
    }
  }
  return blanks;
}

Blanks count_blanks(const HostTensor& tensor) {
  Blanks total;
  std::mutex mutex;
  host_parallel(tensor.spec().elements, std::int64_t{1} << 18, [&](std::int64_t begin, std::int64_t end) {
    const Blanks blanks = count_blanks(tensor, begin, end);
    const std::lock_guard lock(mutex);
    total.unwritten += blanks.unwritten;
    total.nan += blanks.nan;
  });
  return total;
}

/// The compared element of an output whose error is the largest part of what it may be.
struct Worst {
  double share = -1;  ///< error / permitted: from 1 on wrong; infinite where nothing is permitted
  double error = 0, permitted = 0, expected = 0;
};

double share_of(double error, double permitted) {
  if (error == 0) return 0;
  return permitted > 0 ? error / permitted : std::numeric_limits<double>::infinity();
}

/// 0 only if they are equal.
double distance(Whole a, Whole b) { return static_cast<double>(a > b ? a - b : b - a); }

/// Result of comparing some elements. NaN errors are counted as bad and excluded from `worst`.
struct Findings {
  std::vector<Worst> worst;  ///< by output
  std::vector<bool> nan;     ///< by output
  std::int64_t bad = 0;
  std::int64_t unknown = 0;  ///< elements whose value is not known exactly enough to compare them
  std::int64_t first = std::numeric_limits<std::int64_t>::max();
  std::string difference = {};  ///< of the first bad one

  explicit Findings(std::size_t outputs) : worst(outputs), nan(outputs) {}

  void merge(const Findings& other) {
    for (std::size_t i = 0; i < worst.size(); ++i) {
      if (other.worst[i].share > worst[i].share) worst[i] = other.worst[i];
      nan[i] = nan[i] || other.nan[i];
    }
    bad += other.bad;
    unknown += other.unknown;
    if (other.first < first) {
      first = other.first;
      difference = other.difference;
    }
  }
};

Findings compare_some(const Op& op, const Workload& workload, std::span<const HostTensor> inputs,
                      const Outputs& outputs, std::span<const std::int64_t> indices) {
  std::vector<Expectation> expectations(indices.size());
  std::vector<std::int64_t> among_all(indices.begin(), indices.end());
  for (std::int64_t& index : among_all) index += outputs.before();
  op.expectations(workload, inputs, among_all, expectations);
  Findings found(outputs.count());
  for (std::size_t i = 0; i < indices.size(); ++i) {
    const auto [output, value] = outputs[indices[i]];
    const auto& [expected, granted, whole] = expectations[i];
    const double permitted = permitted_for(value, outputs.spec(output).dtype, granted);
    if (std::isnan(permitted)) {
      ++found.unknown;
      continue;
    }
    // Infinities may be equal, too.
    const double error = whole               ? distance(outputs.whole(indices[i]), *whole)
                         : value == expected ? 0
                                             : std::abs(value - expected);
    if (std::isnan(error)) found.nan[output] = true;
    const double share = share_of(error, permitted);
    if (share > found.worst[output].share) found.worst[output] = {share, error, permitted, expected};
    if (error <= permitted) continue;
    if (found.bad++ == 0) {
      found.first = indices[i];
      found.difference = whole ? fmt::format("{}, expected {}", outputs.whole(indices[i]), *whole)
                               : fmt::format("{:.9g}, expected {:.9g}", value, expected);
    }
  }
  return found;
}

Findings compare_all(const Op& op, const Workload& workload, std::span<const HostTensor> inputs,
                     const Outputs& outputs) {
  const std::int64_t run = std::max<std::int64_t>(1, op.reference_run(workload));
  const std::int64_t share = outputs.elements() / (8 * host_threads());
  const std::int64_t chunk = (std::clamp<std::int64_t>(share, 1, 1 << 16) + run - 1) / run * run;
  Findings total(outputs.count());
  std::mutex mutex;
  host_parallel(outputs.elements(), chunk, [&](std::int64_t begin, std::int64_t end) {
    std::vector<std::int64_t> indices(static_cast<std::size_t>(end - begin));
    std::iota(indices.begin(), indices.end(), begin);
    const Findings found = compare_some(op, workload, inputs, outputs, indices);
    const std::lock_guard lock(mutex);
    total.merge(found);
  });
  return total;
}

Findings compare_sample(const Op& op, const Workload& workload, std::span<const HostTensor> inputs,
                        const Outputs& outputs, std::span<const std::int64_t> indices) {
  const auto count = static_cast<std::int64_t>(indices.size());
  Findings total(outputs.count());
  std::mutex mutex;
  host_parallel(count, count / (4 * host_threads()) + 1, [&](std::int64_t begin, std::int64_t end) {
    const auto part = indices.subspan(static_cast<std::size_t>(begin), static_cast<std::size_t>(end - begin));
    const Findings found = compare_some(op, workload, inputs, outputs, part);
    const std::lock_guard lock(mutex);
    total.merge(found);
  });
  return total;
}

std::string describe_blanks(std::span<const HostTensor> outputs) {
  std::string text;
  for (const auto& tensor : outputs) {
    const Blanks blanks = count_blanks(tensor);
    const auto add = [&](std::int64_t count, std::string_view what) {
      if (count == 0) return;
      text += fmt::format("{}{} of {} elements of '{}' {}", text.empty() ? "" : "; ", grouped(count),
                          grouped(tensor.spec().elements), tensor.spec().name, what);
    };
    add(blanks.unwritten, "were not written, or only added to");
    add(blanks.nan, "are NaN");
  }
  return text;
}

/// The figures of the comparison: of each output, and of the worst of them relative to its size.
void state_errors(Verification& result, const Findings& found, const Outputs& outputs, double magnitude) {
  double share = -1;
  for (std::size_t i = 0; i < outputs.count(); ++i) {
    const Worst& worst = found.worst[i];
    if (worst.share < 0 && !found.nan[i]) continue;  // no element of it was compared
    const TensorSpec& spec = outputs.spec(i);
    const double nan = std::numeric_limits<double>::quiet_NaN();
    result.worst.push_back({spec.name, spec.dtype, found.nan[i] ? nan : worst.error, worst.permitted});
    double size = std::abs(worst.expected) + magnitude;
    if (size == 0) size = 1;
    if (found.nan[i] || worst.share > share) {
      result.error = found.nan[i] ? nan : worst.error / size;
      result.tolerance = worst.permitted / size;
      share = found.nan[i] ? std::numeric_limits<double>::infinity() : worst.share;
    }
  }
}

}  // namespace

Verification compare(const Op& op, const Workload& workload, std::span<const HostTensor> inputs,
                     std::span<const HostTensor> outputs, std::int64_t before) {
  const Outputs elements(outputs, before);
  Verification result;
  result.outputs = elements.elements();
  Findings found(elements.count());
  if (const auto size = sample_size(op, workload, result.outputs, host_threads())) {
    const auto indices =
        draw_sample(op, workload, result.outputs, *size, workload.seed ^ std::random_device{}(), before);
    result.checked = static_cast<std::int64_t>(indices.size());
    result.reference =
        fmt::format("fp64 on the CPU, {} of {} elements", grouped(result.checked), grouped(result.outputs));
    found = compare_sample(op, workload, inputs, elements, indices);
  } else {
    result.checked = result.outputs;
    result.reference = result.outputs == 1 ? "fp64 on the CPU, 1 element"
                                           : fmt::format("fp64 on the CPU, all {} elements", grouped(result.outputs));
    found = compare_all(op, workload, inputs, elements);
  }
  result.failure = describe_blanks(outputs);
  if (found.bad > 0) {
    result.failure +=
        fmt::format("{}{} is {}; {} of {} compared elements are wrong", result.failure.empty() ? "" : "; ",
                    elements.name(found.first), found.difference, grouped(found.bad), grouped(result.checked));
  }
  state_errors(result, found, elements, op.tolerance(workload).magnitude);
  result.passed = result.failure.empty();
  if (result.passed && found.unknown > 0) {
    result.reference = fmt::format("none, {} of {} compared elements are not known exactly (integers beyond 2^53)",
                                   grouped(found.unknown), grouped(result.checked));
    result.checked = 0;
  }
  return result;
}

}  // namespace roofline
