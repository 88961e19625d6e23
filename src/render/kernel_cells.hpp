// Cells of the tables of kernels that are more than a value in its unit: several figures, links, bars, second lines.
#pragma once

#include <string>

#include "render/kernel_columns.hpp"

namespace roofline {

// Row name for terminals and Markdown.
std::string suite_row_name(const KernelRow& row);
std::string time_with_interval(const KernelRow& row);
std::string achieved_rate(const KernelRow& row);
std::string performance_or_bandwidth(const KernelRow& row);
std::string bandwidth_and_network(const KernelRow& row);
std::string roof_markdown(const KernelRow& row);
std::string burst_roof_text(const KernelRow& row);
std::string roof_terminal(const KernelRow& row);
std::string burst_roof_terminal(const KernelRow& row);
std::string intensity_text(const KernelRow& row);

// HTML.
std::string html_kernel_name(const KernelRow& row);  ///< mark, name, and its implementation, or grid and block
std::string html_time(const KernelRow& row);
std::string html_median(const KernelRow& row);
std::string html_roof(const KernelRow& row);
std::string html_burst_roof(const KernelRow& row);
std::string html_performance(const KernelRow& row);
std::string html_bandwidth(const KernelRow& row);
std::string html_intensity(const KernelRow& row);
std::string html_bound(const KernelRow& row);
std::string html_verification(const KernelRow& row);
std::string html_where_from(const KernelRow& row);
std::string html_verdict(const KernelRow& row);

}  // namespace roofline
