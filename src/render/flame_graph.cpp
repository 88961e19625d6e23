#include "render/flame_graph.hpp"

#include <algorithm>
#include <map>
#include <utility>

namespace roofline {
namespace {

/// A frame in the tree of all stacks.
struct FlameNode {
  StackFrame frame;
  double seconds = 0;
  std::map<StackFrame, std::size_t> children;
};

class FlameTree {
 public:
  explicit FlameTree(const std::vector<FoldedStack>& stacks) {
    for (const FoldedStack& stack : stacks) {
      std::size_t at = 0;
      nodes_[0].seconds += stack.seconds;
      for (const StackFrame& frame : stack.frames) {
        const auto [child, is_new] = nodes_[at].children.try_emplace(frame, nodes_.size());
        at = child->second;
        if (is_new) nodes_.push_back({.frame = frame, .seconds = 0, .children = {}});
        nodes_[at].seconds += stack.seconds;
      }
    }
  }

  /// Smallest time of a shown frame if at most `most` frames are shown.
  double least_seconds(std::size_t most) const {
    if (nodes_.size() - 1 <= most) return 0;
    std::vector<double> seconds;
    for (std::size_t i = 1; i < nodes_.size(); ++i) seconds.push_back(nodes_[i].seconds);
    std::ranges::sort(seconds, std::greater());
    return seconds[most];
  }

  const FlameNode& node(std::size_t index) const { return nodes_[index]; }

  /// The longest first.
  std::vector<std::size_t> children(std::size_t index) const {
    std::vector<std::size_t> list;
    for (const auto& [frame, child] : nodes_[index].children) list.push_back(child);
    std::ranges::stable_sort(list, std::greater(), [this](std::size_t child) { return nodes_[child].seconds; });
    return list;
  }

  /// Frames below, itself included.
  std::int64_t size(std::size_t index) const {
    std::int64_t sum = 0;
    for (std::vector<std::size_t> open = {index}; !open.empty(); ++sum) {
      const std::size_t at = open.back();
      open.pop_back();
      for (const auto& [frame, child] : nodes_[at].children) open.push_back(child);
    }
    return sum;
  }

 private:
  std::vector<FlameNode> nodes_ = std::vector<FlameNode>(1);  ///< the first is around all
};

/// The children of a node from `start_s` on; the shortest ones as one bar.
void lay_out(const FlameTree& tree, std::size_t index, int depth, double start_s, double least_s, int deepest,
             FlameGraph& graph) {
  FlameBar rest = {.frame = {}, .depth = depth, .start_s = 0, .seconds = 0};
  double at = start_s;
  for (const std::size_t child : tree.children(index)) {
    const FlameNode& node = tree.node(child);
    if (node.seconds > least_s && depth < deepest) {
      graph.bars.push_back({.frame = node.frame, .depth = depth, .start_s = at, .seconds = node.seconds});
      lay_out(tree, child, depth + 1, at, least_s, deepest, graph);
    } else {
      if (rest.merged == 0) rest.start_s = at;
      if (rest.merged == 0) rest.frame.kind = node.frame.kind;
      rest.seconds += node.seconds;
      rest.merged += tree.size(child);
    }
    at += node.seconds;
  }
  if (rest.merged == 0) return;
  graph.merged += rest.merged;
  graph.bars.push_back(rest);
}

}  // namespace

FlameGraph flame_graph(const std::vector<FoldedStack>& stacks, std::size_t most, int deepest) {
  const FlameTree tree(stacks);
  FlameGraph graph;
  graph.seconds = tree.node(0).seconds;
  lay_out(tree, 0, 0, 0, tree.least_seconds(most), deepest, graph);
  std::ranges::stable_sort(graph.bars, {}, [](const FlameBar& bar) { return std::pair(bar.depth, bar.start_s); });
  if (!graph.bars.empty()) graph.depth = graph.bars.back().depth + 1;
  return graph;
}

}  // namespace roofline
