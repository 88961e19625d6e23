// Whole numbers as suites spell them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace roofline {

/// Reads 4096, -1, 2^28, 32Ki, 32Mi, 1Gi or 1Ti (Ki = 1024, and so on). std::nullopt for any other spelling and for
/// what lies outside 64 bits. Strict on purpose: YAML versions disagree on what 010, 1_000 and 1e6 mean.
std::optional<std::int64_t> parse_integer(std::string_view text);

/// How to spell what `text` seems to mean ("write 268435456, without '_'"), or empty.
std::string integer_advice(std::string_view text);

}  // namespace roofline
