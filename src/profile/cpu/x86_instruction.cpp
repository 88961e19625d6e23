// Intel's Software Developer's Manual, volume 2: chapter 2 (prefixes, ModRM, VEX, EVEX), appendix A (opcode maps).
#include "profile/cpu/x86_instruction.hpp"

#include <algorithm>
#include <array>
#include <initializer_list>

namespace roofline {
namespace {

constexpr std::size_t kLongest = 15;
constexpr std::uint8_t kEscape = 0x0f, kOperandSize = 0x66, kScalarDouble = 0xf2, kScalarSingle = 0xf3, kLock = 0xf0;

bool is_one_of(std::uint8_t byte, std::initializer_list<int> list) {
  return std::ranges::find(list, static_cast<int>(byte)) != list.end();
}
bool is_in(std::uint8_t byte, int first, int last) { return byte >= first && byte <= last; }

class Decoder {
 public:
  explicit Decoder(std::span<const std::uint8_t> bytes) : bytes_(bytes.first(std::min(bytes.size(), kLongest))) {}

  std::optional<X86Instruction> decode() {
    read_prefixes();
    read_opcode();
    if (has_modrm()) read_modrm();
    read_immediate();
    if (!good_) return std::nullopt;
    found_.length = at_;
    classify();
    note_written();
    note_general();
    note_read();
    note_memory();
    return found_;
  }

 private:
  std::uint8_t next() {
    if (at_ < bytes_.size()) return bytes_[at_++];
    good_ = false;
    return 0;
  }
  std::uint8_t peek() const { return at_ < bytes_.size() ? bytes_[at_] : 0; }

  void read_prefixes() {
    while (good_ && is_one_of(peek(), {0x66, 0xf2, 0xf3, 0xf0, 0x2e, 0x36, 0x3e, 0x26, 0x64, 0x65, 0x67})) {
      const std::uint8_t prefix = next();
      if (prefix == kOperandSize) small_ = true;
      if (prefix == kLock) found_.locked = true;
      if (is_one_of(prefix, {0x66, 0xf2, 0xf3}) && (prefix != kOperandSize || type_ == 0)) type_ = prefix;
    }
    if (is_in(peek(), 0x40, 0x4f)) read_extensions(next());
  }

  /// The bits W, R, X and B of REX.
  void read_extensions(std::uint8_t rex) {
    wide_ = (rex & 8U) != 0;
    reg_ |= (rex & 4U) << 1U;
    rm_ |= (rex & 1U) << 3U;
    index_ |= (rex & 2U) << 2U;
  }

  void read_opcode() {
    opcode_ = next();
    if (opcode_ == 0xc5) return read_vex(1);
    if (opcode_ == 0xc4) return read_vex(2);
    if (opcode_ == 0x62) return read_evex();
    if (opcode_ != kEscape) return;
    map_ = 1;
    opcode_ = next();
    if (opcode_ != 0x38 && opcode_ != 0x3a) return;
    map_ = opcode_ == 0x38 ? 2 : 3;
    opcode_ = next();
  }

  void set_type(unsigned pp) {
    constexpr std::array<std::uint8_t, 4> kTypes = {0, kOperandSize, kScalarSingle, kScalarDouble};
    type_ = kTypes.at(pp & 3U);
  }

  /// Two forms: the first has one byte, and means the map 0F.
  void read_vex(int bytes) {
    vex_ = true;
    const unsigned first = next();
    if ((first & 0x80U) == 0) reg_ |= 8;
    map_ = 1;
    unsigned last = first;
    if (bytes == 2) {
      if ((first & 0x20U) == 0) rm_ |= 8;
      map_ = static_cast<int>(first & 0x1fU);
      last = next();
      wide_ = (last & 0x80U) != 0;
    }
    source_ = static_cast<int>((~last >> 3U) & 15U);
    long_ = (last & 4U) != 0;
    set_type(last);
    opcode_ = next();
  }

