// How threads share the queries of all heads.
#pragma once

#include <algorithm>

#include "kernels/attention/attention.hpp"
#include "kernels/blocks/cpu/claim.hpp"
#include "kernels/blocks/cpu/cpu_launch.hpp"

namespace roofline {

/// Calls work(worker, head, first, last) until all queries are done, each time with up to kQueryBlock of one head: as
/// few as a panel holds towards the end. Under a causal mask a head's last queries, which see most keys, come first.
/// `taken` is reset, and counts what has been taken.
template <typename Work>
void for_query_blocks(ThreadPool& pool, Claimed& taken, const Attended& e, Work work) {
  constexpr std::int64_t kPanel = 32;  // whole panels of all kernels
  const std::int64_t panels = ceil_div(e.queries, kPanel);
  taken.count.store(0, std::memory_order_relaxed);
  pool.run([&](int worker) {
    for (;;) {
      const auto [begin, end] = claim(taken.count, e.heads * panels, pool.size(), kQueryBlock / kPanel);
      if (begin == end) return;
      for_rows(begin, end, panels, [&](std::int64_t head, std::int64_t from, std::int64_t to) {
        const std::int64_t first = (e.causal ? panels - to : from) * kPanel;
        work(worker, head, first, std::min(first + (to - from) * kPanel, e.queries));
      });
    }
  });
}

}  // namespace roofline
