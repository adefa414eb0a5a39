"""What the family costs, as ratios of one run: ``python -m benchmarks``.

``groups`` says what is measured together: who, on which cases. A case (``harness``) is measured in
the process of a ``worker``, which runs ``measure`` with the subject's own interpreter; ``rounds``
lets all take turns and fills the ``results``. ``targets`` judges them, ``table``, ``plot`` and
``page`` show them. The cases themselves: ``floor`` (bare trio), ``turns``, ``log``, ``listeners``,
``delegate``, ``children``, ``http``, ``acp``, ``start``; those of others in ``original`` and
``peers``. A new case is a name in a module's ``CASES``, and a line in ``groups`` if the group there
chooses its cases.
"""