  void read_evex() {
    vex_ = true;
    const unsigned first = next(), second = next(), third = next();
    if ((first & 0x80U) == 0) reg_ |= 8;
    if ((first & 0x10U) == 0) reg_ |= 16;
    if ((first & 0x20U) == 0) rm_ |= 8;
    if ((first & 0x40U) == 0) index_ |= 16;
    map_ = static_cast<int>(first & 7U);
    wide_ = (second & 0x80U) != 0;
    source_ = static_cast<int>(((~second >> 3U) & 15U) | ((third & 8U) == 0 ? 16U : 0U));
    set_type(second);
    // The same bits mean how scalars are rounded.
    long_ = (third & 0x60U) != 0 && type_ != kScalarSingle && type_ != kScalarDouble;
    opcode_ = next();
  }

  bool has_modrm() const {
    if (map_ > 1) return true;
    if (map_ == 1) {
      const bool none = is_in(opcode_, 0x05, 0x09) || is_one_of(opcode_, {0x0b, 0x0e, 0x77}) ||
                        is_in(opcode_, 0x30, 0x37) || is_in(opcode_, 0x80, 0x8f) || is_in(opcode_, 0xa0, 0xa2) ||
                        is_in(opcode_, 0xa8, 0xaa) || is_in(opcode_, 0xc8, 0xcf);
      return !none;
    }
    if (opcode_ < 0x40) return (opcode_ & 7U) < 4;
    return is_one_of(opcode_, {0x63, 0x69, 0x6b, 0xc0, 0xc1, 0xc6, 0xc7, 0xf6, 0xf7, 0xfe, 0xff}) ||
           is_in(opcode_, 0x80, 0x8f) || is_in(opcode_, 0xd0, 0xd3) || is_in(opcode_, 0xd8, 0xdf);
  }

  void read_modrm() {
    const unsigned byte = next(), mod = byte >> 6U, rm = byte & 7U;
    reg_ |= (byte >> 3U) & 7U;
    extension_ = (byte >> 3U) & 7U;
    if (mod == 3) {
      rm_ |= rm;
      // EVEX's X is the fifth bit of a register.
      operand_ = {X86Operand::Kind::vector, static_cast<int>(rm_ | (index_ & 16U))};
      return;
    }
    operand_ = {X86Operand::Kind::memory, 0};
    std::size_t displacement = mod == 1 ? 1 : mod == 2 ? 4 : 0;
    constexpr unsigned kSib = 4, kRelative = 5;
    found_.address.base = static_cast<int>((rm_ & 8U) | rm);
    if (rm == kSib) {
      const unsigned sib = next();
      found_.address.base = static_cast<int>((rm_ & 8U) | (sib & 7U));
      const unsigned index = (index_ & 8U) | ((sib >> 3U) & 7U);
      if (index != 4 || is_of_vector_addresses()) found_.address.index = static_cast<int>(index);
      if ((sib & 7U) == kRelative && mod == 0) {
        displacement = 4;
        found_.address.base = -1;
      }
    } else if (mod == 0 && rm == kRelative) {
      displacement = 4;
      operand_.kind = X86Operand::Kind::constant;
      found_.address.base = -1;
    }
    read_displacement(displacement);
  }

  void read_displacement(std::size_t bytes) {
    const std::size_t from = at_;
    skip(bytes);
    if (!good_ || bytes == 0) return;
    std::uint32_t value = 0;
    for (std::size_t i = 0; i < bytes; ++i) value |= static_cast<std::uint32_t>(bytes_[from + i]) << (8 * i);
    const std::size_t unused = 32 - 8 * bytes;
    found_.address.displacement = static_cast<std::int32_t>(value << unused) >> unused;
  }

  void skip(std::size_t count) {
    at_ += count;
    if (at_ > bytes_.size()) good_ = false;
  }

  std::size_t word() const { return small_ ? 2 : 4; }

  void read_immediate() {
    if (map_ == 3) return skip(1);
    if (map_ > 1) return;
    if (map_ == 1) {
      if (is_in(opcode_, 0x80, 0x8f)) return read_relative(4);
      const bool byte = is_in(opcode_, 0x70, 0x73) || is_one_of(opcode_, {0xa4, 0xac, 0xba, 0xc2, 0xc4, 0xc5, 0xc6});
      return skip(byte ? 1 : 0);
    }
    if (is_in(opcode_, 0x70, 0x7f) || is_in(opcode_, 0xe0, 0xe3) || opcode_ == 0xeb) return read_relative(1);
    if (opcode_ == 0xe8 || opcode_ == 0xe9) return read_relative(4);
    skip(size_of_immediate());
  }

