// Times of imported records. Readers convert them here, and clean_times() corrects the trace before it is built, by the
// same rules for all formats: a record has a plausible time or none, and a stream runs one record at a time.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "profile/intervals.hpp"
#include "profile/process_trace.hpp"

namespace roofline {

/// Start and end in ns. std::nullopt if they are missing, negative, in the wrong order, later than 127 years or more
/// than a day apart. {0, 0} is valid: CUPTI writes it for a record whose times it could not collect.
std::optional<Span> times_from_ns(std::optional<std::int64_t> start, std::optional<std::int64_t> end);
/// The same of a start and a duration in µs; NaN: missing.
std::optional<Span> times_from_us(double start, double duration);

/// Records with one defect.
struct DefectiveRecords {
  std::int64_t count = 0;
  std::string first = {};  ///< name of the first one

  void add(std::string_view name) {
    if (count++ == 0) first = name;
  }
};

/// Records whose times are lower bounds: they were cut where the next one on their stream starts.
struct ShortenedRecords {
  std::set<std::string> kernels = {};  ///< full names
  bool transfers = false;              ///< copies or memsets
};

/// What is wrong with the times of a file's records.
struct TimeDefects {
  std::int64_t kernels = 0;            ///< of the file, without repeated ones
  std::int64_t activities = 0;         ///< kernels, copies and memsets with a time
  DefectiveRecords without_time = {};  ///< kernels that count as launches and in no sum of times
  DefectiveRecords transfers = {};     ///< copies and memsets that were left out
  DefectiveRecords host = {};          ///< calls and ranges that were left out
  DefectiveRecords unpaired = {};      ///< begins without an end, and ends without a begin, that were left out
  DefectiveRecords asynchronous = {};  ///< asynchronous events of a Chrome trace, which are not read
  DefectiveRecords without_size = {};  ///< copies and memsets: their bytes are unknown
  std::int64_t transfers_read = 0;     ///< copies and memsets with and without one
  DefectiveRecords repeated = {};      ///< GPU records that are in the file twice: left out once
  DefectiveRecords overlapping = {};   ///< GPU records that were cut where the next one on their stream starts
  ShortenedRecords shortened = {};     ///< which these are
};

/// Removes or corrects implausible times; a record whose end is 0 has none. Adds to `defects`, which already has the
/// records that the reader left out. The trace's tally has the launches without a time.
void clean_times(ProcessTrace& trace, TimeDefects& defects);

/// A sentence for each kind of defect that there is.
std::vector<std::string> notes_of(const TimeDefects& defects);

}  // namespace roofline
