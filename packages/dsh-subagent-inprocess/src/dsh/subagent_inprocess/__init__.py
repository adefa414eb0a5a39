"""The driver shared by the in-process backends.

Create a child, run its turns, read its own answer.
"""