  std::size_t size_of_immediate() const {
    const bool test = extension_ < 2;
    if (opcode_ < 0x40) return (opcode_ & 7U) == 4 ? 1 : (opcode_ & 7U) == 5 ? word() : 0;
    if (is_in(opcode_, 0xb8, 0xbf)) return wide_ ? 8 : word();
    if (is_in(opcode_, 0xa0, 0xa3)) return 8;
    if (is_one_of(opcode_, {0x68, 0x69, 0x81, 0xa9, 0xc7}) || (opcode_ == 0xf7 && test)) return word();
    if (opcode_ == 0xc2) return 2;
    if (opcode_ == 0xc8) return 3;
    const bool byte = is_one_of(opcode_, {0x6a, 0x6b, 0x80, 0x83, 0xa8, 0xc0, 0xc1, 0xc6, 0xcd}) ||
                      is_in(opcode_, 0xb0, 0xb7) || is_in(opcode_, 0xe4, 0xe7) || (opcode_ == 0xf6 && test);
    return byte ? 1 : 0;
  }

  void read_relative(std::size_t bytes) {
    std::uint64_t value = 0;
    const std::size_t from = at_;
    skip(bytes);
    if (!good_) return;
    for (std::size_t i = 0; i < bytes; ++i) value |= static_cast<std::uint64_t>(bytes_[from + i]) << (8 * i);
    const std::size_t unused = 64 - 8 * bytes;
    found_.relative = static_cast<std::int64_t>(value << unused) >> unused;
    found_.kind = map_ == 0 && opcode_ == 0xe8 ? X86Kind::call : X86Kind::jump;
    found_.conditional = map_ == 1 || is_in(opcode_, 0x70, 0x7f);
  }

  void classify() {
    if (map_ == 0) {
      if ((opcode_ == 0xf6 || opcode_ == 0xf7) && extension_ >= 6) found_.kind = X86Kind::integer_division;
      if (opcode_ == 0xff && (extension_ == 2 || extension_ == 3)) found_.kind = X86Kind::call;
      classify_general();
      return;
    }
    if (map_ != 1) return;
    const bool narrow = (opcode_ == 0xb6 || opcode_ == 0xb7) && !to_memory();  // movzx
    if (narrow || is_in(opcode_, 0x40, 0x4f)) found_.kind = X86Kind::mask;
    const bool doubles = type_ == kOperandSize || type_ == kScalarDouble;
    if (opcode_ == 0x5e || opcode_ == 0x51) {
      found_.kind = opcode_ == 0x5e ? X86Kind::division : X86Kind::root;
      found_.doubles = doubles;
      if (opcode_ == 0x5e) found_.divisor = operand_;
    }
    if (opcode_ == 0x5a) found_.kind = doubles ? X86Kind::narrowing : X86Kind::widening;
  }

  /// What loops do to their indices, and how they end.
  void classify_general() {
    const bool constant = is_one_of(opcode_, {0x80, 0x81, 0x83}), same = !to_memory() && reg_ == rm_;
    const bool two = is_in(opcode_, 0x38, 0x3b) || opcode_ == 0x84 || opcode_ == 0x85;
    const bool one = (constant && extension_ == 7) || ((opcode_ == 0xf6 || opcode_ == 0xf7) && extension_ < 2);
    const bool accumulator = is_one_of(opcode_, {0x3c, 0x3d, 0xa8, 0xa9});
    if (two || one || accumulator) {
      found_.kind = X86Kind::compare;
      if (two) found_.reg = static_cast<int>(reg_);
      if (!to_memory()) found_.rm = accumulator ? 0 : static_cast<int>(rm_);
    }
    if (to_memory() && opcode_ != 0x8d && opcode_ != 0x03 && opcode_ != 0x23) return;
    const bool adds = is_in(opcode_, 0x01, 0x03) || (constant && extension_ == 0);
    const bool increments = opcode_ == 0xff && extension_ == 0;
    if (adds || increments || (opcode_ == 0x8d && !found_.address.indexed())) found_.kind = X86Kind::step;
    const bool keeps_bits = is_one_of(opcode_, {0x21, 0x23, 0x25}) || (constant && extension_ == 4);
    const bool zero = (opcode_ == 0x31 || opcode_ == 0x33) && same;
    if (keeps_bits || zero) found_.kind = X86Kind::mask;
  }

