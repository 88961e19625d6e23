// The interpreter's frames, read from memory or through the C API.
#pragma once

#include <cstdint>
#include <cstring>
#include <optional>
#include <string_view>

#include "inject/python_api.hpp"

namespace roofline::inject::python {

/// The position of a frame in its code: an address or an offset. Only compared for equality.
using Instruction = std::uintptr_t;

/// Byte offsets of the fields that are read directly, for one version of the interpreter.
struct Layout {
  int thread_frame;  ///< in PyThreadState: the innermost frame, or the pointer to it
  bool indirect;
  int pointed_frame;
  int code, previous, instruction, owner, locals;
  int c_stack_owner;  ///< owner value of frames without Python code
};

/// By the text of Py_GetVersion: "3.12.3 (main, ...)" gives the layout of 3.12. nullptr: not known.
const Layout* layout_of(std::string_view version);

/// True if the layout is right: its code objects must equal those of the C API. std::nullopt if the thread has no
/// frames (autograd's threads). The caller holds the GIL.
std::optional<bool> check(const Layout& layout, const Api& api, void* thread);

constexpr int kDeepest = 400;

template <typename Value>
Value at(const void* base, int offset) {
  Value value;
  // NOLINTNEXTLINE(bugprone-sizeof-expression): Value may be a pointer
  std::memcpy(&value, static_cast<const char*>(base) + offset, sizeof(Value));
  return value;
}

/// Calls `visit(code, instruction, frame)` from the innermost frame out, until it returns false.
template <typename Visit>
void walk(const Layout& layout, const void* thread, const Visit& visit) {
  const char* frame = at<const char*>(thread, layout.thread_frame);
  if (layout.indirect && frame != nullptr) frame = at<const char*>(frame, layout.pointed_frame);
  for (int depth = 0; frame != nullptr && depth < kDeepest; ++depth) {
    if (at<char>(frame, layout.owner) != layout.c_stack_owner &&
        !visit(at<Object*>(frame, layout.code), at<Instruction>(frame, layout.instruction), frame)) {
      return;
    }
    frame = at<const char*>(frame, layout.previous);
  }
}

/// The same through the C API; `frame` is a frame object. The caller holds the GIL.
template <typename Visit>
void walk(const Api& api, void* thread, const Visit& visit) {
  Reference frame(api, api.thread_frame(thread));
  for (int depth = 0; frame && depth < kDeepest; ++depth) {
    const Reference code(api, api.frame_code(frame.get()));
    const int instruction =
        api.frame_instruction != nullptr ? api.frame_instruction(frame.get()) : api.frame_line(frame.get());
    if (!visit(code.get(), static_cast<Instruction>(instruction) + 1, frame.get())) return;
    frame = Reference(api, api.frame_back(frame.get()));
  }
}

}  // namespace roofline::inject::python
