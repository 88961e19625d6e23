// The host's part of a profile in a terminal.
#pragma once

#include <string>

#include "render/terminal/table.hpp"
#include "report/host_profile.hpp"

namespace roofline {

/// Tables by line, thread and process; of a program with kernels (`brief`) the first lines only. Empty without samples.
std::string host_terminal(const HostProfile& host, bool brief, const TerminalStyle& style);

}  // namespace roofline
