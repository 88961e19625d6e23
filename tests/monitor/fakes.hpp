// The fakes, loaded before anything looks for the real libraries: a library that is loaded is found by its own name.
#pragma once

#include <dlfcn.h>

#include "fake_cupti.hpp"
#include "fake_nvml.hpp"

namespace roofline {

template <class State>
State& loaded_fake(const char* library, const char* function) {
  static void* const handle = dlopen(library, RTLD_NOW | RTLD_LOCAL);
  static auto* const state = reinterpret_cast<State* (*)()>(handle != nullptr ? dlsym(handle, function) : nullptr);
  if (state == nullptr) throw std::runtime_error(std::string("no fake: ") + library);
  return *state();
}

/// As new.
inline FakeNvml& fresh_nvml() {
  FakeNvml& fake = loaded_fake<FakeNvml>(ROOFLINE_FAKE_NVML, "fake_nvml");
  fake = FakeNvml{};
  return fake;
}

inline FakeCupti& fresh_cupti() {
  FakeCupti& fake = loaded_fake<FakeCupti>(ROOFLINE_FAKE_PM_CUPTI, "fake_cupti");
  fake = FakeCupti{};
  return fake;
}

}  // namespace roofline
