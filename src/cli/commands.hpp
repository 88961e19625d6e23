// The commands, one file each. Each returns the exit code; errors are exceptions.
#pragma once

#include "cli/options.hpp"

namespace roofline {

ExitCode run_calibrate(const CalibrateCommand& command, const Options& options);
ExitCode run_analyze(const AnalyzeCommand& command, const Options& options);
ExitCode run_profile(const ProfileCommand& command, const Options& options);
ExitCode run_import(const ImportCommand& command, const Options& options);
ExitCode run_report(const ReportCommand& command, const Options& options);
ExitCode run_compare(const CompareCommand& command, const Options& options);
ExitCode run_devices(const DevicesCommand& command, const Options& options);
ExitCode run_ops(const OpsCommand& command, const Options& options);
ExitCode run_new(const NewCommand& command, const Options& options);
ExitCode run_fleet(const FleetCommand& command, const Options& options);
ExitCode run_monitor(const MonitorCommand& command, const Options& options);
ExitCode run_machine(const MachineCommand& command, const Options& options);
ExitCode run_help(const HelpCommand& command, const Options& options);
ExitCode run_completion(const CompletionCommand& command, const Options& options);
ExitCode run_doctor(const DoctorCommand& command, const Options& options);

}  // namespace roofline
