"""The host contract of the dsh family: messages, models, session log, hooks, tools, prompt and agents, without a loop."""
