// The native frames of a thread, from its registers and a copy of its stack.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "sample/code_modules.hpp"
#include "sample/stack_step.hpp"

namespace roofline {

/// The frames, innermost first, by the unwind tables of their files, else by frame pointers; as far as the copy of the
/// stack reaches, `most` at most. Ends with the first frame of a Python interpreter: its frames are read by
/// PythonProcess.
std::vector<CodePlace> native_stack(ProcessCode& code, Registers registers, std::string_view stack, std::size_t most);

}  // namespace roofline
