"""Shapers and classes compared with Linux' `tbf` and `htb`, in network namespaces."""

import pytest

from thrice import thrice
from validation.compare.kernel import lab, shaping


def shaper(key: str) -> shaping.ShaperCase:
    return next(one for one in shaping.SHAPERS if one.key == key)


def test_both_sides_get_the_same_bucket():
    case = shaping.ShaperCase("", 5_000_000, 10_000, ((0, 1000, 0),), peak_bps=20_000_000, limit=20_000)
    assert case.tc() == (
        "tbf rate 5000000bit burst 10000 limit 20000 peakrate 20000000bit mtu 1514".split()  # noqa: SIM905
    )
    assert case.ours() == {
        "shape": {"rate": "5000000 b/s", "burst": "10000 B", "peak": "20000000 b/s", "peak-burst": "1514 B"},
        "queue": {"discipline": "drop-tail", "capacity": {"bytes": 19_000}},
    }


def test_what_was_sent_late_is_replayed_late():
    # Two frames of 1000 B fit the burst; the third waits for tokens from the second on: 8 ms.
    sent = [0, 500_000, 3_000_000]
    link = shaping.ShaperCase("", 1_000_000, 2000, ((0, 1000, 0),)).ours()
    ours = shaping.replay_in_fairwave(link, [(0, 1000, 0)] * 3, sent)
    assert [length for _, _, length in ours] == [1000] * 3
    first = ours[0][0]
    assert [at - first for at, _, _ in ours] == pytest.approx([0, 500_000, 8_000_000], abs=2000)


def test_classes_are_offered_what_the_case_says():
    case = shaping.ClassCase("", 10_000_000, (0.5, 0.5), (0.2, 1.0), seconds=2.0)
    per_class = [sum(size for _, size, whose in case.arrivals if whose == place) for place in (1, 2)]
    assert [8 * size / 2.0 for size in per_class] == pytest.approx([2e6, 10e6], rel=0.01)


@pytest.fixture
def kernel() -> None:
    if lacks := lab.missing():
        pytest.skip("no tbf and htb can be asked here: this needs " + ", ".join(lacks))


@thrice
@pytest.mark.usefixtures("kernel")
@pytest.mark.parametrize("key", ["trains of 20 frames", "trains within the burst", "small frames"])
def test_a_shaper_sends_each_packet_when_tbf_does(key):
    one = shaping.compare_shaper(shaper(key), "t")
    assert (one.kernel_dropped, one.our_dropped) == (0, 0)
    assert (one.held > 0.1) == (key != "trains within the burst"), one
    assert one.apart_us < 300, one
    assert abs(one.last_us) < 1000, one


@thrice
@pytest.mark.usefixtures("kernel")
def test_a_full_queue_before_a_shaper_drops_as_many_as_tbf():
    one = shaping.compare_shaper(shaper("overflow"), "o")
    assert one.our_dropped > 100
    assert abs(one.kernel_dropped - one.our_dropped) <= 5, one


@thrice
@pytest.mark.usefixtures("kernel")
def test_classes_share_a_shaped_link_as_htb_shares_it():
    shares = shaping.compare_classes(shaping.CLASSES[2], "h")
    assert all(abs(kernel - ours) < 0.02 for kernel, ours in shares), shares
