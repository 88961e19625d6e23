// The columns of the host's sums: by line, by function, by thread, by process.
#pragma once

#include <vector>

#include "render/columns.hpp"
#include "report/host_profile.hpp"

namespace roofline {

struct HostLineRow {
  HostLineSum line;
  double cpu_s = 0;            ///< sum over all threads
  std::string_view wait = {};  ///< words for its longest kind of wait
};
struct HostFunctionRow {
  HostFunctionSum function;
  double cpu_s = 0;
};
struct HostThreadRow {
  HostThreadSum thread;
  HostFrame hottest, longest_wait;  ///< without a function: none
  std::string_view wait = {};       ///< words for its longest kind of wait
};

/// The first `most` of each list.
std::vector<HostLineRow> host_line_rows(const HostProfile& host, std::size_t most);
std::vector<HostFunctionRow> host_function_rows(const HostProfile& host, std::size_t most);
std::vector<HostThreadRow> host_thread_rows(const HostProfile& host, std::size_t most);
std::vector<HostProcessSum> host_process_rows(const HostProfile& host, std::size_t most);

std::span<const Column<HostLineRow, HostProfile>> host_line_columns();
std::span<const Column<HostFunctionRow, HostProfile>> host_function_columns();
std::span<const Column<HostThreadRow, HostProfile>> host_thread_columns();
std::span<const Column<HostProcessSum, HostProfile>> host_process_columns();

}  // namespace roofline
