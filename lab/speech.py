"""Write the lab's recording: ten seconds of the default prompt in G.711 µ-law, or an empty file without a recording.

The script needs only Python. The prompt is a WAV file (8 kHz) that `make lab` fetches; the page shows its licence.
"""

import sys
import wave
from pathlib import Path

SECONDS = 10
RATE = 8000
SOUNDS = "usr/share/asterisk/sounds/en_US_f_Allison/demo-instruct.wav"


def mu_law(sample: int) -> int:
    """The code of a sample of 16 bits (ITU-T G.711, table 2)."""
    sign, size = (0x80, -sample) if sample < 0 else (0, sample)
    size = min(size >> 2, 8158) + 33
    segment = size.bit_length() - 6
    return ~(sign | segment << 4 | (size >> segment + 1) & 0xF) & 0xFF


def main(out: Path) -> None:
    """Write the file."""
    root = Path(__file__).resolve().parents[1]
    places = [*sorted((root / "data" / "recordings").glob(f"*/{SOUNDS}")), Path("/") / SOUNDS]
    found = next((one for one in places if one.is_file()), None)
    codes = b""
    if found:
        with wave.open(str(found), "rb") as file:
            if (file.getframerate(), file.getsampwidth(), file.getnchannels()) == (RATE, 2, 1):
                data = file.readframes(SECONDS * RATE)
                samples = memoryview(data).cast("h") if sys.byteorder == "little" else []
                codes = bytes(mu_law(one) for one in samples)
    if not codes:
        sys.stderr.write(
            "the lab is built without speech: there is no recording in data/recordings; on Debian or Ubuntu "
            "`.venv/bin/python -m fairwave_speech.fetch` brings one, then `make lab` builds it in\n"
        )
    out.parent.mkdir(parents=True, exist_ok=True)
    out.write_bytes(codes)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
