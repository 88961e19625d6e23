// Addresses are compared as text: the same registers, unchanged since the store, and displacements that overlap.
#include "user/forwarded_loads.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <sstream>
#include <string_view>
#include <utility>
#include <vector>

#include "model/find.hpp"
#include "text/parse.hpp"
#include "text/text.hpp"

namespace roofline {
namespace {

constexpr std::string_view kElsewhere = "roofline_elsewhere(%rip)";
/// Instructions in which a store is still in a store buffer: those of current cores have 50 to 120 entries.
constexpr std::size_t kRecent = 100;

struct Instruction {
  std::string_view name;
  std::vector<std::string_view> operands;
};

/// Operands are separated by commas outside parentheses.
Instruction parse_instruction(std::string_view line) {
  line = trimmed(line.substr(0, line.find('#')));
  Instruction one;
  std::size_t end = std::min(line.find_first_of(" \t"), line.size());
  one.name = line.substr(0, end);
  int depth = 0;
  std::size_t begin = end;
  for (; end <= line.size(); ++end) {
    const char c = end < line.size() ? line[end] : ',';
    depth += c == '(' ? 1 : c == ')' ? -1 : 0;
    if (c != ',' || depth > 0) continue;
    if (const auto operand = trimmed(line.substr(begin, end - begin)); !operand.empty())
      one.operands.push_back(operand);
    begin = end + 1;
  }
  return one;
}

/// "-8(%rsp,%rax,4)" is -8 bytes from "(%rsp,%rax,4)".
struct Address {
  std::string base;
  std::int64_t displacement = 0;
};

std::optional<Address> address_in(std::string_view operand) {
  const std::size_t open = operand.find('(');
  if (open == std::string_view::npos || operand.find(':') != std::string_view::npos) return std::nullopt;
  const std::string_view number = operand.substr(0, open);
  const auto displacement = number.empty() ? std::optional<std::int64_t>(0) : parsed_number<std::int64_t>(number);
  if (!displacement) return std::nullopt;  // a symbol
  return Address{.base = std::string(operand.substr(open)), .displacement = *displacement};
}

int register_bytes(std::string_view operand) {
  if (operand.starts_with("%zmm")) return 64;
  if (operand.starts_with("%ymm")) return 32;
  if (operand.starts_with("%xmm")) return 16;
  return 0;
}

int suffix_bytes(char suffix) {
  constexpr std::string_view kSuffixes = "bwlq";
  const std::size_t at = kSuffixes.find(suffix);
  return at == std::string_view::npos ? 0 : 1 << at;
}

/// Bytes that the instruction loads or stores at its memory operand; 0 if unknown.
int accessed_bytes(const Instruction& one) {
  std::string_view name = one.name;
  if (name.starts_with("lea") || name.starts_with("prefetch") || name.starts_with("nop")) return 0;
  int widest = 0;
  for (const std::string_view operand : one.operands) widest = std::max(widest, register_bytes(operand));
  if (widest == 0) {
    const bool extends = (name.starts_with("movz") || name.starts_with("movs")) && name.size() == 6;
    return suffix_bytes(extends ? name[4] : name.back());
  }
  if (name.starts_with('v')) name.remove_prefix(1);
  if (name.starts_with("extract") || name.starts_with("insert") || name.starts_with("broadcast")) return 0;
  if (name.starts_with("cvt") || name.starts_with("pmov") || name.starts_with("pextr") || name.starts_with("pinsr"))
    return 0;
  if (name.ends_with("ss") || name == "movd") return 4;
  const bool half = name.starts_with("movl") || name.starts_with("movh");
  if (name.ends_with("sd") || name == "movq" || half) return 8;
  return widest;
}

/// The 64-bit register of which an operand is a part: "%rax" of "%eax".
std::string whole_register(std::string_view operand) {
  static constexpr std::array<std::array<std::string_view, 4>, 8> kOld = {{{"%rax", "%eax", "%ax", "%al"},
                                                                           {"%rbx", "%ebx", "%bx", "%bl"},
                                                                           {"%rcx", "%ecx", "%cx", "%cl"},
                                                                           {"%rdx", "%edx", "%dx", "%dl"},
                                                                           {"%rsi", "%esi", "%si", "%sil"},
                                                                           {"%rdi", "%edi", "%di", "%dil"},
                                                                           {"%rbp", "%ebp", "%bp", "%bpl"},
                                                                           {"%rsp", "%esp", "%sp", "%spl"}}};
  for (const auto& names : kOld) {
    if (contains(names, operand)) return std::string(names[0]);
  }
  std::string name(operand);
  const bool numbered = name.size() > 3 && name.starts_with("%r") && name[2] >= '0' && name[2] <= '9';
  if (numbered && (name.ends_with('d') || name.ends_with('w') || name.ends_with('b'))) name.pop_back();
  return name;
}

class Block {
 public:
  void clear() { stores_.clear(); }

