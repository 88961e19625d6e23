#include "profile/cpu/executed_operations.hpp"

#include <algorithm>
#include <initializer_list>
#include <utility>

#include "host/private_folder.hpp"
#include "profile/cpu/count_end.hpp"
#include "profile/cpu/emulator.hpp"
#include "profile/program.hpp"

namespace roofline {
namespace {

void add_flops(ExecutedOperations& executed, const CodeCounts& counts) {
  const auto add = [&](Pipe pipe, std::initializer_list<CountKey> keys) {
    for (const CountKey key : keys)
      if (counts.of(key) > 0) executed.flops[pipe] += counts.of(key);
  };
  add(Pipe::fp64, {CountKey::fp64_scalar, CountKey::fp64_128, CountKey::fp64_256});
  add(Pipe::fp32, {CountKey::fp32_scalar, CountKey::fp32_128, CountKey::fp32_256});
  add(Pipe::fp16, {CountKey::fp16_scalar, CountKey::fp16_128, CountKey::fp16_256});
  executed.integers += counts.of(CountKey::integers);
}

}  // namespace

ExecutedOperations executed_operations(const CountedInstructions& counted, const std::string& module) {
  ExecutedOperations executed;
  const auto found = std::find(counted.modules.begin(), counted.modules.end(), module);
  if (found == counted.modules.end()) return executed;
  const auto own = static_cast<int>(found - counted.modules.begin());
  std::map<std::pair<int, std::uint64_t>, double> called;  // by library instruction: its FLOPs and bytes
  for (const CalledInstruction& call : counted.called) {
    if (call.own_module == own && call.module != own) called[{call.module, call.address}] += call.weight;
  }
  for (const CountedInstruction& one : counted.instructions) {
    const CodeCounts counts = counted.counts_of(one);
    if (one.module == own) add_flops(executed, counts);
    const auto caused = called.find({one.module, one.address});
    if (caused == called.end() || !(counts.flops() > 0)) continue;
    executed.library_flops += counts.flops() * std::min(1.0, caused->second / (counts.flops() + counts.bytes()));
  }
  return executed;
}

std::optional<ExecutedOperations> count_operations(const std::filesystem::path& tool,
                                                   const std::vector<std::string>& command,
                                                   const std::map<std::string, std::string>& environment,
                                                   const std::filesystem::path& module, double limit_s) {
  const PrivateFolder folder;
  ProgramOptions program;
  program.command = command;
  program.environment = environment;
  run_program(emulated_program(program, tool, folder.path(), limit_s));
  const CountedInstructions counted = read_counts_folder(folder.path());
  const bool ran = std::find(counted.modules.begin(), counted.modules.end(), module.string()) != counted.modules.end();
  if (!ran || !why_counts_end(counted, 0).empty()) return std::nullopt;
  return executed_operations(counted, module.string());
}

}  // namespace roofline
