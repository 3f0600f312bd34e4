"""``python -m validation NAME …``: runs one command. Without a name it lists them."""

from __future__ import annotations

import ast
import sys
from importlib import import_module

from validation import ROOT

COMMANDS = {
    "bench": "bench.command",
    "build-times": "bench.build",
    "cell": "published.cell",
    "chrome": "compare.chrome.command",
    "captures": "measured.captures",
    "citations": "checks.citations",
    "clauses": "clauses.runner",
    "compare": "compare.command",
    "dumps": "measured.dumps",
    "durations": "checks.durations",
    "fitting": "measured.fitting",
    "fonts": "pages.fonts",
    "intervals": "measured.intervals",
    "laws": "bench.laws",
    "lines": "measured.lines",
    "live": "compare.live",
    "mutants": "checks.mutants",
    "networks": "measured.networks",
    "opus": "measured.opus",
    "practice": "pages.practice",
    "quick": "checks.quick",
    "radio": "compare.ns3.radio",
    "rate-fall": "measured.rate_fall",
    "readings": "checks.readings",
    "results": "pages.render",
    "scream": "compare.scream",
    "screenshots": "pages.screenshots",
    "sfu": "measured.sfu",
    "shaping": "compare.kernel.shaping",
    "site": "pages.site",
    "speech": "measured.speech",
    "stacks": "compare.stacks",
    "strangers": "measured.strangers",
    "studies": "pages.studies",
    "wheel-digests": "packaging.digests",
    "wheels": "packaging.wheels",
    "wifi": "published.wifi",
}
"""Each command and its module, which has a function `main`."""


def summarise(module: str) -> str:
    """Returns the first line of a module's docstring without importing the module."""
    text = (ROOT / "validation" / f"{module.replace('.', '/')}.py").read_text(encoding="utf-8")
    return (ast.get_docstring(ast.parse(text)) or "").partition("\n")[0]


def main() -> int:
    """Runs the command that the first argument names and returns its exit status."""
    name, *arguments = sys.argv[1:] or ["--help"]
    if name in {"-h", "--help"}:
        print("python -m validation NAME …, where NAME is one of:")
        for command, module in COMMANDS.items():
            print(f"  {command:12} {summarise(module)}")
        return 0
    if name not in COMMANDS:
        print(f"no command `{name}`; write one of: {', '.join(COMMANDS)}", file=sys.stderr)
        return 2
    sys.argv = [f"python -m validation {name}", *arguments]
    return import_module(f"validation.{COMMANDS[name]}").main() or 0


if __name__ == "__main__":
    sys.exit(main())
