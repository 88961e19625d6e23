// Source lines of CUDA calls in native code: recorded as addresses, resolved after the run.
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "profile/process_trace.hpp"

namespace roofline {

/// A call in a file of the program or a library.
struct NativeCall {
  std::string path, build_id;
  std::uint64_t address = 0;

  auto operator<=>(const NativeCall&) const = default;
};

struct NativeLine {
  std::string function;  ///< without parameters
  std::string file;      ///< source file; the program or library without line information
  int line = 0;          ///< 0: unknown

  bool operator==(const NativeLine&) const = default;
};

using NativeLines = std::map<NativeCall, NativeLine>;

/// File in a recording's folder with the lines of its native calls, because the program's files may change.
inline constexpr const char* kNativeLinesFile = "native.lines";

/// Adds missing lines of these traces' calls, if the files are those that ran.
void find_native_lines(const std::vector<ProcessTrace>& traces, NativeLines& lines);

/// Assigns these lines to places without a Python line.
void add_native_lines(std::vector<ProcessTrace>& traces, const NativeLines& lines);

/// One text line each, with tab-separated path, build id, address, file, line and function.
std::string write_native_lines(const NativeLines& lines);
/// Parses such a text; invalid lines are skipped.
NativeLines read_native_lines(std::string_view text);

}  // namespace roofline
