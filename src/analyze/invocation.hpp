// How a run of a suite was started, for its reports.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "config/suite.hpp"
#include "host/host.hpp"
#include "report/report.hpp"

namespace roofline {

/// `command`: the arguments of the process. The run starts now.
inline Invocation invocation_of(const Suite& suite, std::vector<std::string> command) {
  Invocation invocation;
  invocation.command = std::move(command);
  invocation.run_name = suite.name;
  invocation.suite_path = suite.path;
  invocation.suite_text = suite.text;
  invocation.tool_version = ROOFLINE_VERSION;
  invocation.started_at = utc_now();
  return invocation;
}

}  // namespace roofline
