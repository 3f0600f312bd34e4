"""ns-2.35: the same plan as Tcl, its cases, and `docs/validation.md`."""
