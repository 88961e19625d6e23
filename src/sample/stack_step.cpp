#include "sample/stack_step.hpp"

namespace roofline {
namespace {

constexpr std::uint64_t kStackWord = 8;
#if defined(__aarch64__)
constexpr std::uint64_t kAddressBits = (std::uint64_t{1} << 48U) - 1;  ///< a signature may be in the others
#else
constexpr std::uint64_t kAddressBits = ~std::uint64_t{0};
#endif

bool return_through(Registers& registers, std::uint64_t slot, const StackBytes& stack) {
  const std::optional<std::uint64_t> to = stack.word(slot);
  if (!to || *to == 0) return false;
  registers.program_counter = *to & kAddressBits;
  registers.return_slot = slot;
  return true;
}

/// To a caller whose stack pointer was `top`, which only grows on the way out.
bool step_to_frame(Registers& registers, std::uint64_t top, const UnwindRow& row, const StackBytes& stack,
                   bool innermost) {
  if (top < registers.stack_pointer || (top == registers.stack_pointer && !innermost)) return false;
  if (row.frame_pointer) registers.frame_pointer = stack.word(top + static_cast<std::uint64_t>(*row.frame_pointer));
  registers.stack_pointer = top;
  if (row.return_address) {
    return return_through(registers, top + static_cast<std::uint64_t>(*row.return_address), stack);
  }
  // It is still in its register, which a call from here would have overwritten.
  if (!innermost || !registers.return_address || *registers.return_address == 0) return false;
  registers.program_counter = *registers.return_address;
  registers.return_slot = 0;
  return true;
}

bool step_over_stub(Registers& registers, const StackBytes& stack) {
  constexpr std::uint64_t kStub = 15, kPushed = 11;
  const bool pushed = (registers.program_counter & kStub) >= kPushed;
  const std::uint64_t slot = registers.stack_pointer + (pushed ? kStackWord : 0);
  registers.stack_pointer = slot + kStackWord;
  return return_through(registers, slot, stack);
}

/// Code without unwind tables: compiled at run time, or with frame pointers only.
bool step_by_frame_pointer(Registers& registers, const StackBytes& stack) {
  const std::optional<std::uint64_t> frame = registers.frame_pointer;
  if (!frame || *frame < registers.stack_pointer || *frame % kStackWord != 0) return false;
  registers.frame_pointer = stack.word(*frame);
  registers.stack_pointer = *frame + 2 * kStackWord;
  return return_through(registers, *frame + kStackWord, stack);
}

}  // namespace

bool step_over_call(Registers& registers, const StackBytes& stack) {
  const std::uint64_t slot = registers.stack_pointer;
  registers.stack_pointer += kStackWord;
  return return_through(registers, slot, stack);
}

bool step_to_caller(Registers& registers, const UnwindRow& row, const StackBytes& stack, bool innermost) {
  const auto offset = static_cast<std::uint64_t>(row.offset);
  switch (row.base) {
    case UnwindRow::Base::outer:
      return false;
    case UnwindRow::Base::stack_pointer:
      return step_to_frame(registers, registers.stack_pointer + offset, row, stack, innermost);
    case UnwindRow::Base::plt:
      return step_over_stub(registers, stack);
    case UnwindRow::Base::frame_pointer:
      return registers.frame_pointer &&
             step_to_frame(registers, *registers.frame_pointer + offset, row, stack, innermost);
    case UnwindRow::Base::unknown:
      break;
  }
  return step_by_frame_pointer(registers, stack);
}

}  // namespace roofline
