# Formula for a tap. Tried: Ruby reads it, and a test compares version and Python with the other packages. Not tried: `brew audit` and the
# installation, as Homebrew was not at hand. pip fetches the libraries, so this formula suits a tap and not homebrew-core.
class Fairwave < Formula
  include Language::Python::Virtualenv

  desc "Laboratory for real-time voice and video over best-effort networks"
  homepage "https://github.com/fairwave/fairwave"
  url "https://github.com/fairwave/fairwave.git", tag: "v0.1.0"
  license all_of: [{ any_of: ["MIT", "Apache-2.0"] }, "OFL-1.1"]
  head "https://github.com/fairwave/fairwave.git", branch: "main"

  depends_on "rust" => :build
  depends_on "python@3.13"

  def install
    python = Formula["python@3.13"].opt_bin/"python3.13"
    system python, "-m", "venv", libexec
    system libexec/"bin/pip", "install", "#{buildpath}[report]"
    bin.install_symlink libexec/"bin/fairwave"
  end

  test do
    assert_match "The call is", shell_output("#{bin}/fairwave run home-call")
    assert_match version.to_s, shell_output("#{bin}/fairwave --version")
  end
end
