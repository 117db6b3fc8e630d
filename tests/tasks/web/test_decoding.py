"""Answers with halves of characters are read like any other."""

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tasks.web.decoding import UnreadableXmlError, json_of, with_whole_characters, xml_of


@pytest.mark.parametrize(
    ("content", "read"),
    [
        (rb'{"title": "half \ud800 of it"}', "half \ufffd of it"),
        (rb'{"title": "the other \uDFFF"}', "the other \ufffd"),
        (rb'{"title": "\ud800\ud83d\ude00"}', "\ufffd\U0001f600"),
        (rb'{"title": "no escape: \\ud800"}', r"no escape: \ud800"),
        (b'{"title": "raw \xed\xa0\x80"}', "raw \ufffd\ufffd\ufffd"),
        (b'{"title": "caf\xe9"}', "caf\ufffd"),
    ],
)
def test_half_a_character_in_json_reads_as_the_replacement_character(
    content: bytes, read: str
) -> None:
    assert json_of(content) == {"title": read}


@pytest.mark.parametrize("content", [b"", b"<html>", rb'{"title": "\ud800', b"[" * 100_000, b"NaN"])
def test_what_is_no_json_stays_none(content: bytes) -> None:
    with pytest.raises(orjson.JSONDecodeError):
        json_of(content)


@given(st.text(st.characters(codec=None) | st.sampled_from('\\u{}"dD8cCfF0\ud800\udfff')))
def test_whatever_was_mended_can_be_written(text: str) -> None:
    with_whole_characters(text).encode()


@given(st.recursive(st.text(), lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner)))
def test_whole_answers_read_as_they_are(value: object) -> None:
    assert json_of(orjson.dumps(value)) == value


@pytest.mark.parametrize("half", ["&#xD800;", "&#55296;", "\ud800"])
def test_half_a_character_in_xml_reads_as_the_replacement_character(half: str) -> None:
    text = f"<p>Sparse {half}attention</p>"
    content = text.encode("utf-8", "surrogatepass")
    assert "".join(xml_of(content).itertext()).replace("\ufffd", "") == "Sparse attention"


@pytest.mark.parametrize(
    "content", [b"", b"<p>", b"<!DOCTYPE p [<!ENTITY x 'y'>]><p>&x;&#xD800;</p>"]
)
def test_what_is_no_xml_is_refused(content: bytes) -> None:
    with pytest.raises(UnreadableXmlError):
        xml_of(content)
