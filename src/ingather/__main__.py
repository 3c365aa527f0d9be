"""``python -m ingather`` is the command ``ingather``."""

from ingather.cli import main

if __name__ == "__main__":
    main()
