"""ns-3: the same plan through its Python bindings, and its radio links as programs in C++."""
