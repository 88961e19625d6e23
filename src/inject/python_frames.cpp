#include "inject/python_frames.hpp"

#include <sys/uio.h>
#include <unistd.h>

#include <vector>

#include "text/parts.hpp"

namespace roofline::inject::python {
namespace {

constexpr Layout k311 = {56, true, 8, 32, 48, 56, 69, 72, -1};
constexpr Layout k312 = {56, true, 0, 0, 8, 56, 70, 72, 3};
constexpr Layout k313 = {72, false, 0, 0, 8, 56, 70, 72, 3};

/// Reads memory that may be unmapped.
bool read_safely(const void* from, void* to, std::size_t size) {
  iovec local = {to, size};
  iovec remote = {const_cast<void*>(from), size};
  return process_vm_readv(getpid(), &local, 1, &remote, 1, 0) == static_cast<ssize_t>(size);
}

template <typename Value>
bool read_safely(const void* base, int offset, Value& value) {
  // NOLINTNEXTLINE(bugprone-sizeof-expression): Value may be a pointer
  return base != nullptr && read_safely(static_cast<const char*>(base) + offset, &value, sizeof(Value));
}

}  // namespace

const Layout* layout_of(std::string_view version) {
  if (contains_any(version, {"free-threading", "experimental free"})) return nullptr;
  if (version.starts_with("3.11.")) return &k311;
  if (version.starts_with("3.12.")) return &k312;
  if (version.starts_with("3.13.")) return &k313;
  return nullptr;
}

std::optional<bool> check(const Layout& layout, const Api& api, void* thread) {
  std::vector<const Object*> said;
  walk(api, thread, [&](const Object* code, Instruction, const void*) {
    said.push_back(code);
    return true;
  });
  if (said.empty()) return std::nullopt;
  std::vector<const Object*> found;
  const char* frame = nullptr;
  if (!read_safely(thread, layout.thread_frame, frame)) return false;
  if (layout.indirect && !read_safely(frame, layout.pointed_frame, frame)) return false;
  for (int depth = 0; frame != nullptr && depth < kDeepest; ++depth) {
    char owner = 0;
    const Object* code = nullptr;
    const char* previous = nullptr;
    if (!read_safely(frame, layout.owner, owner) || !read_safely(frame, layout.code, code) ||
        !read_safely(frame, layout.previous, previous)) {
      return false;
    }
    if (owner != layout.c_stack_owner) found.push_back(code);
    frame = previous;
  }
  return found == said;
}

}  // namespace roofline::inject::python
