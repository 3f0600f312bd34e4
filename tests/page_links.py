"""References of a page: outside only to the web, and inside only to existing elements."""

import re
from collections import Counter
from html.parser import HTMLParser

ADDRESSES = {"href", "src", "xlink:href", "poster", "data", "action"}
NAMES = {"aria-labelledby", "aria-describedby", "aria-controls", "for"}


class Elements(HTMLParser):
    """Collects ids, addresses and references by name."""

    def __init__(self):
        super().__init__()
        self.ids, self.addresses, self.names, self.within, self.headings = Counter(), [], [], [], []

    def handle_starttag(self, tag, attributes):
        if re.fullmatch("h[1-6]", tag):
            self.headings.append(int(tag[1]))
        for name, value in attributes:
            if name == "id":
                self.ids[value] += 1
            if name in ADDRESSES:
                self.addresses.append((tag, value))
            if name in NAMES:
                self.names += value.split()
            if name not in {"href", "src"}:
                self.within += re.findall(r"url\((.*?)\)", value or "")

    handle_startendtag = handle_starttag


def elements(text):
    """The elements of a page."""
    found = Elements()
    found.feed(text)
    return found


def problems(page):
    """Describes errors in the references of a page; empty for a self-contained page."""
    text = page.read_text(encoding="utf-8")
    found = elements(text)
    wrong = [f"the id {name} stands {times} times" for name, times in found.ids.items() if times > 1]
    wrong += [f"no element is called {name}" for name in found.names if name not in found.ids]
    styles = "".join(re.findall(r"<style.*?</style>", text, re.DOTALL))
    within = [*found.within, *re.findall(r"url\((.*?)\)", styles)]
    for tag, address in [*found.addresses, *(("style", one.strip("'\"")) for one in within)]:
        if address.startswith("#"):
            if address[1:] not in found.ids:
                wrong.append(f"<{tag}> leads to {address}, which is not there")
        elif tag == "a" and address.startswith("lab.html#"):
            # If the lab has been built, a copy of it is next to the page.
            if not page.with_name("lab.html").is_file():
                wrong.append(f"<{tag}> leads to the lab, which is not beside the page")
        elif not address.startswith("data:") and not (tag == "a" and re.match("https?://", address)):
            wrong.append(f"<{tag}> leads out of the page, to {address!r}")
    if "@import" in styles:
        wrong.append("a style is imported")
    return wrong
