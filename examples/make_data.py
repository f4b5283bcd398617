"""The tables in examples/data, made up anew: `python examples/make_data.py`. Nobody wrote these messages.

`support` is a shop's mail: what does the customer want? A message is put together from phrases with gaps. Many speak of
a second wish, one that is denied ("there is no need to ...") or over ("last year ... and that went well"). The made-up
language model (`llm`) often falls for that one, guesses where a wish is only hinted at, and sometimes says nothing;
`rules` count words and are silent more often.

`flats` are rents: somebody's rule of thumb (`estimate`) knows the size and forgets the distance from the centre.
"""

from __future__ import annotations

import csv
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from fwl import Chance

HERE = Path(__file__).parent / "data"
SEED = 2018
INTENTS = ("account", "delivery", "refund", "replacement")

# What the shop is asked to do: these stand after "please", and after "there is no need to".
ACTIONS = {
    "refund": (
        "send my {money} back",
        "pay me back for the {item}",
        "give me a refund for order {order}",
        "refund the {item}",
        "return the money for {count} {item}s",
        "put the {money} back on my card",
        "take the {item} back and pay me what it cost",
        "credit {money} to my card",
        "cancel the bill for the {item}",
        "reverse the charge of {money}",
        "let me have my money again",
        "pay back half of what the {item} cost",
    ),
    "replacement": (
        "send me another {item}",
        "swap the {item} for one that works",
        "exchange the {item} for a {colour} one",
        "replace the broken part of the {item}",
        "repair the {item}",
        "let me have a {colour} {item} instead",
        "send the missing screws for the {item}",
        "ship a new {item} in place of the damaged one",
        "give me the same {item} in a larger size",
        "fix the {item} under warranty",
        "change order {order} to the {colour} {item}",
        "get me a {item} without scratches",
    ),
    "delivery": (
        "tell me where my parcel is",
        "find out when the {item} will arrive",
        "look up the tracking of order {order}",
        "ask the courier what became of the {item}",
        "say on which day the {item} comes",
        "check whether order {order} has left your house",
        "have the parcel brought in the evening",
        "send the {item} to the pick-up point instead of my door",
        "let me know how long the {item} still takes",
        "leave the parcel with the neighbour",
        "hurry the {item} along, I need it by {day}",
        "trace a box that was posted on {day}",
    ),
    "account": (
        "reset my password",
        "change the mail address of my account",
        "delete my account",
        "take me off the newsletter",
        "unlock my login",
        "correct my name to {name}",
        "merge my two accounts",
        "remove the card that is stored under my name",
        "send the code for signing in again",
        "add my {relative} as a second user",
        "stop the messages on my phone",
        "update the street in my profile",
    ),
}
HINTS = {
    "refund": (
        "{money} for this is more than I will accept",
        "I was charged twice, {money} each time",
        "my bank says the {money} never came back",
        "the {item} went into the bin and I still paid {money}",
        "a shop around the corner sells it for half, so I brought yours to the post",
        "I sent the {item} back {weeks} weeks ago and my card shows nothing",
    ),
    "replacement": (
        "the {item} stopped working after {weeks} weeks and I would still like to use it",
        "one handle of the {item} was missing in the box",
        "I ordered {colour} and got a grey {item}",
        "the {item} is fine except that the lid does not close",
        "it came with a crack, and my {relative} needs a whole {item} by {day}",
        "the {item} you sent is far too small for my {relative}",
    ),
    "delivery": (
        "{weeks} weeks have gone by and the doorbell has not rung",
        "on {day} I waited all day for nobody",
        "the page has said 'on its way' since {day}",
        "my neighbour got hers, mine is nowhere",
        "a card says you were here on {day}, but I was at home",
        "the birthday of my {relative} is on {day} and the table is empty",
    ),
    "account": (
        "the page does not let me in since {day}",
        "it says that {name} is unknown, which is me",
        "I moved house and you still write to the old one",
        "every morning there is another advertisement in my inbox",
        "I have a new phone and no longer get your codes",
        "my {relative} signed up in my name, which was a mistake",
    ),
}
LEADS = (
    "please {action}",
    "could you {action}?",
    "I would like you to {action}",
    "can somebody {action}?",
    "I have to ask you to {action}",
    "would you be so kind and {action}",
    "the best thing would be to {action}",
    "you promised to {action}, so do it",
    "all I want is that you {action}",
    "kindly {action}",
    "{action}, please",
    "my wish is simple: {action}",
)
DENIALS = (
    "there is no need to {action}",
    "I do not want you to {action}",
    "you do not have to {action}",
    "do not {action}",
    "nobody asked you to {action}",
    "I never said you should {action}",
)
MEMORIES = (
    "last year I had to ask you to {action}, and that went well",
    "in spring you were quick to {action}, thanks for that",
    "your colleague already offered to {action}, which is settled",
    "the other day you managed to {action} within an hour",
)
OPENINGS = (
    "hello",
    "dear team",
    "good morning",
    "hi",
    "to whom it may concern",
    "hey there",
    "good evening",
    "",
    "",
    "",
)
ASIDES = (
    "I bought a {colour} {item} on {day}",
    "order {order} was a {item} for my {relative}",
    "this is about the {colour} {item}",
    "I have been a customer for {count} years",
    "we spoke on {day}",
    "I am writing for my {relative}",
    "the {item} cost {money}",
    "my order has the number {order}",
    "the parcel came on {day}",
    "I am logged in as {name}",
    "",
    "",
    "",
)
CLOSINGS = (
    "thanks",
    "best regards, {name}",
    "yours, {name}",
    "many thanks in advance",
    "{name}",
    "regards",
    "",
    "",
    "",
)
WORDS = {
    "item": "lamp kettle backpack chair jacket blender tent mirror clock radio desk pillow heater camera scooter vase "
    "toaster bicycle pan rug drill shelf watch fan",
    "colour": "red blue green black white yellow brown orange silver purple",
    "day": "Monday Tuesday Wednesday Thursday Friday Saturday Sunday",
    "name": "Ada Bo Chika Dara Emil Farid Greta Hugo Ines Jonas Keiko Lena Milan Nora Omar Pia",
    "relative": "mother father sister brother son daughter aunt uncle grandson neighbour",
    "count": "2 3 4 5 6 7 8 9",
    "weeks": "two three four five six seven",
}
FILLERS = {gap: words.split() for gap, words in WORDS.items()}
KEYWORDS = {
    "refund": ("money", "refund", "pay", "charge", "credit"),
    "replacement": ("another", "new", "replace", "exchange", "broken", "repair"),
    "delivery": ("parcel", "tracking", "courier", "arrive"),
    "account": ("account", "password", "login", "newsletter"),
}

