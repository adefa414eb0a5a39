"""Every page, in the order it is written."""

from typing import Final

from pages import decisions, guarantees
from pages.page import Page

PAGES: Final[tuple[Page, ...]] = (guarantees.PAGE, decisions.PAGE)
