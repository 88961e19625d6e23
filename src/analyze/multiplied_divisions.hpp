// What the experiment `multiplied` puts before a kernel's source.
#pragma once

#include <string_view>

namespace roofline {

/// For the assembler: divide instructions become multiplications, which have the same operands.
inline constexpr std::string_view kMultiply = R"(#if defined(__x86_64__)
#define AS_PRODUCT(v, t) ".macro " v "div" t " o:vararg\n " v "mul" t " \\o\n .endm\n"
#define OF_VECTORS(v) AS_PRODUCT(v, "ps") AS_PRODUCT(v, "ss") AS_PRODUCT(v, "pd") AS_PRODUCT(v, "sd")
__asm__(OF_VECTORS("") OF_VECTORS("v"));
#elif defined(__aarch64__)
__asm__(".macro fdiv o:vararg\n fmul \\o\n .endm\n");
#endif
)";

}  // namespace roofline
