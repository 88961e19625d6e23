#include "inject/cupti_library.hpp"

#include <dlfcn.h>
#include <link.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "inject/spool.hpp"

namespace roofline::inject {
namespace {

template <typename Function>
bool bind(void* library, Function& function, const char* name) {
  function = reinterpret_cast<Function>(dlsym(library, name));
  return function != nullptr;
}

/// CUPTI loads its counter library by a bare name, which the loader knows only where it is installed for all.
void load_counter_library(const std::string& folder) {
  for (const char* name : {"libnvperf_host.so", "libnvperf_target.so"}) dlopen((folder + name).c_str(), RTLD_NOW);
}

std::string folder_of(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  return slash == std::string::npos ? std::string() : path.substr(0, slash + 1);
}

bool bind_all(Cupti& table) {
  void* const library = table.library;
  return bind(library, table.version, "cuptiGetVersion") &&
         bind(library, table.result_string, "cuptiGetResultString") &&
         bind(library, table.subscribe, "cuptiSubscribe") &&
         bind(library, table.enable_callback, "cuptiEnableCallback") &&
         bind(library, table.enable_domain, "cuptiEnableDomain") &&
         bind(library, table.callback_name, "cuptiGetCallbackName") &&
         bind(library, table.register_buffers, "cuptiActivityRegisterCallbacks") &&
         bind(library, table.register_clock, "cuptiActivityRegisterTimestampCallback") &&
         bind(library, table.set_attribute, "cuptiActivitySetAttribute") &&
         bind(library, table.enable, "cuptiActivityEnable") && bind(library, table.disable, "cuptiActivityDisable") &&
         bind(library, table.flush, "cuptiActivityFlushAll") &&
         bind(library, table.next_record, "cuptiActivityGetNextRecord") &&
         bind(library, table.dropped, "cuptiActivityGetNumDroppedRecords") &&
         bind(library, table.graph_node_id, "cuptiGetGraphNodeId");
}

bool open(Cupti& table, const std::string& path, int flags = 0) {
  const std::string folder = folder_of(path);
  if (!folder.empty()) load_counter_library(folder);
  table.library = dlopen(path.c_str(), RTLD_NOW | flags);
  if (table.library == nullptr) return false;
  link_map* map = nullptr;
  table.path = dlinfo(table.library, RTLD_DI_LINKMAP, &map) == 0 && map->l_name[0] != '\0' ? map->l_name : path;
  if (bind_all(table)) return true;
  table.library = nullptr;
  return false;
}

/// Where pip puts CUDA's libraries: site-packages/nvidia/<part>/lib, all of it beside what is loaded from there.
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

Cupti found_cupti;

}  // namespace

std::string Cupti::explain(CUptiResult status) const {
  const char* text = nullptr;
  if (result_string == nullptr || result_string(status, &text) != CUPTI_SUCCESS || text == nullptr)
    text = "no explanation";
  return std::string(text) + " (CUPTI error " + std::to_string(static_cast<int>(status)) + ")";
}

bool find_cupti(int driver_version) {
  Cupti& table = found_cupti;
  if (const char* path = std::getenv(spool::kCuptiVariable); path != nullptr && open(table, path)) return true;
  // CUPTI of a newer major version than the driver's refuses to work, one of an older may: as a program brings it
  // along.
  const int newest = driver_version / 1000;
  for (const int major : {newest, newest - 1}) {
    const std::string name = "libcupti.so." + std::to_string(major);
    if (open(table, name, RTLD_NOLOAD) || open(table, name)) return true;
    for (const std::string& folder : folders()) {
      if (open(table, folder + name)) return true;
    }
  }
  return false;
}

const Cupti& cupti() { return found_cupti; }

const Driver& driver() {
  static const Driver table = [] {
    Driver found;
    void* const library = dlopen("libcuda.so.1", RTLD_NOW);
    if (library == nullptr) return found;
    found.library = library;
    bind(library, found.version, "cuDriverGetVersion");
    bind(library, found.context_device, "cuCtxGetDevice");
    bind(library, found.device_name, "cuDeviceGetName");
    bind(library, found.device_attribute, "cuDeviceGetAttribute");
    bind(library, found.device_uuid, "cuDeviceGetUuid");
    bind(library, found.stream_is_capturing, "cuStreamIsCapturing");
    bind(library, found.stream_is_capturing_ptsz, "cuStreamIsCapturing_ptsz");
    bind(library, found.exchange_capture_mode, "cuThreadExchangeStreamCaptureMode");
    bind(library, found.function_parameter, "cuFuncGetParamInfo");
    bind(library, found.kernel_parameter, "cuKernelGetParamInfo");
    bind(library, found.function_name, "cuFuncGetName");
    bind(library, found.kernel_name, "cuKernelGetName");
    return found;
  }();
  return table;
}

}  // namespace roofline::inject
