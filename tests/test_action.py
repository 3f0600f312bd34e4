"""The action for repositories of others: its step, against a local git server and a stand-in for GitHub's interface."""

import base64
import json
import os
import shutil
import subprocess
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
import yaml

from test_guard import call

ROOT = Path(__file__).parents[1]
STEP = ROOT / "packaging" / "action" / "guard.py"
TOKEN = "t0ken"


class Hub:
    """Blobs, trees, commits, branches and comments of one repository."""

    def __init__(self):
        self.objects, self.branches, self.comments, self.refused, self.lost_races = {}, {}, [], False, 0

    def add(self, kind, value):
        name = f"{len(self.objects):040x}"
        self.objects[name] = (kind, value)
        return 201, {"sha": name}

    def answer(self, method, path, body):
        if self.refused and method != "GET":
            return 403, {"message": "Resource not accessible by integration"}
        kind = path.partition("?")[0].removeprefix("/repos/o/r/")
        if method == "POST" and kind in {"git/blobs", "git/trees", "git/commits"}:
            return self.add(kind, body)
        if kind == "git/ref/heads/fairwave-pictures":
            tip = self.branches.get("fairwave-pictures")
            return (200, {"object": {"sha": tip}}) if tip else (404, {})
        if kind.startswith("git/commits/"):
            return 200, {"tree": {"sha": self.objects[kind.rpartition("/")[2]][1]["tree"]}}
        if kind == "git/refs":
            self.branches[body["ref"].removeprefix("refs/heads/")] = body["sha"]
            return 201, {}
        if kind == "git/refs/heads/fairwave-pictures":
            if self.lost_races:
                self.lost_races -= 1
                return 422, {"message": "Update is not a fast forward"}
            self.branches["fairwave-pictures"] = body["sha"]
            return 200, {}
        if kind == "issues/7/comments" and method == "GET":
            return 200, self.comments
        if kind == "issues/7/comments":
            self.comments.append({"id": len(self.comments) + 1, "body": body["body"]})
            return 201, {}
        if kind.startswith("issues/comments/"):
            self.comments[int(kind.rpartition("/")[2]) - 1]["body"] = body["body"]
            return 200, {}
        raise AssertionError((method, path))


@pytest.fixture
def hub():
    state = Hub()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):
            assert self.headers["Authorization"] == f"Bearer {TOKEN}"
            length = int(self.headers.get("Content-Length") or 0)
            status, found = state.answer(
                self.command, self.path, json.loads(self.rfile.read(length) or "null")
            )
            data = json.dumps(found).encode()
            self.send_response(status)
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        do_POST = do_PATCH = do_GET  # noqa: N815

        def log_message(self, *_):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    state.url = f"http://127.0.0.1:{server.server_port}"
    yield state
    server.shutdown()
    server.server_close()


def git(folder, *words):
    subprocess.run(
        ["git", "-C", str(folder), "-c", "user.name=t", "-c", "user.email=t@localhost", *words],
        check=True, capture_output=True,
    )  # fmt: skip


@pytest.fixture
def change(tmp_path):
    """A shallow checkout of a change to a scenario, whose target branch is on the server alone."""
    if shutil.which("git") is None:
        pytest.skip("git is not installed")
    work, origin, checkout = (tmp_path / name for name in ("work", "origin", "checkout"))
    work.mkdir()
    git(work, "init", "--quiet", "--initial-branch", "main")
    (work / "calls").mkdir()
    (work / "calls/line.toml").write_text(call())
    git(work, "add", ".")
    git(work, "commit", "--quiet", "--message", "First")
    git(work, "switch", "--quiet", "--create", "change")
    (work / "calls/line.toml").write_text(call(rate="150 kb/s"))
    git(work, "commit", "--quiet", "--all", "--message", "Second")
    git(tmp_path, "clone", "--quiet", "--bare", str(work), str(origin))
    git(tmp_path, "clone", "--quiet", "--depth", "1", "--branch", "change", origin.as_uri(), str(checkout))
    return checkout


