// Samples of instructions, to and from JSON.
#pragma once

#include <nlohmann/json.hpp>

#include "report/json/json_value.hpp"
#include "report/kernel_samples.hpp"

namespace roofline {

/// The value of a profile's `instructions`.
nlohmann::ordered_json kernel_samples_to_json(const KernelSamples& samples);
KernelSamples read_kernel_samples(const JsonValue& json);

/// The value of a row's `sampled`.
nlohmann::ordered_json sampled_to_json(const SampledKind& sampled);
SampledKind read_sampled(const JsonValue& json);

}  // namespace roofline
