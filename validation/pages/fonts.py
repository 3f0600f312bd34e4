"""The fonts of all pages: small subsets of Inter and JetBrains Mono, both under the SIL Open Font License 1.1.

Pages contain their fonts, so that a table is as wide on a machine with few fonts as on any other. The licences permit
subsets and copies within pages; their texts are next to the fonts.

The script needs fonttools and Brotli, which fairwave itself does not need, and the packages `inter-ui` 4.1.1 and
`@fontsource/jetbrains-mono` 5.3.0 from npm:

    npm pack inter-ui@4.1.1 @fontsource/jetbrains-mono@5.3.0
    python -m pip install fonttools brotli
    python validation/pages/fonts.py inter-ui-4.1.1.tgz fontsource-jetbrains-mono-5.3.0.tgz
"""

from __future__ import annotations

import io
import sys
import tarfile
from pathlib import Path
from typing import Any

from validation import ROOT

FOLDER = ROOT / "python" / "fairwave_report" / "templates" / "fonts"

LATIN = {*range(0x20, 0x7F), *range(0xA0, 0x180)}
PUNCTUATION = {*range(0x2010, 0x2028), 0x2030, 0x2032, 0x2033, 0x2039, 0x203A, 0x2044, 0x20AC, 0x2122}
SIGNS = {
    *range(0x2070, 0x20A0), *range(0x2190, 0x219A), *map(ord, "∂∆∏∑−∕√∞∫≈≠≤≥■▲▶▼◆●★✓✗"),
    0x300, 0x301, 0x303, 0x304, 0x308,
}  # fmt: skip
TEXT = LATIN | PUNCTUATION | SIGNS | set(range(0x391, 0x3CA))
CODE = {*range(0x20, 0x7F), *range(0xA0, 0x100), *map(ord, "–—‘’“”•…→−≤≥")}

WEIGHTS = (400, 400, 700)
"""Least, default and most."""


def inter(package: Path) -> bytes:
    """Inter from regular to bold, for text of ordinary size."""
    from fontTools.varLib import instancer

    font = _font(package, "package/variable/InterVariable.woff2")
    limits = {"wght": WEIGHTS, "opsz": 14}
    return _subset(
        _reread(instancer.instantiateVariableFont(font, limits)), TEXT, ["tnum", "ccmp", "mark", "mkmk"]
    )


def mono(package: Path) -> bytes:
    """JetBrains Mono, regular, without ligatures."""
    name = "package/files/jetbrains-mono-latin-400-normal.woff2"
    return _subset(_font(package, name), CODE, ["ccmp"])


def _font(package: Path, name: str) -> Any:
    from fontTools.ttLib import TTFont

    with tarfile.open(package) as archive:
        member = archive.extractfile(name)
        assert member is not None
        return TTFont(io.BytesIO(member.read()))


def _reread(font: Any) -> Any:
    """The font as if it came from a file: subsetting needs the glyphs that a new instance has lost."""
    from fontTools.ttLib import TTFont

    text = io.BytesIO()
    font.flavor = None
    font.save(text)
    text.seek(0)
    return TTFont(text)


def _subset(font: Any, letters: set[int], features: list[str]) -> bytes:
    from fontTools import subset

    options = subset.Options()
    options.layout_features = features
    options.hinting = False
    options.notdef_outline = True
    options.name_IDs = [0, 1, 2, 3, 4, 5, 6, 13, 14]
    maker = subset.Subsetter(options)
    maker.populate(unicodes=letters)
    maker.subset(font)
    font.flavor = "woff2"
    text = io.BytesIO()
    font.save(text)
    return text.getvalue()


def main() -> None:
    """Writes both fonts."""
    text, code = map(Path, sys.argv[1:])
    (FOLDER / "Inter.woff2").write_bytes(inter(text))
    (FOLDER / "JetBrains-Mono.woff2").write_bytes(mono(code))
