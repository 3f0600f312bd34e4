"""The kernel compared with fairwave: real TCP through a bottleneck between network namespaces.

Three namespaces are joined in a row by veth: a sender, a router, a receiver. The bottleneck is the router's ``tbf``
towards the receiver, with a first-in-first-out queue that is bounded in bytes. A relay on a TUN device (:mod:`relay`)
delays acknowledgements by the whole round trip, so data meets only the kernel's code. The run creates and removes
everything, and touches nothing outside these namespaces.
"""
