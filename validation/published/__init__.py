"""fairwave compared with numbers from publications."""
