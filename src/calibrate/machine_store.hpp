// Where calibrations are kept between runs, and whether one found there still speaks of today's machine.
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

/// The name of a machine's file in a folder that many hosts write to: "node017-gpu3-360f7906.json", "node017-cpu.json".
/// Letters, digits, '.', '_' and '-', whatever the host is called.
std::string shared_file_name(const DeviceInfo& device, const std::string& host);

/// That of a node's file in such a folder: "node017-node.json" of all GPUs, else one made of those it has.
std::string shared_file_name(const Node& node, bool all);

/// Where the calibration of all GPUs of this host is kept, beside those of its devices.
std::filesystem::path node_path(const std::string& host);

/// Keeps a node there, as keep_machine does a machine.
bool keep_node(const Node& node);

/// The node kept for that host, or nothing; what can't be read is moved aside, as find_machine does.
std::optional<Node> find_node(const std::string& host, const std::function<void(const std::string&)>& say);

/// Keeps a machine there. A quick or partial one never replaces a full one: then the path is not written
/// and false is returned. Throws UsageError when it can't be written.
bool keep_machine(const Machine& machine);

/// The machine kept for that device, or nothing. Throws UsageError when what stands there is no calibration of it.
std::optional<Machine> kept_machine(const std::string& identity);

/// The same, but what stands there and is no calibration of it (broken off, of another device or version) is moved
/// aside, and `say` is told of it: to be measured again is all that it takes.
std::optional<Machine> find_machine(const std::string& identity, const std::function<void(const std::string&)>& say);

/// The latest one kept of any device of that name; whole ones before quick ones.
std::optional<Machine> find_machine_named(const std::string& device_name);

/// Why `machine` may no longer hold for `device` ("driver 580.1 then, 590.2 now"), a sentence each; empty when it does.
std::vector<std::string> staleness(const Machine& machine, const DeviceInfo& device, const std::string& tool_version);

/// Of a time as files have it ("2026-11-21T04:00:00Z"); nothing where it is none.
std::optional<std::int64_t> seconds_since_1970(const std::string& utc_time);

/// "3 days old", "2 hours old", "less than a minute old", or that a clock was set: how long before `now` (seconds since
/// 1970) `measured_at` was.
std::string age_of(const std::string& measured_at, std::int64_t now);

}  // namespace roofline
