// A YAML value with its file, line and column, so that every error names the place. Reading only; it adds what yaml-cpp
// 0.7 lacks: merge keys ("<<"), and refusing duplicate keys.
#pragma once

#include <yaml-cpp/yaml.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "model/names.hpp"
#include "user/place.hpp"

namespace roofline {

class Op;

class YamlValue;

/// One "key: value" of a mapping.
struct YamlMember;

// NOLINTNEXTLINE(bugprone-exception-escape): a move of yaml-cpp's nodes may throw, and this one is not noexcept.
class YamlValue {
 public:
  YamlValue(const YAML::Node& node, std::string path) : node_(node), path_(std::move(path)) {}

  bool is_map() const { return node_.IsMap(); }
  bool is_list() const { return node_.IsSequence(); }
  bool is_scalar() const { return node_.IsScalar(); }
  bool is_null() const { return node_.IsNull(); }

  /// The members of a mapping in the order of the file, merge keys resolved (a member of the mapping
  /// itself wins over a merged one). Throws UsageError for anything else, and for a key given twice.
  std::vector<YamlMember> members(std::string_view what) const;

  /// The elements of a list; a value that is no list is a list of itself. Throws UsageError when it is
  /// empty.
  std::vector<YamlValue> elements(std::string_view what) const;

  /// The text of a scalar. Throws UsageError for anything else, and for an empty text.
  std::string text(std::string_view what) const;

  /// A whole number, written as 4096, 2^28, 32Ki, 32Mi or 1Gi, within [minimum, maximum].
  std::int64_t integer(std::string_view what, std::int64_t minimum, std::int64_t maximum) const;

  /// "configs/ops.yaml:14:9"
  std::string place() const;
  int line() const;
  /// Where the text of a scalar begins, behind its quote.
  Place origin() const;

  /// Throws UsageError: the place and the complaint.
  [[noreturn]] void fail(const std::string& complaint) const;
  /// Throws UsageError: "unknown op 'gem'; did you mean 'gemm'?", with a hint if there is one.
  [[noreturn]] void fail_unknown(std::string_view what, const std::string& given,
                                 const std::vector<std::string>& candidates, const std::string& more = {}) const;

 private:
  void collect(std::vector<YamlMember>& members, std::string_view what, int depth) const;
  std::string kind() const;

  YAML::Node node_;
  std::string path_;
};

struct YamlMember {
  std::string key;
  YamlValue name;  ///< the key as a value, for complaints about it
  YamlValue value;
};

/// The member of that key, or null.
const YamlMember* find_member(const std::vector<YamlMember>& members, std::string_view key);

/// Throws UsageError for the first unknown key, with the nearest known one.
void require_known(const std::vector<YamlMember>& members, const std::vector<std::string>& known,
                   const std::string& where);

DType read_dtype(const YamlValue& yaml);

/// The built-in op that the text of `key` names.
const Op& read_op(const YamlValue& yaml, const std::string& key);

/// The one document of a YAML text. Throws UsageError with file, line and column.
YamlValue parse_yaml(const std::string& text, const std::string& path);

}  // namespace roofline
