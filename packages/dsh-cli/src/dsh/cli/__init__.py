"""The reference host: the `dsh` command, composition only.

- ``_command`` and ``_parser``: the command line, and `main`, where the console script enters;
  ``_streams``, ``_printable`` and ``_errors``: what goes in and out, and what is refused;
  ``_interruption``: Ctrl-C and SIGTERM.
- ``_running`` and ``_demo``: ``dsh run`` and ``dsh demo``. ``_asking`` is what is asked,
  ``_schema`` the shape of the answer, ``_model_choice`` and ``_provider_choice`` what it runs on,
  ``_composition`` the host made of that, ``_user`` who asks it, ``_answer`` what is printed.
- ``_delegations``: a run as a tree; ``_watch`` makes it of a live run, ``_display`` and
  ``_drawing`` show it, ``_record`` writes into the logs what they lack of it,
  and ``_keeping`` knows which of them were lost.
- ``_showing`` and ``_checking``: ``dsh show`` and ``dsh check``, from ``_logs`` and ``_history``,
  with ``_conversation`` and ``_page``.
- ``_providers``, ``_models`` and ``_listing`` (with ``_configuration`` and ``_members``): what is
  installed.

Read next: ``_command``, then ``_running``.
"""

from dsh.cli._command import main

__all__ = ["main"]
