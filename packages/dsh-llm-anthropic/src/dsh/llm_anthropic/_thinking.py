"""Whose reasoning a thinking block is, kept in its signature; pure.

The API takes back what it signed, and nothing else: a block signed for another model, or by another
provider, is refused. A signature is therefore kept with the model that made it, and only that
model's own blocks are sent back (B077). Redacted reasoning has no text; its data is its signature.
"""

from typing import Any

from dsh.agent import ThinkingBlock

__all__ = ["redacted", "signed", "wire_block"]


def signed(model: str, signature: str) -> str:
    """The signature to keep for a block of reasoning of *model*."""
    return f"anthropic/{model}#thinking#{signature}"


def redacted(model: str, data: str) -> str:
    """The signature to keep for a block of reasoning of *model* that the API keeps secret."""
    return f"anthropic/{model}#redacted#{data}"


def wire_block(block: ThinkingBlock, model: str) -> dict[str, Any] | None:
    """*block* as the API gave it, or ``None`` where *model* did not make it."""
    signature = block.signature or ""
    if signature.startswith(mark := redacted(model, "")):
        return {"type": "redacted_thinking", "data": signature.removeprefix(mark)}
    if signature.startswith(mark := signed(model, "")):
        proof = signature.removeprefix(mark)
        return {"type": "thinking", "thinking": block.text, "signature": proof}
    return None
