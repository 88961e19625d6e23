#include "sample/python_process.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "sample/python_files.hpp"
#include "sample/python_lines.hpp"
#include "text/text.hpp"

namespace roofline {
namespace {

constexpr int kMostInterpreters = 64, kMostThreads = 4096, kMostPythonFrames = 512, kTries = 3;
constexpr std::int64_t kMostText = 4096, kMostTable = 1 << 22, kMostCode = 1 << 24;
constexpr std::size_t kMostCodes = 100'000;

bool is_named_python(std::string_view path) { return last_path_part(path).find("python") != std::string_view::npos; }

/// The interpreter's symbols in a module that has it, looked up once. Only in files that are named python are symbols
/// searched that are not exported: the symbol tables of other programs may be large.
const PythonSymbols& python_symbols(CodeModule& module) {
  if (module.python) return *module.python;
  module.python.emplace();
  if (!module.elf) return *module.python;
  const bool named = is_named_python(module.path);
  const auto find = [&](const char* symbol) { return module.elf->address_of(symbol, !named).value_or(0); };
  module.python->runtime = find("_PyRuntime");
  if (module.python->runtime == 0) return *module.python;
  module.python->version = find("Py_Version");
  module.python->code_type = find("PyCode_Type");
  return *module.python;
}

struct LoadedPython {
  Address runtime = 0, version = 0, code_type = 0;
  std::string path;
};

/// The interpreter in the executable or in a library that is named python.
std::optional<LoadedPython> loaded_python(pid_t pid, ProcessCode& code) {
  bool first = true;
  for (const Mapping& mapping : code.mappings()) {
    if (!mapping.executable || !mapping.path.starts_with('/')) continue;
    // The executable is usually mapped first; not if it is linked to a fixed address or started through the loader.
    if (!is_named_python(mapping.path) && !std::exchange(first, false)) continue;
    CodeModule& module = code.modules()[code.modules().find(mapping, pid)];
    const PythonSymbols& symbols = python_symbols(module);
    if (symbols.runtime == 0 || !module.elf) continue;
    const std::optional<std::uint64_t> linked = module.elf->address_of_offset(mapping.offset);
    if (!linked) continue;
    const Address bias = mapping.start - *linked;
    const auto loaded = [bias](std::uint64_t address) { return address == 0 ? 0 : address + bias; };
    return LoadedPython{loaded(symbols.runtime), loaded(symbols.version), loaded(symbols.code_type), mapping.path};
  }
  return std::nullopt;
}

/// 3.11 and later have it in a constant; for earlier ones it is in the names of the interpreter's files.
std::optional<int> minor_version(const LoadedPython& python, const RemoteMemory& memory,
                                 const std::vector<Mapping>& mappings) {
  if (python.version != 0) {
    const auto version = memory.read<std::uint64_t>(python.version);
    if (version && *version >> 24U == 3) return static_cast<int>(*version >> 16U & 0xffU);
  }
  if (const auto minor = python_minor_in(last_path_part(python.path))) return minor;
  for (const Mapping& mapping : mappings) {
    if (const auto minor = python_minor_in(mapping.path)) return minor;
  }
  return std::nullopt;
}

}  // namespace

std::unique_ptr<PythonProcess> PythonProcess::find(pid_t pid, ProcessCode& code) {
  const std::optional<LoadedPython> python = loaded_python(pid, code);
  if (!python) return nullptr;
  const RemoteMemory memory(pid);
  std::string table(kDebugOffsets, '\0');
  table.resize(memory.read_some(python->runtime, table.data(), table.size()));
  std::optional<PythonLayout> layout = python_layout_of(table);
  if (!layout) {
    const std::optional<int> minor = minor_version(*python, memory, code.mappings());
    layout = minor ? python_layout(*minor) : std::nullopt;
  }
  if (!layout) return nullptr;
  return std::unique_ptr<PythonProcess>(new PythonProcess(pid, python->runtime, python->code_type, *layout));
}

/// Before 3.11 a state has only the thread's pthread_t, which points to a struct of glibc that has the kernel's id, at
/// an offset that differs between builds: it is searched in the first thread's struct and is the same in all others.
std::optional<pid_t> PythonProcess::native_id(Address state, const std::vector<pid_t>& threads) {
  const auto known = [&](pid_t id) { return std::ranges::find(threads, id) != threads.end(); };
  if (layout_.native_id >= 0) {
    const auto id = pages_.read<std::uint64_t>(state + static_cast<Address>(layout_.native_id));
    return id && known(static_cast<pid_t>(*id)) ? std::optional(static_cast<pid_t>(*id)) : std::nullopt;
  }
  constexpr std::int64_t kFarthest = 1024;
  const auto pthread = pages_.read<std::uint64_t>(state + layout_.thread_id);
  if (!pthread || *pthread == 0) return std::nullopt;
  const auto id_at = [&](std::int64_t offset) {
    return pages_.read<std::int32_t>(*pthread + static_cast<Address>(offset)).value_or(0);
  };
  for (std::int64_t at = 0; id_in_pthread_ < 0 && at < kFarthest; at += 4) {
    if (id_at(at) == threads.front()) id_in_pthread_ = at;
  }
  if (id_in_pthread_ < 0 || !known(id_at(id_in_pthread_))) return std::nullopt;
  return id_at(id_in_pthread_);
}

void PythonProcess::find_threads(const std::vector<pid_t>& threads) {
  ++round_;
  if (codes_.size() > kMostCodes) codes_.clear();
  states_.clear();
  threads_.clear();
  interpreters_.clear();
  pages_.forget();
  std::vector<Address> states;
  auto interpreter = pages_.read<Address>(runtime_ + layout_.interpreters);
  while (interpreter && *interpreter != 0 && interpreters_.size() < kMostInterpreters) {
    interpreters_.push_back(*interpreter);
    auto state = pages_.read<Address>(*interpreter + layout_.threads);
    while (state && *state != 0 && states.size() < kMostThreads) {
      states.push_back(*state);
      state = pages_.read<Address>(*state + layout_.next_thread);
    }
    interpreter = pages_.read<Address>(*interpreter + layout_.next_interpreter);
  }
  if (threads.empty()) return;
  std::vector<Address> unknown;
  const auto add = [this](Address state, pid_t thread) {
    states_[thread] = state;
    threads_[state] = thread;
  };
  for (auto state = states.rbegin(); state != states.rend(); ++state) {  // the first thread's is the last one
    const std::optional<pid_t> thread = native_id(*state, threads);
    if (thread) add(*state, *thread);
    if (!thread) unknown.push_back(*state);
  }
  // In a child of fork() the state of its one thread has the parent's id in some versions.
  if (unknown.size() == 1 && !has(threads.front())) add(unknown.front(), threads.front());
  find_gils();
}

void PythonProcess::find_gils() {
  gils_.clear();
  const auto plausible = [&](Address gil) {
    const auto locked = pages_.read<std::int32_t>(gil + layout_.gil_locked);
    return locked && *locked >= -1 && *locked <= 1;
  };
  const auto at = static_cast<Address>(layout_.gil);
  if (!layout_.gil_of_interpreter) {
    if (plausible(runtime_ + at)) gils_.push_back(runtime_ + at);
    return;
  }
  for (const Address interpreter : interpreters_) {
    const auto gil = pages_.read<Address>(interpreter + at);
    if (gil && *gil != 0 && plausible(*gil)) gils_.push_back(*gil);
  }
}

bool PythonProcess::is_gil(Address futex) const {
  return std::ranges::any_of(gils_, [&](Address gil) { return futex >= gil && futex < gil + layout_.gil_size; });
}

std::optional<pid_t> PythonProcess::gil_holder() {
  for (const Address gil : gils_) {
    const auto locked = memory_.read<std::int32_t>(gil + layout_.gil_locked);
    const auto holder = memory_.read<Address>(gil + layout_.gil_holder);
    if (!locked || *locked != 1 || !holder) continue;
    if (const auto thread = threads_.find(*holder); thread != threads_.end()) return thread->second;
  }
  return std::nullopt;
}

std::optional<std::vector<PythonFrame>> PythonProcess::frames(pid_t thread) {
  const auto state = states_.find(thread);
  if (state == states_.end()) return std::nullopt;
  // A generator that is read as it yields has lost its caller. It may yield a million times a second.
  constexpr int kTriesOfGenerators = 12;
  std::optional<Walk> walked;
  for (int failed = 0, cut = 0; failed < kTries && cut < kTriesOfGenerators;) {
    pages_.forget();
    std::optional<Walk> now = walk(state->second);
    failed += now ? 0 : 1;
    if (!now) continue;
    walked = std::move(now);
    if (!walked->is_cut) break;
    ++cut;
  }
  if (!walked) return std::nullopt;
  return std::move(walked->frames);
}

std::optional<PythonProcess::Walk> PythonProcess::walk(Address state) {
  auto frame = pages_.read<Address>(state + layout_.frame);
  if (frame && *frame != 0 && layout_.frame_in_pointed >= 0) {
    frame = pages_.read<Address>(*frame + static_cast<Address>(layout_.frame_in_pointed));
  }
  Walk walked;
  for (int depth = 0; frame && *frame != 0 && depth < kMostPythonFrames; ++depth) {
    std::uint8_t owner = 0;
    if (layout_.owner >= 0) {
      const auto read = pages_.read<std::uint8_t>(*frame + static_cast<Address>(layout_.owner));
      if (!read) return std::nullopt;
      owner = *read;
    }
    if (layout_.owner < 0 || owner < layout_.first_c_owner) {
      const auto code = pages_.read<Address>(*frame + layout_.code);
      const auto instruction = pages_.read<Address>(*frame + layout_.instruction);
      if (!code || !instruction) return std::nullopt;
      constexpr Address kTags = 3;  // of 3.14's references
      std::optional<PythonFrame> known = frame_of(*code & ~kTags, *instruction);
      if (!known) return std::nullopt;
      walked.frames.push_back(std::move(*known));
      constexpr std::uint8_t kGenerator = 1;
      walked.is_cut = owner == kGenerator;
    }
    frame = pages_.read<Address>(*frame + layout_.previous);
  }
  if (!frame) return std::nullopt;
  return walked;
}

std::optional<PythonFrame> PythonProcess::frame_of(Address code, Address instruction) {
  KnownCode* const known = known_code(code);
  if (known == nullptr) return std::nullopt;
  constexpr int kUnits = 10;  // 3.10 counts code units of two bytes
  std::int64_t offset = 0;
  if (layout_.instructions >= 0) {
    offset = static_cast<std::int64_t>(instruction - code) - layout_.instructions;
  } else {
    offset = static_cast<std::int32_t>(instruction & 0xffffffffU);
    if (layout_.minor == kUnits) offset *= 2;
  }
  if (offset < -2 || offset > kMostCode) return std::nullopt;
  const auto [line, is_new] = known->lines.try_emplace(offset);
  if (is_new) line->second = python_line(layout_.minor, known->code->line_table, known->first_line, offset);
  return PythonFrame{known->code, line->second};
}

PythonProcess::KnownCode* PythonProcess::known_code(Address code) {
  if (code == 0 || code % sizeof(Address) != 0) return nullptr;
  const auto found = codes_.find(code);
  // Code that runs once, as at the start of the interpreter, soon leaves its memory to other code.
  if (found != codes_.end() && found->second.checked == round_) return &found->second;
  if (found != codes_.end()) {
    const KnownCode& known = found->second;
    if (pages_.read<Address>(code + layout_.file) == known.file &&
        pages_.read<Address>(code + layout_.line_table) == known.table &&
        pages_.read<std::int32_t>(code + layout_.first_line) == known.first_line) {
      found->second.checked = round_;
      return &found->second;
    }
    codes_.erase(found);
  }
  std::optional<KnownCode> read = read_code(code);
  if (!read) return nullptr;
  read->checked = round_;
  return &codes_.insert_or_assign(code, std::move(*read)).first->second;
}

std::optional<PythonProcess::KnownCode> PythonProcess::read_code(Address code) {
  constexpr Address kType = 8;
  if (code_type_ != 0 && pages_.read<Address>(code + kType) != code_type_) return std::nullopt;
  const auto file = pages_.read<Address>(code + layout_.file), name = pages_.read<Address>(code + layout_.name),
             table = pages_.read<Address>(code + layout_.line_table);
  const auto first_line = pages_.read<std::int32_t>(code + layout_.first_line);
  if (!file || !name || !table || !first_line || *first_line < 0) return std::nullopt;
  auto file_text = read_text(*file), name_text = read_text(*name), table_bytes = read_bytes(*table);
  if (!file_text || !name_text || !table_bytes) return std::nullopt;
  PythonCode known = {*std::move(file_text), *std::move(name_text), *std::move(table_bytes), *first_line, false};
  known.own = is_own_python_file(known.file);
  return KnownCode{std::make_shared<const PythonCode>(std::move(known)), *file, *table, *first_line, 0, {}};
}

std::optional<std::string> PythonProcess::read_text(Address object) {
  constexpr Address kLength = 16, kState = 32;
  constexpr unsigned kKindShift = 2, kKindMask = 7, kCompact = 1U << 5U, kAscii = 1U << 6U;
  if (object == 0) return std::nullopt;
  const auto length = memory_.read<std::int64_t>(object + kLength);
  const auto state = memory_.read<std::uint32_t>(object + kState);
  if (!length || !state || *length < 0 || *length > kMostText || (*state & kCompact) == 0) return std::nullopt;
  const unsigned width = *state >> kKindShift & kKindMask;
  if (width != 1 && width != 2 && width != 4) return std::nullopt;
  std::string raw(static_cast<std::size_t>(*length) * width, '\0');
  const Address data = object + ((*state & kAscii) != 0 ? layout_.ascii_data : layout_.text_data);
  if (!memory_.read(data, raw.data(), raw.size())) return std::nullopt;
  if ((*state & kAscii) != 0) return raw;
  std::string text;
  for (std::size_t at = 0; at < raw.size(); at += width) {
    std::uint32_t point = 0;
    std::memcpy(&point, raw.data() + at, width);
    append_utf8(text, point > 0x10ffff ? '?' : point);
  }
  return text;
}

std::optional<std::string> PythonProcess::read_bytes(Address object) {
  constexpr Address kLength = 16, kData = 32;
  if (object == 0) return std::nullopt;
  const auto length = memory_.read<std::int64_t>(object + kLength);
  if (!length || *length < 0 || *length > kMostTable) return std::nullopt;
  std::string bytes(static_cast<std::size_t>(*length), '\0');
  if (!bytes.empty() && !memory_.read(object + kData, bytes.data(), bytes.size())) return std::nullopt;
  return bytes;
}

}  // namespace roofline
