"""``python -m geodrome.cli``."""

from geodrome.cli import main

if __name__ == "__main__":
    main()
