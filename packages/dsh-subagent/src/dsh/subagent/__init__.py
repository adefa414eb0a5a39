"""The subagent seam.

Vocabulary, registry, one supervisor, lifecycle events and the conformance kit of backends.
"""
