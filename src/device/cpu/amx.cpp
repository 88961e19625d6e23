// The bits are those of Intel's manual, volume 1, chapter 18, and volume 2, CPUID; the request is Linux's
// (Documentation/arch/x86/xstate.rst).
#include "device/cpu/amx.hpp"

#include <array>
#include <cerrno>
#include <system_error>

#if defined(__x86_64__)
#include <cpuid.h>
#include <sys/syscall.h>
#include <unistd.h>
#endif

namespace roofline {
namespace {

constexpr std::uint32_t kAmxBf16 = 1U << 22U;  // leaf_7_edx
constexpr std::uint32_t kTiles = 1U << 24U;
constexpr std::uint32_t kAmxInt8 = 1U << 25U;
constexpr std::uint32_t kAmxFp16 = 1U << 21U;     // leaf_7_1_eax
constexpr std::uint64_t kTileState = 3ULL << 17;  // xcr0: the configuration and the tiles

constexpr std::array kTypes = {DType::bf16, DType::fp16, DType::int8};

bool has_products(const AmxFacts& facts, DType dtype) {
  if (dtype == DType::bf16) return (facts.leaf_7_edx & kAmxBf16) != 0;
  if (dtype == DType::int8) return (facts.leaf_7_edx & kAmxInt8) != 0;
  return dtype == DType::fp16 && (facts.leaf_7_1_eax & kAmxFp16) != 0;
}

/// Why Linux gives this process no tiles; empty when it does. Kernels before 5.16 don't know the request.
std::string ask_for_tiles() {
#if defined(__x86_64__) && defined(SYS_arch_prctl)
  constexpr int kRequestPermission = 0x1023;  // ARCH_REQ_XCOMP_PERM
  constexpr unsigned long kTileData = 18;     // the component's bit in XCR0
  if (::syscall(SYS_arch_prctl, kRequestPermission, kTileData) == 0) return {};
  return std::generic_category().message(errno);
#else
  return "it lacks ARCH_REQ_XCOMP_PERM";
#endif
}

}  // namespace

AmxFacts amx_facts() {
  AmxFacts facts;
#if defined(__x86_64__)
  unsigned eax = 0;
  unsigned ebx = 0;
  unsigned ecx = 0;
  unsigned edx = 0;
  if (__get_cpuid_count(7, 0, &eax, &ebx, &ecx, &edx) != 0) facts.leaf_7_edx = edx;
  if (__get_cpuid_count(7, 1, &eax, &ebx, &ecx, &edx) != 0) facts.leaf_7_1_eax = eax;
  if (__get_cpuid_count(0x1d, 0, &eax, &ebx, &ecx, &edx) != 0) facts.palettes = eax;
  constexpr unsigned kOsXsave = 1U << 27U;  // without it, the instruction faults
  if (__get_cpuid(1, &eax, &ebx, &ecx, &edx) != 0 && (ecx & kOsXsave) != 0) {
    unsigned low = 0;
    unsigned high = 0;
    asm volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    facts.xcr0 = std::uint64_t{high} << 32U | low;
  }
#endif
  return facts;
}

std::optional<std::string> amx_missing(const AmxFacts& facts, DType dtype) {
  if ((facts.leaf_7_edx & kTiles) == 0 || facts.palettes == 0) return "this CPU has no AMX";
  if (!has_products(facts, dtype)) return "this CPU's AMX does not multiply " + std::string(to_string(dtype));
  if ((facts.xcr0 & kTileState) != kTileState) return "the operating system does not save AMX tiles";
  return std::nullopt;
}

std::optional<std::string> amx_missing(DType dtype, Isa isa) {
  static const AmxFacts facts = amx_facts();
  if (auto reason = amx_missing(facts, dtype)) return reason;
  // Kernels on tiles prepare their operands with AVX-512, which every CPU with AMX has.
  if (isa != Isa::avx512) return "AMX needs the avx512 level; the level in use is " + std::string(to_string(isa));
  static const std::string refusal = ask_for_tiles();
  if (!refusal.empty()) return "the kernel denies this process AMX tiles: " + refusal;
  return std::nullopt;
}

std::optional<std::string> describe_amx(Isa isa) {
  std::string types;
  std::optional<std::string> reason;
  for (const DType dtype : kTypes) {
    if (!has_products(amx_facts(), dtype)) continue;
    reason = amx_missing(dtype, isa);
    if (!reason) types += (types.empty() ? "" : ", ") + std::string(to_string(dtype));
  }
  return types.empty() ? reason : types;
}

}  // namespace roofline
