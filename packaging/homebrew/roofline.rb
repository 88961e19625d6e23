# For Homebrew on Linux: brew install --formula ./roofline.rb
class Roofline < Formula
  desc "Measures what a CPU or GPU can do, and what limits each kernel"
  homepage "@HOMEPAGE@"
  url "@ARCHIVE_URL@"
  version "@VERSION@"
  sha256 "@ARCHIVE_SHA256@"
  license all_of: ["MIT", "GPL-2.0-or-later", "OFL-1.1"]

  depends_on arch: :x86_64
  depends_on :linux

  def install
    bin.install Dir["bin/*"]
    libexec.install Dir["libexec/*"] if Dir.exist?("libexec")
    share.install Dir["share/*"]
  end

  test do
    assert_match version.to_s, shell_output("#{bin}/roofline --version")
    system bin/"roofline", "bound", "ops", "--machine", "H100"
  end
end
