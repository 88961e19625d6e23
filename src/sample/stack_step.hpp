// One step of unwinding: from a function to its caller.
#pragma once

#include <cstdint>
#include <cstring>
#include <optional>
#include <string_view>

#include "sample/unwind_rows.hpp"

namespace roofline {

struct Registers {
  std::uint64_t program_counter = 0, stack_pointer = 0;
  std::optional<std::uint64_t> frame_pointer;   ///< std::nullopt: unknown, as of a thread in a system call
  std::optional<std::uint64_t> return_address;  ///< on machines that have a register for it
  std::uint64_t return_slot = 0;                ///< where on the stack the program counter was read; 0: nowhere
};

/// The bytes of a stack, read by the addresses in its process.
class StackBytes {
 public:
  StackBytes(std::uint64_t start, std::string_view bytes) : start_(start), bytes_(bytes) {}

  std::optional<std::uint64_t> word(std::uint64_t address) const {
    std::uint64_t value = 0;
    if (address < start_ || bytes_.size() < sizeof value || address - start_ > bytes_.size() - sizeof value) {
      return std::nullopt;
    }
    std::memcpy(&value, bytes_.data() + (address - start_), sizeof value);
    return value;
  }
  std::uint64_t end() const { return start_ + bytes_.size(); }

 private:
  std::uint64_t start_;
  std::string_view bytes_;
};

/// Moves the registers to the caller. False if there is none or it can't be found. A row that needs the frame pointer
/// needs `registers.frame_pointer`.
bool step_to_caller(Registers& registers, const UnwindRow& row, const StackBytes& stack, bool innermost);

/// As step_to_caller() does for a function without a row, which has only pushed the return address.
bool step_over_call(Registers& registers, const StackBytes& stack);

}  // namespace roofline
