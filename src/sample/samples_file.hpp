// Host samples as the bytes of a file, which is kept beside the spools of a recording.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "sample/host_samples.hpp"

namespace roofline {

inline constexpr const char* kHostSamplesFile = "host.samples";

std::string write_host_samples(const HostSamples& samples);

/// Reads untrusted bytes. A truncated file gives all samples before its end. std::nullopt if the format is another or
/// the file is damaged before its first sample.
std::optional<HostSamples> read_host_samples(std::string_view bytes);

}  // namespace roofline
