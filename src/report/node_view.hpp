// A node as tables of text, the same for terminal, Markdown and page.
#pragma once

#include <string>
#include <vector>

#include "model/node.hpp"

namespace roofline {

struct NodeCell {
  std::string text;
  bool bad = false;        ///< falls behind similar devices, or drops when all devices work
  std::string title = {};  ///< tooltip: the interval, the kernel; may be empty
};

struct NodeRow {
  std::string label;
  std::vector<NodeCell> cells;
};

struct NodeTable {
  std::string title;
  std::string note;                  ///< how to read the table; may be empty
  std::string corner;                ///< above the labels
  std::vector<std::string> columns;  ///< one per cell of a row
  std::vector<NodeRow> rows;
};

/// "node017: 8 x NVIDIA H200, calibrated 2026-01-15T09:32:10Z".
std::string node_headline(const Node& node);

/// Tables: the roofs of each device; their share when all devices work; a matrix per link ceiling (rows act); placement
/// of the devices. Empty tables are left out.
std::vector<NodeTable> node_tables(const Node& node);

/// The link matrices only.
std::vector<NodeTable> link_tables(const Node& node);

/// Unmeasured values with their reasons; links with the same reason are merged.
std::vector<std::string> node_unmeasured(const Node& node);

}  // namespace roofline
