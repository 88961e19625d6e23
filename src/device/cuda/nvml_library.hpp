// The functions of NVML that are used, with prototypes declared here: NVML never removes or changes an entry point.
#pragma once

#include <array>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "device/cuda/nvml.hpp"
#include "host/shared_library.hpp"

namespace roofline {
namespace nvml {

using Handle = void*;  ///< of a GPU
inline constexpr int kSuccess = 0;
inline constexpr int kFunctionNotFound = 13;

/// nvmlSample_t: time in microseconds since 1970, and a union whose active member is given by a separate type.
struct RawSample {
  unsigned long long time_us;
  union {
    double real;
    unsigned small;
    unsigned long long large;
  } value;
};
/// nvmlFieldValue_t.
struct RawField {
  unsigned id;
  unsigned scope;
  long long time_us;
  long long latency_us;
  int type;
  int status;
  union {
    double real;
    unsigned small;
    unsigned long long large;
  } value;
};

/// nvmlProcessUtilizationSample_t.
struct RawUtilization {
  unsigned pid;
  unsigned long long time_us;
  unsigned sm_percent;
  unsigned memory_percent;
  unsigned encoder_percent;
  unsigned decoder_percent;
};

/// nvmlViolationTime_t.
struct RawViolation {
  unsigned long long now_us;
  unsigned long long violated_ns;
};

/// nvmlPciInfo_t.
struct RawPci {
  std::array<char, 16> legacy_address;
  unsigned domain, bus, device, id, subsystem_id;
  std::array<char, 32> address;
};

/// nvmlUtilization_t.
struct RawRates {
  unsigned gpu_percent;
  unsigned memory_percent;
};

/// nvmlMemory_v2_t: the version is that of the structure and its size.
struct RawMemory {
  unsigned version = 0x02000000 | 40;
  unsigned long long total = 0;
  unsigned long long reserved = 0;
  unsigned long long free = 0;
  unsigned long long used = 0;
};

/// nvmlProcessInfo_v2_t, of versions 2 and 3 of the functions.
struct RawProcess {
  unsigned pid;
  unsigned long long memory_bytes;
  unsigned gpu_instance;
  unsigned compute_instance;
};

/// Types of samples and fields.
inline constexpr int kDoubleValue = 0;
inline constexpr int kUnsignedValue = 1;

double number_of(const RawField& field);

/// Description of an nvmlReturn_t.
std::string words_of(int status);

}  // namespace nvml

struct Nvml::State : SharedLibrary {
  State() : SharedLibrary(std::array<std::string, 1>{"libnvidia-ml.so.1"}) {
    // Renamed in driver 535; the old name stays.
    if (reasons == nullptr) reasons = symbol("nvmlDeviceGetCurrentClocksThrottleReasons");
  }
  ~State() {
    if (initialised) shutdown();
  }

  /// Throws Error if NVML cannot be initialised.
  static std::unique_ptr<State> started();

  nvml::Handle device = nullptr;
  bool initialised = false;

  int (*init)() = symbol("nvmlInit_v2");
  int (*shutdown)() = symbol("nvmlShutdown");
  int (*by_pci)(const char*, nvml::Handle*) = symbol("nvmlDeviceGetHandleByPciBusId_v2");
  int (*driver_version)(char*, unsigned) = symbol("nvmlSystemGetDriverVersion");
  int (*clock)(nvml::Handle, unsigned, unsigned*) = symbol("nvmlDeviceGetClockInfo");
  int (*temperature)(nvml::Handle, unsigned, unsigned*) = symbol("nvmlDeviceGetTemperature");
  int (*power_limit)(nvml::Handle, unsigned*) = symbol("nvmlDeviceGetEnforcedPowerLimit");
  int (*energy)(nvml::Handle, unsigned long long*) = symbol("nvmlDeviceGetTotalEnergyConsumption");
  int (*reasons)(nvml::Handle, unsigned long long*) = symbol("nvmlDeviceGetCurrentClocksEventReasons");
  int (*mig_mode)(nvml::Handle, unsigned*, unsigned*) = symbol("nvmlDeviceGetMigMode");
  int (*samples)(nvml::Handle, int, unsigned long long, int*, unsigned*,
                 nvml::RawSample*) = symbol("nvmlDeviceGetSamples");
  int (*fields)(nvml::Handle, int, nvml::RawField*) = symbol("nvmlDeviceGetFieldValues");
  int (*utilization)(nvml::Handle, nvml::RawUtilization*, unsigned*,
                     unsigned long long) = symbol("nvmlDeviceGetProcessUtilization");
  int (*violation)(nvml::Handle, int, nvml::RawViolation*) = symbol("nvmlDeviceGetViolationStatus");
  int (*pcie_generation)(nvml::Handle, unsigned*) = symbol("nvmlDeviceGetCurrPcieLinkGeneration");
  int (*pcie_lanes)(nvml::Handle, unsigned*) = symbol("nvmlDeviceGetCurrPcieLinkWidth");
  int (*best_pcie_generation)(nvml::Handle, unsigned*) = symbol("nvmlDeviceGetMaxPcieLinkGeneration");
  int (*best_pcie_lanes)(nvml::Handle, unsigned*) = symbol("nvmlDeviceGetMaxPcieLinkWidth");
  int (*nvlink_state)(nvml::Handle, unsigned, unsigned*) = symbol("nvmlDeviceGetNvLinkState");
  int (*nvlink_remote)(nvml::Handle, unsigned, nvml::RawPci*) = symbol("nvmlDeviceGetNvLinkRemotePciInfo_v2");
  int (*nvlink_remote_kind)(nvml::Handle, unsigned, int*) = symbol("nvmlDeviceGetNvLinkRemoteDeviceType");
  int (*p2p_status)(nvml::Handle, nvml::Handle, int, int*) = symbol("nvmlDeviceGetP2PStatus");
  int (*common_ancestor)(nvml::Handle, nvml::Handle, int*) = symbol("nvmlDeviceGetTopologyCommonAncestor");

