"""Repeated options: a later value never silently replaces an earlier one.

An option either takes several values (typer's lists) or one. One mechanism refuses the second value of the latter, for
every command, including commands of packages that plug in.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from typer.core import TyperCommand, TyperOption

if TYPE_CHECKING:
    from typer import Typer


class OnceCommand(TyperCommand):
    """A command that refuses a second value of an option that takes one."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Parses the words of a command line."""
        if not ctx.resilient_parsing:
            _, _, order = self.make_parser(ctx).parse_args(list(args))
            options = [one for one in order if isinstance(one, TyperOption)]
            for option in options:
                if options.count(option) > 1 and not takes_several(option):
                    ctx.fail(_refusal(option, options.count(option)))
        return super().parse_args(ctx, args)


def takes_several(option: TyperOption) -> bool:
    """Whether every repetition counts: for a list, and for a flag without negation, which can only repeat itself."""
    return bool(option.multiple or option.count or (option.is_flag and not option.secondary_opts))


def _refusal(option: TyperOption, times: int) -> str:
    names = "/".join([*option.opts, *option.secondary_opts])
    often = "twice" if times == 2 else f"{times} times"
    if option.is_flag:
        return f"{names} is given {often}, but only one of the two can hold; leave the others out"
    metavar = option.metavar or ""
    remedy = ", or join the values by commas" if ",…" in metavar else ""
    if metavar.startswith("KEY="):
        remedy = f", or let several keys take the same value: {option.opts[0]} KEY,{metavar}"
    return f"{names} is given {often}, but takes one value; keep one{remedy}"


def refuse_repetitions(app: Typer) -> None:
    """Makes every command of an application, and of those in it, refuse a second value."""
    for command in app.registered_commands:
        command.cls = OnceCommand
    for group in app.registered_groups:
        if group.typer_instance is not None:
            refuse_repetitions(group.typer_instance)
