// Signatures by their text: comments removed, a name, brackets, parameters between commas.
#include "user/first_suite.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <map>
#include <optional>
#include <string_view>
#include <vector>

#include "model/error.hpp"
#include "op/registry.hpp"
#include "user/kernel_spec.hpp"

namespace roofline {
namespace {

struct Parameter {
  std::string type;  ///< without const, reference and pointer
  std::string name;
  bool pointer = false;
  bool constant = false;
};

struct Signature {
  std::string name;
  std::vector<std::string> type_parameters;  ///< of a template
  std::vector<Parameter> parameters;
};

std::string without_comments(const std::string& text) {
  std::string code;
  for (std::size_t at = 0; at < text.size();) {
    if (text.compare(at, 2, "//") == 0) {
      at = std::min(text.find('\n', at), text.size());
    } else if (text.compare(at, 2, "/*") == 0) {
      const std::size_t end = text.find("*/", at + 2);
      at = end == std::string::npos ? text.size() : end + 2;
      code += ' ';
    } else if (text[at] == '#') {  // a directive, with its continuations
      while (at < text.size() && text[at] != '\n') at += text[at] == '\\' ? 2 : 1;
    } else {
      code += text[at++];
    }
  }
  return code;
}

std::vector<std::string> split_at_commas(const std::string& text) {
  std::vector<std::string> parts(1);
  int depth = 0;
  for (const char c : text) {
    if (c == '<' || c == '(' || c == '[') ++depth;
    if (c == '>' || c == ')' || c == ']') --depth;
    if (c == ',' && depth == 0) {
      parts.emplace_back();
    } else {
      parts.back() += c;
    }
  }
  return parts;
}

std::vector<std::string> words_of(const std::string& text) {
  std::vector<std::string> words;
  for (const char c : text) {
    const bool part = is_in_name(c) || c == ':';
    if (!part || words.empty()) words.emplace_back();
    if (part) words.back() += c;
  }
  std::erase(words, "");
  return words;
}

Parameter read_parameter(const std::string& text) {
  Parameter parameter;
  parameter.pointer = text.find_first_of("*[") != std::string::npos;
  std::vector<std::string> words = words_of(text.substr(0, text.find('[')));
  parameter.constant = std::find(words.begin(), words.end(), "const") != words.end();
  for (const char* word :
       {"const", "restrict", "__restrict__", "__restrict", "volatile", "__grid_constant__", "struct"}) {
    std::erase(words, word);
  }
  if (words.size() > 1) {
    parameter.name = words.back();
    words.pop_back();
  }
  parameter.type = fmt::format("{}", words.empty() ? "" : words.front());
  for (std::size_t i = 1; i < words.size(); ++i) parameter.type += " " + words[i];
  return parameter;
}

/// `text` up to where spaces at its end begin.
std::string_view without_spaces_after(std::string_view text) {
  while (!text.empty() && std::isspace(static_cast<unsigned char>(text.back())) != 0) text.remove_suffix(1);
  return text;
}

/// The parameters between the brackets with which "template <…>" begins; removes it from `text`.
std::vector<std::string> take_template(std::string_view& text) {
  const std::size_t word = text.find("template"), begin = text.find('<', word);
  if (word == std::string_view::npos || begin == std::string_view::npos) return {};
  std::size_t end = begin;
  for (int depth = 0; end < text.size(); ++end) {
    if (text[end] == '<') ++depth;
    if (text[end] == '>' && --depth == 0) break;
  }
  const std::string inside(text.substr(begin + 1, end - begin - 1));
  text.remove_prefix(std::min(end + 1, text.size()));
  return split_at_commas(inside);
}

/// What ends `head`, the text before a "{": [template <…>] words name(parameters); none where it is no function.
std::optional<Signature> signature_at_end(std::string_view head, bool cuda) {
  head = without_spaces_after(head);
  if (head.empty() || head.back() != ')') return std::nullopt;
  head.remove_suffix(1);
  const std::size_t open = head.find_last_of("()};");
  if (open == std::string_view::npos || head[open] != '(') return std::nullopt;
  const std::string inside(head.substr(open + 1));
  head = without_spaces_after(head.substr(0, open));
  std::size_t name = head.size();
  while (name > 0 && is_in_name(head[name - 1])) --name;
  Signature signature{.name = std::string(head.substr(name)), .type_parameters = {}, .parameters = {}};
  if (signature.name.empty() || !starts_name(signature.name[0])) return std::nullopt;
  head = head.substr(0, name);
  head.remove_prefix(head.find_last_of("};") + 1);  // npos + 1 is 0
  for (const std::string& parameter : take_template(head)) {
    const std::vector<std::string> words = words_of(parameter);
    const bool type = !words.empty() && (words[0] == "typename" || words[0] == "class");
    signature.type_parameters.push_back(type ? words.back() : "");
  }
  const std::vector<std::string> before = words_of(std::string(head));
  const auto has = [&](const char* word) { return std::find(before.begin(), before.end(), word) != before.end(); };
  // A statement, an initialiser, or a member after the colon of a constructor.
  if (before.empty() || head.find('=') != std::string_view::npos || has(":")) return std::nullopt;
  if (cuda ? !has("__global__") : has("static") || has("else") || has("return")) return std::nullopt;
  for (const std::string& parameter : split_at_commas(inside)) {
    if (words_of(parameter).empty() || words_of(parameter) == std::vector<std::string>{"void"}) continue;
    signature.parameters.push_back(read_parameter(parameter));
  }
  return signature;
}

std::vector<Signature> signatures_in(const std::string& text, bool cuda) {
  const std::string code = without_comments(text);
  std::vector<Signature> found;
  std::size_t begin = 0;  // after the last brace: what came before belongs to no later function
  for (std::size_t at = code.find('{'); at != std::string::npos; at = code.find('{', at + 1)) {
    const std::string_view head = std::string_view(code).substr(begin, at - begin);
    if (std::optional<Signature> signature = signature_at_end(head, cuda)) found.push_back(std::move(*signature));
    begin = at + 1;
  }
  return found;
}

/// The suite's name of a C++ type; empty where it has none.
std::string dtype_of(const std::string& type) {
  static const std::map<std::string, std::string> names = {{"float", "fp32"},
                                                           {"double", "fp64"},
                                                           {"half", "fp16"},
                                                           {"__half", "fp16"},
                                                           {"_Float16", "fp16"},
                                                           {"__nv_bfloat16", "bf16"},
                                                           {"nv_bfloat16", "bf16"},
                                                           {"__bf16", "bf16"},
                                                           {"__nv_fp8_e4m3", "fp8"},
                                                           {"int", "int32"},
                                                           {"unsigned", "uint32"},
                                                           {"unsigned int", "uint32"},
                                                           {"int32_t", "int32"},
                                                           {"uint32_t", "uint32"},
                                                           {"std::int32_t", "int32"},
                                                           {"std::uint32_t", "uint32"},
                                                           {"long", "int64"},
                                                           {"long long", "int64"},
                                                           {"int64_t", "int64"},
                                                           {"std::int64_t", "int64"},
                                                           {"size_t", "uint64"},
                                                           {"std::size_t", "uint64"},
                                                           {"unsigned long", "uint64"},
                                                           {"unsigned long long", "uint64"},
                                                           {"uint64_t", "uint64"},
                                                           {"std::uint64_t", "uint64"},
                                                           {"ptrdiff_t", "int64"},
                                                           {"short", "int16"},
                                                           {"int16_t", "int16"},
                                                           {"uint16_t", "uint16"},
                                                           {"char", "int8"},
                                                           {"signed char", "int8"},
                                                           {"int8_t", "int8"},
                                                           {"unsigned char", "uint8"},
                                                           {"uint8_t", "uint8"},
                                                           {"bool", "uint8"}};
  const auto found = names.find(type);
  return found == names.end() ? "" : found->second;
}

bool is_integer(const std::string& dtype) { return dtype.starts_with("int") || dtype.starts_with("uint"); }

/// Its name in the suite, where those of ops are taken.
std::string suite_name_of(const Signature& signature) {
  return find_op(signature.name) == nullptr ? signature.name : signature.name + "_kernel";
}

std::string argument_line(const Parameter& parameter, const Signature& signature, const std::string& size) {
  const auto& types = signature.type_parameters;
  const bool generic = std::find(types.begin(), types.end(), parameter.type) != types.end();
  std::string dtype = generic ? "fp32" : dtype_of(parameter.type);
  if (!parameter.pointer) {
    if (dtype.empty()) {
      return fmt::format("      - {{ struct: [{{ scalar: 1, dtype: fp32 }}], type: {} }}   # decide: its members\n",
                         parameter.type);
    }
    const std::string value = is_integer(dtype) ? parameter.name : "1.0";
    return fmt::format("      - {{ scalar: {}, dtype: {} }}{}\n", value, dtype,
                       is_integer(dtype) ? "" : fmt::format("   # decide: {}", parameter.name));
  }
  const bool known = parse_dtype(dtype).has_value();
  return fmt::format("      - {{ {}: {}, dtype: {}, size: {} }}   # decide: {}{}elements\n",
                     parameter.constant ? "input" : "output", parameter.name, known ? dtype : "fp32", size,
                     known ? "" : "the type (" + parameter.type + "), ", parameter.constant ? "" : "output or inout, ");
}

std::string kernel_text(const Signature& signature, const std::filesystem::path& source, const std::string& size) {
  const bool cuda = device_of(*source_kind(source)) == DeviceKind::cuda;
  std::string entry = signature.name;
  for (std::size_t i = 0; i < signature.type_parameters.size(); ++i) {
    entry += (i == 0 ? "<" : ", ") + std::string(signature.type_parameters[i].empty() ? "1" : "float");
  }
  if (!signature.type_parameters.empty()) entry += ">";
  std::string text = fmt::format("  {}:\n    source: {}\n    entry: \"{}\"\n", suite_name_of(signature),
                                 source.filename().string(), entry);
  if (!signature.parameters.empty()) text += "    arguments:\n";
  std::string output;
  for (const Parameter& parameter : signature.parameters) {
    text += argument_line(parameter, signature, size);
    if (parameter.pointer && !parameter.constant && output.empty()) output = parameter.name;
  }
  if (cuda) {
    text += fmt::format(
        "    launch: {{ grid: ceil({} / block), block: [128, 256, 512] }}   # decide: a list is tried\n", size);
  } else {
    text +=
        "    # launch: { threads: all }   # where it takes the scalars thread and threads; own: it starts threads "
        "itself\n";
  }
  text +=
      fmt::format("    # work: {{ flops: {{ fp32: 2*{} }} }}   # decide; left out: counted, with --counters\n", size);
  text += fmt::format(
      "    unverified: true   # decide: expect: {{ {}: \"a formula\" }}, same_as: a kernel, or like: an op\n",
      output.empty() ? "y" : output);
  return text;
}

}  // namespace

std::string first_suite(const std::filesystem::path& source, const std::string& text) {
  const auto kind = source_kind(source);
  const bool readable = kind == SourceKind::c || kind == SourceKind::cpp || kind == SourceKind::cuda;
  if (!readable) throw UsageError(fmt::format("{}: only .cu, .c and .cpp have signatures to read", source.string()));
  const std::vector<Signature> signatures = signatures_in(text, kind == SourceKind::cuda);
  if (signatures.empty()) {
    throw UsageError(fmt::format("{}: no {} was found", source.string(),
                                 kind == SourceKind::cuda ? "__global__ function" : "function with a body"));
  }
  std::string kernels;
  std::string workloads;
  for (const Signature& signature : signatures) {
    std::vector<std::string> extents;
    for (const Parameter& parameter : signature.parameters) {
      if (!parameter.pointer && is_integer(dtype_of(parameter.type))) extents.push_back(parameter.name);
    }
    std::string size;
    std::string shape;
    for (const std::string& extent : extents) {
      size += (size.empty() ? "" : "*") + extent;
      shape += fmt::format("{}{}: {}", shape.empty() ? "" : ", ", extent, extents.size() == 1 ? "2^20" : "1024");
    }
    if (extents.empty()) {
      size = "n";
      shape = "n: 2^20";
    }
    kernels += kernel_text(signature, source, size);
    workloads += fmt::format("  - {{ kernel: {}, shape: {{ {} }} }}\n", suite_name_of(signature), shape);
  }
  return fmt::format(
      "# Written by roofline from the signatures in {0}. Complete the entries marked \"decide\" "
      "(docs/your-kernels.md), then:\n#   roofline analyze {1}.yaml\nname: {1}\nkernels:\n{2}workloads:\n{3}",
      source.filename().string(), source.stem().string(), kernels, workloads);
}

}  // namespace roofline
