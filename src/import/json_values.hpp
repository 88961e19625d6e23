// Parts of a JSON file as values, one after another: a benchmark, a layer. Memory grows with one part, not with the
// file.
#pragma once

#include <cstddef>
#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "import/byte_source.hpp"
#include "import/json_stream.hpp"

namespace roofline {

/// Keys from the root on; "*" is any element of an array, kAnyMember any member of an object.
using JsonPath = std::vector<std::string_view>;
inline constexpr std::string_view kAnyMember = "{*}";

/// Calls `take` with each value at one of the paths, and the path's index, in the order of the file. Throws UsageError
/// with the byte at which the file is no JSON, or a part too large.
void read_json_values(ByteSource& source, const std::vector<JsonPath>& paths,
                      const std::function<void(std::size_t path, const nlohmann::json& value)>& take,
                      JsonDocuments documents = JsonDocuments::one);
/// The same with the name of the member that the value is; empty for elements of arrays.
void read_json_values(
    ByteSource& source, const std::vector<JsonPath>& paths,
    const std::function<void(std::size_t path, const nlohmann::json& value, const std::string& name)>& take);

/// A finite number, also one written as a string ("1e-3"); true is 1.
std::optional<double> number_in(const nlohmann::json& object, std::string_view key);
/// The text of a member; empty if it is no string.
std::string text_in(const nlohmann::json& object, std::string_view key);

}  // namespace roofline
