// torch.compile() that a program calls, but whose compiled code never runs.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "profile/process_trace.hpp"
#include "profile/source_text.hpp"
#include "report/profile.hpp"

namespace roofline {

/// The number of the first line of Python code that calls or decorates with torch.compile; std::nullopt: none.
std::optional<std::int64_t> line_of_compile(std::string_view source);

/// Advice to fuse or to compile becomes advice to run what torch.compile returned, where a source file of the program
/// calls torch.compile and none of its kernels ran.
void name_unused_compile(std::vector<Saving>& savings, const std::vector<ProcessTrace>& traces,
                         const SourceContent& content = read_source);

}  // namespace roofline
