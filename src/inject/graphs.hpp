// Nodes of graphs as created, to identify their kernels when they run.
#pragma once

#include <cuda.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "inject/launches.hpp"

namespace roofline::inject {

class Graphs {
 public:
  struct Node {
    Kind* kind = nullptr;  ///< of kernels
    spool::Id place = 0;
    std::shared_ptr<const NodeMemory> memory = {};  ///< null: not known
    /// Of a node of an executable graph: when the graph was launched last, it converted what had not changed.
    std::shared_ptr<std::atomic<bool>> same_input = {};
  };
  struct Kernels {
    std::uint32_t count = 0;
    bool cloned = false;          ///< nodes were cloned, of kernels or of others
    std::uint64_t signature = 0;  ///< of their kinds

    void add(const Node& node);
  };

  void made(std::uint64_t id, const Node& node);
  /// By a call of that thread; forget_cloned() where it instantiated nothing.
  Node cloned(std::uint64_t id, std::uint64_t original, std::uint32_t thread);
  void forget_cloned(std::uint32_t thread);
  Node find(std::uint64_t id) const;

  void instantiated(CUgraphExec graph, const Kernels& kernels, std::uint32_t thread);
  /// A graph is launched.
  void run(CUgraphExec graph, SameInputs& inputs) const;
  Kernels kernels(CUgraphExec graph) const;

 private:
  struct Executable {
    Kernels kernels;
    std::shared_ptr<const std::vector<Node>> nodes;
  };

  mutable std::mutex mutex_;
  std::unordered_map<std::uint64_t, Node> nodes_;
  std::unordered_map<std::uint32_t, std::vector<Node>> cloned_;  ///< by thread, in its call
  std::unordered_map<CUgraphExec, Executable> executables_;
};

}  // namespace roofline::inject