  static std::uint32_t bit(int number) { return std::uint32_t{1} << (static_cast<unsigned>(number) & 31U); }

  /// Rather too many: what is taken for written is not known to be the same in each iteration.
  void note_written() {
    if (map_ == 0 || (map_ == 1 && is_of_general_registers())) return;
    const bool compares = map_ == 1 && (opcode_ == 0x2e || opcode_ == 0x2f);
    const bool stores = map_ == 1 && is_one_of(opcode_, {0x11, 0x13, 0x17, 0x29, 0x2b, 0x7e, 0x7f, 0xd6, 0xe7});
    const bool shifts = map_ == 1 && is_in(opcode_, 0x71, 0x73);
    if (!compares && !stores) found_.written |= bit(static_cast<int>(reg_));
    const bool to_operand = operand_.kind == X86Operand::Kind::vector && (stores || shifts);
    if (to_operand) found_.written |= bit(operand_.number);
    if (shifts && vex_) found_.written |= bit(source_);
  }

  bool is_of_general_registers() const {
    return is_in(opcode_, 0x18, 0x1f) || is_in(opcode_, 0x40, 0x4f) || is_in(opcode_, 0x80, 0xc1) ||
           is_in(opcode_, 0xc8, 0xcf);
  }

  static constexpr std::uint32_t kAllGeneral = 0xffff, kAccumulator = 1, kProduct = 5,
                                 kCount = 2;  ///< RAX; RDX besides; RCX

  bool to_memory() const {
    return operand_.kind == X86Operand::Kind::memory || operand_.kind == X86Operand::Kind::constant;
  }
  std::uint32_t general_reg() const { return 1U << (reg_ & 15U); }
  /// Of the operand, which may be in memory.
  std::uint32_t general_operand() const { return to_memory() ? 0 : 1U << (rm_ & 15U); }
  /// Of instructions that have the register in the opcode.
  std::uint32_t general_opcode() const { return 1U << ((rm_ | (opcode_ & 7U)) & 15U); }

  /// Rather too many.
  void note_general() {
    found_.general = found_.locked || found_.kind == X86Kind::call ? kAllGeneral
                     : map_ == 0                                   ? general_of_first()
                     : map_ == 1                                   ? general_of_second()
                                                                   : general_of_others();
  }

  std::uint32_t general_of_first() const {
    if (opcode_ < 0x40) {
      const unsigned form = opcode_ & 7U;
      if (opcode_ >= 0x38) return 0;  // compares
      return form < 2 ? general_operand() : form < 4 ? general_reg() : form < 6 ? kAccumulator : kAllGeneral;
    }
    if (is_in(opcode_, 0x70, 0x7f) || is_one_of(opcode_, {0x84, 0x85, 0xa8, 0xa9, 0xe9, 0xeb, 0xc2, 0xc3, 0x90}))
      return 0;
    if (is_one_of(opcode_, {0x63, 0x69, 0x6b, 0x8a, 0x8b, 0x8d})) return general_reg();
    if (is_one_of(opcode_, {0x80, 0x81, 0x83})) return extension_ == 7 ? 0 : general_operand();
    if (is_one_of(opcode_, {0x86, 0x87})) return general_operand() | general_reg();
    if (is_one_of(opcode_, {0x88, 0x89, 0xc0, 0xc1, 0xc6, 0xc7}) || is_in(opcode_, 0xd0, 0xd3))
      return general_operand();
    if (is_in(opcode_, 0xb0, 0xbf)) return general_opcode();
    if (opcode_ == 0x98) return kAccumulator;
    if (opcode_ == 0x99) return kProduct;
    if (opcode_ == 0xf6 || opcode_ == 0xf7) return extension_ < 2 ? 0 : extension_ < 4 ? general_operand() : kProduct;
    if (opcode_ == 0xfe || (opcode_ == 0xff && extension_ < 2)) return general_operand();
    return kAllGeneral;
  }

