// How the queries of all heads are scheduled over threads.
#pragma once

#include <algorithm>

#include "kernels/attention/attention.hpp"
#include "kernels/blocks/cpu/cpu_launch.hpp"
#include "kernels/blocks/cpu/guided_chunks.hpp"

namespace roofline {

/// Calls work(worker, head, first, last) until all queries are done, each time with up to kQueryBlock queries of one
/// head, and one panel at the end. Under a causal mask a head's last queries come first, because they see most keys.
/// Resets `chunks` first.
template <typename Work>
void for_query_blocks(ThreadPool& pool, ChunkCounter& chunks, const Attended& e, Work work) {
  constexpr std::int64_t kPanel = 32;  // whole panels of all kernels
  const std::int64_t panels = ceil_div(e.queries, kPanel);
  chunks.next.store(0, std::memory_order_relaxed);
  pool.run([&](int worker) {
    for (;;) {
      const auto [begin, end] = next_guided_chunk(chunks.next, e.heads * panels, pool.size(), kQueryBlock / kPanel);
      if (begin == end) return;
      for_rows(begin, end, panels, [&](std::int64_t head, std::int64_t from, std::int64_t to) {
        const std::int64_t first = (e.causal ? panels - to : from) * kPanel;
        work(worker, head, first, std::min(first + (to - from) * kPanel, e.queries));
      });
    }
  });
}

}  // namespace roofline
