// Triton Proton: its tree of times (.hatchet) and its chrome trace. FLOPs and bytes are those that the kernel's author
// states in launch_metadata.
#pragma once

#include "import/byte_source.hpp"
#include "import/imported.hpp"

namespace roofline {

ImportedProfile read_proton_tree(ByteSource& source);
ImportedProfile read_proton_trace(ByteSource& source);

/// True if a JSON file that begins so is one of them.
bool looks_like_proton_tree(std::string_view beginning);
bool looks_like_proton_trace(std::string_view beginning);

}  // namespace roofline
