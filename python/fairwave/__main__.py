"""`python -m fairwave`: the command line."""

from fairwave.cli import main

if __name__ == "__main__":
    main()
