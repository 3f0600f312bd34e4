"""`fairwave measure` and `fairwave reflector`."""

from __future__ import annotations

import csv
import math
import os
import sys
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fairwave.cli import console
from fairwave.cli.input import layer_or_note, refuse_other
from fairwave.cli.statuses import StoppedError
from fairwave.errors import BadInputError
from fairwave.foreign import gated, read_bytes

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fairwave.linecheck import Alternative, Line, Network, Plan, Target, Verdict

KEY = "FAIRWAVE_KEY"


def given_key(file: Path | None) -> str | None:
    """The key from a file or from the environment; None without either. Command lines hold no key: `ps` shows them.

    Raises:
        BadInputError: There is no such file, or the key is too short.
    """
    key = os.environ.get(KEY)
    if file is not None:
        if not file.is_file():
            raise BadInputError(
                f"no file {str(file)!r}: --key-file takes a file with the key that both ends have"
            )
        key = _key_in(file)
    if key is None:
        return None
    from fairwave.linecheck.wire import WireError, check_key

    try:
        return check_key(key)
    except WireError as error:
        raise BadInputError(str(error)) from None


@gated("key", BadInputError)
def _key_in(file: Path) -> str:
    return read_bytes(file, "key").decode("utf-8", errors="replace").strip()


def prompted_key() -> str | None:
    """The key that the user types at a terminal, without an echo; None without a terminal."""
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        return None
    from getpass import getpass

    return getpass("Key that the reflector shows: ", stream=sys.stderr) or None


def reflect(
    listen: str,
    port: int,
    key_file: Path | None,
    seconds: float | None,
    most: float,
    longest: float,
) -> None:
    """Serves measurements until it is stopped."""
    from fairwave.linecheck import Limits, Reflector
    from fairwave.linecheck.wire import made_up_key

    if not 1 <= port <= 65_535:
        raise BadInputError(f"--port is {port}, but must be 1 to 65535")
    if seconds is not None and not 0 < seconds <= 1e9:
        raise BadInputError(f"--for is {seconds:g} s, but must be more than 0; for example --for 3600")
    _most(most)
    if not 12 <= longest <= 600:
        raise BadInputError(f"--longest is {longest:g} s, but must be 12 to 600; for example --longest 120")
    found = given_key(key_file)
    made_up = found is None
    found = found or made_up_key()
    try:
        reflector = Reflector(
            found,
            listen,
            port,
            Limits(longest_s=longest, most=round(most * 1e6)),
            say=console.say,
        )
    except OSError as error:
        raise BadInputError(
            f"cannot listen on {listen or 'any address'}, port {port}: {error.strerror or error}; --listen takes an "
            "address of this computer, and --port a port that nothing else uses"
        ) from None
    with reflector:
        console.say(f"reflector on port {reflector.port}, TCP and UDP; Ctrl-C ends it")
        if made_up:
            console.say(f"key: {found}")
            console.say(
                f"At the other end: {KEY}={found} fairwave measure HOST, with this computer's name as HOST"
            )
        try:
            reflector.serve(seconds)
        except KeyboardInterrupt:
            console.say("the reflector has ended")


def _most(most: float) -> None:
    if not (math.isfinite(most) and 0.1 <= most <= 10_000):
        raise BadInputError(f"--most is {most:g} MB, but must be 0.1 to 10000; for example --most 50")


def promise(plan: Plan, target: Target) -> str:
    """Describes the traffic of a measurement: its volume, duration and destination."""
    return (
        f"The measurement takes {plan.lasts_s:.0f} s. Each end sends 172 bytes every 20 ms "
        f"({plan.probe_bytes / 1e6:.2g} MB with headers). For {plan.phase_s:g} s each way, {plan.connections} TCP "
        f"connections send what the line carries, at most {plan.most / 1e6:g} MB each way. All goes to "
        f"{target.written} ({target.shown}) and back. It sends to nothing else"
    )


def agreed(plan: Plan, target: Target, *, yes: bool, quiet: bool) -> None:
    """Announces the traffic, and asks for consent.

    Raises:
        BadInputError: The user declines, or there is no terminal for the question.
    """
    told = promise(plan, target)
    if yes:
        console.say(f"{told}.", quiet=quiet)
        return
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        raise BadInputError(f"{told}; add --yes to measure")
    console.say(f"{told}. Measure? [y/N] ")
    if sys.stdin.readline().strip().lower() not in {"y", "yes"}:
        raise BadInputError("nothing was sent; --for and --most make a measurement shorter and smaller")


