#include "sample/python_layout.hpp"

#include <array>
#include <charconv>
#include <cstring>

namespace roofline {
namespace {

constexpr std::uint64_t kGilSize = 208;  ///< with its mutexes and condition variables

// Taken from the headers of 3.9.18, 3.10.13, 3.11.7 and 3.12.1 with offsetof.
constexpr PythonLayout kLayout39 = {.minor = 9,
                                    .interpreters = 32,
                                    .next_interpreter = 0,
                                    .threads = 8,
                                    .next_thread = 8,
                                    .thread_id = 176,
                                    .native_id = -1,
                                    .frame = 24,
                                    .frame_in_pointed = -1,
                                    .gil = 352,
                                    .gil_of_interpreter = false,
                                    .gil_holder = 8,
                                    .gil_locked = 16,
                                    .gil_size = kGilSize,
                                    .previous = 24,
                                    .code = 32,
                                    .instruction = 104,
                                    .owner = -1,
                                    .first_c_owner = 0,
                                    .file = 104,
                                    .name = 112,
                                    .first_line = 40,
                                    .line_table = 120,
                                    .instructions = -1,
                                    .ascii_data = 48,
                                    .text_data = 72};
constexpr PythonLayout kLayout310 = [] {
  PythonLayout layout = kLayout39;
  layout.minor = 10;
  layout.instruction = 96;
  return layout;
}();
constexpr PythonLayout kLayout311 = {.minor = 11,
                                     .interpreters = 40,
                                     .next_interpreter = 0,
                                     .threads = 16,
                                     .next_thread = 8,
                                     .thread_id = 152,
                                     .native_id = 160,
                                     .frame = 56,
                                     .frame_in_pointed = 8,
                                     .gil = 360,
                                     .gil_of_interpreter = false,
                                     .gil_holder = 8,
                                     .gil_locked = 16,
                                     .gil_size = kGilSize,
                                     .previous = 48,
                                     .code = 32,
                                     .instruction = 56,
                                     .owner = 69,
                                     .first_c_owner = 3,
                                     .file = 112,
                                     .name = 128,
                                     .first_line = 72,
                                     .line_table = 136,
                                     .instructions = 184,
                                     .ascii_data = 48,
                                     .text_data = 72};
constexpr PythonLayout kLayout312 = {.minor = 12,
                                     .interpreters = 40,
                                     .next_interpreter = 0,
                                     .threads = 72,
                                     .next_thread = 8,
                                     .thread_id = 136,
                                     .native_id = 144,
                                     .frame = 56,
                                     .frame_in_pointed = 0,
                                     .gil = 384,
                                     .gil_of_interpreter = true,
                                     .gil_holder = 8,
                                     .gil_locked = 16,
                                     .gil_size = kGilSize,
                                     .previous = 8,
                                     .code = 0,
                                     .instruction = 56,
                                     .owner = 70,
                                     .first_c_owner = 3,
                                     .file = 112,
                                     .name = 128,
                                     .first_line = 68,
                                     .line_table = 136,
                                     .instructions = 192,
                                     .ascii_data = 40,
                                     .text_data = 56};

/// Reads the numbers of the table in order.
class Slots {
 public:
  Slots(std::string_view bytes, std::size_t first) : bytes_(bytes), slot_(first) {}
  std::uint64_t next() {
    std::uint64_t value = 0;
    const std::size_t at = slot_++ * sizeof value;
    good_ = good_ && at + sizeof value <= bytes_.size();
    if (good_) std::memcpy(&value, bytes_.data() + at, sizeof value);
    constexpr std::uint64_t kFarthest = 1 << 20;  // an interpreter's state has about 100 KB
    good_ = good_ && value < kFarthest;
    return value;
  }
  void skip(std::size_t slots) { slot_ += slots; }
  bool good() const { return good_; }

 private:
  std::string_view bytes_;
  std::size_t slot_;
  bool good_ = true;
};

}  // namespace

std::optional<PythonLayout> python_layout(int minor) {
  for (const PythonLayout& layout : {kLayout39, kLayout310, kLayout311, kLayout312}) {
    if (layout.minor == minor) return layout;
  }
  return std::nullopt;
}

std::optional<PythonLayout> python_layout_of(std::string_view bytes) {
  constexpr std::string_view kCookie = "xdebugpy";
  std::array<std::uint64_t, 2> head = {};  // version, whether it is built without a GIL
  if (!bytes.starts_with(kCookie) || bytes.size() < kCookie.size() + sizeof head) return std::nullopt;
  std::memcpy(head.data(), bytes.data() + kCookie.size(), sizeof head);
  const auto minor = static_cast<int>(head[0] >> 16U & 0xffU);
  constexpr int kFirst = 13, kLast = 14;
  if (head[0] >> 24U != 3 || minor < kFirst || minor > kLast || head[1] != 0) return std::nullopt;
  const bool is_first = minor == kFirst;
  PythonLayout layout = kLayout312;  // the layout of str and bytes is unchanged
  layout.minor = minor;
  Slots slots(bytes, 3);
  slots.skip(2);  // size, finalizing
  layout.interpreters = slots.next();
  slots.skip(2);  // size, id
  layout.next_interpreter = slots.next();
  layout.threads = slots.next();
  slots.skip(is_first ? 4 : 5);  // [main thread,] gc, imports, sysdict, builtins
  layout.gil = static_cast<std::int64_t>(slots.next());
  const std::uint64_t gil_state = slots.next();
  slots.skip(1);
  layout.gil_locked = slots.next() - gil_state;
  layout.gil_holder = slots.next() - gil_state;
  slots.skip(is_first ? 2 : 4);  // [generations of code,] size, previous
  layout.next_thread = slots.next();
  slots.skip(1);
  layout.frame = slots.next();
  layout.frame_in_pointed = -1;
  layout.thread_id = slots.next();
  layout.native_id = static_cast<std::int64_t>(slots.next());
  slots.skip(3);  // stack chunk, status; size of a frame
  layout.previous = slots.next();
  layout.code = slots.next();
  layout.instruction = slots.next();
  slots.skip(1);
  layout.owner = static_cast<std::int64_t>(slots.next());
  slots.skip(is_first ? 1 : 3);  // [stack pointer, index of its copy,] size of a code object
  layout.file = slots.next();
  slots.skip(1);
  layout.name = slots.next();
  layout.line_table = slots.next();
  layout.first_line = slots.next();
  slots.skip(3);
  layout.instructions = static_cast<std::int64_t>(slots.next());
  if (!slots.good() || layout.gil_locked >= kGilSize || layout.gil_holder >= kGilSize) return std::nullopt;
  return layout;
}

std::optional<int> python_minor_in(std::string_view path) {
  constexpr std::string_view kName = "python3.";
  const std::size_t at = path.find(kName);
  if (at == std::string_view::npos) return std::nullopt;
  const std::string_view digits = path.substr(at + kName.size());
  int minor = 0;
  const auto [end, failure] = std::from_chars(digits.data(), digits.data() + digits.size(), minor);
  return failure == std::errc() ? std::optional(minor) : std::nullopt;
}

}  // namespace roofline
