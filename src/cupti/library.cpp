#include "cupti/library.hpp"

#include <dlfcn.h>
#include <glob.h>
#include <link.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <sstream>
#include <vector>

namespace roofline {
namespace {

using Accept = bool (*)(void* handle);

std::string folder_of(const std::string& path) { return path.substr(0, path.rfind('/') + 1); }

/// `path` is a file, or a name that the dynamic loader searches for.
CuptiLibrary open(const std::string& path, Accept accept, int flags = 0) {
  if (const std::string folder = folder_of(path); !folder.empty()) {
    if (::access(path.c_str(), R_OK) != 0) return {};
    // CUPTI opens these by their bare names, which the loader finds only in system folders.
    for (const char* name : {"libnvperf_host.so", "libnvperf_target.so"}) dlopen((folder + name).c_str(), RTLD_NOW);
  }
  void* const handle = dlopen(path.c_str(), RTLD_NOW | flags);
  if (handle == nullptr) return {};
  if (!accept(handle)) {
    dlclose(handle);
    return {};
  }
  link_map* map = nullptr;
  const bool named = dlinfo(handle, RTLD_DI_LINKMAP, &map) == 0 && map->l_name[0] != '\0';
  return {handle, named ? map->l_name : path};
}

/// pip puts CUDA's libraries into site-packages/nvidia/<part>/lib.
int add_wheel_folders(dl_phdr_info* info, std::size_t, void* folders) {
  const char* const part = std::strstr(info->dlpi_name, "/nvidia/");
  if (part == nullptr || std::strstr(info->dlpi_name, "-packages/") == nullptr) return 0;
  auto& found = *static_cast<std::vector<std::string>*>(folders);
  const std::string own = folder_of(info->dlpi_name);
  const std::string root(info->dlpi_name, static_cast<std::size_t>(part - info->dlpi_name));
  for (const std::string& folder : {own, root + "/nvidia/cuda_cupti/lib/", own + "../../cu13/lib/"}) {
    if (std::find(found.begin(), found.end(), folder) == found.end()) found.push_back(folder);
  }
  return 0;
}

std::vector<std::string> folders() {
  std::vector<std::string> places;
  for (const char* variable : {"CUDA_HOME", "CUDA_PATH"}) {
    if (const char* home = std::getenv(variable); home != nullptr && *home == '/') {
      places.push_back(std::string(home) + "/lib64/");
      places.push_back(std::string(home) + "/extras/CUPTI/lib64/");
    }
  }
  for (const char* place : {"/usr/local/cuda/lib64/", "/usr/local/cuda/extras/CUPTI/lib64/", "/usr/local/cuda/lib/",
                            "/usr/lib/x86_64-linux-gnu/", "/usr/lib/aarch64-linux-gnu/"}) {
    places.emplace_back(place);
  }
  dl_iterate_phdr(add_wheel_folders, &places);
  return places;
}

/// Files of that name in the packages of the Pythons that PATH leads to: virtual environments, Conda, the system's.
std::vector<std::string> files_of_wheels(const std::string& name) {
  std::vector<std::string> files;
  const char* const path = std::getenv("PATH");
  const char* const home = std::getenv("HOME");
  std::istringstream programs(std::string(path != nullptr ? path : "") + ":" + (home != nullptr ? home : "") +
                              "/.local/bin");
  for (std::string folder; std::getline(programs, folder, ':');) {
    if (!folder.starts_with('/')) continue;
    const std::string pattern = folder + "/../lib/python3*/*-packages/nvidia/*/lib/" + name;
    glob_t found = {};
    if (::glob(pattern.c_str(), 0, nullptr, &found) == 0)
      files.insert(files.end(), found.gl_pathv, found.gl_pathv + found.gl_pathc);
    ::globfree(&found);
  }
  return files;
}

}  // namespace

CuptiLibrary find_cupti(int newest, Accept accept) {
  if (const char* path = std::getenv(kCuptiVariable); path != nullptr && *path == '/') {
    if (CuptiLibrary found = open(path, accept); found.handle != nullptr) return found;
  }
  // CUPTI of a newer major version than the driver's refuses to work; one of the version before works.
  for (const int major : {newest, newest - 1}) {
    const std::string name = "libcupti.so." + std::to_string(major);
    if (CuptiLibrary found = open(name, accept, RTLD_NOLOAD); found.handle != nullptr) return found;
    if (CuptiLibrary found = open(name, accept); found.handle != nullptr) return found;
    std::vector<std::string> files;
    for (const std::string& folder : folders()) files.push_back(folder + name);
    const std::vector<std::string> wheels = files_of_wheels(name);
    files.insert(files.end(), wheels.begin(), wheels.end());
    for (const std::string& file : files) {
      if (CuptiLibrary found = open(file, accept); found.handle != nullptr) return found;
    }
  }
  return {};
}

}  // namespace roofline
