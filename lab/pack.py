"""Compress the lab's engine as LZMA (`.lzma`), with its length in the head: `pack.py engine.wasm engine.lzma`.

The script needs only Python. LZMA's output is less than three quarters of gzip's. The page has a decoder
(`src/lzma.ts`).
"""

import lzma
import sys
from pathlib import Path

FILTER = {"id": lzma.FILTER_LZMA1, "preset": 9 | lzma.PRESET_EXTREME, "lc": 4, "lp": 0, "pb": 0}


def pack(data: bytes) -> bytes:
    """Compresses bytes as LZMA. Python omits the length in the header, so it is written there."""
    packed = lzma.compress(data, lzma.FORMAT_ALONE, filters=[FILTER])
    return packed[:5] + len(data).to_bytes(8, "little") + packed[13:]


if __name__ == "__main__":
    Path(sys.argv[2]).write_bytes(pack(Path(sys.argv[1]).read_bytes()))
