# The suites that bring no kernels are embedded: the binary alone has them, wherever it lies.
file(GLOB suites CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/configs/*.yaml)
set(declarations "")
set(rows "")
foreach(suite ${suites})
  get_filename_component(name ${suite} NAME_WE)
  string(MAKE_C_IDENTIFIER roofline_suite_${name} symbol)
  roofline_embed(roofline_cli ${symbol} ${suite})
  string(APPEND declarations "extern const char ${symbol}_begin[], ${symbol}_end[];\n")
  string(APPEND rows "      {\"${name}\", \"${name}\", {${symbol}_begin, ${symbol}_end}},\n")
endforeach()
file(CONFIGURE OUTPUT ${CMAKE_CURRENT_BINARY_DIR}/embedded_suites.cpp @ONLY CONTENT [=[
#include "cli/suites.hpp"

extern "C" {
@declarations@}

namespace roofline {

std::vector<KnownSuite> embedded_suites() {
  return {
@rows@  };
}

}  // namespace roofline
]=])
target_sources(roofline_cli PRIVATE ${CMAKE_CURRENT_BINARY_DIR}/embedded_suites.cpp)
