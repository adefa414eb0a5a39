"""One script per peer, run with ``python -m`` by the peer's own Python; ``benchmarks.peer`` does.

Nothing here may import ``dsh``. ``measure.py`` is what the scripts share; ``on_strands.py`` and
``on_smolagents.py`` do on their peer what ``benchmarks.delegate`` and ``benchmarks.children`` do
on ours. No script has its peer's own name: a type checker would take it for the peer.
"""
