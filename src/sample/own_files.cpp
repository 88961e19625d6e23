#include "sample/own_files.hpp"

#include <algorithm>
#include <array>

#include "text/parts.hpp"

namespace roofline {

bool is_vendor_library(std::string_view path) {
  // Libraries of CUDA, frameworks and compilers, in any folder.
  static constexpr auto kLibraries = std::to_array<std::string_view>(
      {"libcuda",      "libcudart",   "libcupti",    "libcublas",     "libcudnn", "libcufft",
       "libcurand",    "libcusolver", "libcusparse", "libcutensor",   "libnccl",  "libnvrtc",
       "libnvJitLink", "libnvidia",   "libnvperf",   "libnvToolsExt", "libtorch", "libc10",
       "libstdc++",    "libgcc_s",    "libgomp",     "libomp",        "libiomp",  "libtbb",
       "libroofline_", "libmpi",      "libopen-pal", "libopen-rte",   "libpmix"});
  const std::string_view name = path.substr(path.rfind('/') + 1);
  return starts_with_any(name, kLibraries);
}

bool is_openmp_runtime(std::string_view path) {
  const std::string_view name = path.substr(path.rfind('/') + 1);
  return starts_with_any(name, {"libgomp", "libomp", "libiomp"});
}

bool is_own_native_file(std::string_view path) {
  if (!path.starts_with('/') || is_vendor_library(path)) return false;
  static constexpr auto kSystem = std::to_array<std::string_view>(
      {"/usr/", "/lib/", "/lib32/", "/lib64/", "/bin/", "/sbin/", "/opt/cuda", "/opt/nvidia", "/nix/store/", "/snap/"});
  static constexpr auto kInstalled =
      std::to_array<std::string_view>({"/site-packages/", "/dist-packages/", "/lib-dynload/", "/libpython3"});
  if (path.starts_with("/usr/src/") || path.starts_with("/usr/local/src/")) return true;
  const auto begins = [path](std::string_view part) { return path.starts_with(part); };
  const auto holds = [path](std::string_view part) { return path.find(part) != std::string_view::npos; };
  return !std::ranges::any_of(kSystem, begins) && !std::ranges::any_of(kInstalled, holds);
}

bool is_system_source(std::string_view file) {
  // All but the first are CUDA's, wherever it is unpacked; nvidia/cu13 and nvidia/cuda_runtime are packages of pip.
  static constexpr auto kHeaders = std::to_array<std::string_view>(
      {"/include/c++/", "/targets/x86_64-linux/include/", "/targets/sbsa-linux/include/",
       "/targets/aarch64-linux/include/", "/cuda/include/"});
  const auto holds = [file](std::string_view part) { return file.find(part) != std::string_view::npos; };
  const std::size_t package = file.find("/nvidia/cu");
  // Rust's own libraries, as they were built, in the compiler's folder, and as they are installed.
  constexpr auto kRust =
      std::to_array<std::string_view>({"/rustc/", "library/std/", "library/core/", "library/alloc/"});
  const bool rust = holds("/lib/rustlib/src/") ||
                    std::ranges::any_of(kRust, [file](std::string_view part) { return file.starts_with(part); });
  // Functions of Triton and of headers that come with a package.
  const bool package_of_python = holds("/site-packages/") || holds("/dist-packages/");
  return file.starts_with("/usr/") || rust || package_of_python || file.ends_with(".cudafe1.stub.c") ||
         std::ranges::any_of(kHeaders, holds) ||
         (package != std::string_view::npos && file.find("/include/", package) != std::string_view::npos);
}

}  // namespace roofline
