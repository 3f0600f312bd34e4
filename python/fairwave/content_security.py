"""Permissions of a page in a browser: it shows its contents, runs its one script, and requests nothing.

The rules are a Content Security Policy, level 3.

Scripts and styles are allowed by their hashes. If text of a scenario entered a page as markup, its scripts would not
run.
"""

from __future__ import annotations

import base64
import hashlib
from html.parser import HTMLParser
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

PLACE = "content-security-policy"
"""Placeholder for the policy until the page is complete."""


def with_policy(html: str, scripts: Iterable[str] = ()) -> str:
    """Returns the page with its policy at `PLACE`.

    Args:
        html: The whole page; `PLACE` is the content of a `meta` in its head.
        scripts: The text of each script that may run. It is not read from the page, because injected scripts must have
            no hash.
    """
    styles = _Styles()
    styles.feed(html)
    styles.close()
    rules = {
        "default-src": ["'none'"],
        "script-src": _hashes(scripts) or ["'none'"],
        # `unsafe-hashes` lets hashes count for `style` attributes, too: those of figures and of bands.
        "style-src": ["'unsafe-hashes'", *_hashes(styles.found)],
        "img-src": ["data:"],
        "media-src": ["data:"],
        "font-src": ["data:"],
        "base-uri": ["'none'"],
        "form-action": ["'none'"],
    }
    policy = "; ".join(f"{name} {' '.join(sources)}" for name, sources in rules.items())
    return html.replace(PLACE, policy, 1)


def _hashes(texts: Iterable[str]) -> list[str]:
    digests = (hashlib.sha256(text.encode()).digest() for text in dict.fromkeys(texts))
    return [f"'sha256-{base64.b64encode(digest).decode('ascii')}'" for digest in digests]


class _Styles(HTMLParser):
    """Finds the text of every `style` element and attribute."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.found: list[str] = []
        self._within: list[str] | None = None

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found += [value or "" for name, value in attrs if name == "style"]
        if tag == "style":
            self._within = []

    def handle_data(self, data: str) -> None:
        if self._within is not None:
            self._within.append(data)

    def handle_endtag(self, tag: str) -> None:
        if tag == "style" and self._within is not None:
            self.found.append("".join(self._within))
            self._within = None
