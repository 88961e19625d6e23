#include "inject/python_api.hpp"

#include <dlfcn.h>

namespace roofline::inject::python {
namespace {

template <typename Function>
bool bind(Function& function, const char* name) {
  function = reinterpret_cast<Function>(dlsym(RTLD_DEFAULT, name));
  return function != nullptr;
}

}  // namespace

bool bind_all(Api& api) {
  if (!bind(api.is_finalizing, "Py_IsFinalizing")) bind(api.is_finalizing, "_Py_IsFinalizing");
  bind(api.frame_instruction, "PyFrame_GetLasti");
  return bind(api.is_initialized, "Py_IsInitialized") && bind(api.version, "Py_GetVersion") &&
         bind(api.this_thread, "PyGILState_GetThisThreadState") && bind(api.ensure, "PyGILState_Ensure") &&
         bind(api.release, "PyGILState_Release") && bind(api.thread_frame, "PyThreadState_GetFrame") &&
         bind(api.frame_back, "PyFrame_GetBack") && bind(api.frame_code, "PyFrame_GetCode") &&
         bind(api.frame_line, "PyFrame_GetLineNumber") && bind(api.attribute, "PyObject_GetAttrString") &&
         bind(api.utf8, "PyUnicode_AsUTF8") && bind(api.type, "PyObject_Type") && bind(api.dict_next, "PyDict_Next") &&
         bind(api.dict_item, "PyDict_GetItemString") && bind(api.weak_reference, "PyWeakref_NewRef") &&
         bind(api.modules, "PyImport_GetModuleDict") && bind(api.call, "PyObject_CallObject") &&
         bind(api.number, "PyLong_AsUnsignedLongLong") && bind(api.increase, "Py_IncRef") &&
         bind(api.decrease, "Py_DecRef") && bind(api.fetch_error, "PyErr_Fetch") &&
         bind(api.restore_error, "PyErr_Restore") && bind(api.cell_type, "PyCell_Type");
}

void* running_thread(const Api& api) {
  if (api.is_initialized() == 0 || (api.is_finalizing != nullptr && api.is_finalizing() != 0)) return nullptr;
  return api.this_thread();
}

void forget_error(const Api& api) {
  std::array<Object*, 3> error = {};
  api.fetch_error(&error[0], &error[1], &error[2]);
  for (Object* part : error) {
    if (part != nullptr) api.decrease(part);
  }
}

Reference attribute(const Api& api, Object* object, const char* name) {
  Reference value(api, object != nullptr ? api.attribute(object, name) : nullptr);
  if (!value) forget_error(api);
  return value;
}

std::string text_of(const Api& api, Object* object) {
  const char* const text = object != nullptr ? api.utf8(object) : nullptr;
  if (text == nullptr) forget_error(api);
  return text != nullptr ? text : "";
}

std::string text_attribute(const Api& api, Object* object, const char* name) {
  return text_of(api, attribute(api, object, name).get());
}

std::string class_name(const Api& api, Object* object) {
  const Reference type(api, api.type(object));
  return text_attribute(api, type.get(), "__name__");
}

}  // namespace roofline::inject::python