def show_measure(
    host: str | None,
    *,
    irtt: Path | None,
    key_file: Path | None,
    phase_s: float,
    most: float,
    connections: int,
    vary: Sequence[str],
    out: Path | None,
    overwrite: bool,
    yes: bool,
    json: bool,
) -> None:
    """Measures or reads a line, judges it, and writes the requested output."""
    from fairwave.folders import claimed

    if (host is None) == (irtt is None):
        raise BadInputError(
            "measure takes HOST or --irtt FILE, not both"
            if host is not None
            else "measure needs HOST, at which `fairwave reflector` runs, or --irtt FILE, which irtt has written"
        )
    queues = _queues(vary)
    work = (
        _reading(irtt) if irtt is not None else _measuring(host or "", key_file, phase_s, most, connections)
    )
    target, plan, found_key = work if isinstance(work, tuple) else (None, None, "")
    if target is not None and plan is not None:
        agreed(plan, target, yes=yes, quiet=json)
    name = target.written if target is not None else str(irtt)
    with claimed(out, "measure", name, overwrite=overwrite) if out else nullcontext():
        line = work if not isinstance(work, tuple) else _measured(target, found_key, plan, quiet=json)
        network, others, rates = _fitted(line, queues, quiet=json)
        from fairwave.linecheck import judge_line

        verdict = judge_line(line, rates, others)
        left = _leave(out, line, verdict, network, others, rates, quiet=json) if out else None
    if json:
        console.document(
            as_data(line, verdict, network, others, rates) | ({"written": str(out)} if out else {})
        )
        return
    say(line, verdict, network, others)
    if left is not None:
        console.say(f"\n{left}")
    elif network is not None:
        console.say("\nWith --out FOLDER you get a page, the packets and the fitted network as a scenario.")


def _measuring(
    host: str, key_file: Path | None, phase_s: float, most: float, connections: int
) -> tuple[Target, Plan, str]:
    from fairwave.linecheck import MeasureError, Plan, resolved

    found = given_key(key_file)
    if not 2 <= phase_s <= 60:
        raise BadInputError(f"--for is {phase_s:g} s, but must be 2 to 60; for example --for 10")
    _most(most)
    if not 1 <= connections <= 16:
        raise BadInputError(
            f"--connections is {connections}, but must be 1 to 16; for example --connections 4"
        )
    try:
        target = resolved(host)
    except MeasureError as error:
        raise BadInputError(str(error)) from None
    found = found or prompted_key()
    if found is None:
        raise BadInputError(
            f"no key: the reflector shows one; give it by --key-file FILE, by the variable {KEY}, or at a terminal's "
            "prompt"
        )
    return target, Plan(phase_s=phase_s, most=round(most * 1e6), connections=connections), found


def _measured(target: Any, key: str, plan: Any, *, quiet: bool) -> Line:
    from fairwave._native import RunError
    from fairwave.linecheck import MeasureError, measure

    try:
        with console.status(f"measuring {target.written}", quiet=quiet) as now:
            return measure(target, key, plan, now)
    except MeasureError as error:
        raise RunError(str(error)) from None
    except KeyboardInterrupt:
        console.complain("stopped; nothing more is sent, and nothing is kept of a measurement before its end")
        raise StoppedError from None


def _reading(file: Path) -> Line:
    from fairwave.linecheck import IrttError, read_irtt

    if not file.is_file():
        what = "a folder" if file.is_dir() else "no such file"
        raise BadInputError(
            f"no file {str(file)!r}: {what}; give what `irtt client -o FILE.json HOST` writes"
        )
    try:
        return read_irtt(file)
    except IrttError as error:
        if not str(file).endswith(".gz"):  # gzip files are read, and the reader's error is more precise
            refuse_other(file, "a measurement by irtt", ("irtt",))
        raise BadInputError(str(error)) from None


