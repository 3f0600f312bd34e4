"""The kernel itself beside fairwave: real TCP through a bottleneck between network namespaces.

Three namespaces in a row, joined by veth: a sender, a router, a receiver. The router shapes what goes to
the receiver by ``tbf``, whose
queue is first-in-first-out and bounded in bytes: the bottleneck. Acknowledgements take the round trip's
whole delay on their way back,
in a relay on a TUN device (:mod:`relay`), so that data meets nothing but the kernel's own code. Everything
is made by the run and
removed by it; nothing outside these namespaces is touched.
"""
