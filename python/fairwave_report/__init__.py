"""What people look at: figures in one house style, and one self-contained page per study or comparison."""
