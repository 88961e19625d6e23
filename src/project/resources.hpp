// The resources that a row uses, with their times on two machines. Pure.
#pragma once

#include <set>
#include <string>
#include <utility>
#include <vector>

#include "project/kernel_model.hpp"
#include "project/row_work.hpp"

namespace roofline {

struct Resources {
  std::vector<Resource> list;
  std::string missing;  ///< a pipe or level that has no roof there; empty: none
};

/// `variant`: index into RowWork::there.
Resources resources_of(const Point& point, const RowWork& work, std::size_t variant, const Machine& here,
                       const Machine& there);

/// The pipes that rows of the report use, and fp32.
std::set<Pipe> pipes_of(const Report& report);

/// The least and the largest ratio of a time there to one here that a roof of memory or of these pipes has on both
/// machines, 1 among them.
std::pair<double, double> ratios_of(const Machine& here, const Machine& there, const std::set<Pipe>& pipes);

/// A data sheet promises what no kernel reaches: its limits as far as they are reached here. A sheet of the chip that
/// was measured, with other memory, gets the measured rates of L2.
Machine as_reached_here(Machine machine, const Machine& here);

}  // namespace roofline
