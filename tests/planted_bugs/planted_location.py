"""Finds the location that a list of bugs names: an expression in a function of a source, compared token by token."""
import bisect

import declarations
import source_tokens


class Source:
    """A source, its tokens and its declarations."""

    def __init__(self, text):
        self.text = text
        self.tokens = source_tokens.tokens_of(text)
        self.words = [token.text for token in self.tokens]
        self.declarations = declarations.declarations_of(self.tokens)

    def is_in(self, name, i):
        """Whether token i is in a declaration of that name. `add` also means `Sums::add`."""
        return any(found.first <= i < found.end and ('::' + found.name).endswith('::' + name)
                   for found in self.declarations)

    def index_at(self, offset):
        """The index of the token that begins at an offset in the text."""
        return bisect.bisect_left(self.tokens, offset, key=lambda token: token.start)

    def innermost(self, i):
        """The name of the smallest declaration that token i is in."""
        around = [found for found in self.declarations if found.first <= i < found.end]
        return min(around, key=lambda found: found.end - found.first).name if around else 'no declaration'

    def occurrences(self, words):
        """The indices of the tokens where the words begin. A directive's line is apart from what is around it."""
        return [i for i in range(len(self.words) - len(words) + 1)
                if self.words[i] == words[0] and self.words[i:i + len(words)] == words
                and len({token.directive for token in self.tokens[i:i + len(words)]}) == 1]


def find(source, location):
    """The offsets in the text where the location's expression begins and ends. A ValueError says what is wrong."""
    before, right, after = (source_tokens.words_of(location.get(key, '')) for key in ('before', 'right', 'after'))
    if not right:
        raise ValueError('"right" is only a comment')
    words = before + right + after
    anywhere = source.occurrences(words)
    found = [i for i in anywhere if source.is_in(location['in'], i)]
    # The function may have been renamed, or the expression moved out of it. It must then be unique in the file.
    found = found or anywhere
    if len(found) != 1:
        raise ValueError(_problem(source, location['in'], found))
    first = found[0] + len(before)
    return source.tokens[first].start, source.tokens[first + len(right) - 1].end


def _problem(source, name, found):
    """Says that the words occur never or several times, and how they become unique."""
    if not found:
        return f'this is neither in {name} nor elsewhere in the file; bring the list up to date'
    if source.is_in(name, found[0]):
        return (f'this is {len(found)} times in {name}, not once; name the class in "in", too, or add the tokens '
                'beside it as "before" or "after"')
    names = sorted({source.innermost(i) for i in found})
    return f'this is not in {name}, but {len(found)} times in the file: in {", ".join(names)}; change "in"'
