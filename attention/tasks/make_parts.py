"""Deal words and phrases out to training, validation and test: `python -m attention.tasks.make_parts`.

Needs the packages of requirements-dev.txt. Writes the same files on every machine.
"""

from pathlib import Path

from attention.tasks import parts
from attention.tasks.pinyin import families as families_of_phrases
from attention.tasks.pinyin.phrases import phrases
from attention.tasks.spelling import families as families_of_words
from attention.tasks.spelling.lexicon import all_entries

HERE = Path(__file__).parent


def main() -> None:
    found = {
        "spelling": families_of_words.families(all_entries()),
        "pinyin": families_of_phrases.families(phrases().readings),
    }
    for task, families in found.items():
        dealt = parts.deal_out(families)
        parts.write(dealt, HERE / task)
        sizes = ", ".join(f"{len(texts):,} for {part}" for part, texts in dealt.items())
        print(f"{task}: {len(families):,} families, the largest of {max(map(len, families)):,}; {sizes}")


if __name__ == "__main__":
    main()
