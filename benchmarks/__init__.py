"""What the family costs, as ratios of one run: ``python -m benchmarks [NAME ...]``.

Read ``harness`` (how it is measured), ``floor`` (what bare trio costs), then a benchmark, say
``log``. A new one is a module with a ``BENCHMARK`` that ``__main__`` lists.
"""
