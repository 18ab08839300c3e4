"""What the library has to tell, as tests read it."""

from attention.messages import Message
from pages.shared.texts import say


def told(section: str, message: Message | None) -> str:
    """The sentence of a message, which the English catalogue words alike; "" for none."""
    if message is None:
        return ""
    assert say(section, message) == message.english
    return message.english
