"""The reference agent loop.

Turns, steps and tool calls on trio, for hosts that do not bring their own.
"""
