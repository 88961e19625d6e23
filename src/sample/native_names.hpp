// Functions, files and lines of places in native code.
#pragma once

#include <optional>
#include <vector>

#include "sample/code_modules.hpp"
#include "sample/host_samples.hpp"

namespace roofline {

/// The function of a place, the library's function that the compiler inlined there, as the program's code calls it, and
/// the functions into which it inlined the first one, from the inside out.
struct PlaceFrames {
  HostFrame frame;
  std::optional<HostFrame> inlined;
  std::vector<HostFrame> callers;
};
std::vector<PlaceFrames> place_frames(const CodeModules& modules, const std::vector<CodePlace>& places);

/// One frame for each place: symbols and line tables of the module's file, and of its separate debug file where the
/// system has one.
std::vector<HostFrame> native_frames(const CodeModules& modules, const std::vector<CodePlace>& places);

/// True if a function of the CUDA driver or runtime returns only when the GPU has finished: a thread that runs in it is
/// waiting.
bool waits_for_gpu(const HostFrame& frame);

}  // namespace roofline
