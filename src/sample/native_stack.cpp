#include "sample/native_stack.hpp"

#include <algorithm>
#include <array>

namespace roofline {
namespace {

constexpr std::uint64_t kWord = 8;
/// Frames of the interpreter between an extension and what it asks the interpreter for: PyNumber_Multiply, float_mul.
constexpr std::size_t kMostOfInterpreter = 5;

class StackWalk {
 public:
  StackWalk(ProcessCode& code, const Registers& registers, std::string_view stack)
      : code_(code), registers_(registers), stack_(registers.stack_pointer, stack) {}

  std::vector<CodePlace> frames(std::size_t most) {
    std::vector<CodePlace> frames;
    bool innermost = true, below_interpreter = true, complete = false;
    while (frames.size() < most) {
      // A return address is the instruction after the call, which may be another function's or line's.
      const std::optional<CodePlace> place =
          innermost ? code_.locate_code(registers_.program_counter) : code_.locate(registers_.program_counter - 1);
      if (!place) break;
      frames.push_back(*place);
      // What the interpreter does itself may be done for an extension that calls it (NumPy with arrays of objects).
      const bool interpreter = code_.modules()[place->module].has_interpreter();
      below_interpreter = below_interpreter && interpreter;
      complete = interpreter && (!below_interpreter || frames.size() == kMostOfInterpreter);
      if (complete || !step(*place, innermost)) break;
      innermost = false;
    }
    // Else it is not known whether an extension or the interpreter's own loop called the interpreter's function.
    const bool in_interpreter = !frames.empty() && code_.modules()[frames.front().module].has_interpreter();
    if (in_interpreter && !complete) frames.resize(1);
    return frames;
  }

 private:
  /// Moves to the caller. False if there is none or it can't be found.
  bool step(const CodePlace& place, bool innermost) {
    CodeModule& module = code_.modules()[place.module];
    if (module.path == "[vdso]" && innermost) return step_over_call(registers_, stack_);
    const UnwindRow row = module.elf ? module.rows.at(*module.elf, place.address) : UnwindRow{};
    const bool by_frame = row.base == UnwindRow::Base::frame_pointer;
    if (by_frame && !registers_.frame_pointer) registers_.frame_pointer = find_frame_pointer(row);
    return step_to_caller(registers_, row, stack_, innermost);
  }

  /// The frame pointer of a thread in a system call is not known, only its stack pointer is: the first place on the
  /// stack that can be a frame of this function, with a return address behind a call and a saved frame pointer further
  /// out.
  std::optional<std::uint64_t> find_frame_pointer(const UnwindRow& row) {
    constexpr std::uint64_t kFarthest = 4096;
    if (!row.return_address || !row.frame_pointer) return std::nullopt;
    const std::uint64_t end = std::min(stack_.end(), registers_.stack_pointer + kFarthest);
    for (std::uint64_t frame = registers_.stack_pointer; frame + kWord < end; frame += kWord) {
      const std::uint64_t top = frame + static_cast<std::uint64_t>(row.offset);
      const auto saved = stack_.word(top + static_cast<std::uint64_t>(*row.frame_pointer));
      const auto to = stack_.word(top + static_cast<std::uint64_t>(*row.return_address));
      const bool outer = saved && (*saved == 0 || *saved == 1 || (*saved > frame && *saved % kWord == 0));
      if (outer && to && follows_call(*to)) return frame;
    }
    return std::nullopt;
  }

  bool follows_call(std::uint64_t address) {
    const std::optional<CodePlace> place = code_.locate(address);
    if (!place) return false;
    const CodeModule& module = code_.modules()[place->module];
#if defined(__x86_64__)
    std::array<std::uint8_t, 7> before = {};  // the longest call instruction
    if (!module.elf || !module.elf->read_address(place->address - before.size(), before.data(), before.size())) {
      return false;
    }
    constexpr std::uint8_t kCall = 0xe8, kCallThrough = 0xff, kOperation = 0x38, kIsCall = 0x10;
    if (before[2] == kCall) return true;
    for (std::size_t i = 0; i + 1 < before.size(); ++i) {
      if (before[i] == kCallThrough && (before[i + 1] & kOperation) == kIsCall) return true;
    }
    return false;
#else
    return module.elf.has_value();
#endif
  }

  ProcessCode& code_;
  Registers registers_;
  StackBytes stack_;
};

}  // namespace

std::vector<CodePlace> native_stack(ProcessCode& code, Registers registers, std::string_view stack, std::size_t most) {
  return StackWalk(code, registers, stack).frames(most);
}

}  // namespace roofline
