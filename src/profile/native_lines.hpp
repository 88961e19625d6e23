// Source lines of CUDA calls that native code makes: recorded as addresses, named after the run.
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "profile/process_trace.hpp"

namespace roofline {

/// A call in a program's or library's file.
struct NativeCall {
  std::string path, build_id;
  std::uint64_t address = 0;

  auto operator<=>(const NativeCall&) const = default;
};

struct NativeLine {
  std::string function;  ///< without its parameters
  std::string file;      ///< the source; the program or library where it has no source lines
  int line = 0;          ///< 0: not known

  bool operator==(const NativeLine&) const = default;
};

using NativeLines = std::map<NativeCall, NativeLine>;

/// Of a folder with a recording: the lines of its native calls, because the program's files may change.
inline constexpr const char* kNativeLinesFile = "native.lines";

/// Adds the lines of these traces' calls that have none yet, where the files are those that ran.
void find_native_lines(const std::vector<ProcessTrace>& traces, NativeLines& lines);

/// Gives these lines to the places that have no line of Python.
void add_native_lines(std::vector<ProcessTrace>& traces, const NativeLines& lines);

/// A line of text for each, with tabs between path, build id, address, file, line and function.
std::string write_native_lines(const NativeLines& lines);
/// What can be read of it.
NativeLines read_native_lines(std::string_view text);

}  // namespace roofline
