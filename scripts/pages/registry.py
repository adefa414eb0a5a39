"""Every page, in the order it is written."""

from typing import Final

from pages import api, configuration, decisions, errors, guarantees, packages, picture
from pages.page import Page

PAGES: Final[tuple[Page, ...]] = (
    packages.PAGE,
    picture.PAGE,
    configuration.PAGE,
    errors.PAGE,
    api.PAGE,
    decisions.PAGE,
    guarantees.PAGE,
)
