// All of an import: any format, joined with itself, and the rows and sums that are made of it.
#include "import/import.hpp"
#include "import/roofs.hpp"
#include "tests/fuzz/feed.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  return roofline::feed(data, size, [](const std::filesystem::path& path) {
    std::vector<roofline::ImportedProfile> profiles = {roofline::read_profile_file(path)};
    const roofline::Machine machine = roofline::promised_machine(roofline::device_of(profiles));
    std::vector<std::string> joined;
    roofline::report_of_imports(profiles, machine, {}, joined);
    return profiles.front();
  });
}
