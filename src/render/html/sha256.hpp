// SHA-256 (FIPS 180-4) in base64: the name by which a page's security policy allows its own script and
// style, and no other. Not for secrets.
#pragma once

#include <string>
#include <string_view>

namespace roofline {

/// "sha256-<base64 of the digest>", a CSP hash source.
std::string csp_hash(std::string_view content);

}  // namespace roofline
