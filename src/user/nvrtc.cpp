// The few functions of libnvrtc that this needs, declared here: a build without CUDA has them too.
#include "user/nvrtc.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

#include <array>
#include <cstdlib>
#include <filesystem>

namespace roofline {
namespace {

using Program = void*;

struct Nvrtc {
  int (*version)(int*, int*) = nullptr;
  int (*create)(Program*, const char*, const char*, int, const char* const*, const char* const*) = nullptr;
  int (*destroy)(Program*) = nullptr;
  int (*add_name)(Program, const char*) = nullptr;
  int (*compile)(Program, int, const char* const*) = nullptr;
  int (*lowered_name)(Program, const char*, const char**) = nullptr;
  int (*log_size)(Program, std::size_t*) = nullptr;
  int (*log)(Program, char*) = nullptr;
  int (*cubin_size)(Program, std::size_t*) = nullptr;
  int (*cubin)(Program, char*) = nullptr;
  bool complete = true;

  static const Nvrtc& get() {
    static const Nvrtc library;
    return library;
  }

 private:
  Nvrtc() {
    void* library = nullptr;
    for (const std::string folder : {"", "/usr/local/cuda/lib64/"}) {
      for (const char* name : {"libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so"}) {
        if (library == nullptr) library = dlopen((folder + name).c_str(), RTLD_NOW | RTLD_LOCAL);
      }
    }
    const auto find = [&]<typename Function>(Function*& function, const char* name) {
      void* const address = library != nullptr ? dlsym(library, name) : nullptr;
      function = reinterpret_cast<Function*>(address);
      complete = complete && address != nullptr;
    };
    find(version, "nvrtcVersion");
    find(create, "nvrtcCreateProgram");
    find(destroy, "nvrtcDestroyProgram");
    find(add_name, "nvrtcAddNameExpression");
    find(compile, "nvrtcCompileProgram");
    find(lowered_name, "nvrtcGetLoweredName");
    find(log_size, "nvrtcGetProgramLogSize");
    find(log, "nvrtcGetProgramLog");
    find(cubin_size, "nvrtcGetCUBINSize");
    find(cubin, "nvrtcGetCUBIN");
  }
};

std::string read_text(int (*size_of)(Program, std::size_t*), int (*read)(Program, char*), Program program) {
  std::size_t size = 0;
  if (size_of(program, &size) != 0 || size == 0) return {};
  std::string text(size, '\0');
  return read(program, text.data()) == 0 ? text : std::string();
}

}  // namespace

std::string nvrtc_version() {
  const Nvrtc& nvrtc = Nvrtc::get();
  int major = 0;
  int minor = 0;
  if (!nvrtc.complete || nvrtc.version(&major, &minor) != 0) return {};
  return fmt::format("{}.{}", major, minor);
}

std::vector<std::string> cuda_include_folders() {
  std::vector<std::string> roots;
  for (const char* variable : {"CUDA_HOME", "CUDA_PATH"}) {
    if (const char* root = std::getenv(variable); root != nullptr && *root == '/') roots.emplace_back(root);
  }
  roots.emplace_back("/usr/local/cuda");
  roots.emplace_back("/usr");
  for (const std::string& root : roots) {
    std::error_code hidden;
    if (!std::filesystem::exists(root + "/include/cuda_runtime.h", hidden)) continue;
    return {root + "/include", root + "/include/cccl"};  // CUDA 13 keeps CCCL in a folder of its own
  }
  return {};
}

NvrtcResult nvrtc_compile(const std::string& text, const std::string& name, const std::string& architecture,
                          const std::vector<std::string>& options, const std::vector<std::string>& entries) {
  const Nvrtc& nvrtc = Nvrtc::get();
  NvrtcResult result;
  result.available = nvrtc.complete;
  if (!nvrtc.complete) return result;
  std::vector<std::string> all = {"-arch=" + architecture, "-default-device"};
  all.insert(all.end(), options.begin(), options.end());
  for (const std::string& folder : cuda_include_folders()) all.push_back("-I" + folder);
  std::vector<const char*> pointers;
  for (const std::string& option : all) pointers.push_back(option.c_str());

  Program program = nullptr;
  if (nvrtc.create(&program, text.c_str(), name.c_str(), 0, nullptr, nullptr) != 0) {
    result.log = "NVRTC could not take the source";
    return result;
  }
  for (const std::string& entry : entries) nvrtc.add_name(program, entry.c_str());
  const int status = nvrtc.compile(program, static_cast<int>(pointers.size()), pointers.data());
  result.log = read_text(nvrtc.log_size, nvrtc.log, program);
  while (!result.log.empty() && (result.log.back() == '\0' || result.log.back() == '\n')) result.log.pop_back();
  result.compiled = status == 0;
  if (result.compiled) {
    result.cubin = read_text(nvrtc.cubin_size, nvrtc.cubin, program);
    for (const std::string& entry : entries) {
      const char* lowered = nullptr;
      nvrtc.lowered_name(program, entry.c_str(), &lowered);
      result.names.emplace_back(lowered != nullptr ? lowered : entry);
    }
  }
  nvrtc.destroy(&program);
  return result;
}

}  // namespace roofline
