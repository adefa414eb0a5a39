"""Backend that delegates to an agent in its own process over the Agent Client Protocol."""
