"""What a page may do in a browser: show what is within it, run its one script, and ask for nothing.

It is a Content Security Policy, level 3.

Scripts and styles are allowed by their hashes. So text of a scenario that came into a page as markup would be dead: no
script of it runs.
"""

from __future__ import annotations

import base64
import hashlib
from html.parser import HTMLParser
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

PLACE = "content-security-policy"
"""What stands in a page in place of its policy until all of the page is there."""


def with_policy(html: str, scripts: Iterable[str] = ()) -> str:
    """The page with its policy at `PLACE`.

    Args:
        html: The whole page; `PLACE` is the content of a `meta` in its head.
        scripts: The text of each script that may run; it is not read from the page, as what does not belong there must
            have no hash.
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
