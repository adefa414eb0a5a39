"""The subagent seam: vocabulary, registry, one supervisor, lifecycle events and the conformance kit of backends."""
