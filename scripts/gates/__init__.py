"""The gates of this repository: rules about the tree itself, each one a module.

Each has a test beside it, in `scripts/tests/`, that plants a fault and sees it found.

`gate` says what a gate is, `registry` lists all of them in the order they are printed, `runner`
runs them and `__main__` is the command behind `scripts/check`. `workspace` reads the members from
their manifests, so that no gate keeps a list of packages of its own.

Read next: `gate`, then any one gate.
"""
