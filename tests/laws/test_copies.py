"""A Python copy of a built-in law produces the same tables, to the byte, under the same seeds."""

import pytest

import fairwave as fw

SCENARIO = """
name = "copies"
duration = "8 s"
warmup = "1 s"
preset = "rfc"

[topology]
preset = "dumbbell"

[topology.bottleneck]
rate = "2 Mb/s"
delay = "20 ms"
queue = { discipline = "drop-tail", capacity = { packets = 40 } }
loss = { model = "bernoulli", rate = 0.002 }

[[flow]]
name = "files"
count = 3
transport = "tcp/reno"
traffic = "bulk"

[[flow]]
name = "back"
path = "reverse"
transport = { name = "tcp/sack" }
traffic = "bulk"

[[flow]]
name = "datagrams"
transport = "udp"
traffic = { kind = "cbr", rate = "400 kb/s", payload = "700 B", jitter = 0.5, phase = "zero" }

[record]
bin = "200 ms"
goodput = ["*"]
queues = ["r1>r2"]
units = ["datagrams[0]"]
windows = ["files[0]"]
window-interval = "100 ms"
"""

BOTTLENECK = "topology.bottleneck"


@pytest.fixture(autouse=True, scope="module")
def copies():
    """Registered only when needed, so that tests over all names do not include them."""
    import law_copies  # noqa: F401


COPIES = {
    "tcp/copy-reno": ("flow.files.transport", "tcp/reno", "tcp/copy-reno"),
    "tcp/copy-reno, details of ns-2 left out": (
        "flow.files.transport",
        {"name": "tcp/reno", "receiver-window": 20, "delayed-ack": True, "send-jitter": "1 ms"},
        {"name": "tcp/copy-reno", "receiver-window": 20, "delayed-ack": True, "send-jitter": "1 ms"},
    ),
    "copy-cbr": (
        "flow.datagrams.traffic",
        {"kind": "cbr", "rate": "400 kb/s", "payload": "700 B", "jitter": 0.5, "phase": "zero"},
        {"kind": "copy-cbr", "rate": "400 kb/s", "payload": "700 B", "jitter": 0.5},
    ),
    "copy-bernoulli": (
        f"{BOTTLENECK}.loss",
        {"model": "bernoulli", "rate": 0.02},
        {"model": "copy-bernoulli", "rate": 0.02},
    ),
    "copy-red": (
        f"{BOTTLENECK}.queue",
        {"discipline": "red", "capacity": {"packets": 40}},
        {"discipline": "copy-red", "capacity": {"packets": 40}},
    ),
    "copy-red with a victim at random": (
        f"{BOTTLENECK}.queue",
        {"discipline": "red", "capacity": {"packets": 40}, "victim": "random"},
        {"discipline": "copy-red", "capacity": {"packets": 40}, "victim": "random"},
    ),
    "copy-codel": (
        f"{BOTTLENECK}.queue",
        {"discipline": "codel", "capacity": {"packets": 40}},
        {"discipline": "copy-codel", "capacity": {"packets": 40}},
    ),
    "copy-constant": (
        f"{BOTTLENECK}.rate",
        {"law": "constant", "rate": "2 Mb/s"},
        {"law": "copy-constant", "rate": "2 Mb/s"},
    ),
}


def tables(scenario, path, value, seeds=(1, 2)):
    """Every table of the runs, without the names of laws."""
    results = scenario.with_overrides({path: value}).replicate(seeds=list(seeds))
    found = {}
    for name, table in results.tables.items():
        columns = {key: table[key].to_pylist() for key in table.column_names}
        if name == "runs":
            del columns["scenario"]
        if name == "work":
            del columns["digest"]  # of the laws' names, too
        columns.pop("transport", None)
        found[name] = columns
    return found


@pytest.mark.parametrize("copy", COPIES)
def test_a_copy_leaves_the_tables_of_the_built_in_law(copy):
    path, built_in, own = COPIES[copy]
    scenario = fw.load(SCENARIO)
    expected = tables(scenario, path, built_in)
    found = tables(scenario, path, own)
    assert list(found) == list(expected)
    for name, columns in expected.items():
        for key, values in columns.items():
            assert repr(found[name][key]) == repr(values), f"{name}.{key}"


def test_the_law_that_is_copied_matters_to_these_tables():
    scenario = fw.load(SCENARIO)
    for path, built_in, _ in COPIES.values():
        other = {
            "flow.files.transport": "tcp/vegas",
            "flow.datagrams.traffic": {"kind": "cbr", "rate": "410 kb/s", "payload": "700 B"},
            f"{BOTTLENECK}.loss": "none",
            f"{BOTTLENECK}.queue": {"discipline": "drop-tail", "capacity": {"packets": 39}},
            f"{BOTTLENECK}.rate": "1999 kb/s",
        }[path]
        assert tables(scenario, path, built_in, [1])["links"] != tables(scenario, path, other, [1])["links"]


def test_two_copies_at_once_do_not_get_in_each_others_way():
    both = fw.load(SCENARIO).with_overrides(
        {
            "flow.files.transport": "tcp/copy-reno",
            f"{BOTTLENECK}.loss": {"model": "copy-bernoulli", "rate": 0.01},
        }
    )
    built_in = fw.load(SCENARIO).with_overrides({f"{BOTTLENECK}.loss": {"model": "bernoulli", "rate": 0.01}})
    several = [one.replicate(4, threads=threads).to_polars("flows").drop("transport")
               for one, threads in ((both, 2), (both, 1), (built_in, 2))]  # fmt: skip
    assert several[0].equals(several[1])
    assert several[0].equals(several[2])
