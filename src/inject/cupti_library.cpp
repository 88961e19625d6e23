#include "inject/cupti_library.hpp"

#include <array>

#include "cupti/library.hpp"

namespace roofline::inject {
namespace {

// Neither table is ever freed: threads may use it while the process ends.
const Cupti* opened = nullptr;

}  // namespace

bool open_cupti(int driver_version) {
  const CuptiLibrary found = find_cupti(driver_version / 1000, [](void* handle) { return Cupti(handle).complete(); });
  if (found.handle == nullptr) return false;
  auto* const table = new Cupti(found.handle);
  table->path = found.path;
  opened = table;
  return true;
}

const Cupti& cupti() {
  static const Cupti& none = *new Cupti(nullptr);
  return opened != nullptr ? *opened : none;
}

const Driver& driver() {
  static const Driver& table = *new Driver(std::array<std::string, 1>{"libcuda.so.1"});
  return table;
}

}  // namespace roofline::inject
