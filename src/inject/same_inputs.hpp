// Which launches convert or copy device memory that has not changed since they did so before.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace roofline::inject {

/// Which parameter of a kernel that copies or converts one tensor is its source; others are `none`.
enum class Source : std::uint8_t { none, first_pointer, last_pointer };
Source source_of(std::string_view symbol);

struct NodeMemory;

/// Tracks the sources of kernels that convert or copy. Writes through a pointer can't be seen, so every other use of an
/// address counts as a change. Lock-free; an address that collides with another replaces it.
class SameInputs {
 public:
  /// A launch, copy or memset uses that device memory.
  void use(std::uint64_t address);
  /// Records that a kernel converts the data at an address. True if it did so before, and no other use of the address
  /// was seen since.
  bool convert(std::uint64_t address, std::uint64_t kernel);
  /// A node of a graph runs. True if it converts what it converted before, as convert() has it.
  bool run(const NodeMemory& node);
  /// Something runs whose pointers are not known.
  void forget() { ++epoch_; }

 private:
  static constexpr int kBits = 12;
  struct Slot {
    std::atomic<std::uint64_t> address = 0;
    std::atomic<std::uint64_t> kernel = 0;  ///< 0: something else has used the address since
    std::atomic<std::uint64_t> epoch = 0;
  };
  Slot& slot(std::uint64_t address) { return slots_[(address * 0x9e3779b97f4a7c15) >> (64 - kBits)]; }

  std::array<Slot, std::size_t{1} << kBits> slots_;
  std::atomic<std::uint64_t> epoch_ = 1;
};

/// Device memory that a node of a graph uses whenever the graph runs.
struct NodeMemory {
  std::vector<std::uint64_t> used = {};
  std::uint64_t source = 0;  ///< of a kernel that converts; 0: it does not
  std::uint64_t kernel = 0;

  // As SameInputs has them; nothing runs yet.
  void use(std::uint64_t address) { used.push_back(address); }
  bool convert(std::uint64_t address, std::uint64_t by) {
    source = address;
    kernel = by;
    return false;
  }
};

/// The pointers among the parameters of one launch, for `To`: SameInputs, or NodeMemory for a node of a graph.
template <typename To>
class GivenPointers {
 public:
  GivenPointers(To& to, Source source) : to_(to), source_(source) {}

  void add(std::uint64_t address) {
    ++count_;
    if (source_ == Source::none || count_ > pointers_.size()) {
      to_.use(address);
    } else {
      pointers_[count_ - 1] = address;
    }
  }
  /// After all were added; see SameInputs::convert. A kernel with other pointers than a source and a destination has
  /// other inputs, or words that look like pointers: the unused part of a layout is whatever was on the stack.
  bool same_input(std::uint64_t kernel) {
    if (source_ == Source::none) return false;
    if (count_ != pointers_.size()) {
      for (std::size_t i = 0; i < std::min(count_, pointers_.size()); ++i) to_.use(pointers_[i]);
      return false;
    }
    const bool first = source_ == Source::first_pointer;
    to_.use(pointers_[first ? 1 : 0]);
    return to_.convert(pointers_[first ? 0 : 1], kernel);
  }

 private:
  To& to_;
  Source source_;
  std::size_t count_ = 0;
  std::array<std::uint64_t, 2> pointers_ = {};
};

}  // namespace roofline::inject
