// Large collectives that reach a small part of the link between the GPUs of a node.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "profile/ranks.hpp"

namespace roofline {

/// The collectives of the steps that are as slow. `saved_s`: of all ranks, while no other kernel runs.
struct SlowLink {
  std::string_view name;        ///< the kind with most of the time, "all_reduce"
  double bytes = 0;             ///< of one of them
  double bus_bytes_per_s = 0;   ///< that it reaches, the median
  double link_bytes_per_s = 0;  ///< of NVLink each way by the data sheet, or NCCL's measured roof
  double exposed_s = 0;         ///< transfer of all ranks while no other kernel runs
  double saved_s = 0;           ///< part of that beyond the time that the link needs
  std::string line = {};        ///< line that launches them; empty: unknown
  std::string variable = {};    ///< variable of NCCL that explains it, "NCCL_P2P_DISABLE"; empty: none is set
  std::string value = {};       ///< its value
};

/// NVLink's bandwidth of a GPU each way by its data sheet, bytes per second; std::nullopt for GPUs without it, or whose
/// boards may have none.
std::optional<double> nvlink_bandwidth(std::string_view gpu);

/// std::nullopt if GPUs of the job have no NVLink, ranks run on several nodes, or large collectives are not that slow.
std::optional<SlowLink> slow_link(const Job& job, const Recording& recording, const std::vector<Span>& steps,
                                  const Machine& machine);

}  // namespace roofline
