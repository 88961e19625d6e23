// Names of PyTorch modules: their paths in the model, read from the interpreter.
#pragma once

#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>

#include "inject/python_api.hpp"
#include "inject/session.hpp"

namespace roofline::inject::python {

struct ModuleName {
  Object* reference = nullptr;  ///< weak
  spool::Id name = 0;

  /// False if the module was freed: its address may be another one's.
  bool is_of(const Object* module) const;
};

class ModuleNames {
 public:
  std::optional<ModuleName> find(const Object* module);
  /// Names the module and all submodules of the outermost module. The caller holds the GIL.
  spool::Id name(Session& session, const Api& api, Object* module, Object* outermost);

 private:
  std::mutex mutex_;  // never held during a call of the C API
  std::unordered_map<const Object*, ModuleName> names_;
  std::string plain_root_;  ///< the first root module's class: paths of its modules have no prefix
};

}  // namespace roofline::inject::python
