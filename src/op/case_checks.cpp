// What a kernel must not do in its verified launch: leave output unwritten, write out of bounds, modify its inputs.
#include <fmt/format.h>

#include <array>
#include <cstring>

#include "op/case_state.hpp"
#include "op/compare.hpp"

namespace roofline {
namespace {

/// Not periodic, and unlikely as a result of a kernel.
std::array<std::byte, kGuardBytes> guard_pattern() {
  std::array<std::byte, kGuardBytes> pattern{};
  for (std::size_t i = 0; i < pattern.size(); ++i)
    pattern[i] = static_cast<std::byte>((0x5A + 167 * i + i * i / 3) & 0xFF);
  return pattern;
}

}  // namespace

/// Prepares the verified launch: patterned guards, poisoned outputs.
void Case::State::arm() {
  const auto pattern = guard_pattern();
  for (std::size_t t = 0; t < specs.size(); ++t) {
    if (!holds(t)) continue;
    auto* tensor = static_cast<std::byte*>(pointers[checked_set][t]);
    const auto bytes = static_cast<std::size_t>(specs[t].bytes());
    Device& where = device_of(t);
    if (specs[t].role == TensorRole::output) where.fill(tensor, kPoison, bytes);
    where.upload(tensor - kGuardBytes, pattern.data(), pattern.size());
    where.upload(tensor + bytes, pattern.data(), pattern.size());
  }
}

std::string Case::State::broken_guards() {
  const auto pattern = guard_pattern();
  std::array<std::byte, kGuardBytes> found{};
  std::string text;
  const auto check = [&](std::size_t t, const std::byte* guard, std::string_view where) {
    device_of(t).download(found.data(), guard, found.size());
    const auto broken = std::mismatch(pattern.begin(), pattern.end(), found.begin()).first;
    if (broken == pattern.end()) return;
    text += fmt::format("{}out-of-bounds write {} of '{}' (guard byte {})", text.empty() ? "" : "; ", where,
                        specs[t].name, broken - pattern.begin());
  };
  for (std::size_t t = 0; t < specs.size(); ++t) {
    if (!holds(t)) continue;
    const auto* tensor = static_cast<const std::byte*>(pointers[checked_set][t]);
    check(t, tensor - kGuardBytes, "before the start");
    check(t, tensor + specs[t].bytes(), "past the end");
  }
  return text;
}

/// A kernel that works in place would be verified once and then timed on its own results.
std::string Case::State::changed_inputs() {
  std::string text;
  std::vector<std::byte> chunk;
  auto input = inputs.begin();
  for (std::size_t t = 0; t < specs.size(); ++t) {
    if (!is_read(specs[t].role)) continue;
    const auto expected = std::as_const(*input++).bytes();
    if (is_written(specs[t].role) || !holds(t)) continue;
    chunk.resize(std::min(expected.size(), std::size_t{1} << 22));
    for (std::size_t begin = 0; begin < expected.size(); begin += chunk.size()) {
      const std::size_t count = std::min(chunk.size(), expected.size() - begin);
      device_of(t).download(chunk.data(), static_cast<const std::byte*>(pointers[checked_set][t]) + begin, count);
      if (std::memcmp(chunk.data(), expected.data() + begin, count) == 0) continue;
      const auto at = std::mismatch(chunk.begin(), chunk.begin() + static_cast<std::ptrdiff_t>(count),
                                    expected.begin() + static_cast<std::ptrdiff_t>(begin))
                          .first -
                      chunk.begin();
      const auto element = (static_cast<std::int64_t>(begin) + at) / element_size(specs[t].dtype);
      text += fmt::format("{}the kernel modified its input {}[{}]", text.empty() ? "" : "; ", specs[t].name, element);
      break;
    }
  }
  return text;
}

std::vector<HostTensor> Case::State::download_outputs() {
  std::vector<HostTensor> outputs;
  for (std::size_t t = 0; t < specs.size(); ++t) {
    if (!is_written(specs[t].role) || !holds(t)) continue;
    const auto bytes = outputs.emplace_back(specs[t]).bytes();
    device_of(t).download(bytes.data(), pointers[checked_set][t], bytes.size());
  }
  return outputs;
}

}  // namespace roofline
