"""Run subagents from an asyncio application, with trio in guest mode or in a thread of its own."""
