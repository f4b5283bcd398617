"""From a tweet to its tokens: one pass of one pattern, then each distinct piece is put in its normal form once.

Why not split at spaces: what carries the mood of a tweet is glued to its words (`great!!!:)`), written in a hundred
lengths (`soooo`), or says nothing but that it is there (a link, a name). DECISIONS.md, D36, says what became of each.

Every repetition in the pattern is of one class of characters, or bounded, so that the time is linear in the text.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterable
from functools import lru_cache
from typing import Any

from fwl.errors import InvalidInput

URL, USER = "<url>", "<user>"
LONGEST_RUN = 3  # characters kept of a run of ! ? .
CACHED = 2**16  # distinct pieces remembered: all that are frequent

# Accents and vowel signs, which Python's \w leaves out: without them a word of many scripts falls to pieces.
_MARKS = "\u0300-\u036f\u0483-\u0487\u0591-\u05bd\u064b-\u065f\u0900-\u0d7f\u0e31-\u0e4e"
_LETTERS = rf"[\w{_MARKS}]"
_WORD = rf"[^\W_]{_LETTERS}*(?:['’-][^\W_]{_LETTERS}*)*"
_TAIL = r"\S*[^\s.,!?…\"”')\]]"  # of a link: what ends the sentence is no part of it
_LINK = rf"[hH][tT][tT][pP][sS]?://{_TAIL}|[wW][wW][wW]\.{_TAIL}"
# A domain without http: bare for the common endings, with a path for those that are English words as well.
_BARE = rf"(?i:com|net|org|edu|gov|info)(?!\w)(?:/(?:{_TAIL})?)?"
_DOMAIN = rf"(?:\.[A-Za-z0-9-]{{1,30}}){{0,2}}\.(?:{_BARE}|[A-Za-z]{{2,4}}/{_TAIL})"
_NUMBER = r"\d+(?:[.,:]\d+)+(?!\w)"
# Each begins with the characters it can begin with, and looks back from its second: the matcher skips it at once.
_EMOTICONS = "|".join(
    [
        r"[xX](?<!\w.)-?[dD]+(?!\w)",  # xD
        r"[oOtTuUxXqQ](?<!\w.)_{1,3}[oOtTuUxXqQ](?!\w)",  # o_O, T_T
        r"[oO](?<!\w.)\.[oO](?![\w.])",  # O.o
        r"D(?<!\w.)['’]?-?:(?![\w/)(])",  # D:
        r"8(?<!\S.)-?\)+",  # 8)
        r"[:;=]['’]?[-o^~]?[)(\]\[}{]+",  # :) ;-( :'( =]
        r"[:;=]['’]?-?[/\\|*](?![/\w])",  # :/ :| :*
        r"[:;=](?<!\w.)['’]?-?(?:[DPpOoSsXxCcd]+|3)(?!\w)",  # :D :P :'D :3
        r"[)(\]\[](?<!\S.)['’]?-?[:;=](?!\w)",  # (: and ):
        r"<[/\\]?3+(?!\d)",  # <3 and </3
        r"\^[_.o-]{0,3}\^",  # ^_^
        r">[_.]{1,9}<",  # >_<
        r"-[_.]{1,9}-",  # -_-
    ]
)
_PICTURE = "[\u2190-\u21ff\u2300-\u23ff\u2600-\u27bf\u2b00-\u2bff\u3030\u303d\u00a9\u00ae\U0001f000-\U0001faff]"
_TONE = "[\ufe0f\U0001f3fb-\U0001f3ff]"
_EMOJI = (
    f"[\U0001f1e6-\U0001f1ff]{{2}}|{_PICTURE}{_TONE}*(?:\u200d{_PICTURE}{_TONE}*)*"  # flags; joined pictures are one
)
_UNSEEN = "\x00-\x1f\x7f-\x9f\xad\u200b-\u200f\u2028-\u202e\u2060-\u206f\u20e3\ufe00-\ufe0f\ufeff\ud800-\udfff"

_PIECES = re.compile(
    "|".join(
        [
            _LINK,
            _EMOTICONS,
            _NUMBER,
            rf"{_WORD}(?:{_DOMAIN})?",
            rf"@(?<!\w.){_LETTERS}+",
            rf"#{_LETTERS}+",
            "<(?:url|user)>",
            r"[!?.…]+",
            _EMOJI,
            rf"[^\s{_UNSEEN}]",
        ]
    )
)
_AS_WRITTEN = re.compile(rf"{_EMOTICONS}|{_NUMBER}")
_ELONGATED = re.compile(r"([^\W\d_])\1{2,}")
_QUOTES = str.maketrans("‘’“”", "''\"\"", "\ufe0f")


def tokenise(text: str) -> list[str]:
    """The tokens of one text.

    HTML entities are read; links become `<url>` and user names `<user>`; emoticons stay as written, an emoji is a
    token; words and hashtags are lower-cased, with three or more of a letter shortened to two; a contraction is one
    word; a run of `!`, `?` and `.` is one token of at most three characters; other signs stand alone.

    >>> tokenise("@you I'm SOOOO happyyy!!!!! :D #Win &lt;3 http://t.co/x")
    ['<user>', "i'm", 'soo', 'happyy', '!!!', ':D', '#win', '<3', '<url>']
    """
    if not isinstance(text, str):
        raise InvalidInput(f"tokenise: expected a text, got {_described(text)}; for many texts use tokenise_all")
    return _tokens(text)


def tokenise_all(texts: Iterable[str]) -> list[list[str]]:
    """The tokens of every text; what is no text is named by its row.

    >>> tokenise_all(["so good", ""])
    [['so', 'good'], []]
    """
    return [_tokens(text) for text in as_texts(texts)]


def as_texts(texts: Iterable[str]) -> list[str]:
    """A list of texts, if it is one: the first row that is anything else is named."""
    if isinstance(texts, (str, bytes)):
        raise InvalidInput(f"texts: expected a list of texts, got {_described(texts)}; put it in a list")
    rows = list(texts)
    for row, text in enumerate(rows):
        if not isinstance(text, str):
            raise InvalidInput(f"texts: expected a text in row {row}, got {_described(text)}; drop or fill it first")
    return rows


def some_texts(texts: Iterable[str]) -> list[str]:
    """The same, refusing a list of none: there is nothing to label."""
    rows = as_texts(texts)
    if not rows:
        raise InvalidInput("texts: the set is empty, expected at least one")
    return rows


def _tokens(text: str) -> list[str]:
    return [_normal_form(piece) for piece in _PIECES.findall(html.unescape(text))]


@lru_cache(maxsize=CACHED)
def _normal_form(piece: str) -> str:
    """The token that a matched piece stands for."""
    if piece[0].isalnum():
        return _word_or_link(piece)
    if len(piece) == 1 or _AS_WRITTEN.fullmatch(piece):
        return piece.translate(_QUOTES).replace("…", "...")
    if piece[0] == "@":
        return USER
    if piece[0] in "!?.…":
        return piece.replace("…", "...")[:LONGEST_RUN]
    return _shortened(piece) if piece[0] == "#" else piece.translate(_QUOTES)


def _word_or_link(piece: str) -> str:
    if _AS_WRITTEN.fullmatch(piece):
        return piece
    return URL if "." in piece or "://" in piece else _shortened(piece)


def _shortened(word: str) -> str:
    return _ELONGATED.sub(r"\1\1", word.lower().translate(_QUOTES)).rstrip("_")


def _described(value: Any) -> str:
    text = repr(value)
    kind = "the text" if isinstance(value, str) else f"the {type(value).__name__}"
    return f"{kind} {text if len(text) <= 40 else text[:37] + '...'}"
