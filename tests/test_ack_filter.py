"""CAKE's ACK filter on a line with a slow return path: its drops, their counters, and a download's gain."""

import pytest

import fairwave

LINE = """
name = "line"
duration = "40 s"
preset = "rfc"
warmup = "10 s"
seed = 1

[[link]]
from = "home"
to = "isp"
rate = "500 kb/s"
delay = "20 ms"
queue = { discipline = "cake", bandwidth = "480 kb/s", overhead = 44, framing = "atm", capacity = { bytes = 500000 } }

[link.reverse]
rate = "10 Mb/s"
queue = { discipline = "cake", bandwidth = "9.5 Mb/s", overhead = 44, framing = "atm", capacity = { bytes = 4000000 } }

[[flow]]
name = "download"
from = "isp"
to = "home"
transport = "tcp/cubic"
traffic = "bulk"

[[flow]]
name = "upload"
from = "home"
to = "isp"
transport = "tcp/cubic"
traffic = "bulk"
"""


@pytest.fixture(scope="module")
def results():
    line = fairwave.load(LINE)
    ways = {}
    for kind in ("none", "conservative", "aggressive"):
        document = line.to_dict()
        document["link"][0]["queue"]["ack-filter"] = kind
        ways[kind] = fairwave.Scenario.from_dict(document).run(3)
    return ways


def goodput(results, group):
    return results.rows("groups").only(group=group).numbers("goodput_bps").mean() / 1e6


def upstream(results, table="links"):
    return results.rows(table).only(link="home>isp")


def test_a_download_over_a_slow_way_back_gains_and_so_does_the_upload_beside_it(results):
    # 10 Mb/s down and 0.5 Mb/s up in ATM cells: an acknowledgement takes two or three cells.
    none, some = results["none"], results["conservative"]
    assert goodput(some, "download") > 1.1 * goodput(none, "download")
    assert goodput(results["aggressive"], "download") > 1.1 * goodput(none, "download")
    assert goodput(some, "upload") > goodput(none, "upload")
    assert goodput(results["aggressive"], "upload") > 1.2 * goodput(none, "upload")


def test_what_it_drops_is_counted_apart_from_other_drops(results):
    tins = {kind: upstream(one, "tins") for kind, one in results.items()}
    assert tins["none"].numbers("ack_drop").sum() == 0
    for kind in ("conservative", "aggressive"):
        assert tins[kind].numbers("ack_drop").sum() > 1000
        # Without the filter, COBALT dropped thousands of acknowledgements.
        assert tins[kind].numbers("drops").sum() < 0.1 * tins["none"].numbers("drops").sum()


def test_data_is_never_taken_for_an_acknowledgement(results):
    tins = results["aggressive"].rows("tins").only(link="isp>home")
    assert tins.numbers("pkts").sum() > 10_000
    assert tins.numbers("ack_drop").sum() == 0
