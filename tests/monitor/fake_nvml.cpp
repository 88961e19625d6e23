// Structures are those of nvml.h, written down a second time on purpose: what reads them must agree with this.
#include "fake_nvml.hpp"

#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

namespace {

constexpr int kInsufficientSize = 7, kNotSupported = 3, kNotFound = 6, kLost = 15;

double now_s() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

FakeNvml from_environment() {
  FakeNvml fake;
  const char* const text = std::getenv("FAKE_NVML");
  if (text == nullptr) return fake;
  fake.moving = true;
  const std::string asked = text;
  const auto number = [&](const char* key) {
    const std::size_t at = asked.find(key);
    return at == std::string::npos ? 0 : std::atoi(asked.c_str() + at + std::strlen(key));
  };
  fake.lost_after = number("lost=");
  fake.die_after = number("die=");
  fake.hang_after = number("hang=");
  fake.status = number("status=");
  fake.start_status = number("start=");
  return fake;
}

FakeNvml& state() {
  static FakeNvml fake = from_environment();
  return fake;
}

int answered() { return state().status; }

int give(unsigned* out, unsigned value) {
  if (answered() == 0) *out = value;
  return answered();
}

struct Pci {
  char legacy[16];
  unsigned domain, bus, device, id, subsystem;
  char address[32];
};
struct Field {
  unsigned id, scope;
  long long time, latency;
  int type, status;
  unsigned long long value;
};
struct Memory {
  unsigned version;
  unsigned long long total, reserved, free, used;
};
struct Process {
  unsigned pid;
  unsigned long long memory;
  unsigned gpu_instance, compute_instance;
};
struct Utilization {
  unsigned pid;
  unsigned long long time;
  unsigned sm, memory, encoder, decoder;
};
struct Rates {
  unsigned gpu, memory;
};
struct Violation {
  unsigned long long now, violated;
};

unsigned long long moved(double bytes_per_s, unsigned long long fixed) {
  return state().moving ? static_cast<unsigned long long>(now_s() * bytes_per_s) : fixed;
}

void fill(Field& field) {
  constexpr int kUnsigned = 1, kLong = 3;
  const auto set = [&](int type, unsigned long long value) {
    field.type = type;
    field.status = 0;
    field.value = value;
  };
  constexpr unsigned kAll = 0xffffffff;
  const FakeNvml& fake = state();
  field.status = kNotSupported;
  if (field.id == 82) set(kUnsigned, 74);
  if (field.id == 164) set(kUnsigned, 26562);
  const bool total = field.scope == kAll && !fake.no_total_nvlink;
  if (field.id == 138 && total) set(kLong, moved(50e9 / 1024, 1000));
  if (field.id == 139 && total) set(kLong, moved(100e9 / 1024, fake.nvlink_received_kib));
  const bool by_link = fake.no_total_nvlink && field.scope < fake.nvlinks;
  if (field.id == 202 && by_link) set(kLong, 7);
  if (field.id == 204 && by_link) set(kLong, fake.nvlink_received_kib);
  if (field.id == 197) set(fake.narrow_pcie ? kUnsigned : kLong, moved(1e9, fake.pcie_transmitted));
  if (field.id == 198) set(fake.narrow_pcie ? kUnsigned : kLong, moved(2e9, fake.pcie_received));
}

}  // namespace

