"""Folders of others give their own files, and nothing else of the machine."""

import os
import pickle
import socket
import threading
from pathlib import Path

import pytest

from schemas.reasons import Reason
from schemas.text.plain_files import PlainFileError, files_below, open_file, read_file


def refusal(path: Path) -> str:
    with pytest.raises(PlainFileError) as refused:
        read_file(path, 1000)
    assert refused.value.reason is Reason.WRONG_TYPE
    assert "\n" not in str(refused.value)
    return str(refused.value)


def test_a_regular_file_is_read_within_its_bound(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes(b"12345")
    assert read_file(path, 5) == b"12345"
    with pytest.raises(PlainFileError) as refused:
        read_file(path, 4)
    assert refused.value.reason is Reason.TOO_LARGE
    assert refused.value.named == "a.txt has more than 4 bytes"
    copy = pickle.loads(pickle.dumps(refused.value))
    assert (str(copy), copy.named, copy.reason) == (
        str(refused.value),
        refused.value.named,
        Reason.TOO_LARGE,
    )


def test_links_pipes_sockets_devices_and_folders_are_refused_with_a_remedy(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to("/proc/self/environ")
    assert refusal(tmp_path / "link") == f"{tmp_path}/link is a link: put the file itself there"
    os.mkfifo(tmp_path / "pipe")
    with socket.socket(socket.AF_UNIX) as own:
        own.bind(str(tmp_path / "socket"))
        for name in ("pipe", "socket"):
            assert "put a file there" in refusal(tmp_path / name)
    assert "put a file there" in refusal(tmp_path)
    assert "put a file there" in refusal(Path("/dev/zero"))


def test_no_folder_of_the_path_is_a_link_or_leads_upwards(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "real" / "a.txt").write_text("a")
    (tmp_path / "other").symlink_to("real")
    assert read_file(tmp_path / "real" / "a.txt", 10) == b"a"
    assert "behind the link other" in refusal(tmp_path / "other" / "a.txt")
    refusal(tmp_path / "real" / ".." / "real" / "a.txt")
    with pytest.raises(FileNotFoundError):
        open_file(tmp_path / "none" / "a.txt")


@pytest.mark.skipif(os.geteuid() != 0, reason="only root gives files to other owners")
def test_another_name_of_a_file_of_another_owner_is_refused(tmp_path: Path) -> None:
    secret, folder = tmp_path / "secret", tmp_path / "folder"
    secret.write_text("s")
    folder.mkdir()
    os.link(secret, folder / "a.txt")
    assert read_file(folder / "a.txt", 10) == b"s"  # of the same owner
    os.chown(folder, 12345, 12345)
    assert "another owner" in refusal(folder / "a.txt")


def test_a_listing_shows_links_and_does_not_follow_them(tmp_path: Path) -> None:
    (tmp_path / "a" / "b").mkdir(parents=True)
    (tmp_path / "a" / "b" / "c.txt").write_text("c")
    (tmp_path / "a" / "loop").symlink_to(tmp_path)
    (tmp_path / "gone").symlink_to("nowhere")
    assert sorted(each.relative_to(tmp_path).as_posix() for each in files_below(tmp_path)) == [
        "a/b/c.txt",
        "a/loop",
        "gone",
    ]
    with pytest.raises(PlainFileError, match="more than 2 files"):
        list(files_below(tmp_path, 2))


def test_a_file_that_is_exchanged_for_a_link_meanwhile_is_never_followed(tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("secret")
    (tmp_path / "plain").write_text("plain")
    path, done = tmp_path / "inside", threading.Event()

    def exchange() -> None:
        while not done.is_set():
            for make in (lambda new: new.symlink_to("secret"), lambda new: new.write_text("plain")):
                new = tmp_path / "new"
                make(new)
                new.replace(path)

    path.write_text("plain")
    exchanging = threading.Thread(target=exchange)
    exchanging.start()
    try:
        for _ in range(3000):
            try:
                assert read_file(path, 10) in (b"plain", b"")
            except (PlainFileError, OSError):
                continue
    finally:
        done.set()
        exchanging.join()
