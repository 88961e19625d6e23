// A PNG or a PDF, drawn by Cairo. A picture's text is filled outlines of the embedded font: Cairo's own text interfaces
// would look up fonts of the machine. A PDF's is text of the same font, embedded, so that it can be searched and
// copied.
#pragma once

#include <cstdint>
#include <string>

#include "render/chart/scene.hpp"

namespace roofline {

enum class CairoFormat : std::uint8_t { png, pdf };

/// The file's bytes. `scale`: device pixels for each CSS pixel; a PDF's are points. Throws Error when Cairo reports
/// one. Where memory runs out, Cairo may crash instead.
std::string draw_with_cairo(const Scene& scene, CairoFormat format, double scale);

}  // namespace roofline
