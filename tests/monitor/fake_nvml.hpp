// What a library says that stands in for NVML: found under its name by whoever has loaded it before, or by
// LD_LIBRARY_PATH. Tests set its answers; programs that find it get these, of which FAKE_NVML changes some.
#pragma once

struct FakeNvml {
  int start_status = 0;  ///< what nvmlInit answers
  int status = 0;        ///< what every question about the device is answered with
  int process_status = 0;
  unsigned gpus = 2;
  unsigned power_milliwatts = 650000;
  unsigned long long reasons = 0x4;                            ///< power cap
  bool narrow_pcie = false;                                    ///< counts PCIe's bytes in 32 bits
  bool no_total_nvlink = false;                                ///< counts NVLink by links alone
  unsigned long long pcie_received = 0, pcie_transmitted = 0;  ///< bytes
  unsigned long long nvlink_received_kib = 0;
  unsigned nvlinks = 18;
  bool moving = false;  ///< counters run by the clock: 2 GB/s in over PCIe, 100 GB/s over NVLink
  int lost_after = 0;   ///< so many readings of the power later the GPU is lost; 0: never
  int die_after = 0;    ///< likewise, and the process that asks is killed
  int hang_after = 0;   ///< likewise, and it gets no answer any more
};

extern "C" FakeNvml* fake_nvml();
