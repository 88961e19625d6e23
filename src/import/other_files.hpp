// Files of known tools that are not imported: what each is, and the next step.
#pragma once

#include <string>
#include <string_view>

namespace roofline {

/// Throws UsageError with the next step if a file that begins so, or has that name, is one of them.
void refuse_other_file(const std::string& file, std::string_view beginning);

/// True if a file that begins so is one of roofline's own: "schema" is its first key.
bool is_own_file(std::string_view beginning, std::string_view kind = {});

}  // namespace roofline
