// Finds a function's caller from the .eh_frame of its file. Only the stack pointer, the frame pointer and the return
// address are tracked.
#pragma once

#include <cstdint>
#include <optional>
#include <unordered_map>

#include "sample/code_image.hpp"

namespace roofline {

struct UnwindRow {
  enum class Base : std::uint8_t {
    unknown,        ///< there is no rule, or one that needs other registers
    stack_pointer,  ///< the caller's stack pointer is this one's + offset
    frame_pointer,
    plt,   ///< a PLT stub; whether it has pushed a word below the return address depends on the instruction
    outer  ///< the outermost function of a thread has no caller
  };
  Base base = Base::unknown;
  std::int64_t offset = 0;
  std::optional<std::int64_t> return_address;  ///< from the caller's stack pointer; std::nullopt: still in its register
  std::optional<std::int64_t> frame_pointer;   ///< where the caller's was saved; std::nullopt: it is unchanged
};

/// Rows of one file by linked address, each looked up once.
class UnwindRows {
 public:
  const UnwindRow& at(const CodeImage& image, std::uint64_t address);

 private:
  std::unordered_map<std::uint64_t, UnwindRow> rows_;
};

/// Reads the row from the image; `unknown` if its table lacks the address or is damaged.
UnwindRow unwind_row(const CodeImage& image, std::uint64_t address);

}  // namespace roofline
