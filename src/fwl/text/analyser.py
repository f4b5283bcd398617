"""From a text to the terms it is found by: lower case, no stop words, stems instead of words.

One pass of one pattern finds the words; what becomes of each distinct word is worked out once and remembered.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, Self

from fwl.errors import InvalidInput

RULES = 1  # raised whenever some text would give other terms than before
CACHED = 2**18  # distinct words remembered: all that are frequent

# Words that serve grammar alone; short ones that name things (vitamin d, t cells, the us, in may) are left in texts.
_GRAMMAR = (
    "a about after all also am an and any are as at be because been before being between both but by can could did "
    "do does doing during each for from had has have having he her here hers herself him himself his how i if in "
    "into is it its itself me more most my myself no nor not of on only or other our ours ourselves over own same "
    "she should so some such than that the their theirs them themselves then there these they this those through to "
    "too under until up very was we were what when where which while who whom why will with would you your yours "
    "yourself yourselves "
    "aren't can't couldn't didn't doesn't don't hadn't hasn't haven't he'd he'll he's i'd i'll i'm i've isn't it'll "
    "it's she'd she'll she's shouldn't that's there's they'd they'll they're they've wasn't we'd we'll we're we've "
    "weren't what's where's who's won't wouldn't you'd you'll you're you've"
)
STOP_WORDS = frozenset(_GRAMMAR.split())
_WORDS = re.compile(r"\w+(?:['’]\w+)*")


@dataclass(frozen=True)
class Analyser:
    """How texts become terms; queries and documents have to be read by the same one.

    Terms are of letters and digits. An apostrophe keeps a word together: `company's` is the company, `o'neill` one
    term. It is made for English: vowel signs of other scripts part words.

    >>> Analyser().tokens("The company's DC-8 wings weren't tested in 1957")
    ['compani', 'dc', '8', 'wing', 'test', '1957']
    >>> Analyser(stop_words=False, stemmer="").tokens("The company's wings")
    ['the', 'company', 'wings']

    Attributes:
        stop_words: whether words that serve grammar alone are dropped.
        stemmer: "english", Snowball's (extra `ranking`), or "" for words as they are.
    """

    stop_words: bool = True
    stemmer: str = "english"

    def __post_init__(self) -> None:
        if self.stemmer not in ("english", ""):
            raise InvalidInput(f"stemmer: expected 'english', or '' for none, got {self.stemmer!r}")

    def tokens(self, text: str) -> list[str]:
        """The terms of a text in their order; none for a text that says nothing."""
        if not isinstance(text, str):
            raise InvalidInput(f"analyser: expected a text, got {text!r:.60}; give it one text at a time")
        if not text.isascii():
            text = unicodedata.normalize("NFKC", text)
        terms = _terms(self.stop_words, self.stemmer)
        words = _WORDS.findall(text.lower().replace("_", " "))  # a class without it would take longer to match
        return [term for word in words if (term := terms[word])]

    def settings(self) -> dict[str, Any]:
        """What an index keeps beside its terms: another analyser, or another version of this one, has others."""
        made_by = _require_stemmer().version() if self.stemmer else ""
        return {"stop_words": self.stop_words, "stemmer": self.stemmer, "stemmer_version": made_by, "rules": RULES}

    @classmethod
    def from_settings(cls, settings: Mapping[str, Any]) -> Self:
        """The analyser that `settings` were taken from, if there still is one that gives the same terms."""
        try:
            analyser = cls(settings["stop_words"], settings["stemmer"])
        except KeyError as error:
            raise InvalidInput(f"analyser: expected {error} among its settings, got {dict(settings)}") from error
        if analyser.settings() != dict(settings):
            raise InvalidInput(
                f"analyser: the index was made by {dict(settings)}, and this version has {analyser.settings()}; "
                "build the index again"
            )
        return analyser


class _Terms(dict[str, str]):
    """The term that each word stands for, empty for a word that is dropped; worked out when it is first met."""

    def __init__(self, stop_words: bool, stemmer: str) -> None:
        super().__init__()
        self._dropped = STOP_WORDS if stop_words else frozenset[str]()
        # Its own memory would be a second one.
        self._stem = _require_stemmer().Stemmer(stemmer, 0).stemWord if stemmer else str

    def __missing__(self, word: str) -> str:
        if len(self) >= CACHED:
            self.clear()
        term = self[word] = self._term(word.replace("’", "'"))
        return term

    def _term(self, word: str) -> str:
        if word in self._dropped:
            return ""
        word = word.removesuffix("'s").replace("'", "")
        return "" if word in self._dropped else self._stem(word)


@cache
def _terms(stop_words: bool, stemmer: str) -> _Terms:
    """Shared by all analysers that are alike."""
    return _Terms(stop_words, stemmer)


def _require_stemmer() -> Any:
    try:
        import Stemmer
    except ImportError as error:
        raise InvalidInput(
            "stemming needs PyStemmer; install it with: pip install 'fwl[ranking]', or choose stemmer=''"
        ) from error
    return Stemmer
