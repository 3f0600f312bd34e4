"""Closed forms of theory, as a reference for the simulator.

Each function gives its source, its units and the assumptions under which it holds. Rates are bits per
second of payload unless stated otherwise, times seconds, loss probabilities fractions.

Sources: M. Mathis, J. Semke, J. Mahdavi, T. Ott, "The Macroscopic Behavior of the TCP Congestion Avoidance
Algorithm", CCR 27(3), 1997. J. Padhye, V. Firoiu, D. Towsley, J. Kurose, "Modeling TCP Throughput: A Simple
Model and its Empirical Validation", SIGCOMM 1998 (PFTK). Y. R. Yang, S. S. Lam, "General AIMD Congestion
Control", ICNP 2000. V. Tsaoussidis, C. Zhang, "The Dynamics of Responsiveness and Smoothness in Heterogeneous
Networks", JSAC 23(6), 2005 (paper 003), whose Eq. (1) is `aimd`, (2) and (3) `friendly_alpha`, (4) `epoch_rounds`,
(5) `fair_window`, (13) `efficient_decrease`, (14) `epoch_rounds_after_collapse`, (16) `gamma`. L. Kleinrock,
"Queueing Systems, Volume 1", 1975.
"""

from __future__ import annotations

import math


def _positive(name: str, value: float) -> None:
    if not (value > 0.0 and math.isfinite(value)):
        raise ValueError(f"{name} is {value}: write a finite number above 0")


def _probability(value: float) -> None:
    if not 0.0 < value < 1.0:
        raise ValueError(f"loss is {value}: write a probability above 0 and below 1")


def _kept(value: float) -> None:
    if not 0.0 < value < 1.0:
        raise ValueError(
            f"kept is {value}: write the part of the window that a loss leaves, above 0 and below 1"
        )


def mathis(segment: float, rtt: float, loss: float, acked: float = 1.0) -> float:
    """Rate of one Reno-like flow that never times out: (8·segment/rtt)·√(3/(2·acked·loss)).

    ``segment``: payload bytes per segment. ``acked``: segments per acknowledgement (1: no delayed
    acknowledgements, 2: one for every other segment). Mathis et al. Eq. (3) with C = √(3/2) or √(3/4).

    Assumptions: periodic losses, no timeouts, the receiver's window never binds; good below a loss of about
    1 %.
    """
    _positive("segment", segment)
    _positive("rtt", rtt)
    _probability(loss)
    return 8.0 * segment / rtt * math.sqrt(1.5 / (acked * loss))


def aimd(
    segment: float,
    rtt: float,
    timeout: float,
    loss: float,
    *,
    alpha: float = 1.0,
    kept: float = 0.5,
    acked: float = 1.0,
    window: float = math.inf,
) -> float:
    """Rate of one AIMD(α, β) flow, timeouts included (Yang & Lam; with (1, ½) it is PFTK's Eq. 33).

    8·segment / (rtt·√(2b(1−β)p/(α(1+β))) + timeout·min(1, 3·√(b(1−β²)p/(2α)))·p·(1+32p²)), at most
    8·segment·window/rtt. ``alpha``: segments added per round trip; ``kept``: the part β of the window that
    a loss leaves; ``window``: the receiver's limit in segments; ``timeout``: the first retransmission
    timeout, seconds.

    Assumptions: losses of a round are correlated (all after the first are lost), rounds are independent,
    the round trip does not depend on the window; recovery is Reno's. With independent losses (Bernoulli)
    and SACK the flow does better.
    """
    _positive("segment", segment)
    _positive("rtt", rtt)
    _positive("timeout", timeout)
    _positive("alpha", alpha)
    _probability(loss)
    _kept(kept)
    halving = rtt * math.sqrt(2.0 * acked * (1.0 - kept) * loss / (alpha * (1.0 + kept)))
    chance = min(1.0, 3.0 * math.sqrt(acked * (1.0 - kept * kept) * loss / (2.0 * alpha)))
    waiting = timeout * chance * loss * (1.0 + 32.0 * loss * loss)
    return 8.0 * segment * min(window / rtt, 1.0 / (halving + waiting))