def _queues(vary: Sequence[str]) -> list[str]:
    """The queues that `--vary queue=A,B` names."""
    from fairwave import names
    from fairwave._native import ScenarioError
    from fairwave.linecheck.fitted_network import OTHERS, tried

    found = []
    for one in vary:
        key, _, values = one.partition("=")
        several = [value.strip() for value in values.split(",") if value.strip()]
        if key.strip() != "queue" or not several:
            raise BadInputError(
                f"--vary is {one!r}, but a measured line takes its queues alone: --vary queue=fq-codel,cake; for "
                "other keys use --out FOLDER, then `fairwave compare FOLDER/network.toml --vary KEY=A,B`"
            )
        found += several
    known = [name for name, _ in names()["queues"]]
    for queue in found:
        if found.count(queue) > 1:
            raise BadInputError(f"--vary queue names {queue} twice; write each queue once")
        if queue not in known:
            raise BadInputError(f"there is no queue {queue!r}; there are {', '.join(known)}")
        try:
            tried(queue)
        except ScenarioError as error:
            why = str(error).partition("\n")[0].removeprefix("error: ")
            raise BadInputError(
                f"--vary queue={queue} cannot take the place of the line's queue: {why}; use --out FOLDER and "
                "`fairwave compare FOLDER/network.toml` for it"
            ) from None
    return found or list(OTHERS)


def _fitted(
    line: Line, queues: list[str], *, quiet: bool
) -> tuple[Network | None, list[Alternative], dict[str, float]]:
    from fairwave.linecheck import alternatives, fitted, least_rate

    with console.progress("fitting the network", quiet=quiet) as progress:
        network = fitted(line, progress)
    rates = {name: rate for name in line.loads if (rate := least_rate(line, name)) is not None}
    if network is None:
        return None, [], rates
    rates |= {name: one.rate.value for name, one in network.sides.items()}
    with console.status("the call under other queues", quiet=quiet):
        return network, alternatives(network, queues), rates


def as_data(
    line: Line,
    verdict: Verdict,
    network: Network | None,
    others: Sequence[Alternative],
    rates: dict[str, float],
) -> dict[str, Any]:
    """All results as one document."""
    return {
        "source": line.source, "verdict": verdict.to_dict(), "least_round_trip_s": line.least_trip_s,
        "phases": [one.to_dict() for one in line.numbers()], "rates_bps": rates,
        "network": None if network is None else network.to_dict(),
        "alternatives": [one.to_dict() for one in others], "notes": line.notes,
    }  # fmt: skip


HEADS = ["", "", "delay p50", "p95", "p99", "lost", "reordered", "jitter", "round trip p50", "p95", "MOS"]


def _ms(value: float) -> str:
    return f"{1e3 * value:.1f}" if math.isfinite(value) else "–"


def table_rows(line: Line, verdict: Verdict) -> list[list[str]]:
    """The table of phases: delays above the least and round trips in ms."""
    scores = {(one.phase, one.direction): one.mos for one in verdict.voice}
    rows = []
    for one in line.numbers():
        mos = scores.get((one.phase, one.direction))
        rows.append([
            one.phase, one.direction, *(_ms(value) for value in (one.p50_s, one.p95_s, one.p99_s)),
            f"{100 * one.loss:.2g} %" if one.sent else "–", str(one.reordered),
            *(_ms(value) for value in (one.jitter_s, one.trip_p50_s, one.trip_p95_s)),
            "–" if mos is None else f"{mos:.2f}",
        ])  # fmt: skip
    return rows


CAPTION = (
    "Times in ms. Delays count from the least of their direction: the clocks of the two ends are not compared. "
    "Round trips are exact. MOS: G.711 by the E-model, with half of the least round trip as the delay without "
    "queues."
)


def say(
    line: Line,
    verdict: Verdict,
    network: Network | None,
    others: Sequence[Alternative],
) -> None:
    """Prints the results for people."""
    from fairwave.answers.answer import Answer

    console.answer(Answer(tuple(verdict.sentences)))
    console.table(
        f"{line.source}, least round trip {_ms(line.least_trip_s)} ms",
        HEADS,
        table_rows(line, verdict),
        caption=CAPTION,
    )
    rpm = ", ".join(
        f"{phase} {value:.0f}" for phase, value in verdict.responsiveness.items() if math.isfinite(value)
    )
    if rpm:
        console.pairs("responsiveness, round trips per minute", [("", rpm)])
    if network is not None:
        console.pairs("the network that explains it best", network_rows(network))
        console.table("the same call under other queues, simulated", *alternatives_table(network, others))
        if network.unknown:
            console.say("\nThe measurement cannot tell:")
            for told in network.unknown:
                console.say(f"- {told}")
    for told in line.notes:
        console.say(told)


