"""Reads an HTML page as a browser would find it."""

from html.parser import HTMLParser


class Page(HTMLParser):
    """What a browser would find: elements, attributes, addresses."""

    def __init__(self, html):
        super().__init__()
        self.elements, self.attributes, self.addresses, self.rels = set(), set(), [], set()
        self.feed(html)

    def handle_starttag(self, tag, attrs):
        self.elements.add(tag)
        self.attributes.update(name for name, _ in attrs)
        if tag == "a":
            self.addresses.append(dict(attrs)["href"])
            self.rels.add(dict(attrs).get("rel"))
