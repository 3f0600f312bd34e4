"""Pages and pictures of `docs/` that are written from code."""