  void add_store(const Address& address, int bytes) { stores_.push_back({address, bytes, now_}); }

  /// True if bytes that it loads were stored by a store that does not hold them all.
  bool fails(const Address& address, int bytes) const {
    for (auto store = stores_.rbegin(); store != stores_.rend(); ++store) {
      if (now_ - store->at > kRecent || store->address.base != address.base) continue;
      const std::int64_t begin = store->address.displacement, end = begin + store->bytes;
      const std::int64_t wanted = address.displacement, wanted_end = wanted + bytes;
      if (end <= wanted || begin >= wanted_end) continue;
      return begin > wanted || end < wanted_end;  // the latest one that overlaps
    }
    return false;
  }

  /// What the instruction writes makes addresses with that register others.
  void step(const Instruction& one) {
    ++now_;
    if (one.name.starts_with("push") || one.name.starts_with("pop")) forget("%rsp");
    if (one.name.starts_with("call") || one.name.starts_with("xchg") || one.name.starts_with("rep")) clear();
    const bool only_reads = one.name.starts_with("cmp") || one.name.starts_with("test");
    if (!one.operands.empty() && !only_reads && one.operands.back().starts_with('%'))
      forget(whole_register(one.operands.back()));
  }

 private:
  struct Store {
    Address address;
    int bytes = 0;
    std::size_t at = 0;
  };

  void forget(const std::string& name) {
    std::erase_if(stores_, [&](const Store& store) { return store.address.base.find(name) != std::string::npos; });
  }

  std::vector<Store> stores_;
  std::size_t now_ = 0;
};

}  // namespace

std::string without_failed_forwards(const std::string& assembly) {
  if (assembly.find("%r") == std::string::npos || assembly.find(".intel_syntax") != std::string::npos) return {};
  std::istringstream lines(assembly);
  std::string changed;
  Block block;
  bool any = false;
  for (std::string line; std::getline(lines, line); changed += line + "\n") {
    const std::string_view text = trimmed(line);
    if (text.empty() || text.front() == '#') continue;
    if (text.front() == '.' || text.ends_with(':')) {
      if (text.ends_with(':')) block.clear();  // reached from elsewhere, too
      continue;
    }
    const Instruction one = parse_instruction(text);
    const int bytes = accessed_bytes(one);
    std::string failed;  // the operand to replace, once `one`, which refers to the line, is not needed any more
    for (std::size_t i = 0; i < one.operands.size() && bytes > 0; ++i) {
      const std::optional<Address> address = address_in(one.operands[i]);
      if (!address) continue;
      const bool is_last = i + 1 == one.operands.size();
      const bool is_store =
          is_last && one.operands.size() > 1 && !one.name.starts_with("cmp") && !one.name.starts_with("test");
      if (!is_store && block.fails(*address, bytes)) failed = one.operands[i];
      if (is_store) block.add_store(*address, bytes);
      break;
    }
    block.step(one);
    if (failed.empty()) continue;
    line.replace(line.find(failed), failed.size(), kElsewhere);
    any = true;
  }
  if (!any) return {};
  return changed + "\t.local\troofline_elsewhere\n\t.comm\troofline_elsewhere,64,64\n";
}

}  // namespace roofline
