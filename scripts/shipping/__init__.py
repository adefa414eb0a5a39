"""What is shipped: the built distributions, and what is held of them before anybody gets one.

`workshop` builds and installs them in clean environments, `metadata` reads what they say of
themselves, `changelog` what is said of them, and `order` is the order in which they go out.

Read next: `scripts/release.py`, which puts them together; `scripts/verify_wheels.py` is the part of
it that a contributor runs for one package.
"""
