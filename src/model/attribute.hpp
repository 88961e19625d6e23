// Facts about a device in its vendor's terms, and the names under which files have them.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace roofline {

/// The facts that this program records. Their names are those of machine.json and are shown to people as they are;
/// files of other versions may have attributes of other names, which are kept and shown.
enum class AttributeKey : std::uint8_t {
  // of a CPU
  packages,
  numa_nodes,
  physical_cores,
  logical_cpus,
  smt,
  pinned_to,
  part,   ///< implementer and part of an AArch64 core
  model,  ///< family, model and stepping of an x86 CPU
  virtual_machine,
  build,
  amx,
  threads,
  cpu_quota,
  governor,
  huge_pages,
  // of a GPU
  compute_capability,
  cuda_runtime,
  memory_bus,
  ecc,
  pci_address,
  uuid,
  mig_mode,
  pcie_link,
  nvlink,
  power_limit,
  // of the host, and of the calibration: what a fleet compares besides
  host_name,
  driver,
  highest_core_clock,
  memory_clock,
  system,
  version,
};

/// "PCI address".
std::string_view name_of(AttributeKey key);
std::optional<AttributeKey> parse_attribute_key(std::string_view name);

struct Attribute {
  std::string name;
  std::string value;

  Attribute() = default;
  Attribute(AttributeKey key, std::string text) : name(name_of(key)), value(std::move(text)) {}
  Attribute(std::string unlisted, std::string text) : name(std::move(unlisted)), value(std::move(text)) {}

  bool is(AttributeKey key) const { return name == name_of(key); }
};

/// The value of that attribute, or null.
const std::string* find_attribute(std::span<const Attribute> attributes, std::string_view name);
const std::string* find_attribute(std::span<const Attribute> attributes, AttributeKey key);

/// The value as a number; std::nullopt if it is absent or not just a number.
std::optional<double> number_of(std::span<const Attribute> attributes, AttributeKey key);

}  // namespace roofline
