// The interpreter's C API: its functions, the GIL and references.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

namespace roofline::inject::python {

struct Object;  // a PyObject

/// Functions of the interpreter's stable C API, and a few outside it that all supported versions have.
struct Api {
  int (*is_initialized)() = nullptr;
  int (*is_finalizing)() = nullptr;
  const char* (*version)() = nullptr;
  void* (*this_thread)() = nullptr;
  int (*ensure)() = nullptr;
  void (*release)(int) = nullptr;
  Object* (*thread_frame)(void*) = nullptr;
  Object* (*frame_back)(Object*) = nullptr;
  Object* (*frame_code)(Object*) = nullptr;
  int (*frame_line)(Object*) = nullptr;
  int (*frame_instruction)(Object*) = nullptr;
  Object* (*attribute)(Object*, const char*) = nullptr;
  const char* (*utf8)(Object*) = nullptr;
  Object* (*type)(Object*) = nullptr;
  int (*dict_next)(Object*, std::ptrdiff_t*, Object**, Object**) = nullptr;
  Object* (*dict_item)(Object*, const char*) = nullptr;
  Object* (*weak_reference)(Object*, Object*) = nullptr;
  Object* (*modules)() = nullptr;
  Object* (*call)(Object*, Object*) = nullptr;
  std::uint64_t (*number)(Object*) = nullptr;
  void (*increase)(Object*) = nullptr;
  void (*decrease)(Object*) = nullptr;
  void (*fetch_error)(Object**, Object**, Object**) = nullptr;
  void (*restore_error)(Object*, Object*, Object*) = nullptr;
  const void* cell_type = nullptr;
};

/// False if the process has no interpreter, or one without these functions.
bool bind_all(Api& api);

/// The thread's PyThreadState; null while Python is not running.
void* running_thread(const Api& api);

/// Holds the GIL; saves and restores the program's pending exception.
class Locked {
 public:
  explicit Locked(const Api& api) : api_(api), state_(api.ensure()) {
    api_.fetch_error(&error_[0], &error_[1], &error_[2]);
  }
  ~Locked() {
    api_.restore_error(error_[0], error_[1], error_[2]);
    api_.release(state_);
  }
  Locked(const Locked&) = delete;
  Locked& operator=(const Locked&) = delete;

 private:
  const Api& api_;
  int state_;
  std::array<Object*, 3> error_ = {};
};

/// An owned reference.
class Reference {
 public:
  Reference(const Api& api, Object* object) : api_(&api), object_(object) {}
  Reference(Reference&& other) noexcept : api_(other.api_), object_(std::exchange(other.object_, nullptr)) {}
  Reference& operator=(Reference&& other) noexcept {
    std::swap(object_, other.object_);
    return *this;
  }
  ~Reference() {
    if (object_ != nullptr) api_->decrease(object_);
  }
  Object* get() const { return object_; }
  Object* leave() { return std::exchange(object_, nullptr); }
  explicit operator bool() const { return object_ != nullptr; }

 private:
  const Api* api_;
  Object* object_;
};

// The caller holds the GIL. The program's exceptions are not touched.

void forget_error(const Api& api);
/// Empty if the object has none.
Reference attribute(const Api& api, Object* object, const char* name);
std::string text_of(const Api& api, Object* object);
std::string text_attribute(const Api& api, Object* object, const char* name);
std::string class_name(const Api& api, Object* object);

}  // namespace roofline::inject::python
