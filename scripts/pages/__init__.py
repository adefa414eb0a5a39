"""The generated pages of this repository: what they say is read from the tree, never written.

`page` says what a page is and when one is stale, `registry` lists all of them, and `__main__` is
the command behind `scripts/generate`, which writes every page anew. The gates compare, and never
write.

`inventory` and `marked` hold what `guarantees` joins: the behaviours there are, and the tests that
say which of them they prove.

Read next: `page`, then any one page.
"""