DECOYED = {"denied": 0.22, "over": 0.14}  # how often a second wish is there, and how
FALLS_FOR = {"denied": 0.55, "over": 0.4}  # how often the language model takes it for the wish
HINTED, GUESSES = 0.2, 0.25  # how often a wish is only hinted at, and a hint misread
SLIPS, SILENT, TYPOS = 0.04, 0.05, 0.02


@dataclass(frozen=True)
class Message:
    """A text, what its writer wants, which other wish it speaks of and how, and whether the wish is only hinted at."""

    text: str
    intent: str
    decoy: str | None
    mood: str | None
    hinted: bool


class Writer:
    """Writes messages and plays the annotators, by chance."""

    def __init__(self, chance: Chance) -> None:
        self._rng = chance.numpy()

    def rows(self, count: int, prefix: str) -> list[dict[str, str]]:
        """Messages with their true intent and what the two annotators say."""
        made = (self.message() for _ in range(count))
        return [
            {
                "id": f"{prefix}{number:04d}",
                "text": message.text,
                "intent": message.intent,
                "llm": self.llm(message),
                "rules": rules(message.text),
            }
            for number, message in enumerate(made, 1)
        ]

    def message(self) -> Message:
        """A new message."""
        intent, mood = self._one(INTENTS), self._mood()
        decoy = None if mood is None else self._one([other for other in INTENTS if other != intent])
        hinted = self._happens(HINTED)
        parts = [self._one(ASIDES), self._wish(intent, hinted)]
        if decoy is not None:
            parts.insert(self._rng.integers(len(parts) + 1), self._second(decoy, mood))
        text = self._joined([self._one(OPENINGS), *parts, self._one(CLOSINGS)])
        return Message(self._mistyped(text), intent, decoy, mood, hinted)

    def llm(self, message: Message) -> str:
        """The language model's label; empty where it gives none."""
        if self._happens(SILENT):
            return ""
        if message.mood is not None and self._happens(FALLS_FOR[message.mood]):
            return str(message.decoy)
        wrong = self._happens(GUESSES if message.hinted else SLIPS)
        return self._one([other for other in INTENTS if other != message.intent]) if wrong else message.intent

    def _wish(self, intent: str, hinted: bool) -> str:
        if hinted:
            return self._one(HINTS[intent])
        return self._one(LEADS).replace("{action}", self._one(ACTIONS[intent]))

    def _second(self, decoy: str, mood: str | None) -> str:
        return self._one(DENIALS if mood == "denied" else MEMORIES).replace("{action}", self._one(ACTIONS[decoy]))

    def _mood(self) -> str | None:
        drawn = self._rng.random()
        return "denied" if drawn < DECOYED["denied"] else "over" if drawn < sum(DECOYED.values()) else None

    def _joined(self, parts: Sequence[str]) -> str:
        text = ". ".join(part for part in parts if part).replace("?.", "?")
        while "{" in text:  # one gap at a time: two of a kind may be filled differently
            gap = text[text.index("{") + 1 : text.index("}")]
            text = text.replace(f"{{{gap}}}", self._filler(gap), 1)
        return text

    def _filler(self, gap: str) -> str:
        if gap == "order":
            return str(self._rng.integers(1000, 10000))
        if gap == "money":
            return f"{self._rng.integers(8, 200)} {self._one(('euros', 'dollars'))}"
        return self._one(FILLERS[gap])

    def _mistyped(self, text: str) -> str:
        """Some words lose a letter."""
        return " ".join(self._shortened(word) if self._happens(TYPOS) else word for word in text.split())

    def _shortened(self, word: str) -> str:
        place = int(self._rng.integers(len(word)))
        return word[:place] + word[place + 1 :] if len(word) > 3 else word

    def _one(self, choices: Sequence[str]) -> str:
        return choices[int(self._rng.integers(len(choices)))]

    def _happens(self, share: float) -> bool:
        return bool(self._rng.random() < share)