def pftk(
    segment: float, rtt: float, timeout: float, loss: float, *, acked: float = 1.0, window: float = math.inf
) -> float:
    """Rate of one Reno flow by PFTK's full model (their Eq. 32), bits per second of segments sent.

    Arguments as in :func:`aimd`. Unlike the approximation it knows that a small window cannot yield three
    duplicates and that a limited window flattens the saw-tooth.
    """
    _positive("segment", segment)
    _positive("rtt", rtt)
    _positive("timeout", timeout)
    _probability(loss)
    p, b = loss, acked
    expected = (2.0 + b) / (3.0 * b) + math.sqrt(
        8.0 * (1.0 - p) / (3.0 * b * p) + ((2.0 + b) / (3.0 * b)) ** 2
    )
    backoff = 1.0 + sum(2.0**power * p ** (power + 1) for power in range(6))
    waiting = timeout * backoff / (1.0 - p)
    if expected < window:
        share = _timeout_share(p, expected)
        sent = (1.0 - p) / p + expected + share / (1.0 - p)
        took = rtt * (b / 2.0 * expected + 1.0) + share * waiting
    else:
        share = _timeout_share(p, window)
        sent = (1.0 - p) / p + window + share / (1.0 - p)
        took = rtt * (b / 8.0 * window + (1.0 - p) / (p * window) + 2.0) + share * waiting
    return 8.0 * segment * sent / took


def _timeout_share(loss: float, window: float) -> float:
    """The probability that a loss in a window of this size ends in a timeout."""
    if window <= 3.0:
        return 1.0
    good = 1.0 - loss
    return float(
        min(1.0, (1.0 - good**3) * (1.0 + good**3 * (1.0 - good ** (window - 3.0))) / (1.0 - good**window))
    )


def friendly_alpha(kept: float) -> float:
    """The α with which AIMD(α, β) gets the rate of Reno: 4(1 − β²)/3. Yang & Lam; paper 003's Eq. (3).

    Assumptions: timeouts decide the rate. If they are rare, Eq. (1) gives the pair (1 + β)/1.5 times the rate of
    Reno: smooth ones a quarter more, responsive ones a sixth less.
    """
    _kept(kept)
    return 4.0 * (1.0 - kept * kept) / 3.0


def _load(load: float) -> None:
    if not 0.0 <= load < 1.0:
        raise ValueError(f"load is {load}: a queue is stable from 0 to below 1")


def mm1_waiting(load: float) -> float:
    """Mean number of packets that wait in M/M/1, the one in service not counted: ρ²/(1 − ρ). Kleinrock §3.2.

    Assumptions: Poisson arrivals, exponential sizes, no limit to the queue.
    """
    _load(load)
    return load * load / (1.0 - load)


def md1_waiting(load: float) -> float:
    """Mean number of packets that wait in M/D/1, the one in service not counted: ρ²/(2(1 − ρ)).

    Kleinrock §5.6 (Pollaczek–Khinchine).

    Assumptions: Poisson arrivals, packets of one size, no limit to the queue.
    """
    _load(load)
    return load * load / (2.0 * (1.0 - load))


def mm1k_loss(load: float, places: int) -> float:
    """Share of arrivals that M/M/1/K turns away: (1 − ρ)ρᴷ/(1 − ρᴷ⁺¹). Kleinrock §3.6.

    ``places``: K, the one in service counted.
    """
    if load < 0.0 or places < 1:
        raise ValueError(f"load {load}, places {places}: write a load of 0 or more and at least 1 place")
    if load == 1.0:
        return 1.0 / (places + 1)
    return (1.0 - load) * load**places / (1.0 - load ** (places + 1))


def _not_negative(name: str, value: float) -> None:
    if not (value >= 0.0 and math.isfinite(value)):
        raise ValueError(f"{name} is {value}: write a finite number from 0 up")


def aimd_rate(
    loss: float, rtt: float, timeout: float, *, alpha: float = 1.0, kept: float = 0.5, acked: float = 1.0
) -> float:
    """Paper 003's Eq. (1), the throughput of TCP(α, β) in segments per second; `aimd` is the same in bits per second.

    Arguments as for :func:`aimd`. Assumptions: the same; lost segments count as sent.
    """
    return aimd(1.0, rtt, timeout, loss, alpha=alpha, kept=kept, acked=acked) / 8.0


def epoch_rounds(window: float, *, alpha: float = 1.0, kept: float = 0.5) -> float:
    """Round trips of a congestion epoch, (1 − β)·W/α + 1: paper 003's Eq. (4).

    From β·W the window grows by ``alpha`` per round trip to ``window`` segments, when a packet is lost. The round trip
    that detects the loss is the one added.

    Assumptions: one decrease per epoch. The equation is printed as (1 − β)·W/(α + 1 RTT); with the 3.2 s
    that the paper takes for 64 segments at 100 ms only the reading above makes sense.
    """
    _positive("window", window)
    _positive("alpha", alpha)
    _kept(kept)
    return (1.0 - kept) * window / alpha + 1.0


