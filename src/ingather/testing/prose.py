"""Words for pages that nobody wrote: English enough to be stemmed, ranked and shown in snippets."""

__all__ = ["WORDS", "paragraph", "topic"]

WORDS = tuple(
    """
    account acres address advice agreement airport archive area arrival article autumn balance bank bicycle board
    border bottle branch bridge budget building cabinet calendar canal candle capital carpet castle catalogue ceiling
    chapter charter choir circle citizen classroom climate clock coast collection committee company compass concert
    contract copper council country course craft crossing culture customer delivery department design diary dinner
    district document drawing drawer driver edition editor education election employee engine entrance estate evening
    exhibition factory family farmer ferry field forest formula fountain furniture gallery garden gate glacier glass
    government grammar granite guide harbour harvest heating history holiday horizon hospital house industry insurance
    interest island journal journey junction kitchen laboratory ladder lake language lantern lecture letter level
    library licence lighthouse literature lodge machine magazine manager map market meadow measure medicine meeting
    member memory merchant mill minister mirror mountain museum music needle neighbour notebook notice novel number
    office officer opinion orchard order owner painting palace paper parcel park passage patient pattern payment
    people pilot planet plant platform poem policy pond postcard potter power practice principle printer prize
    procedure professor programme project property proposal province quarry question railway rainfall reader
    receipt region register repair report request reserve reservoir result river road roof route rule sailor salary
    school season secretary section service shelter signal society soldier solution square station statue storm
    street student summer supply surface survey table teacher temple terrace theatre ticket timber timetable tower
    town trade traffic training travel treasure valley vehicle village visitor voyage wagon warehouse water weather
    window winter witness workshop writer yard young
    arranged balanced beautiful broken built careful carried central checked cheerful clean cold common complete
    considered covered curious delivered distant early eastern empty famous finished foreign free frequent friendly
    gathered general gentle golden grateful green heavy hidden holding honest important improved large late leading
    local lonely loud lower main measured modern moving narrow natural northern official old open ordered ordinary
    painted patient planned pleasant plentiful polished powerful prepared private proper public quiet ready recent
    regular repaired rich round running safe selected serious several shared sheltered simple slow small southern
    special standing steady strange strong tall technical thick travelling upper useful usual walking warm western
    white wide wooden working written
    """.split()  # noqa: SIM905 - five hundred quotes help nobody
)


def paragraph(dice: int, words: int) -> str:
    """Return sentences of *words* words in all, decided by *dice*."""
    sentences: list[str] = []
    sentence: list[str] = []
    for n in range(words):
        dice = (dice * 6364136223846793005 + 1442695040888963407) & 0xFFFF_FFFF_FFFF_FFFF
        sentence.append(WORDS[(dice >> 33) % len(WORDS)])
        if len(sentence) > 6 + (dice >> 20) % 9 or n == words - 1:
            sentences.append(f"The {' '.join(sentence)}.")
            sentence = []
    return " ".join(sentences)


def topic(dice: int) -> str:
    """Return two words, capitalised, decided by *dice*."""
    return f"{WORDS[dice % len(WORDS)].title()} {WORDS[(dice >> 24) % len(WORDS)]}"
