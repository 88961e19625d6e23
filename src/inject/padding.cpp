#include "inject/padding.hpp"

#include <algorithm>
#include <cstring>
#include <numeric>
#include <optional>

namespace roofline::inject {
namespace {

constexpr std::uint64_t kMostBytes = 128 << 10;
constexpr std::uint64_t kFewestRows = 4, kShortestRow = 16, kShortestRun = 8;
constexpr std::uint64_t kMostIds = std::uint64_t{1} << 24;  // vocabularies are smaller; floats are larger, but for zero
constexpr double kMostPadding = 0.98, kLeastChanges = 0.5;

/// Equal values in a row. All that is needed of them, so that no memory is allocated in the program.
struct Runs {
  std::uint64_t count = 0, length = 0;
  std::uint64_t ends = 0, begins = 0;  ///< greatest common divisors of the places
  std::uint64_t value = 0;

  /// False if this run has another value than those before.
  bool add(std::uint64_t begin, std::uint64_t end, std::uint64_t of) {
    if (count > 0 && of != value) return false;
    value = of;
    ++count;
    length += end - begin;
    ends = std::gcd(ends, end);
    begins = std::gcd(begins, begin);
    return true;
  }
};

/// std::nullopt: these are no ids of this width.
template <typename Word>
std::optional<std::uint32_t> padding_of_words(const char* from, std::uint64_t count) {
  const auto at = [from](std::uint64_t i) {
    Word word = 0;
    std::memcpy(&word, from + i * sizeof(Word), sizeof(Word));
    return static_cast<std::uint64_t>(word);
  };
  Runs runs;
  std::uint64_t begin = 0, changes = 0;
  bool one_value = true;
  std::uint64_t before = at(0);
  if (before >= kMostIds) return std::nullopt;
  for (std::uint64_t i = 1; i < count; ++i) {
    const std::uint64_t value = at(i);
    if (value >= kMostIds) return std::nullopt;
    if (value == before) continue;
    if (i - begin >= kShortestRun) one_value = runs.add(begin, i, before) && one_value;
    ++changes;
    before = value;
    begin = i;
  }
  // The last run may be cut off: its length counts, and its beginning.
  const std::uint64_t last = count - begin;
  if (last >= kShortestRun && runs.count > 0 && before == runs.value) {
    runs.length += last;
    runs.begins = std::gcd(runs.begins, begin);
  }
  const bool rows = std::max(runs.ends, runs.begins) >= kShortestRow;
  if (!one_value || runs.count < kFewestRows || !rows) return 0;
  const double share = static_cast<double>(runs.length) / static_cast<double>(count);
  const auto others = static_cast<double>(count - runs.length);
  if (share > kMostPadding || static_cast<double>(changes) < kLeastChanges * others) return 0;
  return static_cast<std::uint32_t>(1000 * share);
}

}  // namespace

std::uint32_t padding_of(const void* bytes, std::uint64_t size) {
  const auto* const from = static_cast<const char*>(bytes);
  const std::uint64_t seen = std::min(size, kMostBytes);
  if (seen < kFewestRows * kShortestRow * sizeof(std::uint64_t)) return 0;
  if (size % sizeof(std::uint64_t) == 0) {
    const auto wide = padding_of_words<std::uint64_t>(from, seen / sizeof(std::uint64_t));
    if (wide) return *wide;
  }
  if (size % sizeof(std::uint32_t) != 0) return 0;
  return padding_of_words<std::uint32_t>(from, seen / sizeof(std::uint32_t)).value_or(0);
}

}  // namespace roofline::inject