extern "C" {

FakeNvml* fake_nvml() { return &state(); }

int nvmlInit_v2() { return state().start_status; }
int nvmlShutdown() { return 0; }
int nvmlSystemGetDriverVersion(char* text, unsigned size) {
  std::snprintf(text, size, "999.1");
  return 0;
}
int nvmlDeviceGetCount_v2(unsigned* count) {
  *count = state().gpus;
  return 0;
}
int nvmlDeviceGetHandleByIndex_v2(unsigned index, void** device) {
  static char devices[16];
  *device = &devices[index];
  return index < state().gpus ? 0 : kNotFound;
}
int nvmlDeviceGetHandleByPciBusId_v2(const char* address, void** device) {
  unsigned bus = 0;
  if (std::sscanf(address, "%*x:%x", &bus) != 1) return kNotFound;
  return nvmlDeviceGetHandleByIndex_v2(bus - 0x10, device);
}
int nvmlDeviceGetPciInfo_v3(void* device, Pci* pci) {
  void* first = nullptr;
  nvmlDeviceGetHandleByIndex_v2(0, &first);
  const long index = static_cast<char*>(device) - static_cast<char*>(first);
  *pci = {};
  std::snprintf(pci->address, sizeof pci->address, "00000000:%02lX:00.0", 0x10 + index);
  return 0;
}
int nvmlDeviceGetName(void*, char* text, unsigned size) {
  std::snprintf(text, size, "Fake GPU");
  return 0;
}
int nvmlDeviceGetUUID(void*, char* text, unsigned size) {
  std::snprintf(text, size, "GPU-0000");
  return 0;
}
int nvmlDeviceGetClockInfo(void*, unsigned domain, unsigned* mhz) { return give(mhz, domain == 1 ? 1605 : 3201); }
int nvmlDeviceGetMaxClockInfo(void*, unsigned, unsigned* mhz) { return give(mhz, 1980); }
int nvmlDeviceGetTemperature(void*, unsigned, unsigned* celsius) { return give(celsius, 61); }
int nvmlDeviceGetEnforcedPowerLimit(void*, unsigned* milliwatts) { return give(milliwatts, 700000); }
int nvmlDeviceGetPowerUsage(void*, unsigned* milliwatts) {
  static int asked = 0;
  ++asked;
  FakeNvml& fake = state();
  if (fake.lost_after > 0 && asked > fake.lost_after) fake.status = kLost;
  if (fake.die_after > 0 && asked > fake.die_after) ::raise(SIGSEGV);
  if (fake.hang_after > 0 && asked > fake.hang_after) {
    for (;;) ::pause();
  }
  return give(milliwatts, fake.power_milliwatts);
}
int nvmlDeviceGetTotalEnergyConsumption(void*, unsigned long long* millijoules) {
  *millijoules = 5000;
  return answered();
}
int nvmlDeviceGetCurrentClocksEventReasons(void*, unsigned long long* bits) {
  *bits = state().reasons;
  return answered();
}
int nvmlDeviceGetUtilizationRates(void*, Rates* rates) {
  *rates = {97, 40};
  return answered();
}
int nvmlDeviceGetEncoderUtilization(void*, unsigned*, unsigned*) { return kNotSupported; }
int nvmlDeviceGetDecoderUtilization(void*, unsigned* percent, unsigned* period) {
  *period = 167000;
  return give(percent, 3);
}
int nvmlDeviceGetFanSpeed(void*, unsigned*) { return kNotSupported; }
int nvmlDeviceGetMemoryInfo_v2(void*, Memory* memory) {
  constexpr unsigned kVersion = 0x02000000 | sizeof(Memory);
  if (memory->version != kVersion) return 2;
  *memory = {kVersion, 150ULL << 30, 1ULL << 30, 57ULL << 30, 92ULL << 30};
  return answered();
}
int nvmlDeviceGetPcieThroughput(void*, int counter, unsigned* kilobytes) {
  return give(kilobytes, counter == 1 ? 3000 : 500);
}
int nvmlDeviceGetCurrPcieLinkGeneration(void*, unsigned* generation) { return give(generation, 5); }
int nvmlDeviceGetCurrPcieLinkWidth(void*, unsigned* lanes) { return give(lanes, 16); }
int nvmlDeviceGetNvLinkState(void*, unsigned link, unsigned* active) {
  if (link >= 18) return 2;
  return give(active, link < state().nvlinks ? 1 : 0);
}
int nvmlDeviceGetFieldValues(void*, int count, Field* fields) {
  if (answered() != 0) return answered();
  for (int i = 0; i < count; ++i) fill(fields[i]);
  return 0;
}
int nvmlDeviceGetTotalEccErrors(void*, int type, int, unsigned long long* errors) {
  *errors = type == 0 ? 12 : 0;
  return answered();
}
int nvmlDeviceGetViolationStatus(void*, int policy, Violation* violation) {
  violation->violated = moved(policy == 0 ? 0.5e9 : 0, 0);
  return answered();
}
int nvmlDeviceGetComputeRunningProcesses_v3(void*, unsigned* count, Process* processes) {
  if (state().process_status != 0) return state().process_status;
  if (answered() != 0) return answered();
  const bool room = *count >= 1;
  *count = 1;
  if (!room) return kInsufficientSize;
  processes[0] = {static_cast<unsigned>(::getpid()), 88ULL << 30, 0, 0};
  return 0;
}
int nvmlDeviceGetGraphicsRunningProcesses_v3(void*, unsigned* count, Process*) {
  *count = 0;
  return answered();
}
int nvmlDeviceGetProcessUtilization(void*, Utilization* samples, unsigned* count, unsigned long long) {
  if (samples == nullptr || *count < 2) {
    *count = 2;
    return kInsufficientSize;
  }
  *count = 2;
  samples[0] = {static_cast<unsigned>(::getpid()), 1, 90, 0, 0, 0};
  samples[1] = {static_cast<unsigned>(::getpid()), 2, 70, 0, 0, 0};
  return answered();
}

}  // extern "C"
