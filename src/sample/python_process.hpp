// Reads the Python frames of another process while it runs. It is not stopped and the GIL is not taken, so a stack may
// be torn; it is then read again, at most a few times.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "sample/code_modules.hpp"
#include "sample/python_layout.hpp"
#include "sample/remote_memory.hpp"

namespace roofline {

/// Name and lines of a code object; read again if another object takes its place.
struct PythonCode {
  std::string file, function, line_table;
  int first_line = 0;
  bool own = false;
};

struct PythonFrame {
  std::shared_ptr<const PythonCode> code;
  int line = 0;
};

class PythonProcess {
 public:
  /// Null if the process has no interpreter (yet), or one of an unknown version.
  static std::unique_ptr<PythonProcess> find(pid_t pid, ProcessCode& code);

  /// Looks which threads have a Python state. `threads` are all of the process, the first one first.
  void find_threads(const std::vector<pid_t>& threads);
  bool has(pid_t thread) const { return states_.contains(thread); }

  /// The frames of a thread, innermost first; std::nullopt if it has none or they could not be read.
  std::optional<std::vector<PythonFrame>> frames(pid_t thread);

  /// True if a futex is part of a GIL: a thread that waits there waits for the GIL. The mutexes and condition variables
  /// of take_gil() are inside the GIL's struct, so the address decides it.
  bool is_gil(Address futex) const;
  /// The thread that holds the GIL; std::nullopt if none does or it can't be read.
  std::optional<pid_t> gil_holder();

 private:
  struct KnownCode {
    std::shared_ptr<const PythonCode> code;
    Address file = 0, table = 0;  ///< a change shows that another object has taken its place
    int first_line = 0;
    std::uint64_t checked = 0;  ///< number of the call of find_threads() at which it was compared
    std::unordered_map<std::int64_t, int> lines;
  };

  PythonProcess(pid_t pid, Address runtime, Address code_type, const PythonLayout& layout)
      : memory_(pid), pages_(memory_), runtime_(runtime), code_type_(code_type), layout_(layout) {}

  struct Walk {
    std::vector<PythonFrame> frames;
    bool is_cut = false;  ///< the outermost frame is a generator's, which always has a caller while it runs
  };
  std::optional<Walk> walk(Address state);
  std::optional<PythonFrame> frame_of(Address code, Address instruction);
  KnownCode* known_code(Address code);
  std::optional<KnownCode> read_code(Address code);
  std::optional<std::string> read_text(Address object);
  std::optional<std::string> read_bytes(Address object);
  void find_gils();
  std::optional<pid_t> native_id(Address state, const std::vector<pid_t>& threads);

  RemoteMemory memory_;
  PageCache pages_;
  Address runtime_, code_type_;  ///< the type's address is 0 where it is not exported
  PythonLayout layout_;
  std::unordered_map<pid_t, Address> states_;
  std::unordered_map<Address, pid_t> threads_;  ///< by their state
  std::vector<Address> interpreters_, gils_;
  std::unordered_map<Address, KnownCode> codes_;
  std::int64_t id_in_pthread_ = -1;  ///< where glibc's struct pthread has the kernel's id; -1: not found yet
  std::uint64_t round_ = 0;
};

}  // namespace roofline
