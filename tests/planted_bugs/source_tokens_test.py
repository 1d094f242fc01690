#!/usr/bin/env python3
"""Tests of source_tokens.py."""
import unittest

import source_tokens


class SourceTokens(unittest.TestCase):
    def test_ignores_white_space_and_comments(self):
        expected = ['a', '=', 'f', '(', 'b', ')', ';']
        for text in ('a=f(b);', 'a = f( b ) ;', 'a\n=\n\tf(\r\nb);', 'a /* b */ = f(b); // c', 'a = f(b); // c \\\n d',
                     'a = f(b) /* c\n */;', 'a \\\n = f(b);'):
            self.assertEqual(source_tokens.words_of(text), expected, text)

    def test_keeps_words_together(self):
        for text in ("1'000u", '0x1.8p-3f', '1.5e+3', '.5', 'first_of', '"a // b \\" c"', "'\\''", 'u8"a"', '<<=', '->',
                     '&&', '::', '##', 'R"x(a " )" b)x"', '<='):
            self.assertEqual(source_tokens.words_of(f'{text} {text}'), [text, text], text)

    def test_ends_template_arguments_separately(self):
        self.assertEqual(source_tokens.words_of('A<B<C>>'), ['A', '<', 'B', '<', 'C', '>', '>'])

    def test_keeps_offsets(self):
        text = 'a + /* b */ "c"'
        self.assertEqual([text[token.start:token.end] for token in source_tokens.tokens_of(text)], ['a', '+', '"c"'])

    def test_knows_directives(self):
        tokens = source_tokens.tokens_of('a # b\n  #define c \\\n d\ne\n#f\n')
        self.assertEqual([(token.text, token.directive) for token in tokens],
                         [('a', -1), ('#', -1), ('b', -1), ('#', 3), ('define', 3), ('c', 3), ('d', 3), ('e', -1),
                          ('#', 8), ('f', 8)])

    def test_reads_anything(self):
        for text in ('', '"a', "'", '/* a', 'R"x(', '\\', '@ $ \0 é', '#', '#\\\n'):
            self.assertIsInstance(source_tokens.words_of(text), list)


if __name__ == '__main__':
    unittest.main()
