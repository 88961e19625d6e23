// Matchers for texts and findings: the kind, and the names and figures that must be in it, whatever the sentence.
#pragma once

#include <gmock/gmock.h>

#include <ostream>
#include <string>

#include "report/finding.hpp"

namespace roofline {

inline void PrintTo(const Finding& finding, std::ostream* out) {
  *out << "kind " << static_cast<int>(finding.kind) << ": " << finding.text;
}

/// A text with all of these in it, in any order.
template <class... Parts>
testing::Matcher<std::string> mentions(const Parts&... parts) {
  return testing::AllOf(testing::HasSubstr(std::string(parts))...);
}

/// A finding of that kind whose text has all of these in it.
template <class... Parts>
testing::Matcher<Finding> finding(FindingKind kind, const Parts&... parts) {
  return testing::AllOf(
      testing::Field("kind", &Finding::kind, kind),
      testing::Field("text", &Finding::text, testing::AllOf(testing::HasSubstr(std::string(parts))...)));
}

}  // namespace roofline
