"""Benchmarks of the simulator: packet-hops per CPU second, instructions, bytes per flow, use of the cores."""
