"""The reference agent loop: turns, steps and tool calls on trio, for hosts that do not bring their own."""
