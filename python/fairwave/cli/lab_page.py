"""`fairwave lab`."""

from __future__ import annotations

import errno
import tempfile
import webbrowser
from pathlib import Path

from fairwave import lab
from fairwave.cli import console
from fairwave.cli.input import scenario as read
from fairwave.errors import BadInputError


def open_lab(path: str | None, settings: list[str], out: Path | None) -> None:
    """Opens the lab with a scenario, or writes a page that does."""
    toml = _toml(path, settings)
    try:
        # The ways to open a file in a browser lose the part after `#`, so the scenario goes into the page.
        target = out or Path(tempfile.mkdtemp(prefix="fairwave-lab-")) / lab.NAME
        lab.write(target, toml)
    except lab.LabError as error:
        raise BadInputError(str(error)) from None
    if out is None:
        webbrowser.open(target.resolve().as_uri())
    console.out.print(f"the lab: {target}", soft_wrap=True)


def serve_lab(path: str | None, settings: list[str], out: Path | None, port: int, listen: str) -> None:
    """Serves the lab to the devices in the network until Ctrl-C."""
    from fairwave.lab.serving import LOOPBACK, LabServer, find_lan_address

    if out is not None:
        raise BadInputError(
            "--out writes the page to a file and --serve shows it to your network; give one of the two"
        )
    toml = _toml(path, settings)
    try:
        page = lab.page().read_text(encoding="utf-8") if toml is None else lab.opening_on(toml)
    except lab.LabError as error:
        raise BadInputError(str(error)) from None
    found = None if listen else find_lan_address()
    address = listen or found or LOOPBACK
    try:
        # Without a network, no other device can ask, so nothing but the loopback is opened.
        server = LabServer(page, "" if found else address, port)
    except OSError as error:
        raise _explain(error, address, port) from None
    with server:
        try:
            _show_address(f"http://{address}:{server.port}/", is_alone=address.startswith("127."))
            server.serve_forever(poll_interval=0.2)
        except KeyboardInterrupt:
            count = len(server.devices)
            opened = f"{count or 'no'} device{'' if count == 1 else 's'}"
            console.say(f"\nThe lab is no longer served; {opened} opened it.")


def _toml(path: str | None, settings: list[str]) -> str | None:
    """The scenario that the page opens; None for the page's own."""
    if path is None and settings:
        raise BadInputError("--set changes a scenario: name one, for example fairwave lab calls.toml --set …")
    return None if path is None else read(path, settings).to_toml()


def _explain(error: OSError, address: str, port: int) -> BadInputError:
    """Describes why a port cannot be opened, with the remedy."""
    if error.errno == errno.EADDRINUSE:
        return BadInputError(
            f"--port {port} is in use on this computer; choose another, for example --port {port + 1}, or --port 0 for "
            "any free one"
        )
    if error.errno == errno.EACCES:
        return BadInputError(
            f"--port {port} is reserved on this computer; choose one from 1024 to 65535, for example --port 8867"
        )
    return BadInputError(
        f"--listen {address} is no address of this computer ({error.strerror or error}); leave --listen out, or take "
        "an address that `ip address`, `ifconfig` or `ipconfig` shows"
    )


def _show_address(url: str, *, is_alone: bool) -> None:
    """Prints the address, and in a terminal its QR code."""
    console.out.print(f"the lab: {url}", soft_wrap=True)
    if is_alone:
        console.say("Only this computer can open it: it has no network, or you chose its loopback address.")
    else:
        console.say("Every device in this network can open it. A phone opens it by the camera and this code:")
        _draw_code(url)
    console.say("Ctrl-C ends it.")


def _draw_code(url: str) -> None:
    """Draws the QR code of an address, if standard output is a terminal."""
    if not console.out.is_terminal:
        return
    try:
        import segno
    except ImportError:
        console.say("(no code: it needs the package 'segno'; install it with: pip install segno)")
        return
    segno.make(url, error="m", micro=False).terminal(border=2, compact=True)
