// A CUPTI that samples what it is told: the names that fit into one pass, the samples that wait to be decoded,
// refusals.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

struct FakeSample {
  std::uint64_t start_ns = 0;
  std::uint64_t end_ns = 0;
  std::map<std::string, double> values;  ///< by CUPTI's names; 0 where there is none
};

struct FakeCupti {
  std::set<std::string> unknown;      ///< names that this chip has not
  std::set<std::string> second_pass;  ///< names that don't fit into one pass with others
  int availability_status = 0;
  int time_trigger_status = 0;  ///< of a configuration by time
  std::vector<FakeSample> waiting;
  std::size_t slots = 0;  ///< of the counter data image; samples beyond them are lost
  bool overflow = false;  ///< of the hardware buffer, until the session is begun anew
  int enabled = 0, disabled = 0;
  std::uint64_t interval = 0;
  int trigger = -1;
  std::vector<FakeSample> decoded;
};

extern "C" FakeCupti* fake_cupti();
