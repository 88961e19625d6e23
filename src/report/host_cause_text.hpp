// What the searches for causes of lost host time have in common: their lines, and how a cause is stated.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "report/host_causes.hpp"
#include "report/host_profile.hpp"

namespace roofline {

/// Seconds by line of the program.
using ByLine = std::map<std::string, double>;
double sum_of(const ByLine& lines);

/// "solver.cpp:7 step".
std::string short_place(HostFrame frame);

/// `finding` without its end, and `where` the time is spent: "mostly at". The line may be empty.
HostCause host_cause(std::string id, double seconds, std::string finding, std::string_view where,
                     const std::string& line, std::string action);

/// The largest first; a specific cause before a general one of the same function whose time it explains to a good part.
void order_causes(std::vector<HostCause>& causes);

}  // namespace roofline
