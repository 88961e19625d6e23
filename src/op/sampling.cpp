// Samples are drawn anew in each run, so that a kernel cannot be right only at fixed elements.
#include "op/sampling.hpp"

#include <algorithm>
#include <random>

namespace roofline {
namespace {

void sort_unique(std::vector<std::int64_t>& indices) {
  std::sort(indices.begin(), indices.end());
  indices.erase(std::unique(indices.begin(), indices.end()), indices.end());
}

}  // namespace

std::optional<SampleSize> sample_size(const Op& op, const Workload& workload, std::int64_t outputs, int threads) {
  constexpr double kLongestS = 3;
  constexpr std::int64_t kFewest = 64;
  const double cost = op.reference_cost(workload), rate = kReferenceRate * threads;
  if (cost * static_cast<double>(outputs) <= rate) return std::nullopt;
  const auto affordable = std::min(kLongestS * rate / cost, static_cast<double>(kSampleElements));
  const std::int64_t inner = std::max(kFewest, static_cast<std::int64_t>(affordable));
  const SampleSize size = {.inner = inner, .ends = kSampleEnds * inner / kSampleElements};
  return outputs > size.inner + 2 * size.ends ? std::optional(size) : std::nullopt;
}

std::vector<std::int64_t> draw_sample(const Op& op, const Workload& workload, std::int64_t outputs, SampleSize size,
                                      std::uint64_t seed, std::int64_t before) {
  std::vector<std::int64_t> indices;
  std::mt19937_64 generator(seed);
  std::uniform_int_distribution<std::int64_t> any(0, outputs - 1);
  const std::int64_t wanted = std::min(size.inner, outputs);
  while (static_cast<std::int64_t>(indices.size()) < wanted) {
    while (static_cast<std::int64_t>(indices.size()) < wanted) indices.push_back(any(generator));
    sort_unique(indices);
  }
  for (std::int64_t i = 0; i < std::min(size.ends, outputs); ++i) {
    indices.push_back(i);
    indices.push_back(outputs - 1 - i);
  }
  for (const std::int64_t edge : op.edges(workload)) {
    if (edge >= before && edge - before < outputs) indices.push_back(edge - before);
  }
  sort_unique(indices);
  return indices;
}

std::vector<std::int64_t> matrix_edges(std::int64_t rows, std::int64_t columns, std::int64_t first) {
  constexpr std::int64_t kPointsPerEdge = 64;
  std::vector<std::int64_t> indices;
  const auto add = [&](std::int64_t row, std::int64_t column) { indices.push_back(first + row * columns + column); };
  for (std::int64_t i = 0; i <= kPointsPerEdge; ++i) {
    const std::int64_t row = (rows - 1) * i / kPointsPerEdge;
    const std::int64_t column = (columns - 1) * i / kPointsPerEdge;
    add(row, 0);
    add(row, columns - 1);
    add(0, column);
    add(rows - 1, column);
  }
  sort_unique(indices);
  return indices;
}

}  // namespace roofline
