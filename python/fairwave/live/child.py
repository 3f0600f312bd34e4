"""The first process of a program in a live run: `python child.py LIBRARY ORDER`.

To start fast, it loads only the native library.
"""

import sys
from importlib.machinery import ExtensionFileLoader
from importlib.util import module_from_spec, spec_from_file_location


def main() -> int:
    """Carries out the order."""
    library, order = sys.argv[1:]
    spec = spec_from_file_location("_native", loader=ExtensionFileLoader("_native", library))
    assert spec is not None
    assert spec.loader is not None
    native = module_from_spec(spec)
    spec.loader.exec_module(native)
    status: int = native.live_order(order)
    return status


if __name__ == "__main__":
    sys.exit(main())