def rules(text: str) -> str:
    """The intent with most of its words in the text; empty if there is none, or not one alone."""
    counts = {intent: sum(text.count(word) for word in words) for intent, words in KEYWORDS.items()}
    most = max(counts.values())
    best = [intent for intent, count in counts.items() if count == most > 0]
    return best[0] if len(best) == 1 else ""


def flats(count: int, chance: Chance) -> list[dict[str, str]]:
    """Flats with their rent, and a rule of thumb that forgets where they are."""
    rng = chance.numpy()
    area, distance = rng.uniform(25, 130, count), rng.uniform(0.5, 20, count)
    heating = np.array(["gas", "district", "pump"])[rng.integers(3, size=count)]
    age, balcony = rng.integers(0, 90, count), rng.random(count) < 0.4
    rent = 180 + 11 * area * np.exp(-distance / 18) + 60 * balcony - 0.8 * age + 40 * (heating == "pump")
    estimate = 200 + 9.5 * area + rng.normal(0, 60, count)
    missing = rng.random(count) < 0.05  # some years are not known
    return [
        {
            "area": f"{area[i]:.0f}",
            "distance": f"{distance[i]:.1f}",
            "age": "" if missing[i] else str(age[i]),
            "balcony": "yes" if balcony[i] else "no",
            "heating": str(heating[i]),
            "rent": f"{rent[i] + rng.normal(0, 25):.0f}",
            "estimate": f"{estimate[i]:.0f}",
        }
        for i in range(count)
    ]


def write(path: Path, rows: Iterable[dict[str, str]], without: str = "") -> None:
    """A CSV of rows, one column left out."""
    rows = [{name: cell for name, cell in row.items() if name != without} for row in rows]
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, rows[0], lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


def make(folder: Path) -> None:
    """Write every table."""
    chance = Chance(SEED)
    for name, count in (("weak", 2000), ("strong", 150), ("test", 400)):
        mail = Writer(chance.child("support", name)).rows(count, name[0])
        write(folder / "support" / f"{name}.csv", mail, without="intent" if name == "weak" else "")
    for name, count in (("weak", 600), ("strong", 40), ("test", 300)):
        rows = flats(count, chance.child("flats", name))
        write(folder / "flats" / f"{name}.csv", rows, without="rent" if name == "weak" else "")


if __name__ == "__main__":
    make(Path(sys.argv[1]) if len(sys.argv) > 1 else HERE)
