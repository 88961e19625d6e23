// A suite's kernel while it is read, and the values that its keys have in common. Internal to src/config.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "config/triton_entry.hpp"
#include "config/yaml_value.hpp"
#include "user/kernel_spec.hpp"

namespace roofline {

struct KernelDraft {
  KernelSpec spec;
  std::filesystem::path folder;  ///< of the suite: relative paths begin there
  bool has_shape = false;        ///< a workload, or the op that it is like, names the extents of its shape
  std::optional<TritonEntry> triton = {};
  std::map<std::string, bool> buffer_has_type = {};                  ///< by name: its dtype is written
  std::vector<std::pair<std::string, YamlValue>> expected = {};      ///< outputs in `expect`
  std::vector<std::pair<std::string, YamlValue>> used_buffers = {};  ///< in pointers and tensor maps
};

// Each throws UsageError at the value's place; `what` names it in the message.

/// A name that formulas will use.
std::string read_identifier(const YamlValue& yaml, std::string_view what);
Formula read_formula(const YamlValue& yaml, std::string_view what);
bool read_flag(const YamlValue& yaml, std::string_view what);
double read_number(const YamlValue& yaml, std::string_view what, double minimum);
/// Path of an existing file or folder. Throws UsageError if there is none.
std::filesystem::path read_path(const KernelDraft& draft, const YamlValue& yaml, std::string_view what);
std::filesystem::path read_file_path(const KernelDraft& draft, const YamlValue& yaml, std::string_view what);

}  // namespace roofline
