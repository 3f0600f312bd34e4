"""Reports: figures in one style, and one self-contained page per study or comparison."""

from fairwave.extras import silence_matplotlib

silence_matplotlib()
