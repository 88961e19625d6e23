// The native frames of a thread, from its registers and a copy of its stack.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "sample/code_modules.hpp"

namespace roofline {

struct Registers {
  std::uint64_t program_counter = 0, stack_pointer = 0;
  std::optional<std::uint64_t> frame_pointer;   ///< nothing: not known, as of a thread in a system call
  std::optional<std::uint64_t> return_address;  ///< on machines that have a register for it
};

/// The frames, the innermost first, by the unwind tables of their files, else by frame pointers; as far as the copy of
/// the stack reaches, `most` at most. Ends with the first frame of a Python interpreter: its frames are read by
/// PythonProcess.
std::vector<CodePlace> native_stack(ProcessCode& code, Registers registers, std::string_view stack, std::size_t most);

}  // namespace roofline
