"""Run the experiments of papers again: ``python -m experiments.papers --help``."""

from experiments.papers.command import main

if __name__ == "__main__":
    main()