def step(checkout, hub=None, **inputs):
    event = checkout.parent / "event.json"
    event.write_text(json.dumps({"pull_request": {"number": 7}} if hub else {}))
    files = {name: checkout.parent / name for name in ("GITHUB_OUTPUT", "GITHUB_STEP_SUMMARY")}
    environment = {
        **os.environ, "GITHUB_API_URL": hub.url if hub else "", "GITHUB_SERVER_URL": "https://hub", "no_proxy": "*",
        "GITHUB_REPOSITORY": "o/r", "GITHUB_BASE_REF": "main", "GITHUB_EVENT_PATH": str(event), "GITHUB_RUN_ID": "11",
        "INPUT_TOKEN": TOKEN, "INPUT_REPLICATIONS": "2", "INPUT_SCENARIOS": "calls/*.toml",
        **{name: str(path) for name, path in files.items()}, **{f"INPUT_{name}": text for name, text in inputs.items()},
    }  # fmt: skip
    done = subprocess.run(
        [sys.executable, STEP], cwd=checkout, env=environment, check=False, capture_output=True, text=True
    )
    return done, {name: path.read_text() if path.exists() else "" for name, path in files.items()}


def test_a_worse_call_fails_the_build_with_a_comment_that_shows_the_picture(change, hub):
    done, files = step(change, hub)
    assert done.returncode == 1, done.stderr
    assert "::error title=fairwave::a call gets worse" in done.stdout
    assert "verdict=fails" in files["GITHUB_OUTPUT"]
    assert (change / "out/guard/guard.xml").is_file()
    (said,) = hub.comments
    commit = hub.branches["fairwave-pictures"]
    address = f"https://hub/o/r/raw/{commit}/pull-7/11-1/line-call.png"
    assert f"]({address})" in said["body"]
    assert f"]({address})" in files["GITHUB_STEP_SUMMARY"]
    tree = hub.objects[hub.objects[commit][1]["tree"]][1]["tree"]
    shown = {one["path"]: base64.b64decode(hub.objects[one["sha"]][1]["content"]) for one in tree}
    assert shown["pull-7/11-1/line-call.png"].startswith(b"\x89PNG")
    hub.lost_races = 1  # a second build replaces the comment, and adds to the branch
    step(change, hub)
    assert len(hub.comments) == 1
    assert hub.objects[hub.branches["fairwave-pictures"]][1]["parents"] == [commit]


def test_a_token_that_may_only_read_leaves_summary_and_status_and_an_undecided_result_warns(change, hub):
    hub.refused = True
    done, files = step(change, hub, REPLICATIONS="1")
    assert done.returncode == 0, done.stdout
    assert "::notice title=fairwave::no comment" in done.stdout
    assert "::warning title=fairwave::undecided" in done.stdout
    assert "Undecided" in files["GITHUB_STEP_SUMMARY"]
    assert "![" not in files["GITHUB_STEP_SUMMARY"]
    assert not hub.comments


@pytest.mark.parametrize(
    ("inputs", "says"),
    [
        ({"SCENARIOS": "none/*.toml"}, "no file is named none/*.toml"),
        ({"SCENARIOS": ""}, "scenarios is empty"),
        ({"BASELINE": "nowhere"}, "the baseline nowhere is neither"),
        ({"UNDECIDED": "maybe"}, "undecided is 'maybe'; write warn or fail"),
        ({"COMMENT": "yes"}, "comment is 'yes'"),
    ],
)
def test_a_wrong_input_is_an_error_of_the_build(change, inputs, says):
    done, _ = step(change, **inputs)
    assert done.returncode == 2
    assert says in done.stdout


def test_the_code_of_a_law_does_not_see_the_token_and_an_undecided_result_fails_on_request(change):
    subprocess.run([sys.executable, "-m", "fairwave", "new", "measure", "mine"], cwd=change, check=True)
    with (change / "mine.py").open("a") as law:
        law.write("\nimport os\nassert 'INPUT_TOKEN' not in os.environ\n")
    inputs = {
        "LAWS": "mine.py",
        "REPLICATIONS": "1",
        "UNDECIDED": "fail",
        "REQUIRE": "mos.call >= 2\nmos.call <= 4",
    }
    done, files = step(change, **inputs)
    assert done.returncode == 1, done.stdout + done.stderr
    assert "::error title=fairwave::undecided" in done.stdout
    assert files["GITHUB_OUTPUT"].startswith("verdict=undecided")
    assert "mos.call &lt;= 4" in files["GITHUB_STEP_SUMMARY"]


def test_the_action_hands_over_each_input_and_the_page_lists_it():
    action = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))
    steps = action["runs"]["steps"]
    handed = {name.removeprefix("INPUT_").lower() for one in steps for name in one.get("env", {})}
    assert handed | {"python-version"} == set(action["inputs"])
    page = (ROOT / "docs" / "continuous-integration.md").read_text(encoding="utf-8")
    for name, one in action["inputs"].items():
        assert f"| `{name}` |" in page
        assert one.get("required") or "default" in one
    assert set(action["outputs"]) == {"verdict", "report", "junit"}
    for one in steps:
        assert "${{" not in one.get("run", "")
