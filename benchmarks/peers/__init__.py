"""One module per peer, run by the peer's own Python: what ``benchmarks.delegate`` and
``benchmarks.children`` do with ours, each does with its library.

Nothing here may import ``dsh``. A module has the peer's operations, with a model that follows a
script; ``cases`` makes the cases of them. No module has its peer's own name: a type checker would
take it for the peer.
"""
