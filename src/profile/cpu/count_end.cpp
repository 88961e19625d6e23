#include "profile/cpu/count_end.hpp"

#include <fmt/format.h>

#include "text/parse.hpp"
#include "text/text.hpp"

namespace roofline {
namespace {

std::string end_of(const CountedProcess& process, std::int64_t native_signal) {
  const std::string detail = shorten(clean_line(process.detail), 200);
  switch (process.end) {
    case CountEnd::complete:
      return {};
    case CountEnd::torn:
      return "the emulated run was killed before it wrote its counts";
    case CountEnd::limit:
      return fmt::format(
          "the emulated run took longer than its limit{}: raise --count-time or reduce the problem",
          process.why_no_native_s.empty() ? "" : " (" + shorten(clean_line(process.why_no_native_s), 200) + ")");
    case CountEnd::signal:
      if (native_signal > 0 && parsed_number<std::int64_t>(detail) == native_signal) return {};
      return fmt::format("signal {} ended the emulated run", detail);
    case CountEnd::illegal_instruction:
      // The first byte of the bytes in hexadecimal digits: EVEX, which all vector instructions of AVX-512 begin with.
      if (detail.starts_with("62")) {
        return fmt::format(
            "emulation offers AVX2 and the program executed an AVX-512 instruction ({}): compile with "
            "-march=x86-64-v3, or use a library that selects AVX2",
            detail);
      }
      if (detail.starts_with("SVE")) {
        return "the work of SVE instructions is not counted: run qemu-aarch64 -cpu cortex-a76, or compile without SVE";
      }
      return fmt::format(
          "emulation does not know an instruction ({}): compile with -march=x86-64-v3, or use a library "
          "that selects AVX2",
          detail);
  }
  return {};
}

}  // namespace

std::string why_counts_end(const CountedInstructions& counted, std::int64_t native_signal) {
  if (counted.processes.empty()) {
    return counted.unreadable.empty() ? "the emulated run wrote no counts" : clean_line(counted.unreadable);
  }
  if (!counted.unreadable.empty()) return clean_line(counted.unreadable);
  for (const CountedProcess& process : counted.processes) {
    if (std::string reason = end_of(process, native_signal); !reason.empty()) return reason;
  }
  return counted.cut ? "it has more instructions than roofline keeps" : "";
}

}  // namespace roofline
