#include "sample/unwind_rows.hpp"

#include <string>
#include <string_view>
#include <vector>

#include "sample/bytes.hpp"

namespace roofline {
namespace {

// Numbers of registers in DWARF.
#if defined(__aarch64__)
constexpr std::uint64_t kFramePointer = 29, kReturnAddress = 30, kStackPointer = 31;
#else
constexpr std::uint64_t kFramePointer = 6, kStackPointer = 7, kReturnAddress = 16;
#endif

constexpr std::size_t kMostEntry = 65536;    ///< bytes of one description
constexpr std::uint8_t kSortedTable = 0x3b;  ///< 4-byte offsets from the table's start
constexpr std::uint8_t kRelativeToSelf = 0x10;
constexpr std::size_t kRememberedRows = 64;

/// How pointers are written (DW_EH_PE_…): the size by the low four bits.
std::optional<std::int64_t> read_pointer(ByteCursor& cursor, std::uint8_t encoding) {
  switch (encoding & 0x0fU) {
    case 0x00:
    case 0x04:
    case 0x0c:
      return cursor.number<std::int64_t>();
    case 0x01:
      return static_cast<std::int64_t>(cursor.unsigned_leb());
    case 0x02:
      return cursor.number<std::uint16_t>();
    case 0x03:
      return cursor.number<std::uint32_t>();
    case 0x09:
      return cursor.signed_leb();
    case 0x0a:
      return cursor.number<std::int16_t>();
    case 0x0b:
      return cursor.number<std::int32_t>();
    default:
      return std::nullopt;
  }
}

/// The bytes of an entry of .eh_frame after its length; empty where it is broken.
std::string entry_at(const CodeImage& image, std::uint64_t address) {
  std::uint32_t size = 0;
  if (!image.read_address(address, &size, sizeof size) || size < sizeof size || size > kMostEntry) return {};
  std::string bytes(size, '\0');
  return image.read_address(address + sizeof size, bytes.data(), size) ? bytes : std::string();
}

struct CommonEntry {
  std::string_view instructions;
  std::uint64_t code_factor = 1;
  std::int64_t data_factor = 1;
  std::uint8_t pointers = 0;
  bool has_data = false;
  bool signal = false;  ///< a frame that the kernel made: its registers are saved elsewhere
};

std::optional<CommonEntry> parse_common(std::string_view entry) {
  ByteCursor cursor(entry, sizeof(std::uint32_t));
  const std::uint8_t version = cursor.byte();
  const std::string_view augmentation = cursor.text();
  CommonEntry common;
  common.code_factor = cursor.unsigned_leb();
  common.data_factor = cursor.signed_leb();
  const std::uint64_t return_address = version == 1 ? cursor.byte() : cursor.unsigned_leb();
  if (return_address != kReturnAddress) return std::nullopt;
  std::size_t end = cursor.at();
  if (augmentation.starts_with('z')) {
    common.has_data = true;
    const std::uint64_t size = cursor.unsigned_leb();
    if (size > cursor.left()) return std::nullopt;
    end = cursor.at() + size;
    for (const char letter : augmentation.substr(1)) {
      if (letter == 'R') common.pointers = cursor.byte();
      if (letter == 'L') cursor.byte();
      if (letter == 'P' && !read_pointer(cursor, cursor.byte())) return std::nullopt;
      if (letter == 'S') common.signal = true;
    }
  }
  if (!cursor.good() || end > entry.size()) return std::nullopt;
  common.instructions = entry.substr(end);
  return common;
}

/// Runs the instructions of a description up to an address.
class RowMachine {
 public:
  RowMachine(const CommonEntry& common, std::uint64_t location) : common_(common), location_(location) {}

  void run(std::string_view instructions, std::uint64_t until, bool initial) {
    ByteCursor cursor(instructions);
    while (!cursor.at_end() && location_ <= until && usable_) step(cursor, initial);
    if (initial) first_ = row_;
  }

  UnwindRow row() const { return usable_ ? row_ : UnwindRow{}; }