  std::uint32_t general_of_second() const {
    if (is_in(opcode_, 0x80, 0x8f) || is_in(opcode_, 0x18, 0x1f) || opcode_ == 0x0d || opcode_ == 0xa3) return 0;
    if (is_in(opcode_, 0x40, 0x4f) ||
        is_one_of(opcode_, {0x2c, 0x2d, 0x50, 0xaf, 0xb6, 0xb7, 0xb8, 0xbc, 0xbd, 0xbe, 0xbf, 0xc5, 0xd7}))
      return general_reg();
    if (is_in(opcode_, 0x90, 0x9f)) return general_operand();
    if (opcode_ == 0x7e) return type_ == kScalarSingle ? 0 : general_operand();
    if (is_in(opcode_, 0xc8, 0xcf)) return general_opcode();
    const bool other = is_in(opcode_, 0xa0, 0xc1) || opcode_ == 0xc7 || opcode_ < 0x10;
    return other || is_in(opcode_, 0x30, 0x37) ? kAllGeneral : 0;
  }

  std::uint32_t general_of_others() const {
    const bool to_reg = map_ == 2 && is_one_of(opcode_, {0xf2, 0xf5, 0xf7});  // andn, bzhi, pdep, shlx
    if (vex_ && (to_reg || (map_ == 3 && opcode_ == 0xf0))) return general_reg();
    if (map_ == 2 && is_in(opcode_, 0xf0, 0xf7)) return kAllGeneral;
    return map_ == 3 && (is_in(opcode_, 0x14, 0x17) || is_in(opcode_, 0x60, 0x63) || opcode_ == 0xf0) ? kAllGeneral : 0;
  }

  /// Gathers and scatters.
  bool is_of_vector_addresses() const {
    return vex_ && map_ == 2 && (is_in(opcode_, 0x90, 0x93) || is_in(opcode_, 0xa0, 0xa3));
  }

  /// Rather too many.
  void note_read() {
    const X86Address& at = found_.address;
    if (at.base >= 0) found_.read |= bit(at.base);
    if (at.index >= 0 && !is_of_vector_addresses()) found_.read |= bit(at.index);
    found_.read |= map_ == 0 ? read_by_first() : map_ == 1 ? read_by_second() : read_by_others();
    found_.gathers = is_of_vector_addresses() && opcode_ < 0xa0;
  }

  std::uint32_t read_by_first() const {
    const std::uint32_t both = general_operand() | general_reg();
    if (opcode_ < 0x40) {
      const bool zero = is_one_of(opcode_, {0x29, 0x2b, 0x31, 0x33}) && !to_memory() && reg_ == rm_;
      return zero ? 0 : (opcode_ & 7U) < 4 ? both : (opcode_ & 7U) < 6 ? kAccumulator : kAllGeneral;
    }
    if (is_in(opcode_, 0x70, 0x7f) || is_in(opcode_, 0xb8, 0xbf) || is_one_of(opcode_, {0x8d, 0xc7, 0xe8, 0xe9, 0xeb}))
      return 0;
    // With an extension in place of the register, and loads, which write it.
    if (is_one_of(opcode_, {0x63, 0x69, 0x6b, 0x80, 0x81, 0x83, 0x8a, 0x8b, 0xc0, 0xc1, 0xc6, 0xd0, 0xd1, 0xfe, 0xff}))
      return general_operand();
    if (opcode_ == 0xd2 || opcode_ == 0xd3) return general_operand() | kCount;
    if (is_in(opcode_, 0x84, 0x88)) return both;
    if (opcode_ == 0x89) return general_reg();
    if (opcode_ == 0x98 || opcode_ == 0x99 || opcode_ == 0xa8 || opcode_ == 0xa9) return kAccumulator;
    if (opcode_ == 0xf6 || opcode_ == 0xf7) return general_operand() | (extension_ < 4 ? 0 : kProduct);
    if (is_in(opcode_, 0xb0, 0xb7) || is_in(opcode_, 0x50, 0x57)) return general_opcode();
    return kAllGeneral;
  }

