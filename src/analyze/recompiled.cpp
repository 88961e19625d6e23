#include "analyze/recompiled.hpp"

#include <functional>
#include <memory>
#include <string_view>

#include "user/kernel_spec.hpp"
#include "user/user_implementation.hpp"

namespace roofline {
namespace {

/// For the assembler: divide instructions become multiplications, which have the same operands.
constexpr std::string_view kMultiply = R"(#if defined(__x86_64__)
#define AS_PRODUCT(v, t) ".macro " v "div" t " o:vararg\n " v "mul" t " \\o\n .endm\n"
#define OF_VECTORS(v) AS_PRODUCT(v, "ps") AS_PRODUCT(v, "ss") AS_PRODUCT(v, "pd") AS_PRODUCT(v, "sd")
#define OF_INTEGERS(v) AS_PRODUCT(v, "l") AS_PRODUCT(v, "q")
__asm__(OF_VECTORS("") OF_VECTORS("v") OF_INTEGERS("") OF_INTEGERS("i"));
#elif defined(__aarch64__)
#define AS_PRODUCT(divide, multiply) ".macro " divide " o:vararg\n " multiply " \\o\n .endm\n"
__asm__(AS_PRODUCT("fdiv", "fmul") AS_PRODUCT("sdiv", "mul") AS_PRODUCT("udiv", "mul"));
#endif
)";

std::optional<Implementation> recompiled(const SuiteEntry& entry, const std::function<void(KernelSpec&)>& change) {
  const auto spec = std::make_shared<KernelSpec>(*entry.kernel);
  change(*spec);
  for (const Implementation& implementation : user_implementations(spec)) {
    if (implementation.name == entry.workload.implementation) return implementation;
  }
  return std::nullopt;
}

}  // namespace

bool is_recompilable(const SuiteEntry& entry) {
  return entry.kernel && (entry.kernel->kind == SourceKind::c || entry.kernel->kind == SourceKind::cpp);
}

std::optional<Implementation> with_options(const SuiteEntry& entry, const std::vector<std::string>& options) {
  return recompiled(entry,
                    [&](KernelSpec& spec) { spec.options.insert(spec.options.end(), options.begin(), options.end()); });
}

std::optional<Implementation> without_divisions(const SuiteEntry& entry) {
  return recompiled(entry, [](KernelSpec& spec) { spec.prologue = kMultiply; });
}

std::optional<Implementation> without_failed_forwards(const SuiteEntry& entry) {
  return recompiled(entry, [](KernelSpec& spec) { spec.without_failed_forwards = true; });
}

}  // namespace roofline
