"""Records a chat model's answers to JSON lines and replays them."""
