// Nodes of graphs as created, to identify their kernels when they run.
#pragma once

#include <cuda.h>

#include <cstdint>
#include <mutex>
#include <unordered_map>

#include "inject/launches.hpp"

namespace roofline::inject {

class Graphs {
 public:
  struct Node {
    Kind* kind = nullptr;  ///< of kernels
    spool::Id place = 0;
  };
  struct Kernels {
    std::uint32_t count = 0;
    std::uint64_t signature = 0;  ///< of their kinds

    void add(const Node& node);
  };

  void made(std::uint64_t id, const Node& node);
  Node cloned(std::uint64_t id, std::uint64_t original);
  Node find(std::uint64_t id) const;

  void instantiated(CUgraphExec graph, const Kernels& kernels);
  Kernels kernels(CUgraphExec graph) const;

 private:
  mutable std::mutex mutex_;
  std::unordered_map<std::uint64_t, Node> nodes_;
  std::unordered_map<CUgraphExec, Kernels> instantiated_;
};

}  // namespace roofline::inject