def alternatives_table(network: Network, others: Sequence[Alternative]) -> tuple[list[str], list[list[str]]]:
    """The call's opinion score under each queue: heads and rows."""
    runs = max((len(scores) for one in others for scores in one.mos.values()), default=0)
    heads = [f"the call's MOS, median of {runs} runs", *(f"while you {name}load" for name in network.sides)]
    rows = [[one.title, *(f"{one.median(name):.2f}" for name in network.sides)] for one in others]
    rows[0][0] = f"as the line is: {rows[0][0]}"
    return heads, rows


def network_rows(network: Network) -> list[tuple[str, str]]:
    """Lists the estimates, a line each."""
    from fairwave.cli.fitting import format_estimate

    rows = []
    for name, side in network.sides.items():
        shares = ", ".join(
            f"{family} {share:.0%}" for family, share in side.families.items() if share >= 0.005
        )
        least = "at least " if side.random_loss else ""
        rows.append((f"{name}: rate", least + format_estimate(side.rate, 1e6, "Mb/s", "95 %")))
        rows.append(("  queue", f"{side.queue} ({shares})"))
        known = side.full and side.queue == "drop-tail"
        held = side.deepest_s * side.rate.value / 8e3
        rows.append(("  buffer", f"{side.buffer / 1e3:.4g} kB" if known else f"at least {held:.3g} kB"))
        if side.random_loss:
            rows.append(("  other losses", f"{100 * side.random_loss:.2g} %, {side.loss_run:.2g} in a row"))
        rows.append(("  distance", f"{side.distance:.2f} (1 or less: alike)"))
    return rows


def _leave(
    out: Path,
    line: Line,
    verdict: Verdict,
    network: Network | None,
    others: Sequence[Alternative],
    rates: dict[str, float],
    *,
    quiet: bool,
) -> str:
    """Writes tables, page and scenario into a folder, all or nothing; returns a description of the files."""
    from fairwave.staging import staging

    pages = layer_or_note(needed=False, quiet=quiet)
    with staging(out) as folder:
        (folder / "measured.json").write_text(
            console.json_text(as_data(line, verdict, network, others, rates)), encoding="utf-8"
        )
        with (folder / "phases.csv").open("w", newline="", encoding="utf-8") as file:
            numbers = [one.to_dict() for one in line.numbers()]
            writer = csv.DictWriter(file, list(numbers[0]))
            writer.writeheader()
            writer.writerows(numbers)
        with (folder / "packets.csv").open("w", newline="", encoding="utf-8") as file:
            writing = csv.writer(file)
            writing.writerow(["direction", "sent_s", "delay_above_least_s"])
            for direction, probes in line.probes.items():
                for sent, raised in zip(probes.sent_s.tolist(), probes.raised_s.tolist(), strict=True):
                    writing.writerow(
                        [direction, f"{sent:.6f}", "" if math.isnan(raised) else f"{raised:.6f}"]
                    )
        if network is not None:
            (folder / "network.toml").write_text(_toml(network), encoding="utf-8")
        if pages:
            with console.status("drawing the page", quiet=quiet):
                pages.write_line(
                    line, verdict, folder,
                    phases=(HEADS, table_rows(line, verdict), CAPTION),
                    network=[] if network is None else network_rows(network),
                    alternatives=alternatives_table(network, others) if network is not None else None,
                    unknown=[] if network is None else network.unknown,
                    scenario="" if network is None else _toml(network),
                )  # fmt: skip
    told = f"page: {out / 'index.html'}   tables: {out}" if pages else f"tables: {out}"
    if network is not None:
        told += f"   scenario: {out / 'network.toml'}"
    return told


def _toml(network: Network) -> str:
    lines = ["# The network that explains a measured line best, by `fairwave measure`.", "#"]
    lines += [f"# {name.strip() or '    '}: {about}" for name, about in network_rows(network)]
    if network.unknown:
        lines += ["#", "# The measurement cannot tell:", *(f"# - {one}" for one in network.unknown)]
    return "\n".join(lines) + "\n\n" + network.scenario().to_toml()