  std::uint32_t read_by_second() const {
    if (is_in(opcode_, 0xc8, 0xcf)) return general_opcode();
    if (is_in(opcode_, 0x80, 0x8f) || is_in(opcode_, 0x18, 0x1f)) return 0;
    if (is_one_of(opcode_, {0xb6, 0xb7, 0xb8, 0xbc, 0xbd, 0xbe, 0xbf}) || is_in(opcode_, 0x90, 0x9f) ||
        is_one_of(opcode_, {0x2a, 0x6e, 0xc4}))
      return general_operand();
    if (opcode_ == 0xa5 || opcode_ == 0xad) return general_operand() | general_reg() | kCount;
    return is_of_general_registers() ? general_operand() | general_reg() : 0;
  }

  std::uint32_t read_by_others() const {
    const bool general = map_ == 2 && is_in(opcode_, 0xf0, 0xf7);
    const bool one = map_ == 3 && (opcode_ == 0xf0 || is_in(opcode_, 0x20, 0x22));
    if (!general) return one ? general_operand() : 0;
    return general_operand() | (vex_ ? 1U << (static_cast<unsigned>(source_) & 15U) : general_reg());
  }

  bool is_vector() const { return map_ > 1 || (map_ == 1 && !is_of_general_registers() && opcode_ >= 0x10); }

  void note_memory() {
    const bool scalar = type_ == kScalarSingle || type_ == kScalarDouble;
    const bool arithmetic = is_in(opcode_, 0x51, 0x5f) && !is_in(opcode_, 0x54, 0x57);
    const bool integers =
        (is_in(opcode_, 0x60, 0x76) && opcode_ != 0x6e && opcode_ != 0x6f) ||
        (is_in(opcode_, 0xd0, 0xfe) && opcode_ != 0xd6 && opcode_ != 0xd7 && opcode_ != 0xe7 && opcode_ != 0xef);
    found_.packed = is_vector() && (long_ || (map_ == 1 && !scalar && (arithmetic || integers)));
    if (!to_memory()) return;
    const bool vector_store = map_ == 1 && (is_one_of(opcode_, {0x11, 0x13, 0x17, 0x29, 0x2b, 0x7f, 0xd6, 0xe7}) ||
                                            (opcode_ == 0x7e && type_ != kScalarSingle));
    const bool moves = map_ == 0 && is_one_of(opcode_, {0x88, 0x89, 0xc6, 0xc7});
    const bool changes =
        map_ == 0 && ((opcode_ < 0x38 && (opcode_ & 7U) < 2) || is_one_of(opcode_, {0x86, 0x87, 0xc0, 0xc1, 0xfe}) ||
                      is_in(opcode_, 0xd0, 0xd3) || (is_one_of(opcode_, {0x80, 0x81, 0x83}) && extension_ != 7) ||
                      (opcode_ == 0xff && extension_ < 2) ||
                      ((opcode_ == 0xf6 || opcode_ == 0xf7) && (extension_ == 2 || extension_ == 3)));
    const bool flags = map_ == 1 && is_in(opcode_, 0x90, 0x9f);
    const bool no_access =
        (map_ == 0 && opcode_ == 0x8d) || (map_ == 1 && (is_in(opcode_, 0x18, 0x1f) || opcode_ == 0x0d));
    found_.stores = vector_store || moves || changes || flags;
    found_.loads = !found_.stores && !no_access;
  }

  std::span<const std::uint8_t> bytes_;
  std::size_t at_ = 0;
  bool good_ = true, small_ = false, wide_ = false, vex_ = false, long_ = false;
  std::uint8_t type_ = 0, opcode_ = 0;  ///< the prefix that tells the type
  int map_ = 0, source_ = 0;
  unsigned reg_ = 0, rm_ = 0, index_ = 0, extension_ = 0;
  X86Operand operand_;
  X86Instruction found_;
};

}  // namespace

std::optional<X86Instruction> decode_x86(std::span<const std::uint8_t> bytes) { return Decoder(bytes).decode(); }

}  // namespace roofline
