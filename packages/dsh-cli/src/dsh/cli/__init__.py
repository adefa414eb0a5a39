"""The reference host: the `dsh` command, composition only.

For now the command says which members of the family are installed and what each of them lacks.

- `_command`: the command line, and `main`, where the console script enters
- `_members`: the installed members, read from the metadata of their distributions
- `_listing`: what is printed of them

Read next: `_command`.
"""

from dsh.cli._command import main

__all__ = ["main"]
