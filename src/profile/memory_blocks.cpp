#include "profile/memory_blocks.hpp"

#include <algorithm>
#include <map>
#include <tuple>
#include <unordered_map>

#include "profile/recording.hpp"
#include "profile/rows.hpp"
#include "text/block_names.hpp"

namespace roofline {

std::vector<MemoryBlock> blocks_of(const ProcessTrace& trace,
                                   const std::function<bool(const spool::Allocation&)>& is_wanted) {
  std::vector<const spool::Allocation*> records;
  for (const spool::Allocation& record : trace.allocations) {
    if (record.event != spool::MemoryEvent::failed && is_wanted(record)) records.push_back(&record);
  }
  // A block is written when its place is known.
  std::stable_sort(records.begin(), records.end(),
                   [](const spool::Allocation* a, const spool::Allocation* b) { return a->time < b->time; });
  std::vector<MemoryBlock> blocks;
  std::unordered_map<std::uint64_t, std::size_t> at;
  for (const spool::Allocation* record : records) {
    const auto known = at.find(record->address);
    if (known != at.end()) {
      blocks[known->second].freed = record->time;
      at.erase(known);
    }
    if (record->event == spool::MemoryEvent::freed) continue;
    at[record->address] = blocks.size();
    blocks.push_back({.allocated = record->time, .bytes = static_cast<double>(record->bytes), .place = record->place});
  }
  return blocks;
}

std::vector<MemoryHolder> holders_of(const ProcessTrace& trace, const std::vector<MemoryBlock>& blocks) {
  std::map<spool::Id, MemoryHolder> by_place;
  for (const MemoryBlock& block : blocks) {
    MemoryHolder& holder = by_place[block.place];
    ++holder.blocks;
    holder.bytes += block.bytes;
  }
  std::map<std::tuple<std::string, std::string, bool>, MemoryHolder> sums;
  for (const auto& [id, part] : by_place) {
    const spool::Place& place = trace.place(id);
    std::string line = line_text(trace, place.line), module = any_block(trace.text(place.module));
    MemoryHolder& holder = sums[{line, module, place.backward != 0}];
    holder.line = std::move(line);
    holder.module = std::move(module);
    holder.backward = place.backward != 0;
    holder.blocks += part.blocks;
    holder.bytes += part.bytes;
  }
  std::vector<MemoryHolder> holders;
  for (auto& [key, holder] : sums) holders.push_back(std::move(holder));
  std::stable_sort(holders.begin(), holders.end(),
                   [](const MemoryHolder& a, const MemoryHolder& b) { return a.bytes > b.bytes; });
  return holders;
}

std::vector<MemoryBlock> in_use(const std::vector<MemoryBlock>& blocks, std::uint64_t time) {
  std::vector<MemoryBlock> found;
  std::copy_if(blocks.begin(), blocks.end(), std::back_inserter(found),
               [time](const MemoryBlock& block) { return block.in_use(time); });
  return found;
}

std::vector<MemoryBlock> kept(const std::vector<MemoryBlock>& blocks, const Span& within, std::uint64_t until) {
  std::vector<MemoryBlock> found;
  std::copy_if(blocks.begin(), blocks.end(), std::back_inserter(found), [&](const MemoryBlock& block) {
    return block.allocated >= within.start && block.allocated < within.end && block.freed > until;
  });
  return found;
}

}  // namespace roofline
