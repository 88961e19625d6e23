// A node as tables of text, the same for terminal, Markdown and page.
#pragma once

#include <string>
#include <vector>

#include "model/node.hpp"

namespace roofline {

struct NodeCell {
  std::string text;
  bool bad = false;        ///< falls behind, or falls when all work
  std::string title = {};  ///< more of it: the interval, the kernel; may be empty
};

struct NodeRow {
  std::string label;
  std::vector<NodeCell> cells;
};

struct NodeTable {
  std::string title;
  std::string note;                  ///< how to read it; may be empty
  std::string corner;                ///< above the labels
  std::vector<std::string> columns;  ///< as many as each row has cells
  std::vector<NodeRow> rows;
};

/// "node017: 8 x NVIDIA H200, calibrated 2026-01-15T09:32:10Z".
std::string node_headline(const Node& node);

/// The roofs of each device; what is left of them when all work; a matrix for each ceiling of links, rows acting; where
/// the devices are plugged in. Tables without a figure are left out.
std::vector<NodeTable> node_tables(const Node& node);

/// The matrices of links among them.
std::vector<NodeTable> link_tables(const Node& node);

/// What was not measured and why, those of links with the same reason together.
std::vector<std::string> node_unmeasured(const Node& node);

}  // namespace roofline
