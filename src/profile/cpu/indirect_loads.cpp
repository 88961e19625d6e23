#include "profile/cpu/indirect_loads.hpp"

#include <cstddef>
#include <map>

namespace roofline {
namespace {

constexpr std::uint32_t kAll = 0xffff;
constexpr int kMostPasses = 16;  // a chain of registers needs one each, in the worst order

std::uint32_t bit(int number) { return number < 0 ? 0 : std::uint32_t{1} << (static_cast<unsigned>(number) & 31U); }

/// Calls, atomic operations and instructions whose registers are not known change no address, as far as is known.
bool is_known(const X86Instruction& code) { return code.general != kAll && !code.locked; }

bool is_of_stack(const X86Address& address) {
  return address.base == kStackRegister || (address.base == kFrameRegister && !address.indexed());
}

class DataFlow {
 public:
  explicit DataFlow(std::span<const CodeInstruction> loop) : loop_(loop), found_(loop.size(), LoadAddress::direct) {
    for (const auto& [address, code] : loop) {
      if (!is_known(code)) continue;
      written_ |= code.general;
      vectors_ |= code.written;
    }
    for (int number = 0; number < 16; ++number) {
      if (is_chased(number)) chased_ |= bit(number);
    }
  }

  std::vector<LoadAddress> find() {
    changed_ = true;
    for (int pass = 0; pass < kMostPasses && changed_; ++pass) {
      changed_ = false;
      follow();
    }
    return std::move(found_);
  }

 private:
  static std::uint32_t registers_of(const X86Instruction& code) {
    return bit(code.address.base) | (code.gathers ? 0 : bit(code.address.index));
  }

  static bool loads_own_base(const X86Instruction& code) {
    return code.loads && !is_of_stack(code.address) && code.address.base >= 0 && code.general == bit(code.address.base);
  }

  /// Only loads through itself change it.
  bool is_chased(int number) const {
    bool chased = false;
    for (const auto& [address, code] : loop_) {
      if (!is_known(code) || (code.general & bit(number)) == 0) continue;
      if (!loads_own_base(code)) return false;
      chased = true;
    }
    return chased;
  }

  bool loads_data(const X86Instruction& code) const {
    return code.loads && !is_of_stack(code.address) && ((registers_of(code) & written_) != 0 || code.gathers);
  }

  /// One pass over the loop, from its head. A jump brings its registers to its target.
  void follow() {
    std::uint32_t data = at_[loop_.front().address];
    for (std::size_t i = 0; i < loop_.size(); ++i) {
      const auto& [address, code] = loop_[i];
      if (const auto joined = at_.find(address); joined != at_.end()) data |= joined->second;
      note_load(i, data);
      if (code.kind == X86Kind::jump) {
        bring(address + code.length + static_cast<std::uint64_t>(code.relative), data);
        if (!code.conditional) data = 0;
        continue;
      }
      if (!is_known(code)) continue;
      const bool of_data = loads_data(code) || (code.read & data) != 0;
      data = of_data ? data | code.general : data & ~code.general;
    }
  }

  void note_load(std::size_t index, std::uint32_t data) {
    const X86Instruction& code = loop_[index].code;
    if (!code.loads || is_of_stack(code.address)) return;
    const bool gathers = code.gathers && (vectors_ & bit(code.address.index)) != 0;
    if (!gathers && (registers_of(code) & data) == 0) return;
    found_[index] = (bit(code.address.base) & chased_) != 0 ? LoadAddress::linked : LoadAddress::data;
  }

  void bring(std::uint64_t target, std::uint32_t data) {
    if (target < loop_.front().address || target > loop_.back().address) return;
    std::uint32_t& there = at_[target];
    changed_ = changed_ || (data & ~there) != 0;
    there |= data;
  }

  std::span<const CodeInstruction> loop_;
  std::vector<LoadAddress> found_;
  std::uint32_t written_ = 0, vectors_ = 0;    ///< general and vector registers that the loop writes
  std::uint32_t chased_ = 0;                   ///< general registers
  std::map<std::uint64_t, std::uint32_t> at_;  ///< registers with data at targets of jumps
  bool changed_ = false;
};

}  // namespace

std::vector<LoadAddress> load_addresses(std::span<const CodeInstruction> loop) {
  return loop.empty() ? std::vector<LoadAddress>() : DataFlow(loop).find();
}

}  // namespace roofline
