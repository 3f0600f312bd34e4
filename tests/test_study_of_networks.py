"""The study of queues in networks: loads and queues match its text, and its claims can be judged."""

from __future__ import annotations

from dataclasses import replace

import pytest

pytest.importorskip("topohub", reason="topologies of TopoHub are not installed: fairwave[network]")

from fairwave_studies.network import points as p
from fairwave_studies.network import quantities, study
from fairwave_study.parts import Data


@pytest.mark.parametrize("name", list(p.NETWORKS))
def test_the_most_loaded_link_between_nodes_and_of_access_are_offered_95_percent(name):
    network = p.network(name)
    loads = {link: bits / network.rates()[link] for link, bits in network.offered().items()}
    for access in (False, True):
        assert max(load for link, load in loads.items() if ("-lan" in link) == access) == pytest.approx(0.95)
    assert len({group.pair for group in network.groups.values()}) == p.PAIRS


@pytest.mark.parametrize("name", list(p.NETWORKS))
def test_a_label_places_its_queue_where_it_says_and_nowhere_else(name):
    (grid,) = [one for one in study().grids if one.id == name]
    for point in grid.points():
        label = str(point.labels["queues"])
        queues = {f"{link['from']}>{link['to']}": link["queue"] for link in point.scenario.to_dict()["link"]}
        other = {link for link, queue in queues.items() if queue != dict(p.TAIL)}
        access = {link for link in queues if "-lan" in link}
        three = set(p.most_loaded(name, p.MOST_LOADED))
        expected = {"": set(queues), "access": access, "three links": three}[label.partition(", ")[2]]
        assert other == (set() if label == p.TAIL_ALL else expected), label


@pytest.mark.slow
def test_every_claim_is_judged_on_a_short_run():
    """Runs of 3 s are too short for verdicts; here they show that each claim can be judged."""
    data = {}
    for grid in study().grids:
        axes = dict(grid.axes)
        if "failed" in axes:
            axes["failed"] = {
                label: {"event": [{**one, "at": "2 s"} for one in changed["event"]]}
                for label, changed in axes["failed"].items()
            }
        base = grid.base.with_overrides({"duration": "3 s", "warmup": "1 s"})
        data[grid.id] = replace(grid, base=base, axes=axes).run([1, 2])
    assert [claim.id for claim in study().claims] == [f"N{number}" for number in range(1, 15)]
    for claim in study().claims:
        evidence = claim.evidence(Data(data))
        assert len(evidence.comparisons) == (10 if claim.id in ("N12", "N13", "N14") else 2)
    assert quantities.list_measures()[1].limits == (0.0, 100.0)
