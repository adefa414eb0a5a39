"""``python -m dsh.cli``: the ``dsh`` command where its script is not on the path."""

import sys

from dsh.cli import main

sys.exit(main())
