"""Splits C++ and HLSL into tokens. White space, line breaks and comments are not part of any token."""
import re
import typing

# `>` is always separate, because the two of `>>` may also end two lists of template arguments.
_TOKEN = re.compile(r'''
    (?P<blank>\s+|\\\r?\n|//(?:\\\r?\n|[^\n])*|/\*.*?\*/)
  | (?:u8|[uUL])?R"(?P<delimiter>[^\s()\\]{0,16})\(.*?\)(?P=delimiter)"
  | (?:u8|[uUL])?(?:"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*')
  | \.?[0-9](?:[eEpP][+-]|'[0-9A-Za-z_]|[0-9A-Za-z_.])*
  | [A-Za-z_]\w*
  | <<=|<=>|\.\.\.|->\*|::|\.\*|\#\#|\+\+|--|<<|->|&&|\|\||[-+*/%&|^=!<]=|.
''', re.VERBOSE | re.DOTALL)
_DIRECTIVE = re.compile(r'[ \t]*#(?:\\\r?\n|[^\n])*')
_NAME = re.compile(r'[A-Za-z_]\w*')


class Token(typing.NamedTuple):
    """A token with its offsets in the source's text."""
    text: str
    start: int
    end: int
    directive: int  # the index of the token that begins its preprocessor directive, or -1 outside of directives


def is_name(text):
    """Whether a token is an identifier or a keyword."""
    return _NAME.fullmatch(text) is not None


def tokens_of(text):
    """The tokens of a source, in order. Never fails: text that no compiler accepts gives tokens, too."""
    tokens = []
    directive, directive_end = -1, 0
    for match in _TOKEN.finditer(text):
        if match['blank']:
            continue
        start = match.start()
        if start >= directive_end:
            directive = -1
        line_start = text.rfind('\n', 0, start) + 1
        if directive < 0 and match.group() == '#' and not text[line_start:start].strip():
            directive = len(tokens)
            directive_end = _DIRECTIVE.match(text, line_start).end()
        tokens.append(Token(match.group(), start, match.end(), directive))
    return tokens


def words_of(text):
    """The texts of the tokens."""
    return [token.text for token in tokens_of(text)]
