// A GPU's identity and attributes, from the runtime's attributes and from NVML where there is one.
#include <fmt/format.h>

#include <string>

#include "device/cuda/check.hpp"
#include "device/cuda/cuda_device.hpp"
#include "device/cuda/nvml.hpp"
#include "device/cuda/throughput.hpp"
#include "device/cuda/topology.hpp"
#include "device/slug.hpp"

namespace roofline {
namespace {

/// 0 where the driver doesn't know the attribute.
int attribute(cudaDeviceAttr which, int index) {
  int value = 0;
  if (cudaDeviceGetAttribute(&value, which, index) != cudaSuccess) {
    static_cast<void>(cudaGetLastError());
    return 0;
  }
  return value;
}

std::string uuid_text(const cudaUUID_t& uuid) {
  std::string hex;
  for (const char byte : uuid.bytes)
    hex += fmt::format("{:02x}", static_cast<unsigned>(static_cast<unsigned char>(byte)));
  return fmt::format("{}-{}-{}-{}-{}", hex.substr(0, 8), hex.substr(8, 4), hex.substr(12, 4), hex.substr(16, 4),
                     hex.substr(20));
}

std::string version_text(int version) { return fmt::format("{}.{}", version / 1000, version % 1000 / 10); }

std::string driver_text(const Nvml* nvml) {
  if (nvml != nullptr) {
    if (const auto version = nvml->driver_version()) return *version;
  }
  int version = 0;
  check(cudaDriverGetVersion(&version), "reading the driver's version");
  return "CUDA " + version_text(version);
}

void add_nvml_attributes(const Nvml& nvml, std::vector<Attribute>& attributes) {
  if (const auto mig = nvml.mig_enabled()) attributes.push_back({AttributeKey::mig_mode, *mig ? "on" : "off"});
  if (const auto link = nvml.best_pcie_link()) {
    attributes.push_back(
        {AttributeKey::pcie_link, fmt::format("generation {}, {} lanes", link->generation, link->lanes)});
  }
  if (const auto links = nvml.nvlinks(); links && links->links > 0) {
    attributes.push_back(
        {AttributeKey::nvlink,
         fmt::format(
             "{} links{}", links->links,
             links->bytes_per_s > 0 ? fmt::format(", {:.1f} GB/s per direction", links->bytes_per_s * 1e-9) : "")});
  }
  if (const auto watts = nvml.power_limit_w())
    attributes.push_back({AttributeKey::power_limit, fmt::format("{:.0f} W", *watts)});
}

std::vector<CacheInfo> caches_of(const CudaProperties& properties) {
  std::vector<CacheInfo> caches = {{Level::l2, properties.l2_bytes, 1}};
  const auto l1 = l1_bytes(properties.major, properties.minor);
  if (l1) caches.push_back({Level::l1, *l1, properties.sm_count});
  caches.push_back({Level::shared, static_cast<double>(properties.shared_bytes_per_sm), properties.sm_count});
  return caches;
}

}  // namespace

CudaProperties cuda_properties(int index) {
  cudaDeviceProp raw;
  check(cudaGetDeviceProperties(&raw, index), "reading the GPU's properties");
  return {.index = index,
          .major = raw.major,
          .minor = raw.minor,
          .sm_count = raw.multiProcessorCount,
          .threads_per_sm = raw.maxThreadsPerMultiProcessor,
          .shared_bytes_per_block = static_cast<int>(raw.sharedMemPerBlockOptin),
          .shared_bytes_per_sm = static_cast<int>(raw.sharedMemPerMultiprocessor),
          .l2_bytes = static_cast<double>(raw.l2CacheSize),
          .memory_bytes = static_cast<double>(raw.totalGlobalMem),
          // CUDA 13 took the clocks out of cudaDeviceProp; as attributes (in kHz) they stay.
          .max_core_hz = 1e3 * attribute(cudaDevAttrClockRate, index),
          .max_memory_hz = 1e3 * attribute(cudaDevAttrMemoryClockRate, index),
          .memory_bus_bits = raw.memoryBusWidth};
}

DeviceInfo describe_cuda_device(const CudaProperties& properties, const Nvml* nvml) {
  cudaDeviceProp raw;
  check(cudaGetDeviceProperties(&raw, properties.index), "reading the GPU's properties");
  int runtime = 0;
  check(cudaRuntimeGetVersion(&runtime), "reading the runtime's version");
  const std::string uuid = uuid_text(raw.uuid);

  DeviceInfo info;
  info.kind = DeviceKind::cuda;
  info.index = properties.index;
  info.name = raw.name;
  info.identity = fmt::format("cuda-{}-{}", slug(raw.name), uuid.substr(0, 8));
  info.units = properties.sm_count;
  info.memory_bytes = properties.memory_bytes;
  info.caches = caches_of(properties);
  if (properties.max_core_hz > 0) info.max_core_hz = properties.max_core_hz;
  if (properties.max_memory_hz > 0) info.memory_hz = properties.max_memory_hz;
  info.driver = driver_text(nvml);
  info.isa = fmt::format("sm_{}{}", properties.major, properties.minor);
  info.attributes = {
      {AttributeKey::compute_capability, fmt::format("{}.{}", properties.major, properties.minor)},
      {AttributeKey::cuda_runtime, version_text(runtime)},
      {AttributeKey::memory_bus, fmt::format("{} bit", properties.memory_bus_bits)},
      {AttributeKey::ecc, raw.ECCEnabled != 0 ? "on" : "off"},
      {AttributeKey::pci_address, pci_address(properties.index)},
      {AttributeKey::uuid, "GPU-" + uuid},
  };
  if (nvml != nullptr) add_nvml_attributes(*nvml, info.attributes);
  return info;
}

}  // namespace roofline
