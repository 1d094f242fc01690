"""Finds the named declarations of C++ and HLSL sources: functions, classes, buffers, enumerations, variables, macros.

This is not a parser. It knows enough of both languages to tell where each declaration begins and ends, and its name.
"""
import typing

import source_tokens

_OPENING = {'{': '}', '(': ')', '[': ']'}
_CLASSES = {'class', 'struct', 'union', 'cbuffer', 'tbuffer'}
# Words before parentheses in a function's head that are not its name.
_NOT_FUNCTIONS = {'alignas', 'decltype', 'explicit', 'noexcept', 'requires', 'throw', '__attribute__', '__declspec'}
_NOT_NAMES = _NOT_FUNCTIONS | _CLASSES | {'enum', 'final', 'const'}
_ACCESS = {'public', 'protected', 'private'}


class Declaration(typing.NamedTuple):
    """A declaration, from its first token to before `end`. Its name has the classes that it is in: `Sums::add`."""
    name: str
    first: int
    end: int


def _partners(tokens):
    """Maps each opening bracket to its closing one. Each branch of an #if begins with the brackets open before it."""
    partners = {}
    unclosed, branches = [], []
    for i, token in enumerate(tokens):
        if token.directive == i:
            word = tokens[i + 1].text if i + 1 < len(tokens) and tokens[i + 1].directive == i else ''
            if word in ('if', 'ifdef', 'ifndef'):
                branches.append(list(unclosed))
            elif word in ('elif', 'else') and branches:
                unclosed = list(branches[-1])
            elif word == 'endif' and branches:
                branches.pop()
        elif token.directive >= 0:
            continue
        elif token.text in _OPENING:
            unclosed.append(i)
        elif token.text in _OPENING.values():
            if unclosed and _OPENING[tokens[unclosed[-1]].text] == token.text:
                partners[unclosed.pop()] = i
    return partners


class _Head(typing.NamedTuple):
    """The words of a declaration before its `=`, `;` or braces, without those in brackets and angle brackets."""
    words: list
    has_value: bool


def _head(words):
    """Makes the head of a declaration from its words without those in brackets."""
    if 'operator' in words:
        return _Head(words, False)
    depth = 0
    outside = []
    for word in words:
        if word == '=' and depth == 0:
            return _Head(outside, True)
        if word == '<':
            depth += 1
        elif word == '>':
            depth = max(depth - 1, 0)
        elif depth == 0 and word != 'template':
            outside.append(word)
    return _Head(outside, False)


def _before_colon(words):
    return words[:words.index(':')] if ':' in words else words


def _qualified(words, last):
    """The name that ends with words[last], with the classes before it: `Sums::add`."""
    first = last - 1 if last > 0 and words[last - 1] == '~' else last
    while first >= 2 and words[first - 1] == '::' and source_tokens.is_name(words[first - 2]):
        first -= 2
    return ''.join(words[first:last + 1])


def _operator(words):
    """The name of the operator that a head declares."""
    first = words.index('operator')
    sign = words[first + 1:first + 2]
    end = first + 2
    while end < len(words) and words[end] != '(':
        end += 1
    closing = _OPENING.get(sign[0], '') if sign else ''
    return _qualified(words, first) + (sign[0] + closing if closing else ''.join(words[first + 1:end]))


def _function(head):
    """The name of the function that a head declares, or ''."""
    if 'operator' in head.words:
        return _operator(head.words)
    words = _before_colon(head.words)
    for i in range(len(words) - 1, 0, -1):
        if words[i] == '(' and source_tokens.is_name(words[i - 1]) and words[i - 1] not in _NOT_FUNCTIONS:
            return _qualified(words, i - 1)
    return ''


def _last_name(words):
    """The last name in the words, which is that of a class or a variable, or ''."""
    for i in range(len(words) - 1, -1, -1):
        if source_tokens.is_name(words[i]) and words[i] not in _NOT_NAMES:
            return _qualified(words, i)
    return ''


class _Reader:
    """Reads the declarations of one source."""

    def __init__(self, tokens):
        self.tokens = tokens
        self.partners = _partners(tokens)
        self.found = []

    def read_macros(self):
        for i, token in enumerate(self.tokens):
            if token.directive != i:
                continue
            end = i
            while end < len(self.tokens) and self.tokens[end].directive == i:
                end += 1
            if end > i + 2 and self.tokens[i + 1].text == 'define':
                self.add('', self.tokens[i + 2].text, i, end)

    def read(self, i, end, scope):
        """Reads the declarations from token i to before `end`, in the class whose name and :: are `scope`."""
        words = []  # of the declaration so far, without those in brackets
        first = i
        while i < end:
            token = self.tokens[i]
            if token.directive < 0:
                first = first if words else i
                words.append(token.text)
                close = self.partners.get(i, i)
                ends = False
                if token.text == ';':
                    ends = True
                    self.read_end(_head(words[:-1]), first, i + 1, scope)
                elif token.text == ':':
                    ends = words[0] in _ACCESS
                elif token.text == '{' and close > i:
                    ends = self.read_braces(_head(words[:-1]), first, i, close, scope)
                words = [] if ends else words
                i = close
            i += 1

    def read_braces(self, head, first, opening, close, scope):
        """Reads the braces that follow a head. False if they do not end the declaration."""
        kind = head.words[0] if head.words else ''
        if 'namespace' in head.words or head.words == ['extern', '"C"']:
            self.read(opening + 1, close, scope)
            return True
        function = _function(head)
        if kind in _CLASSES and not function:
            name = _last_name(_before_colon(head.words))
            has_semicolon = self.tokens[close + 1:close + 2] and self.tokens[close + 1].text == ';'
            self.add(scope, name, first, close + 2 if has_semicolon else close + 1)
            self.read(opening + 1, close, f'{scope}{name}::' if name else scope)
            return True
        # A member's value in a constructor: `: values_{1, 2}`
        is_member = ':' in head.words and source_tokens.is_name(head.words[-1])
        if is_member or head.has_value or not function:
            return False
        self.add(scope, function, first, close + 1)
        return True

    def read_end(self, head, first, end, scope):
        """Adds the declaration that a semicolon ends, if it has a name."""
        is_enumeration = head.words[:1] == ['enum']
        name = '' if is_enumeration else _function(head)
        self.add(scope, name or _last_name(_before_colon(head.words)), first, end)

    def add(self, scope, name, first, end):
        if name:
            self.found.append(Declaration(scope + name, first, end))


def declarations_of(tokens):
    """The declarations of a source. Those in functions are not declarations of their own."""
    reader = _Reader(tokens)
    reader.read_macros()
    reader.read(0, len(tokens), '')
    return reader.found
