"""Scenarios small enough for tests."""

CALLS = """
name = "calls"
duration = "6 s"
warmup = "1 s"

[topology]
preset = "dumbbell"
bottleneck = { rate = "300 kb/s", delay = "20 ms" }

[[flow]]
name = "voice"
count = 4
transport = "udp"
traffic = { kind = "voice", always-on = true }

[[flow]]
name = "files"
transport = "tfrc"
traffic = "bulk"
"""
