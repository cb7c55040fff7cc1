# SPDX-License-Identifier: LGPL-2.1-or-later
"""Executable files that a hostile user could make.

Each has a page with code that runs: hot-file maps it and calls CODE, so that samples fall into it. The rest of a
file is a hole, which costs nothing, however long.
"""
import os
import platform
import struct

PAGE = 4096
CODE = 0x400  # subtract one from the first argument until it is zero, return
LOOP = {
    "x86_64": bytes.fromhex("48ffcf" "75fb" "c3"),
    "aarch64": bytes.fromhex("000400f1" "e1ffff54" "c0035fd6"),
}[platform.machine()]
MACHINE = {"x86_64": 62, "aarch64": 183}[platform.machine()]
HEADERS, SEGMENTS, NAMES, SECTIONS = 0, 64, 0x600, 0x800
LOAD, NOTE = 1, 4
PROGBITS, SYMTAB, STRTAB, RELA, DYNSYM = 1, 2, 3, 4, 11
ALLOC, EXECUTABLE = 2, 4
KIB, MIB, GIB, TIB = (1 << shift for shift in (10, 20, 30, 40))


def segment(kind, flags, offset, size):
    return struct.pack("<IIQQQQQQ", kind, flags, offset, offset, offset, size, size, 4)


class Sections:
    """Section headers and their names."""

    def __init__(self):
        self.names, self.headers = b"\0", [bytes(64)]

    def add(self, name, kind, offset, size, flags=0, link=0, entry=0, info=0):
        """Returns the index of the section."""
        self.headers.append(struct.pack("<IIQQQQIIQQ", len(self.names), kind, flags, offset, offset, size, link, info,
                                        1, entry))
        self.names += name.encode() + b"\0"
        return len(self.headers) - 1


def write(path, sections=None, segments=(), parts=(), size=PAGE, names_size=None):
    """Writes an ELF file of @size bytes: @parts are pairs of an offset and bytes, @names_size what .shstrtab claims."""
    sections = sections or Sections()
    names = sections.add(".shstrtab", STRTAB, NAMES, 0)
    sections.headers[names] = sections.headers[names][:32] + struct.pack(
        "<Q", names_size or len(sections.names)) + sections.headers[names][40:]
    segments = [segment(LOAD, 5, 0, PAGE), *segments]
    header = b"\x7fELF" + bytes((2, 1, 1)) + bytes(9) + struct.pack(
        "<HHIQQQIHHHHHH", 3, MACHINE, 1, CODE, SEGMENTS, SECTIONS, 0, 64, 56, len(segments), 64, len(sections.headers),
        names)
    with open(path, "wb") as file:
        for offset, content in ((HEADERS, header), (SEGMENTS, b"".join(segments)), (CODE, LOOP),
                                (NAMES, sections.names), (SECTIONS, b"".join(sections.headers)), *parts):
            file.seek(offset)
            file.write(content)
        file.truncate(max(size, PAGE))
    os.chmod(path, 0o755)
    return path


def note(build_id):
    return struct.pack("<III", 4, len(build_id), 3) + b"GNU\0" + build_id


def long_names(path):
    """4 KiB of content, 64 GiB of size, names of sections of 4 GiB."""
    return write(path, size=64 * GIB, names_size=4 * GIB)


def many_notes(path, n=6):
    """Each segment of notes is 500 MiB."""
    return write(path, segments=[segment(NOTE, 4, PAGE + i * 500 * MIB, 500 * MIB) for i in range(n)],
                 size=PAGE + n * 500 * MIB)


def debug_link(path, n_bytes=TIB):
    """Refers to a debug file beside it, of @n_bytes."""
    name = os.path.basename(path) + ".debug"
    write(os.path.join(os.path.dirname(path), name), size=n_bytes)
    sections = Sections()
    link = name.encode() + b"\0"
    link += bytes(-len(link) % 4) + struct.pack("<I", 0x12345678)
    sections.add(".gnu_debuglink", PROGBITS, 0x500, len(link))
    return write(path, sections, parts=[(0x500, link)])


def many_symbols(path, n=20_000_000):
    """Claims @n symbols, as many dynamic ones, and as many relocations."""
    sections = Sections()
    n_bytes = 24 * n
    strings = sections.add(".strtab", STRTAB, PAGE, 64 * MIB)
    sections.add(".symtab", SYMTAB, GIB, n_bytes, link=strings, entry=24)
    symbols = sections.add(".dynsym", DYNSYM, 2 * GIB, n_bytes, ALLOC, link=strings, entry=24)
    plt = sections.add(".plt", PROGBITS, CODE, 64, ALLOC | EXECUTABLE, entry=16)
    sections.add(".rela.plt", RELA, 3 * GIB, n_bytes, ALLOC, link=symbols, entry=24, info=plt)
    return write(path, sections, size=4 * GIB)


def named(path, function, build_id=b""):
    """A well-formed file whose code is called @function, with that build-id."""
    sections = Sections()
    strings = b"\0" + function.encode() + b"\0"
    index = sections.add(".strtab", STRTAB, 0xc00, len(strings))
    code = sections.add(".text", PROGBITS, CODE, len(LOOP), ALLOC | EXECUTABLE)
    symbols = bytes(24) + struct.pack("<IBBHQQ", 1, 0x12, 0, code, CODE, len(LOOP))
    sections.add(".symtab", SYMTAB, 0xd00, len(symbols), link=index, entry=24, info=1)
    parts = [(0xc00, strings), (0xd00, symbols)]
    segments = []
    if build_id:
        parts.append((0xe00, note(build_id)))
        segments.append(segment(NOTE, 4, 0xe00, len(note(build_id))))
    return write(path, sections, segments, parts)


def build_id_place(path):
    """Where in the file its build-id is: offset and length."""
    with open(path, "rb") as file:
        content = file.read()
    at = content.find(b"\x04\0\0\0\x14\0\0\0\x03\0\0\0GNU\0")
    return (at + 16, 20) if at >= 0 else None


def build_id_of(path):
    offset, length = build_id_place(path)
    with open(path, "rb") as file:
        file.seek(offset)
        return file.read(length)


def copy_program(source, path, build_id=None):
    """A copy of a program; with another build-id, so that nothing is known about it yet."""
    with open(source, "rb") as file:
        content = bytearray(file.read())
    offset, length = build_id_place(source)
    content[offset:offset + length] = build_id or os.urandom(length)
    with open(path, "wb") as file:
        file.write(content)
    os.chmod(path, 0o755)
    return path
