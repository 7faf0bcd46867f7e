"""c_literals - bytes as C string literals, for the scripts that compile files into the program."""

LINE = 96
ESCAPED = [f"\\{byte:03o}" for byte in range(256)]
for byte in range(32, 127):
    if chr(byte) not in '"\\?':  # two question marks may begin a trigraph
        ESCAPED[byte] = chr(byte)


def literal(data):
    """Returns the bytes as a C string; a digit after a three-digit octal escape is not part of
    it."""
    lines = (data[i : i + LINE] for i in range(0, len(data), LINE))
    return "\n".join('        "' + "".join(ESCAPED[b] for b in line) + '"' for line in lines) or '""'
