"""The driver shared by the in-process backends: create a child, run its turns, read its own answer."""
