// Samples of instructions, to and from JSON.
#pragma once

#include <nlohmann/json.hpp>

#include "report/json/json_value.hpp"
#include "report/kernel_samples.hpp"

namespace roofline {

/// The value of a profile's `instructions`.
nlohmann::ordered_json json_of(const KernelSamples& samples);
void read_json(const JsonValue& json, KernelSamples& samples);

/// The value of a row's `sampled`.
nlohmann::ordered_json json_of(const SampledKind& sampled);
void read_json(const JsonValue& json, SampledKind& sampled);

}  // namespace roofline