def epoch_rounds_after_collapse(window: float, *, alpha: float = 1.0) -> float:
    """Round trips from a collapsed window to ``window`` segments, (W − 1)/α + 1: paper 003's Eq. (14), read as (4) is.

    Assumptions: window and threshold were at their least when the errors ended, so that growth is linear from
    the first round trip on.
    """
    _positive("window", window)
    _positive("alpha", alpha)
    return (window - 1.0) / alpha + 1.0


def sawtooth_mean(window: float, *, kept: float = 0.5) -> float:
    """Mean window of a linear sawtooth between β·W and W: (1 + β)·W/2, in segments.

    Assumptions: every round trip counts alike. If the queue makes the later ones longer, a mean over time is
    higher.
    """
    _positive("window", window)
    _kept(kept)
    return (1.0 + kept) * window / 2.0


def fair_window(bottleneck: float, rtt: float, flows: float) -> float:
    """Each flow's share of the packets that a path holds, B·RTT/N: paper 003's Eq. (5).

    ``bottleneck``: packets per second; ``rtt``: seconds.
    """
    _positive("bottleneck", bottleneck)
    _positive("rtt", rtt)
    _positive("flows", flows)
    return bottleneck * rtt / flows


def relative_buffer(buffer: float, rtt: float, rate: float) -> float:
    """k, the buffer over the bandwidth-delay product: paper 003's Eq. (13).

    ``buffer``: bits; ``rtt``: round trip without queueing, seconds; ``rate``: of the bottleneck, bits per second.
    """
    _not_negative("buffer", buffer)
    _positive("rtt", rtt)
    _positive("rate", rate)
    return buffer / (rtt * rate)


def efficient_decrease(k: float) -> float:
    """The smallest β that leaves no bandwidth unused, 1/(1 + k): paper 003's Eq. (13).

    It leads from the cliff, at which the buffer overflows, to the knee, at which it is just empty. ``k``: buffer over
    bandwidth-delay product.

    Assumptions: all flows decrease at once, as one flow.
    """
    _not_negative("k", k)
    return 1.0 / (1.0 + k)


def gamma(k: float, *, upper: float = 0.5) -> float:
    """γ, the part of the window that leads back to the knee, 1/(1 + Th·k): paper 003's Eq. (16).

    ``k``: buffer over bandwidth-delay product; ``upper``: the share of the largest queueing delay at which the
    decrease is made. With the round trips that a sender sees, k is (maxRTT − minRTT)/minRTT.

    Assumptions: the sender has seen an empty and a full buffer.
    """
    _not_negative("k", k)
    if not 0.0 < upper <= 1.0:
        raise ValueError(f"upper is {upper}: write a share of the queueing delay, above 0 and at most 1")
    return 1.0 / (1.0 + upper * k)


def sawtooth_use(k: float, *, kept: float = 0.5) -> float:
    """Share of the bottleneck that one sawtooth uses, 1 at best; from paper 003's Eqs. (7)–(12).

    Below the knee a round trip carries the window, above it the link is full and round trips lengthen. With
    b = β(1 + k) < 1 and everything in bandwidth-delay products, ((1 − b²) + (1 + k)² − 1)/(2(1 − b) + (1 + k)² − 1);
    for b ≥ 1, that is β ≥ 1/(1 + k) (Eq. 13), it is 1. α plays no part.

    Assumptions: as :func:`efficient_decrease`; no time is lost in recovery.
    """
    _not_negative("k", k)
    _kept(kept)
    lowest = kept * (1.0 + k)
    if lowest >= 1.0:
        return 1.0
    above = (1.0 + k) ** 2 - 1.0
    return (1.0 - lowest**2 + above) / (2.0 * (1.0 - lowest) + above)


def mg1_waiting(load: float, variation: float) -> float:
    """Mean number of packets that wait in M/G/1, the one in service not counted: ρ²(1 + c²)/(2(1 − ρ)).

    ``variation``: c, the coefficient of variation of the sizes; 0 gives M/D/1, 1 gives M/M/1. Kleinrock §5.6.

    Assumptions: Poisson arrivals, independent sizes, no limit to the queue.
    """
    _load(load)
    if variation < 0.0:
        raise ValueError(f"variation is {variation}: write a coefficient of variation of 0 or more")
    return load * load * (1.0 + variation * variation) / (2.0 * (1.0 - load))
