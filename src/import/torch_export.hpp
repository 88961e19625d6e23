// Programs of torch.export (.pt2) as problems: the graph in their archive, without their weights.
#pragma once

#include <filesystem>

#include "import/torch_graph.hpp"

namespace roofline {

/// Reads the graph; the format is torch/_export/serde/schema.py, major versions 5 to 8. Extents that are symbols get
/// their hints, and `batch` where there is none: `symbols` is true then. Throws UsageError.
TorchGraph read_torch_export(const std::filesystem::path& path, double batch, bool& symbols);

}  // namespace roofline
