// Kernels that a library chose for how it was called, where another call has a faster one: products of unaligned
// matrices, sums by index that sort, sparse matrices that are built anew, sorts of which little is used or that are
// repeated, products with one-hot vectors, Fourier transforms of unfavourable lengths.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>

#include "profile/causes/detectors.hpp"
#include "profile/causes/kernel_names.hpp"
#include "text/format.hpp"
#include "text/parts.hpp"

namespace roofline {
namespace {

std::int64_t threads_of(const spool::Kind& kind) {
  std::int64_t threads = 1;
  for (const std::uint32_t extent : kind.grid) threads *= std::max<std::uint32_t>(extent, 1);
  for (const std::uint32_t extent : kind.block) threads *= std::max<std::uint32_t>(extent, 1);
  return threads;
}

/// The kernels of one sort, and the first kernel after it on the same device.
struct Sort {
  std::vector<const StepActivity*> kernels;
  const StepActivity* next = nullptr;
  bool permutation = false;  ///< of random keys

  const StepActivity& first() const { return *kernels.front(); }
};

std::vector<Sort> sorts_of(const CauseInputs& inputs) {
  std::vector<Sort> sorts;
  bool inside = false;
  for (const StepActivity& entry : inputs.steps.all) {
    if (entry.activity->what != ActivityKind::kernel) continue;
    if (is_sort(entry.symbol) && inputs.free(entry)) {
      if (!inside) sorts.emplace_back();
      sorts.back().kernels.push_back(&entry);
      inside = true;
    } else if (inside && ends_permutation(entry.symbol)) {
      sorts.back().permutation = true;
    } else if (inside) {
      sorts.back().next = &entry;
      inside = false;
    }
  }
  return sorts;
}

/// By bytes: the kernel after the sort works on a small part of what was sorted. Using all indices of sorted pairs
/// moves at least a tenth of the bytes of a pass of the sort. std::nullopt if they are not known.
std::optional<bool> uses_few_bytes(const Sort& sort, const std::vector<Point>& points) {
  constexpr double kLittle = 32;
  double sorted = 0;
  for (const StepActivity* kernel : sort.kernels)
    sorted = std::max(sorted, bytes_of_row(points, kernel->activity->group));
  const double next = sort.next == nullptr ? 0 : bytes_of_row(points, sort.next->activity->group);
  return sorted > 0 && next > 0 ? std::optional(next < sorted / kLittle) : std::nullopt;
}

/// Threads of its largest kernel.
std::int64_t threads_of(const Sort& sort) {
  std::int64_t threads = 0;
  for (const StepActivity* kernel : sort.kernels) threads = std::max(threads, threads_of(kernel->kind));
  return threads;
}

/// The same by threads.
bool uses_few_threads(const Sort& sort) {
  constexpr std::int64_t kLittle = 64;
  return sort.next != nullptr && threads_of(sort.next->kind) <= threads_of(sort) / kLittle;
}

/// The lines of products that directly follow the expansion of indices to one-hot vectors, and its own lines.
std::set<std::string> lines_of_one_hot(const CauseInputs& inputs) {
  std::set<std::string> lines;
  std::string line;  // of the expansion that goes on
  bool filled = false, written = false;
  for (const StepActivity& entry : inputs.steps.all) {
    if (entry.activity->what != ActivityKind::kernel || !inputs.free(entry)) continue;
    const bool fills = is_integer_fill(entry.symbol), writes = is_fill_by_index(entry.symbol);
    const std::string here = inputs.steps.line(entry);
    if (here == line && (fills || writes || (written && is_conversion(entry.symbol)))) {
      written |= writes && filled;
      continue;
    }
    if (written && is_product(entry.symbol)) lines.insert({line, here});
    filled = fills && !here.empty();
    written = false;
    line = filled ? here : "";
  }
  return lines;
}

}  // namespace

/// All kernels of the lines that build one in nearly every step: the sort of its indices, and what moves them.
std::vector<FoundCause> find_sparse_builds(const CauseInputs& inputs) {
  const std::map<std::string, FaultyKernels> builds =
      faulty_kernels_by_line(inputs, [](const StepActivity& entry) { return is_sparse_build(entry.symbol); });
  const FaultyKernels kernels = faulty_kernels(inputs, [&](const StepActivity& entry) {
    const auto line = builds.find(inputs.steps.line(entry));
    return line != builds.end() && !line->first.empty() && line->second.sum.in_nearly_all_steps();
  });
  return found_if_large(kernels, inputs, SavingCause::layout_copy, 1, "kernels that sort, sum and move its entries",
                        CauseDetail::sparse_build);
}

std::vector<FoundCause> find_unaligned_products(const CauseInputs& inputs) {
  const FaultyKernels products =
      faulty_kernels(inputs, [](const StepActivity& entry) { return is_unaligned_product(entry.symbol); });
  constexpr double kUnknown = 0.5;  // these kernels do not use the GPU's newer matrix instructions
  double saved = 0;
  for (const auto& [row, time] : products.sum.groups) saved += lost_share(inputs.points, row, kUnknown) * time;
  const double all = products.sum.seconds;
  return found_if_large(products, inputs, SavingCause::unaligned_product, all > 0 ? saved / all : 0,
                        "products of matrices with rows that are not multiples of 16 bytes");
}

std::vector<FoundCause> find_indexed_sums(const CauseInputs& inputs) {
  constexpr double kSaved = 0.7;  // additions by atomics read and write the same data without the sort
  std::set<std::string> lines;
  for (const StepActivity& entry : inputs.steps.all) {
    if (entry.activity->what == ActivityKind::kernel && is_indexed_sum(entry.symbol)) {
      lines.insert(inputs.steps.line(entry));
    }
  }
  if (lines.empty()) return {};
  const FaultyKernels kernels = faulty_kernels(inputs, [&](const StepActivity& entry) {
    return is_indexed_sum(entry.symbol) || (is_sort(entry.symbol) && lines.contains(inputs.steps.line(entry)));
  });
  return found_if_large(kernels, inputs, SavingCause::indexed_sum, kSaved,
                        "kernels that sort indices, or add in their order");
}

std::vector<FoundCause> find_full_sorts(const CauseInputs& inputs) {
  constexpr double kSaved = 0.7;  // a selection reads all once or twice; a sort reads and writes it several times
  const std::vector<Sort> sorts = sorts_of(inputs);
  std::set<std::string> lines, permutations;
  for (const Sort& sort : sorts) {
    const bool little = uses_few_bytes(sort, inputs.points).value_or(uses_few_threads(sort));
    if (little) (sort.permutation ? permutations : lines).insert(inputs.steps.line(sort.first()));
  }
  FaultyKernels kernels;
  for (const Sort& sort : sorts) {
    const bool of_line = !sort.permutation && lines.contains(inputs.steps.line(sort.first()));
    if (!of_line || !uses_few_bytes(sort, inputs.points).value_or(true)) continue;
    for (const StepActivity* kernel : sort.kernels) kernels.add(inputs.steps, *kernel);
  }
  std::vector<FoundCause> found = found_if_large(kernels, inputs, SavingCause::full_sort, kSaved, "kernels of sorts");
  for (FoundCause& one : found) {
    one.saving.evidence += "; the kernel after a sort works on a small part of the result";
  }
  const FaultyKernels drawn = faulty_kernels(inputs, [&](const StepActivity& entry) {
    const bool part = is_sort(entry.symbol) || begins_permutation(entry.symbol) || ends_permutation(entry.symbol);
    return part && permutations.contains(inputs.steps.line(entry));
  });
  for (FoundCause& one : found_if_large(drawn, inputs, SavingCause::full_sort, 1, "kernels of random permutations",
                                        CauseDetail::permutations)) {
    one.saving.evidence += "; the kernel after each works on a small part of it";
    found.push_back(std::move(one));
  }
  return found;
}

std::vector<FoundCause> find_repeated_sorts(const CauseInputs& inputs) {
  struct OfLine {
    FaultyKernels kernels;
    std::set<std::int64_t> sizes;  ///< threads of each sort
    std::int64_t sorts = 0;
  };
  std::map<std::string, OfLine> lines;
  for (const Sort& sort : sorts_of(inputs)) {
    if (sort.permutation) continue;  // each is of keys of its own
    OfLine& line = lines[inputs.steps.line(sort.first())];
    for (const StepActivity* kernel : sort.kernels) line.kernels.add(inputs.steps, *kernel);
    line.sizes.insert(threads_of(sort));
    ++line.sorts;
  }
  std::vector<FoundCause> found;
  for (const auto& [name, line] : lines) {
    // Data of another size is other data; one sort per step may be of what the step has computed.
    const bool again = line.sizes.size() == 1 && line.sorts >= 2 * std::ssize(inputs.steps.steps);
    if (!again || !line.kernels.sum.in_nearly_all_steps()) continue;
    for (FoundCause& one : found_if_large(line.kernels, inputs, SavingCause::full_sort, 1, "kernels of sorts",
                                          CauseDetail::equal_sorts)) {
      one.saving.evidence +=
          fmt::format("; {} sorts of one size in {} steps", count(line.sorts), count(std::ssize(inputs.steps.steps)));
      found.push_back(std::move(one));
    }
  }
  return found;
}

std::vector<FoundCause> find_one_hot_products(const CauseInputs& inputs) {
  constexpr double kSaved = 0.9;  // rows that are read by index are a small part of the product's operands
  const std::set<std::string> lines = lines_of_one_hot(inputs);
  const FaultyKernels kernels = faulty_kernels(inputs, [&](const StepActivity& entry) {
    const bool part = is_integer_fill(entry.symbol) || is_fill_by_index(entry.symbol) || is_conversion(entry.symbol);
    return (part || is_product(entry.symbol)) && lines.contains(inputs.steps.line(entry));
  });
  return found_if_large(kernels, inputs, SavingCause::one_hot, kSaved,
                        "kernels that expand indices, or multiply the one-hot vectors");
}

std::vector<FoundCause> find_unfavourable_transforms(const CauseInputs& inputs) {
  // Bluestein's algorithm makes a convolution of at least twice the length of one transform: three transforms of it.
  constexpr double kSaved = 0.7;
  const FaultyKernels kernels =
      faulty_kernels(inputs, [](const StepActivity& entry) { return is_bluestein_transform(entry.symbol); });
  return found_if_large(kernels, inputs, SavingCause::fft_length, kSaved,
                        "kernels of transforms by Bluestein\u2019s algorithm, for lengths with a large prime factor");
}

}  // namespace roofline
