# SPDX-License-Identifier: LGPL-2.1-or-later
"""Profiles of OpenTelemetry as Google's own reader of Protocol Buffers has them, with the messages of otlp.proto."""

import collections
import importlib.util
import os
import shutil
import subprocess
import sys
import tempfile

from harness import check

def compile_messages():
    """The module that protoc makes of otlp.proto; None: protoc or its module for Python is not installed."""
    sys.path.append("/usr/lib/python3/dist-packages")  # Debian's, also for another python3
    if not shutil.which("protoc") or not importlib.util.find_spec("google"):
        return None
    here = os.path.dirname(os.path.abspath(__file__))
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run(["protoc", "-I", here, "--python_out", folder, here + "/otlp.proto"], check=True)
        spec = importlib.util.spec_from_file_location("otlp_pb2", folder + "/otlp_pb2.py")
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
    return module


def has_unknown(message):
    """Whether some field of it, or of a message in it, is none of otlp.proto."""
    copy = type(message)()
    copy.CopyFrom(message)
    copy.DiscardUnknownFields()
    return copy.ByteSize() != message.ByteSize()


class Request:
    """What a request has, with all of its indices resolved."""

    def __init__(self, messages, body, what):
        self.request, self.what = messages.ExportProfilesServiceRequest.FromString(body), what
        self.dictionary = self.request.dictionary
        check(not has_unknown(self.request), what, "unknown fields")
        for field, rows in self.dictionary.ListFields():
            plain = [row if isinstance(row, str) else row.SerializeToString() for row in rows]
            check(len(plain[0]) == 0, what, field.name, "row 0")
            if field.name not in ("string_table", "attribute_table"):  # names that differ may be shown as one
                check(len(set(plain)) == len(plain), what, field.name, "a row is there twice",
                      [row for row, n in collections.Counter(plain).items() if n > 1])
        check(len(self.dictionary.ListFields()) == 7, what, "a table lacks row 0")
        (resource,) = self.request.resource_profiles
        (scope,) = resource.scope_profiles
        self.resource = {pair.key: pair.value.string_value for pair in resource.resource.attributes}
        self.scope, self.profiles = scope.scope.name, list(scope.profiles)

    def text(self, index):
        return self.dictionary.string_table[index]

    def attributes(self, indices):
        rows = [self.dictionary.attribute_table[i] for i in indices]
        check(all(i > 0 for i in indices), self.what, "an attribute of number 0")
        return {self.text(row.key_strindex): getattr(row.value, row.value.WhichOneof("value")) for row in rows}

    def types(self):
        return [(self.text(profile.sample_type.type_strindex), self.text(profile.sample_type.unit_strindex))
                for profile in self.profiles]

    def stack(self, index):
        """The names of functions, innermost first; None where there is none."""
        check(index > 0, self.what, "a sample without a stack")
        for number in self.dictionary.stack_table[index].location_indices:
            location = self.dictionary.location_table[number]
            mapping = self.dictionary.mapping_table[location.mapping_index]
            check(location.mapping_index == 0 or mapping.memory_start <= location.address < mapping.memory_limit,
                  self.what, "an address outside of its mapping", hex(location.address), hex(mapping.memory_start),
                  hex(mapping.memory_limit), self.text(mapping.filename_strindex))
            if not location.lines:
                yield None
            for line in location.lines:
                yield self.text(self.dictionary.function_table[line.function_index].name_strindex)

    def by_function(self, profile):
        names = collections.Counter()
        for sample in profile.samples:
            (value,) = sample.values
            names[next(self.stack(sample.stack_index))] += value
        return names

    def by_attribute(self, profile, key):
        values = collections.Counter()
        for sample in profile.samples:
            values[self.attributes(sample.attribute_indices).get(key)] += sample.values[0]
        return values
