"""What the pages of `docs/` state about fairwave itself, measured again."""
