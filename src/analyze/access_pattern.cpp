// Small histories per buffer, far below any cache: several streams in one buffer, or the rows of a stencil, are none.
#include "analyze/access_pattern.hpp"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <map>
#include <vector>

namespace roofline {
namespace {

constexpr std::uint64_t kTracedLine = 64, kTracedPage = 4096;
constexpr std::size_t kLastLines = 16, kLastPages = 8;
/// Share of the accesses from which a buffer's order counts.
constexpr double kBufferMatters = 0.1;

/// The last few different numbers, the latest at the end.
class RecentNumbers {
 public:
  explicit RecentNumbers(std::size_t most) : most_(most) {}

  /// True if it was not among them.
  bool enter(std::uint64_t number) {
    const auto found = std::find(last_.begin(), last_.end(), number);
    const bool is_new = found == last_.end();
    if (!is_new) last_.erase(found);
    last_.push_back(number);
    if (last_.size() > most_) last_.erase(last_.begin());
    return is_new;
  }

 private:
  std::size_t most_;
  std::vector<std::uint64_t> last_;
};

/// Bytes of a line at which accesses began, one bit each.
struct TracedLine {
  std::uint64_t in_all = 0, in_visit = 0;
  int visits = 0, begun_in_visits = 0;  ///< the second: summed over the visits, each byte once a visit

  void access(int byte, bool enters) {
    if (enters) {
      in_visit = 0;
      ++visits;
    }
    const std::uint64_t bit = std::uint64_t{1} << byte;
    if ((in_visit & bit) == 0) ++begun_in_visits;
    in_visit |= bit;
    in_all |= bit;
  }

  /// As many visits as it takes to access all that is accessed of it.
  double visits_for_all() const { return static_cast<double>(std::popcount(in_all)) * visits / begun_in_visits; }
};

struct TracedBuffer {
  RecentNumbers recent_lines{kLastLines}, recent_pages{kLastPages};
  std::map<std::uint64_t, TracedLine> lines;
  std::uint64_t before = 0;  ///< address of its latest access
  std::size_t accesses = 0;

  double visits() const {
    double sum = 0;
    for (const auto& [number, line] : lines) sum += line.visits_for_all();
    return sum / static_cast<double>(lines.size());
  }
};

/// Vectors that follow each other are as wide as their distance.
bool crosses_line(std::uint64_t address, std::uint64_t next) {
  const std::uint64_t distance = next - address;
  const bool is_vector = next > address && distance <= kTracedLine && (distance & (distance - 1)) == 0;
  return is_vector && address % kTracedLine + distance > kTracedLine;
}

}  // namespace

AccessPattern pattern_of(std::span<const TracedAccess> accesses) {
  std::map<std::uint32_t, TracedBuffer> buffers;
  std::size_t jumps = 0, splits = 0;
  for (const TracedAccess& access : accesses) {
    TracedBuffer& buffer = buffers[access.buffer];
    if (buffer.accesses++ > 0 && crosses_line(buffer.before, access.address)) ++splits;
    buffer.before = access.address;
    const std::uint64_t line = access.address / kTracedLine;
    buffer.lines[line].access(static_cast<int>(access.address % kTracedLine), buffer.recent_lines.enter(line));
    if (buffer.recent_pages.enter(access.address / kTracedPage)) ++jumps;
  }
  AccessPattern pattern{.accesses = accesses.size()};
  const auto count = static_cast<double>(accesses.size());
  for (const auto& [number, buffer] : buffers) {
    if (static_cast<double>(buffer.accesses) < kBufferMatters * count) continue;
    pattern.line_visits = std::max(pattern.line_visits, buffer.visits());
  }
  if (accesses.empty()) return pattern;
  pattern.page_jumps = static_cast<double>(jumps) / count;
  pattern.split_share = static_cast<double>(splits) / count;
  return pattern;
}

}  // namespace roofline
