// Help, man pages, completion and doctor: all of them of the commands as they are parsed.
#include "cli/manual.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "cli/commands.hpp"
#include "cli/completion.hpp"
#include "cli/doctor.hpp"
#include "cli/suites.hpp"
#include "host/files.hpp"
#include "model/error.hpp"
#include "tests/support/mentions.hpp"
#include "text/text.hpp"

namespace roofline {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;

TEST(Manual, EveryCommandHasAChapterAndEveryFlagAWord) {
  const CommandTree tree = command_tree();
  ASSERT_GT(tree.commands.size(), 10U);
  for (const CommandEntry& command : tree.commands) {
    const bool has_chapter =
        std::any_of(topics().begin(), topics().end(), [&](const Topic& topic) { return topic.name == command.name; });
    EXPECT_TRUE(has_chapter) << "manual.md says nothing about " << command.name;
    const std::string page = help_page(tree, command.name);
    const std::string man = man_page(tree, command.name).source;
    for (const OptionEntry& option : command.options) {
      EXPECT_FALSE(option.help.empty()) << command.name << " " << option.argument;
      for (const std::string& name : option.names) EXPECT_THAT(page, HasSubstr(name)) << command.name;
    }
    EXPECT_THAT(page, HasSubstr("    roofline ")) << "no example of " << command.name;
    EXPECT_THAT(man, HasSubstr(".SH OPTIONS"));
    EXPECT_THAT(man, HasSubstr("\\-\\-json"));
  }
}

TEST(Manual, PagesAreNamedByTheirSections) {
  const CommandTree tree = command_tree();
  EXPECT_EQ(man_page(tree, "").file, "roofline.1");
  EXPECT_EQ(man_page(tree, "analyze").file, "roofline-analyze.1");
  EXPECT_EQ(man_page(tree, "json").file, "roofline-json.7");
  EXPECT_THAT(help_names(tree), Contains("suites"));
  EXPECT_THAT(help_names(tree), Not(Contains("overview")));
  EXPECT_THROW(man_page(tree, "jsno"), UsageError);
  try {
    help_page(tree, "jsno");
    FAIL();
  } catch (const UsageError& error) {
    EXPECT_THAT(error.hint(), HasSubstr("'json'"));
  }
}

TEST(Manual, NoLineOfAPageIsARequestByAccident) {
  const CommandTree tree = command_tree();
  for (const std::string& name : help_names(tree)) {
    std::istringstream lines(man_page(tree, name).source);
    for (std::string line; std::getline(lines, line);) {
      if (!line.starts_with('.')) continue;
      const std::string request = line.substr(0, line.find(' '));
      EXPECT_THAT((std::vector<std::string>{".TH", ".SH", ".TP", ".PP", ".IP", ".RS", ".RE", ".nf", ".fi"}),
                  Contains(request))
          << name;
    }
  }
}

std::vector<std::string> words_for(const std::vector<std::string>& typed, ShellNames* names = nullptr) {
  static const CompletionSources sources = {[] {
                                              return std::vector<Candidate>{{"gemm", ""}, {"gelu", ""}};
                                            },
                                            [] {
                                              return std::vector<Candidate>{{"ops", ""}};
                                            },
                                            [] {
                                              return std::vector<Candidate>{{"cpu", ""}, {"cuda:1", ""}};
                                            },
                                            [] {
                                              return std::vector<Candidate>{{"png", ""}, {"svg", ""}};
                                            },
                                            [] {
                                              return std::vector<Candidate>{{"json", ""}};
                                            }};
  const Completions found = complete(command_tree(), typed, sources);
  if (names != nullptr) *names = found.names;
  std::vector<std::string> words;
  for (const Candidate& candidate : found.candidates) words.push_back(candidate.word);
  return words;
}

TEST(Completion, KnowsWhatStandsWhere) {
  ShellNames names{};
  EXPECT_THAT(words_for({"ana"}), ElementsAre("analyze"));
  EXPECT_THAT(words_for({"analyze", ""}, &names), ElementsAre("ops"));
  EXPECT_EQ(names, ShellNames::files);
  EXPECT_THAT(words_for({"analyze", "--dev"}), ElementsAre("--device"));
  EXPECT_THAT(words_for({"analyze", "--device", ""}), ElementsAre("cpu", "cuda:1"));
  EXPECT_THAT(words_for({"analyze", "--device=cu"}), ElementsAre("--device=cuda:1"));
  EXPECT_THAT(words_for({"analyze", "ops", "--only", "gem"}), ElementsAre("gemm"));
  EXPECT_THAT(words_for({"report", "a.json", "--format", "png,s"}), ElementsAre("png,svg"));
  EXPECT_THAT(words_for({"calibrate", "--quick", "--col"}), ElementsAre("--color"));
  EXPECT_THAT(words_for({"analyze", "--theme", "d"}), ElementsAre("dark"));
  EXPECT_THAT(words_for({"new", ""}), ElementsAre("kernel"));
  EXPECT_THAT(words_for({"analyze", "--counters", ""}), ElementsAre("standard", "full", "ops"));
  EXPECT_THAT(words_for({"analyze", "--counters", "full", ""}), ElementsAre("ops"));
  EXPECT_THAT(words_for({"analyze", "--counters", "o"}), ElementsAre("ops"));
  EXPECT_THAT(words_for({"analyze", "--counters", "ops", "--dev"}), ElementsAre("--device"));
  EXPECT_THAT(words_for({"help", ""}), ElementsAre("json"));
  EXPECT_THAT(words_for({"calibrate", "--json", "x"}), ElementsAre());
  EXPECT_THAT(words_for({"profile", "--warmup", "5s", "--", "py"}, &names), ElementsAre());
  EXPECT_EQ(names, ShellNames::commands);
  EXPECT_THAT(words_for({"compare", "a.json", "--", "b"}, &names), ElementsAre());
  EXPECT_EQ(names, ShellNames::files);
  EXPECT_THAT(words_for({"profile", "--from", ""}, &names), ElementsAre());
  EXPECT_EQ(names, ShellNames::folders);
}

TEST(Suites, ByNameBesideTheProgramAndNowhereElse) {
  namespace fs = std::filesystem;
  const fs::path root = fs::path(testing::TempDir()) / "roofline_suites";
  fs::remove_all(root);
  fs::create_directories(root / "usr/share/roofline/configs/examples");
  std::ofstream(root / "usr/share/roofline/configs/ops.yaml") << "name: ops\n";
  std::ofstream(root / "usr/share/roofline/configs/examples/saxpy.yaml") << "name: saxpy\n";
  const std::vector<fs::path> folders = suite_folders(root / "usr/bin/roofline");
  const std::vector<KnownSuite> known = known_suites(folders);
  ASSERT_EQ(known.size(), 2U);
  EXPECT_EQ(find_suite("ops", known).path, (root / "usr/share/roofline/configs/ops.yaml"));
  EXPECT_EQ(find_suite("examples/saxpy", known).path, known.front().path);
  EXPECT_EQ(find_suite("mine.yaml", known).path, "mine.yaml");
  EXPECT_EQ(find_suite("folder/ops", known).path, "folder/ops");
  try {
    find_suite("opss", known);
    FAIL();
  } catch (const UsageError& error) {
    EXPECT_EQ(error.hint(), "did you mean 'ops'?");
  }
  fs::remove_all(root);
}

TEST(Suites, AreEmbeddedForAProgramWithoutItsFolders) {
  namespace fs = std::filesystem;
  EXPECT_TRUE(known_suites(suite_folders(fs::path(testing::TempDir()) / "roofline_alone/roofline")).empty());
  const std::vector<KnownSuite> embedded = embedded_suites();
  std::size_t files = 0;
  for (const fs::directory_entry& entry : fs::directory_iterator(fs::path(ROOFLINE_SOURCE_DIR) / "configs")) {
    if (entry.path().extension() != ".yaml") continue;
    ++files;
    const KnownSuite found = find_suite(entry.path().stem().string(), embedded);
    EXPECT_EQ(found.text, read_file(entry.path()));
    EXPECT_FALSE(parse_suite(std::string(found.text), found.path.string(), DeviceKind::cpu).entries.empty());
  }
  EXPECT_EQ(files, embedded.size());
  try {
    find_suite("opss", embedded);
    FAIL();
  } catch (const UsageError& error) {
    EXPECT_EQ(error.hint(), "did you mean 'ops'?");
  }
}

MachineFacts whole_machine() {
  MachineFacts facts;
  DeviceListing cpu, gpu;
  cpu.info.name = "a CPU";
  cpu.info.identity = "cpu";
  gpu.info.kind = DeviceKind::cuda;
  gpu.info.name = "a GPU";
  gpu.info.identity = "gpu";
  facts.devices = {gpu, cpu};
  for (const char* name : {"libnvidia-ml", "libcublasLt", "libcupti", "libnvrtc", "libnccl", "libzstd"}) {
    facts.libraries[name] = "/there";
  }
  facts.c_compiler = facts.cxx_compiler = true;
  facts.count_tool = "/usr/libexec/roofline/roofline_count";
  facts.huge_pages = "always [madvise] never";
  facts.governor = "performance";
  facts.cache = "/cache";
  facts.calibrations = {{"cpu", "a day old"}, {"gpu", "a day old"}};
  return facts;
}

std::vector<std::string> names_not_working(const MachineFacts& facts) {
  std::vector<std::string> names;
  for (const HealthCheck& check : checks_of(facts)) {
    if (check.health == Health::works) {
      EXPECT_TRUE(check.without.empty() && check.remedy.empty()) << check.name;
      continue;
    }
    EXPECT_FALSE(check.without.empty()) << check.name << " says not what is missing without it";
    names.push_back(check.name);
  }
  return names;
}

TEST(Doctor, EachMissingThingIsNamedAndNothingElse) {
  EXPECT_THAT(names_not_working(whole_machine()), ElementsAre());
  const auto broken = [](const auto& breaks) {
    MachineFacts facts = whole_machine();
    breaks(facts);
    return names_not_working(facts);
  };
  EXPECT_THAT(broken([](MachineFacts& facts) {
                facts.cpu_counters = {"not permitted", true};
              }),
              ElementsAre("counters of the CPU"));
  EXPECT_THAT(broken([](MachineFacts& facts) {
                facts.gpu_counters = {"no permission", true};
              }),
              ElementsAre("counters of the GPU"));
  EXPECT_THAT(broken([](MachineFacts& facts) { facts.libraries.erase("libcublasLt"); }), ElementsAre("cuBLAS"));
  EXPECT_THAT(broken([](MachineFacts& facts) { facts.libraries.erase("libnvrtc"); }),
              ElementsAre("NVRTC", "compilers for suite kernels"));
  EXPECT_THAT(broken([](MachineFacts& facts) { facts.c_compiler = false; }),
              ElementsAre("compilers for suite kernels"));
  EXPECT_THAT(broken([](MachineFacts& facts) { facts.huge_pages = "always madvise [never]"; }),
              ElementsAre("huge pages"));
  EXPECT_THAT(broken([](MachineFacts& facts) { facts.calibrations.erase("gpu"); }), ElementsAre("roofs of the GPU 0"));
  EXPECT_THAT(broken([](MachineFacts& facts) {
                facts.calibrations.erase("cpu");
                facts.broken_calibrations["cpu"] = "half a file";
              }),
              ElementsAre("roofs of the CPU"));
  EXPECT_THAT(broken([](MachineFacts& facts) { facts.governor = "powersave"; }), ElementsAre("clock governor"));
  EXPECT_THAT(broken([](MachineFacts& facts) { facts.cache_fault = "read-only"; }), ElementsAre("cache"));
  EXPECT_THAT(broken([](MachineFacts& facts) { facts.lacking_isa = "no kernels for avx512"; }), ElementsAre("CPU"));
  EXPECT_THAT(broken([](MachineFacts& facts) {
                facts.devices[0].usable = false;
                facts.devices[0].reason = "no NVIDIA driver: libcuda.so.1 not found";
                facts.devices[0].problem = DeviceProblem::no_driver;
              }),
              ElementsAre("GPU 0"));
}

/// The checks of that name; empty if there is none.
HealthCheck check_named(const MachineFacts& facts, const std::string& name) {
  for (HealthCheck& check : checks_of(facts)) {
    if (check.name == name) return std::move(check);
  }
  return {};
}

TEST(Doctor, EachGpuHasItsOwnLines) {
  MachineFacts facts = whole_machine();
  facts.devices[0].info.driver = "580.65";
  DeviceListing second = facts.devices[0];
  second.info.index = 1;
  second.info.identity = "gpu-1";
  facts.devices.insert(facts.devices.begin() + 1, second);
  EXPECT_THAT(check_named(facts, "GPU 0").found, mentions("a GPU", "580.65"));
  EXPECT_EQ(check_named(facts, "GPU 1").health, Health::works);
  EXPECT_EQ(check_named(facts, "roofs of the GPU 0").health, Health::works);
  EXPECT_EQ(check_named(facts, "roofs of the GPU 1").remedy, "roofline calibrate --device cuda:1");
  EXPECT_EQ(check_named(facts, "counters of the GPU").health, Health::works);
}

TEST(Doctor, RemediesOfAGpuFollowFromTheReason) {
  const auto remedy = [](DeviceProblem problem) {
    MachineFacts facts = whole_machine();
    facts.devices[0].usable = false;
    facts.devices[0].problem = problem;
    return check_named(facts, "GPU 0").remedy;
  };
  EXPECT_THAT(remedy(DeviceProblem::no_driver), HasSubstr("nvidia-driver"));
  EXPECT_THAT(remedy(DeviceProblem::build_without_cuda), HasSubstr("-DROOFLINE_CUDA=ON"));
  EXPECT_EQ(remedy(DeviceProblem::other), "nvidia-smi");

  MachineFacts facts = whole_machine();
  facts.libraries.erase("libcupti");
  EXPECT_EQ(check_named(facts, "CUPTI").without.find("with a GPU"), std::string::npos);
  facts.gpu_counters = {"no permission", true};
  EXPECT_THAT(check_named(facts, "counters of the GPU").remedy, HasSubstr("NVreg_RestrictProfilingToAdminUsers=0"));
  facts.gpu_counters = {"libcupti.so not found", false};
  EXPECT_EQ(check_named(facts, "counters of the GPU").remedy, "") << "a permission would not help";
  facts.devices[0].usable = false;
  EXPECT_THAT(check_named(facts, "CUPTI").without, HasSubstr("with a GPU")) << "nothing is missing without one";
  EXPECT_EQ(check_named(facts, "counters of the GPU").name, "") << "not asked about without a GPU";
}

std::vector<std::string> text_lines(const std::string& text) {
  std::istringstream in(text);
  std::vector<std::string> lines;
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

/// The longest remedies: of a driver, with a comment, and of the counters, three commands.
TEST(Doctor, LinesFitTheTerminalAndCommandsCanStillBeCopied) {
  MachineFacts facts = whole_machine();
  facts.gpu_counters = {"no permission", true};
  facts.devices.push_back({.info = {}, .usable = false, .reason = "not found", .problem = DeviceProblem::no_driver});
  const std::vector<HealthCheck> checks = checks_of(facts);
  const std::vector<std::string> lines = text_lines(render_checks(checks, {.columns = 80}));
  for (const std::string& line : lines) EXPECT_LE(display_width(line), 80) << line;
  EXPECT_THAT(lines, Contains(HasSubstr("$ sudo apt-get install nvidia-driver")));
  EXPECT_THAT(lines, Contains(HasSubstr("# in a container: ")));
  EXPECT_THAT(lines, Contains(EndsWith("/etc/modprobe.d/nvidia-profiling.conf &&")));
  const std::string wide = render_checks(checks, {.columns = 1000});
  for (const HealthCheck& check : checks) {
    if (check.name != "counters of the GPU") continue;
    EXPECT_THAT(wide, HasSubstr("$ " + check.remedy + "\n"));
  }
}

}  // namespace
}  // namespace roofline
