#include "report/stack_use.hpp"

#include <algorithm>

#include "report/host_cause_text.hpp"
#include "report/source_lines.hpp"
#include "sample/kernel_frame.hpp"

namespace roofline {
namespace {

/// What an outer function is called for, by the innermost one: sscanf converts, or looks for the end of its text.
FunctionPurpose within(FunctionPurpose outer, FunctionPurpose innermost) {
  using enum FunctionPurpose;
  if (outer == scan && innermost != length) return text;
  return outer == stream && innermost == copy ? stream_text : outer;
}

}  // namespace

StackUses::StackUses(const HostProfile& host) : host_(host) {
  for (const HostFrame& frame : host.frames) {
    const bool native = !frame.python;
    frames_.push_back({.special = native && copies_or_destroys(frame.function),
                       .copies = native && is_copy_constructor(frame.function),
                       .purpose = purpose_of(frame),
                       .system_call = system_call_of(frame),
                       .flush = is_flush(frame),
                       .seek = native && is_seek(frame),
                       .fill = native && fills_buffer(frame),
                       .opens = native && opens_stream(frame),
                       .closes = native && closes_stream(frame),
                       .power = native && is_power(frame)});
    FrameUse& use = frames_.back();
    const std::string name = use.purpose == FunctionPurpose::walk ? qualified_name(frame.function) : std::string();
    use.positions = name == "std::distance" || name == "std::advance";
  }
  read_sources();
}

StackUse StackUses::use_of(const HostStackSum& stack) const {
  // The outermost library function called by the program determines the purpose, except for containers.
  StackUse use;
  FunctionPurpose container = FunctionPurpose::none, first = FunctionPurpose::none;
  bool positions = false;
  auto index = stack.frames.rbegin(), innermost = index;
  for (; index != stack.frames.rend(); ++index) {
    const HostFrame& one = frame(*index);
    const FrameUse& known = frames_[static_cast<std::size_t>(*index)];
    // Copying a shared pointer copies no object.
    use.special = use.special || (known.special && known.purpose != FunctionPurpose::references);
    use.copies = use.copies || known.copies;
    if (one.own && one.line > 0) {
      use.line = short_place(one);
      use.function = one.function;
      if (one.python) note_python_stream(one, use);
      if (!known.special) break;
      continue;
    }
    if (index == stack.frames.rbegin() && is_kernel(one)) {
      use.kernel = true;
      innermost = std::next(index);
      continue;
    }
    if (index == innermost) use.system_call = known.system_call;
    use.flush = use.flush || known.flush;
    use.seek = use.seek || known.seek;
    use.fill = use.fill || known.fill;
    use.opens = use.opens || known.opens;
    use.closes = use.closes || known.closes;
    use.power = use.power || known.power;
    const FunctionPurpose of = known.purpose;
    // A library function asks for positions: std::prev takes one step, a std::vector that copies a set needs its size.
    if (positions) use.purpose = FunctionPurpose::none;
    positions = known.positions;
    if (of == FunctionPurpose::none) continue;
    if (first == FunctionPurpose::none) first = of;
    (is_container(of) ? container : use.purpose) = of;
  }
  if (use.purpose == FunctionPurpose::none) use.purpose = container;
  use.purpose = within(use.purpose, first);
  if (use.purpose == FunctionPurpose::none && index != stack.frames.rend()) find_caller(stack, index, use);
  if (copies_slice(stack)) use.purpose = FunctionPurpose::packing;
  if (use.purpose == FunctionPurpose::team && dispatches(stack)) use.purpose = FunctionPurpose::dispatch;
  return use;
}

/// A library function that calls the program's: a comparison of a sort, the equality of a hash table.
void StackUses::find_caller(const HostStackSum& stack, Outward index, StackUse& use) const {
  FunctionPurpose caller = FunctionPurpose::none;
  for (++index; index != stack.frames.rend(); ++index) {
    const HostFrame& one = frame(*index);
    const FunctionPurpose of = frames_[static_cast<std::size_t>(*index)].purpose;
    if (!one.own && (is_container(of) || of == FunctionPurpose::sort || of == FunctionPurpose::walk)) caller = of;
    if (!one.own || one.line == 0) continue;
    if (caller == FunctionPurpose::none) return;
    use.purpose = caller;
    use.line = short_place(one);
    return;
  }
}

/// The interpreter's own functions are not in the stacks.
void StackUses::note_python_stream(const HostFrame& own, StackUse& use) const {
  const auto line = python_lines_.find({own.file, own.line});
  const std::string_view source = line == python_lines_.end() ? std::string_view() : line->second;
  const bool reads = use.system_call == "read" && source.find("os.read") == std::string_view::npos;
  use.seek = (reads || use.system_call == "lseek") && source.find(".seek(") != std::string_view::npos;
  use.fill = reads && !use.seek;
}

/// Compilers inline the temporary copies of Fortran's slices: time of the line of a call itself is theirs.
bool StackUses::copies_slice(const HostStackSum& stack) const {
  const auto is_copy = [&](int index) {
    const FunctionPurpose of = frames_[static_cast<std::size_t>(index)].purpose;
    if (is_kernel(frame(index))) return true;
    return !frame(index).own && (of == FunctionPurpose::allocation || of == FunctionPurpose::copy);
  };
  const auto own = std::ranges::find_if_not(stack.frames.rbegin(), stack.frames.rend(), is_copy);
  return own != stack.frames.rend() && frame(*own).own && slice_calls_.contains({frame(*own).file, frame(*own).line});
}

/// A function of an OpenMP library without symbols, called by the body of a loop that is scheduled dynamically: such a
/// body calls it for its next iterations only.
bool StackUses::dispatches(const HostStackSum& stack) const {
  const auto own =
      std::ranges::find_if(stack.frames.rbegin(), stack.frames.rend(), [&](int index) { return frame(index).own; });
  return own != stack.frames.rend() && dynamic_loops_.contains(frame(*own).function);
}

void StackUses::read_sources() {
  for (const HostStackSum& stack : host_.stacks) {
    for (std::size_t i = 1; i < stack.frames.size(); ++i) {
      const std::string_view outer = frame(stack.frames[i - 1]).function;
      constexpr std::string_view kLoop = "GOMP_parallel_loop_";
      const bool dynamic = outer.find("dynamic") != std::string_view::npos ||
                           outer.find("guided") != std::string_view::npos ||
                           outer.find("runtime") != std::string_view::npos;
      if (outer.starts_with(kLoop) && dynamic) dynamic_loops_.insert(frame(stack.frames[i]).function);
    }
  }
  for (const HostLineSum& line : host_.lines) {
    const std::string& source = line.source;
    if (is_call_with_slice(source)) slice_calls_.insert({line.place.file, line.place.line});
    if (is_dynamic_loop(source)) dynamic_loops_.insert(line.place.function);
    if (line.place.python) python_lines_[{line.place.file, line.place.line}] = source;
  }
}

}  // namespace roofline
