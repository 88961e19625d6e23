// Pipes are those of the makers' software optimisation guides (of Apple's cores, those that have been measured).
#include "device/cpu/arm_cores.hpp"

#include "model/find.hpp"

namespace roofline {
namespace {

constexpr ArmCore kCores[] = {
    {"0x41-0xd03", "Cortex-A53"},
    {"0x41-0xd05", "Cortex-A55"},
    {"0x41-0xd07", "Cortex-A57"},
    {"0x41-0xd08", "Cortex-A72"},
    {"0x41-0xd09", "Cortex-A73"},
    {"0x41-0xd0a", "Cortex-A75"},
    {"0x41-0xd0b", "Cortex-A76", 2},
    {"0x41-0xd0c", "Neoverse N1", 2},
    {"0x41-0xd0d", "Cortex-A77", 2},
    {"0x41-0xd40", "Neoverse V1", 4, 2},
    {"0x41-0xd41", "Cortex-A78", 2},
    {"0x41-0xd44", "Cortex-X1", 4},
    {"0x41-0xd46", "Cortex-A510"},
    {"0x41-0xd47", "Cortex-A710", 2},
    {"0x41-0xd48", "Cortex-X2", 4},
    {"0x41-0xd49", "Neoverse N2", 2},
    {"0x41-0xd4d", "Cortex-A715", 2},
    {"0x41-0xd4e", "Cortex-X3", 4},
    {"0x41-0xd4f", "Neoverse V2", 4},
    {"0x41-0xd80", "Cortex-A520"},
    {"0x41-0xd81", "Cortex-A720", 2},
    {"0x41-0xd82", "Cortex-X4", 4},
    {"0x41-0xd84", "Neoverse V3", 4},
    {"0x41-0xd85", "Cortex-X925", 6},
    {"0x41-0xd87", "Cortex-A725", 2},
    {"0x41-0xd8e", "Neoverse N3", 2},
    {"0x43-0x0af", "ThunderX2", 2},
    {"0x46-0x001", "A64FX", 2, 2},
    {"0x61-0x022", "Apple M1, efficiency core"},
    {"0x61-0x023", "Apple M1", 4},
    {"0x61-0x024", "Apple M1 Pro, efficiency core"},
    {"0x61-0x025", "Apple M1 Pro", 4},
    {"0x61-0x028", "Apple M1 Max, efficiency core"},
    {"0x61-0x029", "Apple M1 Max", 4},
    {"0x61-0x032", "Apple M2, efficiency core"},
    {"0x61-0x033", "Apple M2", 4},
    {"0x61-0x034", "Apple M2 Pro, efficiency core"},
    {"0x61-0x035", "Apple M2 Pro", 4},
    {"0x61-0x038", "Apple M2 Max, efficiency core"},
    {"0x61-0x039", "Apple M2 Max", 4},
    {"0xc0-0xac3", "Ampere-1", 2},
};

}  // namespace

const ArmCore* find_arm_core(std::string_view version) { return find_by(kCores, &ArmCore::version, version); }

}  // namespace roofline
