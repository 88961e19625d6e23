#include "inject/graphs.hpp"

#include <algorithm>
#include <utility>

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

Graphs::Node Graphs::cloned(std::uint64_t id, std::uint64_t original, std::uint32_t thread) {
  const std::lock_guard lock(mutex_);
  const auto found = nodes_.find(original);
  if (found == nodes_.end()) {
    cloned_[thread].emplace_back();
    return {};
  }
  Node node = found->second;
  if (node.memory != nullptr && node.memory->source != 0) node.same_input = std::make_shared<std::atomic<bool>>(false);
  nodes_[id] = node;
  cloned_[thread].push_back(node);
  return node;
}

void Graphs::forget_cloned(std::uint32_t thread) {
  const std::lock_guard lock(mutex_);
  cloned_.erase(thread);
}

Graphs::Node Graphs::find(std::uint64_t id) const {
  const std::lock_guard lock(mutex_);
  const auto found = nodes_.find(id);
  return found != nodes_.end() ? found->second : Node{};
}

void Graphs::instantiated(CUgraphExec graph, const Kernels& kernels, std::uint32_t thread) {
  const std::lock_guard lock(mutex_);
  executables_[graph] = {kernels, std::make_shared<const std::vector<Node>>(std::move(cloned_[thread]))};
  cloned_.erase(thread);
}

void Graphs::run(CUgraphExec graph, SameInputs& inputs) const {
  std::shared_ptr<const std::vector<Node>> nodes;
  {
    const std::lock_guard lock(mutex_);
    if (const auto found = executables_.find(graph); found != executables_.end()) nodes = found->second.nodes;
  }
  const bool known = nodes != nullptr &&
                     std::all_of(nodes->begin(), nodes->end(), [](const Node& node) { return node.memory != nullptr; });
  if (!known) return inputs.forget();
  for (const Node& node : *nodes) {
    const bool same = inputs.run(*node.memory);
    if (node.same_input != nullptr) node.same_input->store(same, std::memory_order_relaxed);
  }
}

Graphs::Kernels Graphs::kernels(CUgraphExec graph) const {
  const std::lock_guard lock(mutex_);
  const auto found = executables_.find(graph);
  return found != executables_.end() ? found->second.kernels : Kernels{};
}

}  // namespace roofline::inject
