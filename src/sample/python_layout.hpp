// Byte offsets in CPython's thread states, frames and code objects, for each version.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace roofline {

struct PythonLayout {
  int minor = 0;  ///< of version 3

  // From _PyRuntime to the interpreters and their threads.
  std::uint64_t interpreters = 0, next_interpreter = 0, threads = 0, next_thread = 0;
  std::uint64_t thread_id = 0;         ///< a pthread_t
  std::int64_t native_id = -1;         ///< the kernel's id; -1: this version has none
  std::uint64_t frame = 0;             ///< in a thread state: the innermost frame, or what points to it
  std::int64_t frame_in_pointed = -1;  ///< -1: it is the frame itself
  std::int64_t gil = 0;                ///< in _PyRuntime, or in an interpreter as a pointer
  bool gil_of_interpreter = false;
  std::uint64_t gil_holder = 0, gil_locked = 0, gil_size = 0;

  // A frame.
  std::uint64_t previous = 0, code = 0, instruction = 0;
  std::int64_t owner = -1;         ///< -1: all frames are Python's
  std::uint8_t first_c_owner = 0;  ///< owners from here on have no Python code

  // A code object.
  std::uint64_t file = 0, name = 0, first_line = 0, line_table = 0;
  std::int64_t instructions = -1;  ///< where they begin in it; -1: a frame has their index

  // Texts and bytes.
  std::uint64_t ascii_data = 0, text_data = 0;
};

/// Layout of 3.9 to 3.12, which is the same in all releases of a version. std::nullopt for other versions.
std::optional<PythonLayout> python_layout(int minor);

/// Layout of 3.13 and 3.14, from the table at the start of _PyRuntime, as long as `kDebugOffsets` or shorter.
/// std::nullopt for another table, an unknown version, and builds without a GIL.
inline constexpr std::size_t kDebugOffsets = 8 * 64;
std::optional<PythonLayout> python_layout_of(std::string_view debug_offsets);

/// "3.9" in ".../libpython3.9.so.1.0" or ".../lib/python3.9/...": the minor version that a path names.
std::optional<int> python_minor_in(std::string_view path);

}  // namespace roofline
