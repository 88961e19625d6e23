// Storage of calibrations between runs, and whether a stored one still describes this machine.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "model/machine.hpp"
#include "model/node.hpp"

namespace roofline {

/// $XDG_CACHE_HOME/roofline (else ~/.cache/roofline) / <identity>.json.
std::filesystem::path machine_path(const std::string& identity);

/// File name of a machine in a folder shared by many hosts: "node017-gpu3-360f7906.json", "node017-cpu.json".
/// Letters, digits, '.', '_' and '-', for any host name.
std::string shared_file_name(const DeviceInfo& device, const std::string& host);

/// File name of a node in such a folder: "node017-node.json" for all GPUs, otherwise one that lists its GPUs.
std::string shared_file_name(const Node& node, bool all);

/// Path of the calibration of all GPUs of this host, beside those of its devices.
std::filesystem::path node_path(const std::string& host);

/// Stores a node, as keep_machine does a machine.
bool keep_node(const Node& node);

/// The stored node of that host, or std::nullopt; an unreadable file is moved aside, as in find_machine.
std::optional<Node> find_node(const std::string& host, const std::function<void(const std::string&)>& notify);

/// Stores a machine. A quick or partial one never replaces a full one; false is then returned. Throws UsageError if
/// it cannot be written.
bool keep_machine(const Machine& machine);

/// The stored machine of that device, or std::nullopt. Throws UsageError if the file is not a calibration of it.
std::optional<Machine> kept_machine(const std::string& identity);

/// The same, but a file that is not a calibration of it (truncated, of another device or version) is moved aside
/// and reported through `say`; the device can be measured again.
std::optional<Machine> find_machine(const std::string& identity, const std::function<void(const std::string&)>& notify);

/// The latest stored one of any device of that name; full ones before quick ones.
std::optional<Machine> find_machine_named(const std::string& device_name);

/// Why `machine` may no longer describe `device` ("driver was 580.1, is now 590.2"), one text each; empty if it
/// does.
std::vector<std::string> staleness(const Machine& machine, const DeviceInfo& device, const std::string& tool_version);

/// From the time format of the files ("2026-11-21T04:00:00Z"); std::nullopt if it is invalid.
std::optional<std::int64_t> seconds_since_1970(const std::string& utc_time);

/// Age of `measured_at` at `now` (seconds since 1970): "3 days old", "2 hours old", "less than a minute old", or
/// that a clock was set back.
std::string age_of(const std::string& measured_at, std::int64_t now);

}  // namespace roofline