 private:
  void step(ByteCursor& cursor, bool initial) {
    const std::uint8_t code = cursor.byte();
    const std::uint64_t low = code & 0x3fU;
    switch (code >> 6U) {
      case 1:
        return advance(low);
      case 2:
        return save(low, factored(cursor.unsigned_leb()));
      case 3:
        return restore(low, initial);
      default:
        return extended(code, cursor, initial);
    }
  }

  void extended(std::uint8_t code, ByteCursor& cursor, bool initial) {
    switch (code) {
      case 0x00:  // nop
        return;
      case 0x01:  // set_loc: not written by compilers for .eh_frame
        usable_ = false;
        return;
      case 0x02:
        return advance(cursor.byte());
      case 0x03:
        return advance(cursor.number<std::uint16_t>());
      case 0x04:
        return advance(cursor.number<std::uint32_t>());
      case 0x05: {  // offset_extended
        const std::uint64_t reg = cursor.unsigned_leb();
        return save(reg, factored(cursor.unsigned_leb()));
      }
      case 0x06:
        return restore(cursor.unsigned_leb(), initial);
      case 0x07:  // undefined
        if (cursor.unsigned_leb() == kReturnAddress) row_.base = UnwindRow::Base::outer;
        return;
      case 0x08:  // same_value
        forget(cursor.unsigned_leb());
        return;
      case 0x09:  // register
        cursor.unsigned_leb();
        cursor.unsigned_leb();
        return;
      case 0x0a:
        if (remembered_.size() < kRememberedRows) remembered_.push_back(row_);
        return;
      case 0x0b:
        if (remembered_.empty()) return;
        row_ = remembered_.back();
        remembered_.pop_back();
        return;
      case 0x0c:
        set_base(cursor.unsigned_leb());
        row_.offset = static_cast<std::int64_t>(cursor.unsigned_leb());
        return;
      case 0x0d:
        return set_base(cursor.unsigned_leb());
      case 0x0e:
        row_.offset = static_cast<std::int64_t>(cursor.unsigned_leb());
        return;
      case 0x0f:
        return set_expression(cursor.bytes(cursor.unsigned_leb()));
      case 0x10:  // expression, val_expression
      case 0x16: {
        const std::uint64_t reg = cursor.unsigned_leb();
        cursor.skip(cursor.unsigned_leb());
        if (reg == kReturnAddress || reg == kStackPointer) usable_ = false;
        return;
      }
      case 0x11: {  // offset_extended_sf
        const std::uint64_t reg = cursor.unsigned_leb();
        return save(reg, factored(static_cast<std::uint64_t>(cursor.signed_leb())));
      }
      case 0x12:
        set_base(cursor.unsigned_leb());
        row_.offset = factored(static_cast<std::uint64_t>(cursor.signed_leb()));
        return;
      case 0x13:
        row_.offset = factored(static_cast<std::uint64_t>(cursor.signed_leb()));
        return;
      case 0x2d:  // negate_ra_state of AArch64: the return address is signed
        return;
      case 0x2e:  // GNU_args_size
        cursor.unsigned_leb();
        return;
      default:
        usable_ = false;
    }
  }

  /// Of a file from a stranger: the product may not fit, and then wraps around.
  std::int64_t factored(std::uint64_t offset) const {
    return static_cast<std::int64_t>(offset * static_cast<std::uint64_t>(common_.data_factor));
  }

  void advance(std::uint64_t delta) { location_ += delta * common_.code_factor; }

  void set_base(std::uint64_t reg) {
    if (reg == kStackPointer) {
      row_.base = UnwindRow::Base::stack_pointer;
    } else {
      row_.base = reg == kFramePointer ? UnwindRow::Base::frame_pointer : UnwindRow::Base::unknown;
    }
  }

  /// Compilers and linkers write one expression for the stack's place, that of PLT stubs.
  void set_expression(std::string_view expression) {
    constexpr std::string_view kStub("\x77\x08\x80\x00", 4);
    row_.base = expression.starts_with(kStub) ? UnwindRow::Base::plt : UnwindRow::Base::unknown;
  }

