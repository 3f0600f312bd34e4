"""A scenario with many flow groups, like a network with a group for each pair."""

LINKS = 8


def many_groups(groups, calls=5, duration_s=3):
    """TOML of `groups` groups of calls over eight links; groups on narrower links lose more."""
    offered_mbps = groups * calls / LINKS * 0.08
    parts = [f'name = "many groups"\nduration = "{duration_s} s"\nwarmup = "1 s"\n']
    parts += [
        f"""
[[link]]
from = "a{link}"
to = "core"
rate = "{offered_mbps * (0.85 + 0.03 * link):.4g} Mb/s"
delay = "10 ms"
queue = {{ discipline = "drop-tail", capacity = {{ packets = 20 }} }}
"""
        for link in range(LINKS)
    ]
    parts += [
        f"""
[[flow]]
name = "g{group}"
from = "a{group % LINKS}"
to = "core"
count = {calls}
transport = "udp"
traffic = "voice"
start = {{ from = "0 s", to = "0.5 s" }}
"""
        for group in range(groups)
    ]
    return "".join(parts)
