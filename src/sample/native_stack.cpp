#include "sample/native_stack.hpp"

#include <algorithm>
#include <array>
#include <cstring>

namespace roofline {
namespace {

constexpr std::uint64_t kWord = 8;

/// A copy of a stack, read by the addresses in its process.
class StackCopy {
 public:
  StackCopy(std::uint64_t start, std::string_view bytes) : start_(start), bytes_(bytes) {}

  std::optional<std::uint64_t> word(std::uint64_t address) const {
    if (address < start_ || bytes_.size() < kWord || address - start_ > bytes_.size() - kWord) return std::nullopt;
    std::uint64_t value = 0;
    std::memcpy(&value, bytes_.data() + (address - start_), sizeof value);
    return value;
  }
  std::uint64_t end() const { return start_ + bytes_.size(); }

 private:
  std::uint64_t start_;
  std::string_view bytes_;
};

class StackWalk {
 public:
  StackWalk(ProcessCode& code, const Registers& registers, std::string_view stack)
      : code_(code), registers_(registers), stack_(registers.stack_pointer, stack) {}

  std::vector<CodePlace> frames(std::size_t most) {
    std::vector<CodePlace> frames;
    bool innermost = true;
    while (frames.size() < most) {
      // A return address is the instruction after the call, which may be another function's or line's.
      const std::optional<CodePlace> place = code_.locate(registers_.program_counter - (innermost ? 0 : 1));
      if (!place) break;
      frames.push_back(*place);
      const CodeModule& module = code_.modules()[place->module];
      if (module.has_interpreter() || !step(*place, innermost)) break;
      innermost = false;
    }
    return frames;
  }

 private:
  /// Moves to the caller. False if there is none or it can't be found.
  bool step(const CodePlace& place, bool innermost) {
    CodeModule& module = code_.modules()[place.module];
    if (module.path == "[vdso]" && innermost) return return_to(stack_.word(registers_.stack_pointer), kWord);
    const UnwindRow row = module.elf ? module.rows.at(*module.elf, place.address) : UnwindRow{};
    const auto offset = static_cast<std::uint64_t>(row.offset);
    switch (row.base) {
      case UnwindRow::Base::outer:
        return false;
      case UnwindRow::Base::stack_pointer:
        return step_to(registers_.stack_pointer + offset, row, innermost);
      case UnwindRow::Base::plt: {
        constexpr std::uint64_t kStub = 15, kPushed = 11;
        const bool pushed = (registers_.program_counter & kStub) >= kPushed;
        return return_to(stack_.word(registers_.stack_pointer + (pushed ? kWord : 0)), pushed ? 2 * kWord : kWord);
      }
      case UnwindRow::Base::frame_pointer:
        if (!registers_.frame_pointer) registers_.frame_pointer = find_frame_pointer(row);
        return registers_.frame_pointer && step_to(*registers_.frame_pointer + offset, row, innermost);
      case UnwindRow::Base::unknown:
        break;
    }
    return step_by_frame_pointer();
  }

  /// To a caller whose stack pointer was `top`, which only grows on the way out.
  bool step_to(std::uint64_t top, const UnwindRow& row, bool innermost) {
    if (top < registers_.stack_pointer || (top == registers_.stack_pointer && !innermost)) return false;
    std::optional<std::uint64_t> to = registers_.return_address;
    if (row.return_address) to = stack_.word(top + static_cast<std::uint64_t>(*row.return_address));
    if (!row.return_address && !innermost) return false;
    if (row.frame_pointer) registers_.frame_pointer = stack_.word(top + static_cast<std::uint64_t>(*row.frame_pointer));
    registers_.stack_pointer = top;
    return resume(to);
  }

  bool return_to(std::optional<std::uint64_t> address, std::uint64_t popped) {
    registers_.stack_pointer += popped;
    return resume(address);
  }

  bool resume(std::optional<std::uint64_t> address) {
    if (!address || *address == 0) return false;
    registers_.program_counter = *address;
    return true;
  }

  /// Code without unwind tables: compiled at run time, or with frame pointers only.
  bool step_by_frame_pointer() {
    const std::optional<std::uint64_t> frame = registers_.frame_pointer;
    if (!frame || *frame < registers_.stack_pointer || *frame % kWord != 0) return false;
    const std::optional<std::uint64_t> to = stack_.word(*frame + kWord);
    registers_.frame_pointer = stack_.word(*frame);
    registers_.stack_pointer = *frame + 2 * kWord;
    return resume(to);
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
  StackCopy stack_;
};

}  // namespace

std::vector<CodePlace> native_stack(ProcessCode& code, Registers registers, std::string_view stack, std::size_t most) {
  return StackWalk(code, registers, stack).frames(most);
}

}  // namespace roofline
