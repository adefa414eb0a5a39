"""``python -m dsh.cli``: the ``dsh`` command where its script is not on the path."""

import sys

from dsh.cli import main

status = main()
exec("")  # else a Ctrl-C that fell into code from a string would be the end in place of the status
sys.exit(status)
