"""ITU-T G.107 (06/2015) and G.107.1's parts for delay and loss, written from the Recommendations for these tests only.

Defaults are those in G.107 Table 2. Times are milliseconds, losses percent.
"""

from __future__ import annotations

from math import exp, log2, log10, sqrt

SLR, RLR, STMR, DS, DR, TELR, WEPL = 8.0, 2.0, 15.0, 3.0, 3.0, 65.0, 110.0
PS, PR, NC, NFOR, QDU = 35.0, 35.0, -70.0, -64.0, 1.0
OLR, LSTR = SLR + RLR, STMR + DR


def _noise() -> float:
    nos = PS - SLR - DS - 100 + 0.004 * (PS - OLR - DS - 14) ** 2
    pre = PR + 10 * log10(1 + 10 ** ((10 - LSTR) / 10))
    nor = RLR - 121 + pre + 0.008 * (pre - 35) ** 2
    return 10 * log10(sum(10 ** (level / 10) for level in (NC, nos, nor, NFOR + RLR)))


def _simultaneous(delay: float, ro: float, no: float) -> float:
    x = OLR + 0.2 * (64 + no - RLR)
    iolr = 20 * ((1 + (x / 8) ** 8) ** (1 / 8) - x / 8)
    stmro = -10 * log10(10 ** (-STMR / 10) + exp(-delay / 4) * 10 ** (-TELR / 10))
    ist = (
        12 * (1 + ((stmro - 13) / 6) ** 8) ** (1 / 8)
        - 28 * (1 + ((stmro + 1) / 19.4) ** 35) ** (1 / 35)
        - 13 * (1 + ((stmro - 3) / 33) ** 13) ** (1 / 13)
        + 29
    )
    q = 37 - 15 * log10(QDU)
    g = 1.07 + 0.258 * q + 0.0602 * q * q
    iq = 15 * log10(1 + 10 ** ((ro - 100) / 15 + 46 / 8.4 - g / 9) + 10 ** (46 / 30 - g / 40))
    return iolr + ist + iq


def _delayed(delay: float) -> float:
    """Idd."""
    if delay <= 100:
        return 0.0
    x = log2(delay / 100)
    return 25 * ((1 + x**6) ** (1 / 6) - 3 * (1 + (x / 3) ** 6) ** (1 / 6) + 2)


def equipment(ie: float, bpl: float, loss: float, burst: float = 1.0) -> float:
    """Ie,eff."""
    return ie + (95 - ie) * loss / (loss / burst + bpl)


def r_factor(
    delay: float, loss: float = 0.0, ie: float = 0.0, bpl: float = 25.1, burst: float = 1.0
) -> float:
    """R of a call with an echo delay equal to the mouth-to-ear delay: T = Ta = Tr/2."""
    no = _noise()
    ro = 15 - 1.5 * (SLR + no)
    terv = TELR - 40 * log10((1 + delay / 10) / (1 + delay / 150)) + 6 * exp(-0.3 * delay**2)
    half = (-1.5 * (no - RLR) - (80 + 2.5 * (terv - 14))) / 2
    idte = (half + sqrt(half**2 + 100) - 1) * (1 - exp(-delay))
    half = (ro - 10.5 * (WEPL + 7) * (2 * delay + 1) ** -0.25) / 2
    idle = half + sqrt(half**2 + 169)
    return ro - _simultaneous(delay, ro, no) - idte - idle - _delayed(delay) - equipment(ie, bpl, loss, burst)


def opinion(r: float) -> float:
    """MOS of R, G.107 Annex B."""
    if r <= 0:
        return 1.0
    if r >= 100:
        return 4.5
    return max(1.0, 1 + 0.035 * r + r * (r - 60) * (100 - r) * 7e-6)
