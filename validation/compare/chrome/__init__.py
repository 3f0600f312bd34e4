"""Two Chromium browsers that call each other behind a network of fairwave's, next to the same call in simulation.

- `call`: one call: the network, the programs of both hosts, and their logs.
- `peer`: the program of each host: a browser, and on the first a small server for its page and its log.
- `page.html`: the page of both browsers.
- `clip`: the camera's picture, which needs the rate.
- `cases`: the networks.
- `bands`: rates over time as bands over runs, and the comparison.
"""
