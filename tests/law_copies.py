"""Copies of built-in laws in Python, line by line, for comparison."""

import math

import fairwave as fw


def round_to_ns(seconds):
    """A time rounded to nanoseconds, as in the simulator."""
    return round(seconds * 1e9) / 1e9


@fw.controller("copy-reno")
class CopyReno(fw.Controller):
    """TCP(1, 0.5), as `tcp/reno`."""

    recovery = "reno"

    def on_ack(self, path, window):
        window.congestion += 1.0 if window.in_slow_start else path.credit / window.congestion

    def on_loss(self, path, window):
        window.threshold = max(0.5 * path.in_use, 2.0)
        window.congestion = window.threshold

    def on_timeout(self, path, window):
        if not path.timed_out_before:
            window.threshold = max(0.5 * path.in_use, 2.0)
        window.congestion = 1.0


@fw.source("copy-cbr")
class CopyCbr(fw.Source):
    """Like `cbr`."""

    rate: fw.Rate
    payload: fw.Size = 1000
    jitter: float = fw.parameter(0.0, least=0, most=1)

    def begin(self, start):
        self.due = start
        self.interval = round_to_ns(8 * self.payload / self.rate)

    def next_unit(self):
        unit = fw.Unit(self.due, self.payload)
        gap = self.interval
        if self.jitter > 0:
            gap = round_to_ns(gap * (1 + self.jitter * (self.random.uniform() - 0.5)))
        self.due = round_to_ns(self.due + gap)
        return unit

    def units_per_second(self):
        return self.rate / (8 * self.payload)


@fw.loss_model("copy-bernoulli")
class CopyBernoulli(fw.LossModel):
    """Like `bernoulli`."""

    rate: float = fw.parameter(least=0, most=1)

    def lost(self, now, packet):
        return self.random.chance(self.rate)


@fw.link_law("copy-constant")
class CopyConstant(fw.LinkLaw):
    """Like `constant`: to the nearest nanosecond."""

    rate: fw.Rate
    steady = True

    def end_of(self, start, size):
        rate = int(self.rate)
        return round_to_ns(start + (8 * size * 10**9 + rate // 2) // rate / 1e9)

    def capacity(self, begin, end):
        return int(self.rate) * round((end - begin) * 1e9) // (8 * 10**9)

    def nominal(self):
        return self.rate


@fw.discipline("copy-red")
class CopyRed(fw.Discipline):
    """Like `red` with Floyd's preset and in packets."""

    min_threshold: float = 5.0
    max_threshold: float = 15.0
    weight: float = 0.002
    max_p: float = 0.1

    def begin(self, rate, packets, size):
        self.mean, self.since = 0.0, None
        self.per_second = rate / (8 * 500)

    def arrive(self, arrival):
        if arrival.idle > 0:
            self.mean *= math.exp(arrival.idle * self.per_second * math.log1p(-self.weight))
        else:
            self.mean += self.weight * (arrival.packets - self.mean)
        if self.mean < self.min_threshold:
            self.since = None
            return None
        self.since = 0.0 if self.since is None else self.since + 1
        low, high = self.min_threshold, self.max_threshold
        p = self.max_p * (self.mean - low) / (high - low)
        if self.mean >= high:
            p = min(1.0, self.max_p + (1 - self.max_p) * (self.mean - high) / high)
        if p < 1:
            progress = self.since * p
            p = p / (1 - progress) if progress < 1 else 1.0
        if p >= 1 or (p > 0 and self.random.chance(p)):
            self.since = 0.0
            return "drop"
        return None

    def average(self):
        return self.mean


@fw.discipline("copy-codel")
class CopyCodel(fw.Discipline):
    """Like `codel`."""

    target: fw.Duration = 0.005
    interval: fw.Duration = 0.1
    mtu: fw.Size = 1500

    def begin(self, rate, packets, size):
        self.first_above, self.dropping, self.drop_next = None, False, 0.0
        self.count = self.last_count = 0
        self.sojourn = 0.0

    def take(self, now, buffer):
        head = buffer.front()
        if head is None:
            self.first_above, self.dropping = None, False
            return None, False
        self.sojourn = round_to_ns(now - buffer.arrival_time(head))
        left = buffer.bytes - buffer.packet(head).size
        if self.sojourn < self.target or left <= self.mtu:
            self.first_above = None
            return head, False
        if self.first_above is None:
            self.first_above = round_to_ns(now + self.interval)
            return head, False
        return head, now >= self.first_above

    def control_law(self, begin):
        return round_to_ns(begin + round_to_ns(self.interval / math.sqrt(self.count)))

    def depart(self, now, buffer):
        head, may_drop = self.take(now, buffer)
        if self.dropping:
            self.dropping = may_drop
            while self.dropping and now >= self.drop_next:
                buffer.drop(head)
                self.count += 1
                head, may_drop = self.take(now, buffer)
                if head is None:
                    return None
                self.dropping = may_drop
                if may_drop:
                    self.drop_next = self.control_law(self.drop_next)
        elif may_drop:
            buffer.drop(head)
            head, _ = self.take(now, buffer)
            self.dropping = True
            delta = max(0, self.count - self.last_count)
            soon = now - self.drop_next < 16 * self.interval
            self.count = delta if delta > 1 and soon else 1
            self.drop_next = self.control_law(now)
            self.last_count = self.count
        return head

    def average(self):
        return self.sojourn
