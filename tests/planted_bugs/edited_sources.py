"""Edits sources in ways that must not lose a planted bug: other lines, other names nearby, another order."""
import re

import planted_location
import source_tokens

# Words of C++ and HLSL that look like names.
_KEYWORDS = set('''
    auto bool break case char class const constexpr continue default define do double else enum
    explicit false final float float2 float3 float4 for if inline int int2 int3 int4 long loop
    namespace new noexcept nullptr operator override precise private public return short signed
    sizeof static static_cast struct switch template this throw true typename uint uint2 uint3
    uint4 unsigned using void while
'''.split())


def _with_gaps(source, gap):
    """The text with another gap between tokens, without comments. Directives keep their lines."""
    text = ''
    for before, token in zip([None, *source.tokens], source.tokens):
        if before and before.directive == token.directive >= 0:
            text += source.text[before.end:token.start]
        elif before:
            text += gap if before.directive < 0 and token.directive < 0 else '\n'
        text += token.text
    return text + '\n'


def with_a_line_for_each_token(source):
    return _with_gaps(source, '\n')


def without_line_breaks(source):
    return _with_gaps(source, ' ')


def with_functions_reversed(source):
    """The text with its outermost functions, classes and variables in reverse order."""
    spans = []
    for found in sorted(source.declarations, key=lambda found: (found.first, -found.end)):
        if source.tokens[found.first].directive < 0 and (not spans or found.first >= spans[-1][1]):
            spans.append((found.first, found.end))
    text, at = '', 0
    for (first, end), (other_first, other_end) in zip(spans, reversed(spans)):
        text += source.text[at:source.tokens[first].start]
        text += source.text[source.tokens[other_first].start:source.tokens[other_end - 1].end]
        at = source.tokens[end - 1].end
    return text + source.text[at:]


def with_neighbours_renamed(source, location):
    """The text with other names for everything in the expression's lines that the location does not mention."""
    begin, end = planted_location.find(source, location)
    line_begin = source.text.rfind('\n', 0, begin) + 1
    line_end = source.text.find('\n', end)
    own = ' '.join(location.get(key, '') for key in ('in', 'before', 'right', 'after'))
    kept = _KEYWORDS | set(source_tokens.words_of(own))
    names = {token.text for token in source.tokens if line_begin <= token.start < line_end
             and source_tokens.is_name(token.text) and token.text not in kept}
    return re.sub(r'\w+', lambda match: 'renamed_' + match[0] if match[0] in names else match[0], source.text)
