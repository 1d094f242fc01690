"""Finds the location that a list of bugs names: an expression in a function of a source, compared token by token."""
import declarations
import source_tokens


class Source:
    """A source, its tokens and its declarations."""

    def __init__(self, text):
        self.text = text
        self.tokens = source_tokens.tokens_of(text)
        self.words = [token.text for token in self.tokens]
        self.declarations = declarations.declarations_of(self.tokens)

    def declared_as(self, name):
        """The declarations of that name. `add` also means `Sums::add`."""
        return [found for found in self.declarations if ('::' + found.name).endswith('::' + name)]

    def innermost(self, i):
        """The name of the smallest declaration that token i is in."""
        around = [found for found in self.declarations if found.first <= i < found.end]
        return min(around, key=lambda found: found.end - found.first).name if around else 'no declaration'

    def occurrences(self, words, first=0, end=None):
        """The indices of the tokens where the words begin. A directive's line is apart from what is around it."""
        last = (len(self.words) if end is None else end) - len(words)
        return [i for i in range(first, last + 1)
                if self.words[i] == words[0] and self.words[i:i + len(words)] == words
                and len({token.directive for token in self.tokens[i:i + len(words)]}) == 1]


def find(source, location):
    """The offsets in the text where the location's expression begins and ends. A ValueError says what is wrong."""
    before, right, after = (source_tokens.words_of(location.get(key, '')) for key in ('before', 'right', 'after'))
    if not right:
        raise ValueError('"right" is only a comment')
    if 'in' not in location:
        return _find_text(source, location)
    words = before + right + after
    # If the function is gone, which may have another name now, whatever has the words only once is it.
    around = source.declared_as(location['in']) or [declarations.Declaration('', 0, len(source.tokens))]
    found = sorted({i for outer in around for i in source.occurrences(words, outer.first, outer.end)})
    if len(found) != 1:
        raise ValueError(_problem(source, location['in'], words, found))
    first = found[0] + len(before)
    return source.tokens[first].start, source.tokens[first + len(right) - 1].end


def _find_text(source, location):
    """Finds the text of a list that does not name functions yet."""
    text = location.get('before', '') + location['right'] + location.get('after', '')
    first = source.text.find(text)
    if first < 0 or source.text.find(text, first + 1) >= 0:
        raise ValueError('this text is not once in it; name the function in "in"')
    begin = first + len(location.get('before', ''))
    return begin, begin + len(location['right'])


def _problem(source, name, words, found):
    """Says where the words are instead, or how they become unique."""
    if not source.declared_as(name):
        return f'there is no {name} in it, and this is {len(found)} times in the file, not once; bring the list up to date'
    if found:
        return (f'this is {len(found)} times in {name}, not once; name the class in "in", too, or add what is beside it '
                'as "before" or "after"')
    names = sorted({source.innermost(i) for i in source.occurrences(words)})
    if names:
        return f'this is not in {name}, but in {", ".join(names)}; change "in" if that is the same expression'
    return f'this is not in {name}; bring the list up to date'