  int (*device_count)(unsigned*) = symbol("nvmlDeviceGetCount_v2");
  int (*by_index)(unsigned, nvml::Handle*) = symbol("nvmlDeviceGetHandleByIndex_v2");
  int (*pci_info)(nvml::Handle, nvml::RawPci*) = symbol("nvmlDeviceGetPciInfo_v3");
  int (*name)(nvml::Handle, char*, unsigned) = symbol("nvmlDeviceGetName");
  int (*uuid)(nvml::Handle, char*, unsigned) = symbol("nvmlDeviceGetUUID");
  int (*max_clock)(nvml::Handle, unsigned, unsigned*) = symbol("nvmlDeviceGetMaxClockInfo");
  int (*power)(nvml::Handle, unsigned*) = symbol("nvmlDeviceGetPowerUsage");
  int (*rates)(nvml::Handle, nvml::RawRates*) = symbol("nvmlDeviceGetUtilizationRates");
  int (*encoder)(nvml::Handle, unsigned*, unsigned*) = symbol("nvmlDeviceGetEncoderUtilization");
  int (*decoder)(nvml::Handle, unsigned*, unsigned*) = symbol("nvmlDeviceGetDecoderUtilization");
  int (*fan)(nvml::Handle, unsigned*) = symbol("nvmlDeviceGetFanSpeed");
  int (*memory_info)(nvml::Handle, nvml::RawMemory*) = symbol("nvmlDeviceGetMemoryInfo_v2");
  int (*pcie_throughput)(nvml::Handle, int, unsigned*) = symbol("nvmlDeviceGetPcieThroughput");
  int (*ecc)(nvml::Handle, int, int, unsigned long long*) = symbol("nvmlDeviceGetTotalEccErrors");
  int (*compute_processes)(nvml::Handle, unsigned*,
                           nvml::RawProcess*) = symbol("nvmlDeviceGetComputeRunningProcesses_v3");
  int (*graphics_processes)(nvml::Handle, unsigned*,
                            nvml::RawProcess*) = symbol("nvmlDeviceGetGraphicsRunningProcesses_v3");

  mutable int refused = nvml::kSuccess;  ///< status of the last failed query

  /// Queries the device; false if the driver lacks the function or returns an error.
  template <typename Function, typename... Arguments>
  bool ask(Function* function, Arguments... arguments) const {
    const int status = function == nullptr ? nvml::kFunctionNotFound : function(device, arguments...);
    if (status != nvml::kSuccess) refused = status;
    return status == nvml::kSuccess;
  }

  std::optional<nvml::RawField> field(unsigned id, unsigned scope = 0) const;
  std::optional<double> fraction(int (*question)(nvml::Handle, unsigned*, unsigned*)) const;

  /// A number that the driver answers with, in a unit of `scale`.
  template <typename Number, typename Function, typename... Arguments>
  std::optional<double> value(double scale, Function* question, Arguments... arguments) const {
    Number number = 0;
    if (!ask(question, arguments..., &number)) return std::nullopt;
    return static_cast<double>(number) * scale;
  }

  std::optional<double> violated_s(int policy) const;

  /// SM utilisation by process id: the mean of the samples since `since_s`. The driver samples about once a second.
  std::map<unsigned, std::pair<double, int>> sm_shares(double since_s) const;

  using ProcessQuestion = int (*)(nvml::Handle, unsigned*, nvml::RawProcess*);
  bool add_processes(ProcessQuestion question, std::vector<nvml::RawProcess>& all) const;

  using Question = int (*)(nvml::Handle, unsigned*);
  std::optional<PcieLink> link(Question generation, Question lanes) const;
};

}  // namespace roofline
