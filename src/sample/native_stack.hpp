// The native frames of a thread, from its registers and a copy of its stack.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "sample/code_modules.hpp"
#include "sample/stack_step.hpp"

namespace roofline {

/// The frames, innermost first, by the unwind tables of their files, else by frame pointers; at most `most`, and no
/// more than the copy of the stack contains. Ends at a Python interpreter's frame, since PythonProcess reads those of
/// Python; where the innermost functions are the interpreter's, and an extension called them, behind that extension.
std::vector<CodePlace> native_stack(ProcessCode& code, Registers registers, std::string_view stack, std::size_t most);

}  // namespace roofline
