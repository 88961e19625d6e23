// Which launches convert or copy device memory that has not changed since they did so before.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace roofline::inject {

/// Which parameter of a kernel that copies or converts one tensor is its source; others are `none`.
enum class Source : std::uint8_t { none, first_pointer, last_pointer };
Source source_of(std::string_view symbol);

/// Tracks the sources of kernels that convert or copy. Writes through a pointer can't be seen, so every other use of an
/// address counts as a change. Lock-free; an address that collides with another replaces it.
class SameInputs {
 public:
  /// A launch, copy or memset uses that device memory.
  void use(std::uint64_t address);
  /// Records that a kernel converts the data at an address. True if it did so before, and no other use of the address
  /// was seen since.
  bool convert(std::uint64_t address, std::uint64_t kernel);
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

/// The pointers among the parameters of one launch.
class GivenPointers {
 public:
  /// `inputs` may be null: pointers are not followed.
  GivenPointers(SameInputs* inputs, Source source) : inputs_(inputs), source_(source) {}

  void add(std::uint64_t address) {
    if (inputs_ == nullptr) return;
    ++count_;
    if (source_ == Source::none || count_ > pointers_.size()) {
      inputs_->use(address);
    } else {
      pointers_[count_ - 1] = address;
    }
  }
  /// After all were added; see SameInputs::convert. A kernel with other pointers than a source and a destination has
  /// other inputs, or words that look like pointers: the unused part of a layout is whatever was on the stack.
  bool same_input(std::uint64_t kernel);

 private:
  SameInputs* inputs_;
  Source source_;
  std::size_t count_ = 0;
  std::array<std::uint64_t, 2> pointers_ = {};
};

}  // namespace roofline::inject
