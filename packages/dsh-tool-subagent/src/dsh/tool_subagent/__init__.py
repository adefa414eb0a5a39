"""The delegation tool: what a parent's model calls to start a child."""
