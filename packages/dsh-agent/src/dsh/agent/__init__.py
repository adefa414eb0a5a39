"""The host contract of the dsh family.

Messages, models, session log, hooks, tools, prompt and agents, without a loop.
"""
