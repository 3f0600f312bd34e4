"""Every section, equation or clause that the code cites is shown by a test, and the page names it."""

from __future__ import annotations

import re
import sys

import pytest

pytestmark = pytest.mark.skipif(sys.version_info < (3, 11), reason="the table is TOML, read from 3.11 on")


@pytest.fixture(scope="module")
def citations():
    return pytest.importorskip("validation.checks.citations")


def found(citations, text, language="rust"):
    paragraphs = citations._rust(text) if language == "rust" else citations._python(text)
    return [(one.source, one.place, one.item) for one in citations._find_citations("x", paragraphs)]


def test_no_citation_dangles(citations):
    assert citations.problems(citations.collect(), citations.entries()) == []


def test_the_page_names_every_source(citations):
    page = citations.render(None)
    assert {f"| **{one.source}** |" for one in citations.collect() if not one.place} <= set(
        re.findall(r"^\| \*\*.*?\*\* \|", page, re.M)
    )


def test_sections_belong_to_the_document_before_them(citations):
    text = "/// As RFC 5681 §3.1 and §4.2 say, but paper 003's Eqs. (7)–(9).\nfn law() {}\n"
    assert [(source, place) for source, place, _ in found(citations, text) if place] == [
        ("RFC 5681", "§3.1"),
        ("RFC 5681", "§4.2"),
        ("paper 003", "Eq. (7)"),
        ("paper 003", "Eq. (8)"),
        ("paper 003", "Eq. (9)"),
    ]


def test_a_section_without_a_document_is_that_of_the_file(citations):
    text = "//! Follows RFC 8289.\n\n/// The interval (§5.6).\nconst INTERVAL: u8 = 1;\n"
    assert found(citations, text)[-1] == ("RFC 8289", "§5.6", "INTERVAL")


def test_authors_are_cited_by_name_and_year_wherever_the_year_stands(citations):
    text = (
        '"""After A. Ann, B. Bee, C. Cee, "On the Decrease of Windows", CCR 3, 1999; Dee & Eff (2001)."""\n'
    )
    assert {source for source, _, _ in found(citations, text, "python")} == {
        "Ann et al. 1999",
        "Dee & Eff 2001",
    }


def test_a_test_that_does_not_exist_and_a_citation_without_an_entry_are_told(citations):
    cited = [citations.Citation("RFC 1", "§2", "x.rs", "law")]
    table = [citations.Entry("RFC 1", ("§3",), ("tests/test_citations.py::test_nothing",), "")]
    said = "\n".join(citations.problems(cited, table))
    assert "RFC 1 §2 (x.rs) has no entry" in said
    assert "nothing cites RFC 1 §3" in said
    assert "no test tests/test_citations.py::test_nothing" in said
