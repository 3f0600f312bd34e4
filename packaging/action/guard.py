"""The step of `action.yml`: runs `fairwave guard`, then writes job summary, comment and pictures.

Needs Python alone: fairwave runs in a separate process, without the token.
"""

from __future__ import annotations

import base64
import glob
import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any
from urllib import error, request

VERDICTS = {0: "holds", 3: "fails", 4: "undecided"}
"""Verdict for each exit status of `fairwave guard`."""

OUT = Path("out/guard")
MARK = "<!-- fairwave guard -->"
PICTURES = "fairwave-pictures"
"""Branch of the pictures."""

LONGEST = 60_000
"""Length of a comment, in characters; GitHub refuses more than 65 536."""

TRIES = 3
"""Attempts to add to the branch of the pictures while other builds add to it as well."""


class InputError(Exception):
    """An input cannot be used."""


class Api:
    """The interface of GitHub for one repository."""

    def __init__(self, token: str) -> None:
        self.root = f"{os.environ['GITHUB_API_URL']}/repos/{os.environ['GITHUB_REPOSITORY']}"
        self.token = token

    def call(self, method: str, path: str, body: Any = None) -> Any:
        """Calls the interface and returns its answer.

        Raises:
            urllib.error.HTTPError: The interface refuses.
        """
        data = None if body is None else json.dumps(body).encode()
        headers = {
            "Authorization": f"Bearer {self.token}",
            "Accept": "application/vnd.github+json",
            "Content-Type": "application/json",
            "User-Agent": "fairwave-guard",
        }
        asked = request.Request(f"{self.root}/{path}", data, headers, method=method)
        with request.urlopen(asked, timeout=60) as answer:
            return json.load(answer)

    def find(self, path: str) -> Any:
        """Returns an object; None if there is none."""
        try:
            return self.call("GET", path)
        except error.HTTPError as refused:
            if refused.code in {404, 409}:  # 409: the repository is empty
                return None
            raise


def main() -> int:
    """Runs the step; returns its exit status."""
    try:
        command = read_command()
    except InputError as wrong:
        say("error", str(wrong))
        return 2
    environment = {name: value for name, value in os.environ.items() if name != "INPUT_TOKEN"}
    status = subprocess.run(command, check=False, env=environment).returncode
    if status not in VERDICTS:
        say("error", f"fairwave guard ended with status {status}; its message is above")
        return status if 0 < status < 128 else 1
    verdict = VERDICTS[status]
    report = (OUT / "guard.md").read_text(encoding="utf-8")
    append("GITHUB_OUTPUT", f"verdict={verdict}\nreport={OUT / 'guard.md'}\njunit={OUT / 'guard.xml'}\n")
    address = ""
    number = pull_request()
    if number is not None and read_choice("COMMENT", ("true", "false")) == "true":
        address = publish(report, number)
    append("GITHUB_STEP_SUMMARY", place_pictures(report, address))
    if verdict == "fails":
        say("error", "a call gets worse, or a requirement fails: see the summary of this job")
        return 1
    if verdict == "undecided":
        fails = read_choice("UNDECIDED", ("warn", "fail")) == "fail"
        say("error" if fails else "warning", "undecided: more replications are needed to decide")
        return int(fails)
    return 0


def read_command() -> list[str]:
    """Reads the inputs as a command line of fairwave.

    Raises:
        InputError: One cannot be used.
    """
    read_choice("UNDECIDED", ("warn", "fail"))
    read_choice("COMMENT", ("true", "false"))
    laws = read_lines("LAWS")
    if laws and os.environ.get("GITHUB_EVENT_NAME") == "pull_request_target":
        raise InputError(
            "the event pull_request_target would run the laws of a stranger with a token that may write; use the event "
            "pull_request"
        )
    scenarios = []
    for pattern in read_lines("SCENARIOS"):
        found = sorted(glob.glob(pattern, recursive=True))
        if not found:
            raise InputError(f"scenarios: no file is named {pattern}")
        scenarios += found
    if not scenarios:
        raise InputError("scenarios is empty; write for example 'scenarios: calls/*.toml'")
    options = {"require": read_lines("REQUIRE"), "relevant": read_lines("RELEVANT"), "laws": laws}
    return [
        sys.executable, "-m", "fairwave", "guard", *dict.fromkeys(scenarios), "--baseline", fetch_baseline(),
        *(word for name, values in options.items() for value in values for word in (f"--{name}", value)),
        "-n", os.environ.get("INPUT_REPLICATIONS") or "10", "--out", str(OUT), "--junit", str(OUT / "guard.xml"),
    ]  # fmt: skip


def read_lines(name: str) -> list[str]:
    """The lines of an input that are not empty."""
    return [line.strip() for line in os.environ.get(f"INPUT_{name}", "").splitlines() if line.strip()]


def read_choice(name: str, allowed: tuple[str, ...]) -> str:
    """An input with few values; the first one if it is empty.

    Raises:
        InputError: It has another value.
    """
    value = os.environ.get(f"INPUT_{name}") or allowed[0]
    if value not in allowed:
        raise InputError(f"{name.lower()} is {value!r}; write {' or '.join(allowed)}")
    return value


