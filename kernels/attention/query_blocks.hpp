// How threads share the queries of all heads.
#pragma once

#include <algorithm>

#include "device/cpu/thread_pool.hpp"
#include "kernels/attention/attention.hpp"
#include "kernels/blocks/cpu/claim.hpp"

namespace roofline {

/// Calls work(worker, head, first, last) until all queries are done, each time with up to kQueryBlock of one head: as
/// few as a panel holds towards the end. Under a causal mask a head's last queries, which see most keys, come first.
/// `taken` is reset, and counts what has been taken.
template <typename Work>
void for_query_blocks(ThreadPool& pool, Claimed& taken, const Attended& e, Work work) {
  constexpr std::int64_t kPanel = 32;  // whole panels of all kernels
  const std::int64_t panels = (e.queries + kPanel - 1) / kPanel;
  taken.count.store(0, std::memory_order_relaxed);
  pool.run([&](int worker) {
    for (;;) {
      auto [at, end] = claim(taken.count, e.heads * panels, pool.size(), kQueryBlock / kPanel);
      if (at == end) return;
      while (at < end) {
        const std::int64_t in_head = at % panels;
        const std::int64_t count = std::min(end - at, panels - in_head);
        const std::int64_t first = (e.causal ? panels - in_head - count : in_head) * kPanel;
        work(worker, at / panels, first, std::min(first + count * kPanel, e.queries));
        at += count;
      }
    }
  });
}

}  // namespace roofline
