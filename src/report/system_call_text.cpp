#include "report/system_call_text.hpp"

#include <array>

#include "text/parts.hpp"

namespace roofline {

SystemCallText system_call_text(std::string_view call) {
  static constexpr auto kReads = std::to_array<std::string_view>({"read", "pread", "recv"});
  static constexpr auto kWrites = std::to_array<std::string_view>({"write", "pwrite", "send"});
  if (call == "flush") {
    return {"write, for streams that are flushed",
            "Flush once at the end: write '\\n' instead of std::endl, and do not call flush() in a loop."};
  }
  if (call == "localtime") {
    return {"of localtime, which looks for the time zone's file each time",
            "Set TZ (export TZ=:/etc/localtime), or convert once per second and keep the text."};
  }
  if (starts_with_any(call, kReads)) {
    return {call, "Read 64 KiB or more at a time into a buffer (fread, std::ifstream, BufReader), or map the file."};
  }
  if (starts_with_any(call, kWrites)) {
    return {call,
            "Collect output in a buffer of 64 KiB or more (setvbuf, std::ofstream, BufWriter) and write it at once."};
  }
  return {call, "Make fewer and larger calls; `strace -c -f` counts them."};
}

}  // namespace roofline