def fetch_baseline() -> str:
    """Returns the baseline, after fetching its revision if the checkout lacks it.

    Raises:
        InputError: There is none, or it cannot be fetched.
    """
    given = os.environ.get("INPUT_BASELINE", "").strip()
    if given and (
        Path(given).exists()
        or git("rev-parse", "--verify", "--quiet", "--end-of-options", f"{given}^{{commit}}")
    ):
        return given
    wanted = given or os.environ.get("GITHUB_BASE_REF") or read_event().get("before", "")
    if not wanted.strip("0"):
        raise InputError(
            "there is no earlier commit to compare with; give the input baseline, for example main"
        )
    if not git("fetch", "--quiet", "--no-tags", "--depth", "1", "origin", "--", wanted):
        raise InputError(
            f"the baseline {wanted} is neither a file nor a folder, and git cannot fetch it from origin"
        )
    done = subprocess.run(["git", "rev-parse", "FETCH_HEAD"], check=True, capture_output=True, text=True)
    return done.stdout.strip()


def git(*words: str) -> bool:
    """Runs git; returns whether it succeeded."""
    return subprocess.run(["git", *words], check=False, stdout=subprocess.DEVNULL).returncode == 0


def read_event() -> dict[str, Any]:
    """The event that started the build."""
    path = os.environ.get("GITHUB_EVENT_PATH", "")
    return json.loads(Path(path).read_text(encoding="utf-8")) if path and Path(path).is_file() else {}


def pull_request() -> int | None:
    """The number of the pull request; None if the build has none."""
    found = read_event().get("pull_request") or {}
    return found.get("number")


def publish(report: str, number: int) -> str:
    """Pushes the pictures and comments; returns the address of the pictures, empty without any."""
    api, address = Api(os.environ.get("INPUT_TOKEN", "")), ""
    try:
        address = push_pictures(api, number)
    except (error.URLError, TimeoutError) as refused:
        say("notice", f"no picture in the comment ({refused}); the job needs the permission contents: write")
    try:
        comment(api, number, place_pictures(report, address))
    except (error.URLError, TimeoutError) as refused:
        say(
            "notice",
            f"no comment ({refused}); the job needs the permission pull-requests: write, which forks lack",
        )
    return address


def push_pictures(api: Api, number: int) -> str:
    """Adds the pictures to their branch in one commit; returns the address of their folder at this commit."""
    pictures = sorted((OUT / "pictures").glob("*.png"))
    if not pictures:
        return ""
    folder = (
        f"pull-{number}/{os.environ.get('GITHUB_RUN_ID', '0')}-{os.environ.get('GITHUB_RUN_ATTEMPT', '1')}"
    )
    files = []
    for path in pictures:
        content = base64.b64encode(path.read_bytes()).decode()
        blob = api.call("POST", "git/blobs", {"content": content, "encoding": "base64"})
        files.append({"path": f"{folder}/{path.name}", "mode": "100644", "type": "blob", "sha": blob["sha"]})
    for attempt in range(TRIES):
        branch = api.find(f"git/ref/heads/{PICTURES}")
        tip = branch["object"]["sha"] if branch else None
        tree: dict[str, Any] = {"tree": files}
        if tip:
            tree["base_tree"] = api.call("GET", f"git/commits/{tip}")["tree"]["sha"]
        made = api.call("POST", "git/trees", tree)
        message = {
            "message": f"Pictures of pull request {number}",
            "tree": made["sha"],
            "parents": [tip] if tip else [],
        }
        commit = api.call("POST", "git/commits", message)["sha"]
        try:
            if tip:
                api.call("PATCH", f"git/refs/heads/{PICTURES}", {"sha": commit})
            else:
                api.call("POST", "git/refs", {"ref": f"refs/heads/{PICTURES}", "sha": commit})
        except error.HTTPError as refused:
            if refused.code != 422 or attempt == TRIES - 1:  # 422: another build was faster
                raise
            continue
        return f"{os.environ['GITHUB_SERVER_URL']}/{os.environ['GITHUB_REPOSITORY']}/raw/{commit}/{folder}"
    raise AssertionError


def comment(api: Api, number: int, text: str) -> None:
    """Writes the comment, or replaces the one of an earlier build."""
    if len(text) > LONGEST:
        text = re.sub(r"<details>.*?</details>\n*", "", text, flags=re.S)[:LONGEST]
    page, old = 1, None
    while old is None:
        found = api.call("GET", f"issues/{number}/comments?per_page=100&page={page}")
        old = next((one["id"] for one in found if (one.get("body") or "").startswith(MARK)), None)
        if len(found) < 100:
            break
        page += 1
    if old is None:
        api.call("POST", f"issues/{number}/comments", {"body": text})
    else:
        api.call("PATCH", f"issues/comments/{old}", {"body": text})


def place_pictures(report: str, address: str) -> str:
    """Puts the address of the pictures into the report, or leaves the pictures out without one."""
    if address:
        return report.replace("](pictures/", f"]({address}/")
    return re.sub(r"^!\[.*\]\(pictures/[^)]*\)\n\n", "", report, flags=re.M)


def append(variable: str, text: str) -> None:
    """Appends to a file that the build names in a variable."""
    if path := os.environ.get(variable):
        with Path(path).open("a", encoding="utf-8") as file:
            file.write(text)


def say(kind: str, message: str) -> None:
    """Prints a message that the build shows as error, warning or notice."""
    escaped = message.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")
    print(f"::{kind} title=fairwave::{escaped}", flush=True)


if __name__ == "__main__":
    sys.exit(main())
