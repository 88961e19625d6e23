// - { input: x, dtype: fp32, size: n, values: normal }
#include "config/kernel_buffers.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <map>
#include <string>
#include <utility>

namespace roofline {
namespace {

class BufferReader {
 public:
  explicit BufferReader(KernelDraft& draft) : draft_(draft) {}

  void read(const YamlValue& yaml, const std::vector<YamlMember>& members) {
    require_known(members, {"input", "output", "inout", "workspace", "dtype", "size", "values"}, "a buffer");
    BufferSpec buffer;
    buffer.place = yaml.origin();
    const YamlMember* named = nullptr;
    for (const auto& [key, role] : {std::pair("input", TensorRole::input),
                                    {"output", TensorRole::output},
                                    {"inout", TensorRole::inout},
                                    {"workspace", TensorRole::output}}) {
      const YamlMember* member = find_member(members, key);
      if (member == nullptr) continue;
      if (named != nullptr) member->name.fail("a buffer is one of input, output, inout and workspace");
      named = member;
      buffer.role = role;
      buffer.workspace = std::string_view(key) == "workspace";
    }
    if (named == nullptr) yaml.fail("a buffer needs a name: input, output, inout or workspace");
    buffer.name = read_identifier(named->value, "a buffer's name");
    if (draft_.spec.find_buffer(buffer.name) != nullptr)
      named->value.fail(fmt::format("there is a buffer '{}' already", buffer.name));
    const YamlMember* dtype = find_member(members, "dtype");
    const YamlMember* size = find_member(members, "size");
    if (dtype != nullptr) buffer.dtype = read_dtype(dtype->value);
    if (size != nullptr) buffer.size = read_formula(size->value, "size");
    draft_.buffer_has_type[buffer.name] = dtype != nullptr;
    if (const YamlMember* values = find_member(members, "values")) {
      if (!is_read(buffer.role)) values->name.fail("only inputs have values before the first launch");
      buffer.fill = read_fill(values->value);
    }
    draft_.spec.buffers.push_back(std::move(buffer));
  }

 private:
  InputFill read_fill(const YamlValue& yaml) {
    using Kind = InputFill::Kind;
    if (yaml.is_map()) return read_described_fill(yaml);
    InputFill fill{.place = yaml.origin()};
    const std::string given = yaml.text("values");
    if (given == "normal") {
      fill.kind = Kind::normal;
    } else if (given == "ones" || given == "zeros") {
      fill.kind = Kind::constant;
      fill.first = Formula(given == "ones" ? "1" : "0", fill.place);
    } else if (given == "permutation") {
      fill.kind = Kind::permutation;
    } else if (given != "uniform") {
      yaml.fail_unknown("values", given, {"uniform", "normal", "ones", "zeros", "permutation"},
                        "(or range: [0, 1], constant: 3, formula: i % 7, npy: x.npy)");
    }
    return fill;
  }

  /// { range: [0, n - 1] }
  InputFill read_described_fill(const YamlValue& yaml) {
    using Kind = InputFill::Kind;
    static const std::map<std::string, Kind> kinds = {{"range", Kind::range},
                                                      {"sorted", Kind::sorted},
                                                      {"constant", Kind::constant},
                                                      {"mask", Kind::mask},
                                                      {"formula", Kind::formula},
                                                      {"csr_rows", Kind::csr_rows},
                                                      {"csr_columns", Kind::csr_columns},
                                                      {"npy", Kind::npy}};
    const std::vector<YamlMember> members = yaml.members("values");
    std::vector<std::string> known;
    for (const auto& [key, kind] : kinds) known.push_back(key);
    require_known(members, known, "values");
    if (members.size() != 1) yaml.fail(fmt::format("values are one of {}", fmt::join(known, ", ")));
    const auto& [key, name, value] = members.front();
    InputFill fill{.kind = kinds.at(key), .place = yaml.origin()};
    if (fill.kind == Kind::npy) {
      fill.file = read_file_path(draft_, value, key);
    } else if (fill.kind == Kind::csr_columns) {
      fill.rows = value.text(key);
    } else if (fill.kind == Kind::range || fill.kind == Kind::sorted || fill.kind == Kind::csr_rows) {
      const auto two = value.elements(key);
      if (two.size() != 2)
        value.fail(fill.kind == Kind::csr_rows ? "csr_rows are [non-zeros, columns]" : "a range is [from, to]");
      fill.first = read_formula(two[0], key);
      fill.second = read_formula(two[1], key);
    } else {
      fill.first = read_formula(value, key);
    }
    return fill;
  }

  KernelDraft& draft_;
};

}  // namespace

void read_buffer(KernelDraft& draft, const YamlValue& yaml, const std::vector<YamlMember>& members) {
  BufferReader(draft).read(yaml, members);
}

}  // namespace roofline
