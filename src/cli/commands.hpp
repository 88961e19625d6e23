// The commands, one file each (<name>_command.cpp). A command is added by its function here and a place in the table of
// commands.cpp.
#pragma once

#include "cli/command.hpp"

namespace roofline {

CommandEntry calibrate_command();
CommandEntry analyze_command();
CommandEntry profile_command();
CommandEntry import_command();
CommandEntry report_command();
CommandEntry show_command();
CommandEntry compare_command();
CommandEntry bound_command();
CommandEntry project_command();
CommandEntry ab_command();
CommandEntry new_command();
CommandEntry devices_command();
CommandEntry ops_command();
CommandEntry machine_command();
CommandEntry fleet_command();
CommandEntry monitor_command();
CommandEntry doctor_command();
CommandEntry mcp_command();
CommandEntry help_command();
CommandEntry completion_command();

/// The program, its commands, and the options that all of them have.
CommandTree command_tree();

}  // namespace roofline
