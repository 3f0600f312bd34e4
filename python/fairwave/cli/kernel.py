"""`fairwave kernel load`, `list` and `unload`: fairwave's controllers as congestion control of the kernel."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Optional

import typer

from fairwave.cli import console
from fairwave.errors import BadInputError

if TYPE_CHECKING:
    from fairwave.live.kernel import Controller

app = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode="rich",
    help="Bring AIMD(α, β), Reno+γ and Reno+γ+δ into the kernel as congestion control of its TCP (Linux, root).",
)


@app.callback()
def _require_linux() -> None:
    from fairwave.live import require_linux

    require_linux("`fairwave kernel` (controllers in the kernel)", "name the controllers in a simulated run")


def _laws(incomplete: str) -> list[str]:
    """Completes laws."""
    from fairwave.live.kernel import LAWS

    return [one for one in LAWS if one.startswith(incomplete)]


# Typer reads these annotations at run time, under Python 3.10 too, hence Optional.
@app.command(
    epilog="Examples:\n\n  fairwave kernel load gamma\n\n"
    "  fairwave kernel load aimd --alpha 0.31 --beta 0.875 --name fw_smooth"
)
def load(
    law: Annotated[
        str, typer.Argument(metavar="LAW", help="aimd, gamma or gamma-delta.", autocompletion=_laws)
    ],
    alpha: Annotated[
        Optional[float], typer.Option(help="Segments added per round trip, at most 100; 1 if left out.")
    ] = None,
    beta: Annotated[
        Optional[float], typer.Option(help="Part of the window kept on loss, below 1; 0.5 if left out.")
    ] = None,
    upper: Annotated[
        Optional[float],
        typer.Option(
            help="Share of the largest queueing delay at which γ lowers the window, below 1; 0.5 if left out."
        ),
    ] = None,
    lower: Annotated[
        Optional[float],
        typer.Option(help="Share up to which the window grows by δ, below --upper; 0.1 if left out."),
    ] = None,
    delta: Annotated[
        Optional[float],
        typer.Option(
            help="Segments added per round trip while the queue is nearly empty, at most 100; 2 if left out."
        ),
    ] = None,
    name: Annotated[
        Optional[str],
        typer.Option(
            help="Its name in the kernel, fw_ and at most 12 more; fw_aimd, fw_gamma or fw_gamma_delta if left out."
        ),
    ] = None,
    verbose: Annotated[
        bool, typer.Option("--verbose", help="Show all that the compiler or the kernel's verifier says.")
    ] = False,
) -> None:
    """Compile a controller for this kernel and load it; scenarios name it by `host/tcp`."""
    from fairwave.live import kernel

    options = {"alpha": alpha, "beta": beta, "upper": upper, "lower": lower, "delta": delta}
    given = {key: value for key, value in options.items() if value is not None}
    try:
        made = kernel.load(law, given, name, verbose=verbose)
    except kernel.ParameterError as error:
        raise BadInputError(str(error)) from None
    console.say(f"{made.name}: {made.law}, {_shown(made)}; fairwave kernel unload {made.name} takes it away")


@app.command("list")
def list_(
    json: Annotated[
        bool, typer.Option("--json", help="One JSON document on standard output instead of tables.")
    ] = False,
) -> None:
    """List the kernel's congestion controls, with the parameters of fairwave's controllers."""
    from fairwave.live import kernel

    why = kernel.missing(compiles=False)
    ours = {one.name: one for one in kernel.loaded()} if why is None else {}
    if json:
        rows = [
            {"name": name}
            | ({"law": ours[name].law, "parameters": ours[name].parameters} if name in ours else {})
            for name in kernel.available()
        ]
        console.document({"controllers": rows, "not_seen": why})
        return
    caption = f"the parameters of fairwave's controllers cannot be read: {why}" if why else ""
    cells = [
        [name, ours[name].law if name in ours else "", _shown(ours[name]) if name in ours else ""]
        for name in kernel.available()
    ]
    console.table(
        "congestion control in this kernel", ["name", "law", "with"], cells, caption=caption, left=True
    )


@app.command()
def unload(
    name: Annotated[
        str, typer.Argument(metavar="NAME", help="As `fairwave kernel list` shows it: fw_gamma.")
    ],
) -> None:
    """Remove a controller of fairwave from the kernel; no other controller is touched."""
    from fairwave.live import kernel

    console.say(f"{kernel.unload(name).name}: unloaded")


def _shown(controller: Controller) -> str:
    """Parameters for people."""
    return ", ".join(f"{key} {value:g}" for key, value in controller.parameters.items())
