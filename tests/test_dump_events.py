"""Events of a dump: freezes, losses, pauses, changes, the limiting factor, and the worst ten seconds."""

import numpy as np
import pytest

from fairwave.dumps import from_polls
from fairwave.dumps.events import compute_badness, find_events, find_limits, find_worst
from validation.measured.made_dumps import BEGIN_MS, receiving, sending


def connect(polls):
    return from_polls({"call": polls}).connections[0]


def pick(connection, kind):
    return [
        (one.start_s, one.end_s, pytest.approx(one.amount))
        for one in find_events(connection)
        if one.kind == kind
    ]


def freezing(count=60, *, ends=30, seconds=2.5):
    """A receiver whose picture froze once; the browser counts the freeze at its end."""
    polls = receiving(count)
    for at, poll in enumerate(polls):
        poll[0].update(
            packetsLost=0, freezeCount=int(at >= ends), totalFreezesDuration=seconds * (at >= ends)
        )
    return polls


def test_a_calm_call_has_no_events_no_limits_and_no_worst_part():
    polls = receiving(40)
    for poll in polls:
        poll[0].update(packetsLost=0, freezeCount=0, totalFreezesDuration=0)
    connection = connect(polls)
    assert find_events(connection) == []
    assert find_limits(connection) == []
    assert find_worst(connection) is None


def test_a_freeze_began_its_duration_before_it_was_counted():
    connection = connect(freezing())
    (event,) = find_events(connection)
    assert (event.kind, event.start_s, event.end_s, event.amount) == ("freeze", 27.5, 30, 2.5)
    assert event.words == "the picture froze for 2.5 s"
    assert event.stream is connection.received[0]


def test_the_worst_ten_seconds_contain_the_freeze():
    span, mean = find_worst(connect(freezing()))
    assert span.end_s - span.start_s == 10
    assert span.start_s <= 27.5
    assert span.end_s >= 30
    assert mean == pytest.approx(0.25)


def test_the_worst_part_at_the_end_of_a_call_is_whole():
    span, mean = find_worst(connect(freezing(60, ends=59)))
    assert (span.start_s, span.end_s) == (49, 59)
    assert mean == pytest.approx(0.25)


def test_losses_count_over_the_time_in_which_they_are_raised():
    polls = freezing(seconds=0)
    for at, poll in enumerate(polls):
        poll[0]["packetsLost"] = 25 * min(max(at - 20, 0), 5)
    assert pick(connect(polls), "loss") == [(20, 25, 0.2)]


def test_a_pause_counts_after_the_first_packet_and_not_before():
    polls = freezing(seconds=0)
    for at, poll in enumerate(polls):
        sent = 100 * (min(max(at - 5, 0), 15) + max(at - 30, 0))
        poll[0].update(packetsReceived=sent, bytesReceived=1000 * sent, framesDecoded=sent)
    assert pick(connect(polls), "pause") == [(20, 30, 10)]


def test_a_smaller_picture_counts_from_its_first_to_its_last_second():
    polls = freezing(seconds=0)
    for poll in polls[40:45]:
        poll[0]["frameHeight"] = 180
    assert pick(connect(polls), "smaller picture") == [(39, 44, 180)]


def test_a_full_queue_and_a_fallen_estimate_are_events_of_the_connection():
    polls = sending(60)
    for poll in polls[20:30]:
        poll[-1].update(currentRoundTripTime=0.6, availableOutgoingBitrate=4e5)
    connection = connect(polls)
    assert pick(connection, "queue") == [(19, 29, 0.6)]
    assert pick(connection, "estimate fell") == [(19, 29, 4e5)]


def test_a_slow_start_of_the_estimate_is_no_fall():
    polls = sending(60)
    for at, poll in enumerate(polls[:10]):
        poll[-1]["availableOutgoingBitrate"] = 3e5 + 1e4 * at
    assert pick(connect(polls), "estimate fell") == []


def test_concealed_speech_is_an_event_and_makes_the_interval_bad():
    def concealed(at):
        return 9_600 * min(max(at - 10, 0), 4)

    polls = [
        [{"id": "IT01A1", "type": "inbound-rtp", "timestamp": BEGIN_MS + 1e3 * at, "kind": "audio",
          "bytesReceived": 8_000 * at, "packetsReceived": 50 * at, "totalSamplesReceived": 48_000 * at,
          "concealedSamples": concealed(at)}]
        for at in range(30)
    ]  # fmt: skip
    connection = connect(polls)
    assert pick(connection, "concealment") == [(10, 14, 0.2)]
    assert np.flatnonzero(compute_badness(connection) > 0.9).tolist() == [11, 12, 13, 14]


def test_a_gap_in_the_statistics_and_a_change_of_the_path_are_events():
    polls = sending(60)
    for poll in polls[45:]:
        poll[-1]["id"] = "CP2"
    del polls[20:30]
    connection = connect(polls)
    assert pick(connection, "no statistics") == [(19, 30, 11)]
    assert [one.words for one in find_events(connection) if one.kind == "path change"] == [
        "the path changed from CP1 to CP2"
    ]


def test_the_encoder_names_the_limiting_factor_and_its_time():
    polls = sending(60)
    for at, poll in enumerate(polls):
        poll[0]["qualityLimitationDurations"] = {
            "none": min(at, 20) + max(at - 45, 0), "bandwidth": min(max(at - 20, 0), 15),
            "cpu": min(max(at - 35, 0), 10), "other": 0,
        }  # fmt: skip
    found = find_limits(connect(polls))
    assert [(one.factor, one.start_s, one.end_s) for one in found] == [("bandwidth", 20, 35), ("cpu", 35, 45)]
    assert "sent video 1" in found[0].evidence


@pytest.mark.parametrize(("lost", "factors"), [(0, ["other end"]), (20, [])])
def test_a_picture_that_came_with_less_over_a_good_network_was_limited_by_the_other_end(lost, factors):
    polls, received = freezing(seconds=0), 0
    for at, poll in enumerate(polls):
        received += 100_000 if not 20 < at <= 40 else 20_000
        poll[0].update(bytesReceived=received, packetsLost=lost * min(max(at - 20, 0), 20))
    found = find_limits(connect(polls))
    assert [one.factor for one in found] == factors
    assert all((one.start_s, one.end_s) == (20, 40) for one in found)