  void save(std::uint64_t reg, std::int64_t offset) {
    if (reg == kReturnAddress) row_.return_address = offset;
    if (reg == kFramePointer) row_.frame_pointer = offset;
  }
  void forget(std::uint64_t reg) {
    if (reg == kReturnAddress) row_.return_address.reset();
    if (reg == kFramePointer) row_.frame_pointer.reset();
  }
  void restore(std::uint64_t reg, bool initial) {
    if (initial) return;
    if (reg == kReturnAddress) row_.return_address = first_.return_address;
    if (reg == kFramePointer) row_.frame_pointer = first_.frame_pointer;
  }

  const CommonEntry& common_;
  std::uint64_t location_;
  bool usable_ = true;
  UnwindRow row_, first_;
  std::vector<UnwindRow> remembered_;
};

/// The address of the description that may hold the address, by the sorted table of .eh_frame_hdr.
std::optional<std::uint64_t> description_of(const CodeImage& image, std::uint64_t address) {
  const std::optional<std::uint64_t> table = image.unwind_table();
  struct Head {
    std::uint8_t version, frame, count, table;
    std::int32_t frame_at;
    std::uint32_t entries;
  } head = {};
  if (!table || !image.read_address(*table, &head, sizeof head)) return std::nullopt;
  if (head.version != 1 || head.table != kSortedTable || head.count != 0x03 || (head.frame & 0x0fU) != 0x0b) {
    return std::nullopt;
  }
  struct Entry {
    std::int32_t start, description;
  } entry = {}, found = {};
  std::uint32_t low = 0, high = head.entries;
  const auto target = static_cast<std::int64_t>(address - *table);
  while (low < high) {
    const std::uint32_t middle = low + (high - low) / 2;
    if (!image.read_address(*table + sizeof head + middle * sizeof entry, &entry, sizeof entry)) return std::nullopt;
    if (entry.start <= target) {
      found = entry;
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  if (low == 0) return std::nullopt;
  return *table + static_cast<std::uint64_t>(std::int64_t{found.description});
}

}  // namespace

UnwindRow unwind_row(const CodeImage& image, std::uint64_t address) {
  const std::optional<std::uint64_t> place = description_of(image, address);
  if (!place) return {};
  const std::string description = entry_at(image, *place);
  ByteCursor cursor(description);
  const std::uint64_t back = cursor.number<std::uint32_t>();
  if (!cursor.good() || back == 0) return {};
  const std::string common_bytes = entry_at(image, *place + sizeof(std::uint32_t) - back);
  const std::optional<CommonEntry> common = parse_common(common_bytes);
  if (!common || common->signal) return {};
  const std::uint64_t field = *place + sizeof(std::uint32_t) + cursor.at();
  const std::optional<std::int64_t> start = read_pointer(cursor, common->pointers);
  const std::optional<std::int64_t> length = read_pointer(cursor, common->pointers & 0x0fU);
  if (!start || !length) return {};
  const std::uint64_t first =
      static_cast<std::uint64_t>(*start) + ((common->pointers & 0x70U) == kRelativeToSelf ? field : 0);
  if (address < first || address - first >= static_cast<std::uint64_t>(*length)) return {};
  if (common->has_data) cursor.skip(cursor.unsigned_leb());
  if (!cursor.good()) return {};
  RowMachine machine(*common, first);
  machine.run(common->instructions, address, true);
  machine.run(std::string_view(description).substr(cursor.at()), address, false);
  return machine.row();
}

const UnwindRow& UnwindRows::at(const CodeImage& image, std::uint64_t address) {
  constexpr std::size_t kMostRows = 1 << 18;
  if (rows_.size() > kMostRows) rows_.clear();
  const auto [row, is_new] = rows_.try_emplace(address);
  if (is_new) row->second = unwind_row(image, address);
  return row->second;
}

}  // namespace roofline
