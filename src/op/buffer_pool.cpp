// Buffers are told apart by size only: one of the same size has its pages on the same NUMA nodes, part by part.
#include "op/buffer_pool.hpp"

#include <iterator>
#include <utility>

namespace roofline {

/// Returns its memory at the end.
class BufferPool::Lent final : public Buffer {
 public:
  Lent(BufferPool& pool, std::unique_ptr<Buffer> memory) : pool_(pool), memory_(std::move(memory)) {}
  ~Lent() override { pool_.idle_.push_back(std::move(memory_)); }
  Lent(const Lent&) = delete;
  Lent& operator=(const Lent&) = delete;

  void* data() override { return memory_->data(); }
  std::size_t size() const override { return memory_->size(); }

 private:
  BufferPool& pool_;
  std::unique_ptr<Buffer> memory_;
};

std::unique_ptr<Buffer> BufferPool::take(Device& device, std::size_t bytes) {
  std::vector<std::size_t> fitting;
  for (std::size_t i = 0; i < idle_.size(); ++i) {
    if (idle_[i]->size() == bytes) fitting.push_back(i);
  }
  if (fitting.empty()) {
    make_room(device, bytes);
    return std::make_unique<Lent>(*this, device.allocate(bytes));
  }
  const auto drawn = std::next(idle_.begin(), static_cast<std::ptrdiff_t>(fitting[random_() % fitting.size()]));
  std::unique_ptr<Buffer> memory = std::move(*drawn);
  idle_.erase(drawn);
  return std::make_unique<Lent>(*this, std::move(memory));
}

/// Idle memory of other sizes is freed until it is no more than what stays free: rows of many sizes would otherwise
/// fill the machine.
void BufferPool::make_room(Device& device, std::size_t bytes) {
  while (!idle_.empty() && idle_bytes() > device.free_memory_bytes() - static_cast<double>(bytes)) {
    idle_.erase(idle_.begin());
  }
}

double BufferPool::idle_bytes() const {
  double bytes = 0;
  for (const auto& memory : idle_) bytes += static_cast<double>(memory->size());
  return bytes;
}

}  // namespace roofline
