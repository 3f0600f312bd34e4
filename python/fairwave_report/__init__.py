"""Reports: figures in one style, and one self-contained page per study or comparison."""
