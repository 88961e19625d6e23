#include "inject/python_modules.hpp"

#include <string_view>
#include <utility>
#include <vector>

#include "inject/python_frames.hpp"

namespace roofline::inject::python {
namespace {

constexpr int kWeakTarget = 16;

/// Joins two parts of a path; parts that model wrappers add are omitted.
std::string joined(const std::string& path, const std::string& part) {
  for (const std::string_view wrapper : {"_orig_mod", "_fsdp_wrapped_module", "_checkpoint_wrapped_module"}) {
    if (part == wrapper) return path;
  }
  std::string result = path;
  if (!path.empty()) result += '.';
  return result += part;
}

/// Calls `visit(module, path)` for a module and all of its submodules. Runs no code of the program.
template <typename Visit>
void visit_modules(const Api& api, Object* module, const std::string& path, int depth, const Visit& visit) {
  constexpr int kDeepestModule = 64;
  visit(module, path);
  const Reference children = attribute(api, module, "_modules");
  if (!children || depth >= kDeepestModule) return;
  std::ptrdiff_t position = 0;
  Object* name = nullptr;
  Object* child = nullptr;
  while (api.dict_next(children.get(), &position, &name, &child) != 0) {
    const std::string part = text_of(api, name);
    if (part.empty() || !attribute(api, child, "_modules")) continue;  // None: no module
    visit_modules(api, child, joined(path, part), depth + 1, visit);
  }
}

}  // namespace

bool ModuleName::is_of(const Object* module) const {
  return reference != nullptr && at<const Object*>(reference, kWeakTarget) == module;
}

std::optional<ModuleName> ModuleNames::find(const Object* module) {
  const std::lock_guard lock(mutex_);
  const auto found = names_.find(module);
  return found != names_.end() && found->second.is_of(module) ? std::optional(found->second) : std::nullopt;
}

spool::Id ModuleNames::name(Session& session, const Api& api, Object* module, Object* outermost) {
  const std::string root_class = class_name(api, outermost);
  std::vector<std::pair<Object*, std::string>> found;
  visit_modules(api, outermost, {}, 0, [&](Object* part, const std::string& path) { found.emplace_back(part, path); });
  std::string prefix;
  if (found.size() > 1) {
    const std::lock_guard lock(mutex_);
    if (plain_root_.empty()) plain_root_ = root_class;
    if (plain_root_ != root_class) prefix = root_class;
  }
  bool named = false;
  for (const auto& [part, path] : found) named = named || part == module;
  if (!named) found.emplace_back(module, std::string());  // not a submodule of the outermost one: named by its class
  for (const auto& [part, path] : found) {
    if (find(part)) continue;
    ModuleName name;
    const std::string own = path.empty() ? class_name(api, part) : prefix.empty() ? path : joined(prefix, path);
    name.name = session.spool.text(own);
    name.reference = api.weak_reference(part, nullptr);
    if (name.reference == nullptr) forget_error(api);
    const std::lock_guard lock(mutex_);
    names_[part] = name;
  }
  const std::lock_guard lock(mutex_);
  return names_[module].name;
}

}  // namespace roofline::inject::python
