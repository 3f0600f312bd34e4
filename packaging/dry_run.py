"""Runs the commands of a job of a workflow in a clone of this checkout, without GitHub: `dry_run.py release check`.

Steps with `uses:` are listed and left out, as are commands and variables with expressions of GitHub. The clone has the
committed files only; `--in FOLDER` names a folder that keeps it, so that a later job finds its outputs.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import yaml

ROOT = Path(__file__).resolve().parents[1]


def clone(folder: Path) -> None:
    """Clones the checkout, or brings an earlier clone up to date."""
    if (folder / ".git").is_dir():
        subprocess.run(["git", "-C", folder, "pull", "--quiet", "--ff-only"], check=True)
    else:
        subprocess.run(["git", "clone", "--quiet", ROOT, folder], check=True)


def run_job(folder: Path, workflow: str, name: str) -> int:
    """Runs a job's commands in order, as the runner does; returns the first status that is not 0."""
    text = (ROOT / ".github" / "workflows" / f"{workflow}.yml").read_text(encoding="utf-8")
    jobs = yaml.safe_load(text)["jobs"]
    if name not in jobs:
        sys.exit(f"{workflow}.yml has no job {name}; it has {', '.join(jobs)}")
    for step in jobs[name].get("steps", []):
        command = step.get("run")
        if command is None:
            print(f"left out: {step['uses'].partition(' ')[0]}", flush=True)
            continue
        settings = {key: str(value) for key, value in step.get("env", {}).items()}
        if "${{" in command or any("${{" in value for value in settings.values()):
            print(f"left out, as it has expressions: {command}", flush=True)
            continue
        start = time.monotonic()
        version = subprocess.run(
            [sys.executable, "-c", "import release; print(release.read_version(release.ROOT))"],
            cwd=ROOT / "packaging", check=True, capture_output=True, text=True,
        ).stdout.strip()  # fmt: skip
        environment = {**os.environ, "GITHUB_REF_NAME": f"v{version}", "CI": "true", **settings}
        environment.pop("PYTHONPATH", None)
        done = subprocess.run(
            ["bash", "-eo", "pipefail", "-c", command], cwd=folder, env=environment, check=False
        )
        print(f"status {done.returncode}, {time.monotonic() - start:.0f} s: {command}", flush=True)
        if done.returncode:
            return done.returncode
    return 0


def main() -> int:
    """Runs one job."""
    reader = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    reader.add_argument("workflow", help="name of the workflow, as release")
    reader.add_argument("job", help="name of the job, as check")
    reader.add_argument(
        "--in", dest="folder", type=Path, help="folder of the clone; a temporary one if left out"
    )
    given = reader.parse_args()
    if given.folder:
        clone(given.folder)
        return run_job(given.folder, given.workflow, given.job)
    with tempfile.TemporaryDirectory(prefix="fairwave-") as temporary:
        folder = Path(temporary) / "clone"
        clone(folder)
        return run_job(folder, given.workflow, given.job)


if __name__ == "__main__":
    sys.exit(main())
