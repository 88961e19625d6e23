// Checks the requirements of each feature on this machine, and how to meet missing ones.
#pragma once

#include <array>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "device/device.hpp"
#include "render/render.hpp"

namespace roofline {

/// A library that is opened at run time, the feature that needs it, and whether that feature needs a GPU.
struct KnownLibrary {
  const char* name;
  std::array<const char*, 3> files;  ///< in search order
  const char* check;
  const char* without;
  const char* remedy;
  bool gpu;
};
std::span<const KnownLibrary> known_libraries();

/// limited: works, but better with the remedy.
enum class Health { works, limited, missing };
std::string_view to_string(Health health);

struct HealthCheck {
  std::string name;  ///< "counters of the GPU"
  Health health = Health::works;
  std::string found;    ///< what was found, or why it was not
  std::string without;  ///< what does not work without it; empty if it works
  std::string remedy;   ///< a shell command; empty if there is none
};

/// Why counters cannot be read.
struct CountersRefusal {
  std::string reason;
  bool no_permission = false;  ///< the operating system refuses it to this user
};

/// Facts about the machine that the checks are computed from.
struct MachineFacts {
  std::vector<DeviceListing> devices;
  std::string lacking_isa;  ///< instruction sets that the CPU supports and this build lacks; empty: none
  std::map<std::string, std::string> libraries;  ///< "libnvrtc" → its file; absent if not found
  std::optional<CountersRefusal> cpu_counters;   ///< why they cannot be read; std::nullopt: they can
  std::string count_tool;                        ///< counts instructions under emulation; empty: absent
  std::string no_count_tool;                     ///< then why
  std::optional<CountersRefusal> gpu_counters;   ///< like cpu_counters; std::nullopt without a usable GPU
  bool c_compiler = false, cxx_compiler = false, cuda_compiler = false;
  std::string huge_pages;                           ///< "always [madvise] never"; empty if Linux does not report it
  std::string governor;                             ///< frequency governor of CPU 0; empty: unknown
  std::string cache;                                ///< the folder; empty if unavailable
  std::string cache_fault;                          ///< why the cache is not writable; empty: it is
  std::map<std::string, std::string> calibrations;  ///< identity of a device → "3 days old"; absent: never measured
  std::map<std::string, std::string> broken_calibrations;  ///< → what is wrong with the file that is kept
};

/// Checks in display order. Pure.
std::vector<HealthCheck> checks_of(const MachineFacts& facts);

/// Text for the terminal.
std::string render_checks(const std::vector<HealthCheck>& checks, const TerminalStyle& style);

}  // namespace roofline
