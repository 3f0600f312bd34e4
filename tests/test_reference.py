"""Reference of everything that a scenario can name: nothing is left out, and the examples are complete scenarios."""

import json
import re
from functools import cache

import pytest

from fairwave import _native, reference
from fairwave.scenario import load


def list_entries():
    return [(kind, name) for kind in reference.ONE for name in reference._names(kind) if kind != "studies"]


@pytest.mark.parametrize(("kind", "name"), list_entries(), ids=str)
def test_every_name_is_explained_with_an_example_that_is_sound(kind, name):
    found = (
        next(one for one in reference.entries(name) if one.kind == kind)
        if kind != "measures"
        else (reference._entry(kind, name))
    )
    assert len(found.about) > 3
    assert found.example
    for key, value, default, about in (*found.parameters, *found.common):
        assert key
        assert value not in {"", "value"}, (key, value)
        assert default
        assert about, f"{name}: nothing is said of {key}"
    if found.how:
        scenario = load(found.example)
        assert name in found.example
        assert scenario.plan()["flows"]


def test_the_lists_are_those_of_the_simulator():
    for kind, names in _native.names().items():
        assert [name for name, _ in names] == [name for name, _ in reference.listed(kind)]


def test_vegas_is_explained_with_rule_source_and_defaults():
    (vegas,) = reference.entries("vegas")
    assert "Brakmo & Peterson 1995" in vegas.about
    assert [(row[0], row[2]) for row in vegas.parameters] == [
        ("alpha", "1.0"),
        ("beta", "3.0"),
        ("gamma", "1.0"),
    ]
    assert "min-rto" in [row[0] for row in vegas.common]
    assert 'name = "tcp/vegas"' in vegas.example


NEEDS = {"mark-ecnth": {"ecn": True}, "time-shift": {"scheduler": "ts-fifo", "classic-protection": None}}
"""Further settings that a key requires or excludes."""


def list_defaults():
    """Each parameter with a default; parameters that laws share appear once."""
    seen = set()
    for kind in reference.SCHEMA:
        for name, law in reference._laws(kind).items():
            for key, part in law["properties"].items():
                shared = (
                    "tcp" if name.startswith("tcp/") else kind,
                    key,
                    str(part.get("default")),
                    part.get("description"),
                )
                if part.get("default") is None or shared in seen or name.startswith("host/"):
                    continue
                if key not in reference._example(kind, name):
                    seen.add(shared)
                    yield kind, name, key, part["default"]


@cache
def outcome(kind, name, set_to):
    """The result of a law's example after a second, with these further keys."""
    given = reference._example(kind, name) | json.loads(set_to)
    given = {key: value for key, value in given.items() if value is not None}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(reference, "_example", lambda *_: given)
        text = reference._scenario(kind, name).replace('duration = "10 s"', 'duration = "1 s"')
    found = load(text).run()
    return found.links.to_pylist(), found.flows.drop_columns("transport").to_pylist()


@pytest.mark.parametrize(("kind", "name", "key", "default"), list(list_defaults()), ids=str)
def test_a_default_is_what_a_scenario_without_the_key_gets(kind, name, key, default):
    needs = NEEDS.get(key, {})
    left_out, told = (json.dumps(needs | more) for more in ({}, {key: default}))
    assert outcome(kind, name, told) == outcome(kind, name, left_out)


def test_no_default_is_told_in_prose_alone():
    for kind in reference.SCHEMA:
        for name, law in reference._laws(kind).items():
            for key, part in law["properties"].items():
                said = re.search(r"\bDefault:? |left out\.", reference._flat(part.get("description", "")))
                if said and key not in law.get("required", []):
                    assert reference._row(key, part, required=False)[2] != "–", (name, key)


def test_a_default_that_depends_on_the_preset_names_the_others():
    rows = {row[0]: row[2] for row in reference.entries("vegas")[0].common}
    assert rows["min-rto"] == '"200 ms"; ns2-2004, rfc: "1 s"'
    assert rows["duplicates"] == "3"
    assert rows["deadline"] == "everything is delivered, however late"
    assert rows["preset"] == '"linux"'
    assert {row[0]: row[2] for row in reference.entries("prague")[0].common}["ecn"] == '"scalable"'


def test_needed_and_default_parameters_are_told_apart():
    rows = {row[0]: row for row in reference.entries("markov")[0].parameters}
    assert rows["good"][1:3] == ("time", "needed")
    assert rows["bad-loss"][1:3] == ("number", "1.0")


def test_a_name_of_several_kinds_is_explained_as_each():
    assert {one.kind for one in reference.entries("voice")} == {"traffic", "studies"}


def test_a_name_that_nothing_has_gets_the_nearest():
    with pytest.raises(LookupError, match="did you mean vegas"):
        reference.entries("vegs")


def test_explain_prints(capsys):
    reference.explain("codel")
    assert "RFC 8289" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("mouth to ear", "mouth-to-ear"),
        ("packets missed", "missed"),
        ("MOS (E-model)", "mos"),
        ("mean wait", "mean-wait"),
        ("latency", "delay"),
        ("throughput", "goodput"),
        ("Jain", "fairness"),
        ("fps", "frame-rate"),
        ("e-model", "E-model"),
        ("PLC", "packet loss concealment (PLC)"),
        ("vad", "voice activity detection (VAD)"),
        ("fec", "forward error correction (FEC)"),
        ("dscp", "differentiated services code point (DSCP)"),
        ("simulcast", "encoding (simulcast)"),
        ("jitter buffer", "jitter buffer"),
        ("r factor", "r-factor"),
        ("aqm", "active queue management (AQM)"),
        ("ecn", "Explicit Congestion Notification (ECN)"),
        ("bufferbloat", "bufferbloat"),
        ("rtx", "retransmission of media (RTX)"),
        ("dtx", "discontinuous transmission (DTX)"),
        ("rto", "retransmission timeout (RTO)"),
        ("bdp", "bandwidth-delay product (BDP)"),
        ("nack", "negative acknowledgement (NACK)"),
        ("pacing", "pacing"),
        ("policer", "police"),
        ("shaper", "shape"),
        ("class", "classes"),
    ],
)
def test_titles_terms_and_synonyms_are_explained(name, found):
    each = reference.entries(name)
    assert found in [one.name for one in each], [one.name for one in each]
    assert all(len(one.about) > 10 for one in each)


def test_every_title_of_a_table_is_explained():
    from fairwave.answers import run_tables
    from fairwave.ask.wording import LINKS
    from fairwave.measuring import measures

    titles = [one for make in measures.STANDARD.values() for one in (make(None).title, make(None).label)]
    titles += [title for _, title, _, _ in run_tables.LINKS]
    titles += [title.format("a link") for _, title, _, _ in LINKS.values()]
    titles += ["R (E-model)", "MOS; together: the mean", "utilisation of r1>r2", "mouth to ear, ms"]
    wrong = [title for title in dict.fromkeys(titles) if not explained(title)]
    assert wrong == []


def explained(title):
    try:
        return reference.entries(title)
    except LookupError:
        return []


def test_every_term_of_the_glossary_is_explained_by_each_of_its_names():
    from fairwave import glossary

    assert len(glossary.terms()) > 240
    for term in glossary.terms():
        for name in (term.term, *term.abbreviations):
            assert reference.entries(name), name
    assert [name for name, _ in reference.listed("terms")] == [term.term for term in glossary.terms()]
