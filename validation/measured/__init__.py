"""Statements of `docs/` about fairwave itself, measured again."""
