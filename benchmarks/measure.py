"""``python -m benchmarks.measure MODULE``: measure the module's cases as they are asked for.

The module has ``CASES``: a case by its name, or the reason why there is none. The first line of
output says which there are. Then every line of input is the name of a case, answered by a line with
its sample or with what failed. What anybody else prints goes to the standard error.

It is run by the interpreter of whoever is measured, so it imports the standard library only.
"""

import importlib
import json
import os
import sys
from collections.abc import Mapping
from typing import cast

from benchmarks.harness import Case

__all__: list[str] = []


def main() -> None:
    """Answer until the input ends."""
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    module = importlib.import_module(sys.argv[1])
    cases = cast("Mapping[str, Case | str]", module.CASES)
    reasons = {name: each if isinstance(each, str) else None for name, each in cases.items()}
    print(json.dumps({"cases": reasons}), file=answers, flush=True)
    for line in sys.stdin:
        case = cases[line.strip()]
        assert not isinstance(case, str), case
        try:
            answer: object = {"sample": dict(case())}
        except Exception as error:  # noqa: BLE001 - whatever it is, it is why there is no figure
            answer = {"failed": f"{type(error).__name__}: {error}"}
        print(json.dumps(answer), file=answers, flush=True)


if __name__ == "__main__":
    main()
