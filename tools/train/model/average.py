"""Averages the weights of checkpoints of one training: `python -m model.average OUT CHECKPOINT CHECKPOINT…`.

The mean of states that were annealed one after the other is better than each state.
"""
import argparse
from pathlib import Path

import torch


def average(checkpoints: list[Path]) -> dict[str, torch.Tensor]:
    """Returns the members of the last checkpoint with the mean of all weights."""
    states = [torch.load(path, map_location="cpu") for path in checkpoints]
    models = [state["model"] for state in states]
    mean = {
        name: torch.stack([model[name] for model in models]).mean(0) if value.is_floating_point() else value
        for name, value in models[-1].items()
    }
    return dict(states[-1], model=mean)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=Path)
    parser.add_argument("checkpoints", type=Path, nargs="+")
    arguments = parser.parse_args()
    torch.save(average(arguments.checkpoints), arguments.out)


if __name__ == "__main__":
    main()
