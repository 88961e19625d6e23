// fmt, compiled once: its header-only form with every inline function kept (cmake/RooflineLibraries.cmake), so that all
// other files need the declarations only.
#ifndef FMT_HEADER_ONLY
#define FMT_HEADER_ONLY
#endif
#include <fmt/format.h>
