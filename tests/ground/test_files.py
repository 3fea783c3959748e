"""Files on odd places, tables that are not whole, and cells that a spreadsheet would compute."""

import os
import socket
import stat
import tracemalloc

import pyarrow as pa
import pytest
from sweetspot.errors import UserError, exit_on_user_error
from sweetspot.files import (
    PART,
    read_arrow,
    read_limited,
    read_parquet,
    require_space,
    require_writable,
    write_arrow,
    write_whole,
)


def pipe(path):
    os.mkfifo(path)


def device(path):
    try:
        os.mknod(path, stat.S_IFCHR | 0o600, os.makedev(1, 7))  # a twin of /dev/full
    except PermissionError:
        pytest.skip("only root makes devices")


def listening(path):
    socket.create_server(str(path), family=socket.AF_UNIX).close()


PLACES = {"a pipe": pipe, "a device": device, "a folder": os.mkdir, "a socket": listening}


@pytest.mark.parametrize("kind", PLACES)
def test_what_is_no_file_is_never_replaced_and_refused_before_measuring(tmp_path, kind):
    place = tmp_path / "x"
    PLACES[kind](place)
    before = place.stat()
    for attempt in (lambda: require_space(place), lambda: write_arrow(pa.table({"a": [1]}), place)):
        with pytest.raises(UserError, match=f"x: is {kind}; expected the name of a file, new or to be replaced"):
            attempt()
    after = place.stat()
    assert (after.st_ino, after.st_mode, after.st_rdev) == (before.st_ino, before.st_mode, before.st_rdev)
    assert list(tmp_path.iterdir()) == [place]


def test_a_folder_of_another_is_refused_and_one_that_is_not_there_is_no_fault(tmp_path, monkeypatch):
    mine, other = tmp_path / "mine", tmp_path / "other"
    for folder in (mine, other):
        folder.mkdir()
    monkeypatch.setattr(os, "access", lambda *given: given == (f"{mine}/", os.W_OK))  # root may write all
    require_writable(mine, tmp_path / "none")
    with pytest.raises(UserError, match="other: cannot be written"):
        require_writable(mine, other)


def test_a_mistake_ends_a_program_with_2_and_one_line(capsys):
    with pytest.raises(SystemExit) as ended, exit_on_user_error():
        raise UserError("a.yaml: x is 1; expected 2", "a.yaml: y is 1; expected 3")
    assert ended.value.code == 2 and capsys.readouterr().err == "error: a.yaml: x is 1; expected 2\n"


@pytest.mark.parametrize("size", [0, 7, PART, 2 * PART + 3])
def test_a_file_is_read_up_to_its_bound_and_takes_no_more_room_than_it_has(tmp_path, size):
    """A buffer of 2 GB was asked for the shortest file."""
    file = tmp_path / "x"
    file.write_bytes(b"x" * size)
    tracemalloc.start()
    assert read_limited(file, 2_000_000_000) == read_limited(file, size) == b"x" * size
    assert tracemalloc.get_traced_memory()[1] < 4 * size + 3 * PART
    tracemalloc.stop()
    if size:
        with pytest.raises(UserError, match=f"x: {size} bytes; expected at most {size - 1}"):
            read_limited(file, size - 1)


@pytest.mark.parametrize("deeper", ["x", "a/b/x"])
def test_a_file_in_the_place_of_a_folder_is_one_sentence(tmp_path, deeper):
    (tmp_path / "file").write_text("kept")
    for attempt in (require_space, lambda path: write_arrow(pa.table({"a": [1]}), path)):
        with pytest.raises(UserError, match=r"file/.*x: cannot be written \(Not a directory\)"):
            attempt(tmp_path / "file" / deeper)
    assert (tmp_path / "file").read_text() == "kept"


def test_a_file_is_replaced_also_through_a_linked_folder(tmp_path):
    (tmp_path / "there").mkdir()
    (tmp_path / "link").symlink_to("there")
    for text in ("old", "new"):
        require_space(tmp_path / "link" / "x")
        with write_whole(tmp_path / "link" / "x", lasting=True) as temporary:
            temporary.write_text(text)
    assert (tmp_path / "there" / "x").read_text() == "new"
    assert [file.name for file in (tmp_path / "there").iterdir()] == ["x"]


def test_a_lasting_file_is_on_the_disk_before_it_has_its_name(tmp_path, monkeypatch):
    done = []
    monkeypatch.setattr(os, "fsync", lambda descriptor: done.append(("sync", os.fstat(descriptor).st_ino)))
    real = os.replace
    monkeypatch.setattr(os, "replace", lambda old, new: (done.append(("name", old.stat().st_ino)), real(old, new)))
    write_arrow(pa.table({"a": [1]}), tmp_path / "x")
    inode = (tmp_path / "x").stat().st_ino
    assert done == [("sync", inode), ("name", inode)]


def test_a_table_that_is_not_whole_is_named_with_its_remedy(tmp_path):
    file = tmp_path / "costs.parquet"
    write_arrow(pa.table({"a": list(range(100_000))}), file)
    whole = file.read_bytes()
    cut = whole[:1000] + bytes(len(whole) - 2000) + whole[-1000:]
    for content in (b"", b"PAR1", b"no table at all", bytes(4096), cut):
        file.write_bytes(content)
        for read in (read_arrow, read_parquet):
            with pytest.raises(UserError, match=r"costs.parquet: is no whole table \(.+\); remove it and it is made"):
                read(file)
    write_arrow(pa.table({"a": [1]}).replace_schema_metadata({"pandas": '{"columns": [{"name": "a"}]}'}), file)
    with pytest.raises(UserError, match="is no whole table"):  # a bit of what pandas noted there
        read_parquet(file)
