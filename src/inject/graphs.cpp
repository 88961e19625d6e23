#include "inject/graphs.hpp"

namespace roofline::inject {
namespace {

/// For a program that creates graphs without end: the oldest are dropped, as CUPTI does not report which are unused.
constexpr std::size_t kMostNodes = 1 << 22;

}  // namespace

void Graphs::Kernels::add(const Node& node) {
  ++count;
  signature += (std::uint64_t{node.kind->id} + 1) * 0x9e3779b97f4a7c15;
}

void Graphs::made(std::uint64_t id, const Node& node) {
  const std::lock_guard lock(mutex_);
  if (nodes_.size() >= kMostNodes) nodes_.clear();
  nodes_[id] = node;
}

Graphs::Node Graphs::cloned(std::uint64_t id, std::uint64_t original) {
  const std::lock_guard lock(mutex_);
  const auto found = nodes_.find(original);
  if (found == nodes_.end()) return {};
  const Node node = found->second;
  nodes_[id] = node;
  return node;
}

Graphs::Node Graphs::find(std::uint64_t id) const {
  const std::lock_guard lock(mutex_);
  const auto found = nodes_.find(id);
  return found != nodes_.end() ? found->second : Node{};
}

void Graphs::instantiated(CUgraphExec graph, const Kernels& kernels) {
  const std::lock_guard lock(mutex_);
  instantiated_[graph] = kernels;
}

Graphs::Kernels Graphs::kernels(CUgraphExec graph) const {
  const std::lock_guard lock(mutex_);
  const auto found = instantiated_.find(graph);
  return found != instantiated_.end() ? found->second : Kernels{};
}

}  // namespace roofline::inject
