#!/usr/bin/env python3
"""Tests of declarations.py: each source gives the declarations that are beside it, by name and by text."""
import unittest

import declarations
import source_tokens


def declared(text):
    """The declarations' names and texts."""
    tokens = source_tokens.tokens_of(text)
    return [(found.name, text[tokens[found.first].start:tokens[found.end - 1].end])
            for found in declarations.declarations_of(tokens)]


def names(text):
    return [name for name, _ in declared(text)]


class Declarations(unittest.TestCase):
    def test_finds_functions(self):
        for text, name in (
                ('int f(int a) { return a; }', 'f'),
                ('template <int N = 3, typename T> requires(N > 1) T f(T a) noexcept(true) { return a; }', 'f'),
                ('std::function<int(int)> f() { return {}; }', 'f'),
                ('[[nodiscard]] auto f(int a = g(1)) -> std::vector<int> { return {a}; }', 'f'),
                ('struct A f(A a) { return a; }', 'f'),
                ('[numthreads(64, 1, 1)] void main(uint3 id : SV_DispatchThreadID) { f(id); }', 'main'),
                ('__attribute__((target("avx2"))) int f() { return 1; }', 'f'),
                ('bool A<int>::f() const { return true; }', 'A::f'),
                ('A::~A() {}', 'A::~A'),
                ('A::A(int a) : a_(a), b_{1, 2}, c_(f()) { g(); }', 'A::A'),
                ('bool operator==(A a, A b) { return a < b; }', 'operator=='),
                ('int A::operator()(int a) const { return a; }', 'A::operator()'),
                ('int& A::operator[](int i) { return a[i]; }', 'A::operator[]'),
                ('int f(int a);', 'f')):
            self.assertEqual(declared(text), [(name, text)], text)

    def test_finds_variables_and_types(self):
        for text, name in (
                ('constexpr int a = 3 < 4;', 'a'),
                ('const Entry list[] = {{1, [](int b) { return b; }}, {2, f}};', 'list'),
                ('static const std::array<int, 2> a{1, 2};', 'a'),
                ('groupshared uint a[SIZE * 2];', 'a'),
                ('const auto a = [](int b) { return b; };', 'a'),
                ('using A = std::map<int, B>;', 'A'),
                ('enum class A : int { one, two };', 'A')):
            self.assertEqual(declared(text), [(name, text)], text)

    def test_names_members_with_their_classes(self):
        self.assertEqual(names('namespace a::b { namespace { class C final : public D<int> { public: C() : e_{1} {} '
                               'int f() { return 1; } struct G { int h = 2; }; private: int e_; }; } }'),
                         ['C', 'C::C', 'C::f', 'C::G', 'C::G::h', 'C::e_'])
        self.assertEqual(names('cbuffer A : register(b1) { uint b; uint c; };'), ['A', 'A::b', 'A::c'])
        self.assertEqual(names('template <typename T> struct alignas(8) A { T f() { return 1; } };'), ['A', 'A::f'])
        self.assertEqual(names('extern "C" { int f() { return 1; } }'), ['f'])

    def test_finds_macros(self):
        self.assertEqual(declared('#define A(b) \\\n  if (b) {\nint f() { return 1; }\n'),
                         [('A', '#define A(b) \\\n  if (b) {'), ('f', 'int f() { return 1; }')])

    def test_tells_branches_of_the_preprocessor_apart(self):
        self.assertEqual(names('#if A\nint f() {\n#else\nint f(int a) {\n#endif\n  return 1;\n}\n'
                               'int g() { return 2; }\n'), ['f', 'g'])
        self.assertEqual(names('int f() {\n#if A\n  if (a) {\n#elif B\n  while (b) {\n#else\n  {\n#endif\n  }\n}\n'
                               'int g() { return 2; }\n'), ['f', 'g'])
        self.assertEqual(names('#ifdef A\nint f() { return 1; }\n#else\nint g() { return 1; }\n#endif\n'), ['f', 'g'])

    def test_reads_anything(self):
        for text in ('', '}', '{', ')};', '#define', '#if', '#endif', '#else', ':', 'operator', 'operator;',
                     'operator{}', 'template <', 'class {', 'enum;', '= 3;', 'public:', '(', 'a ? b : c;'):
            self.assertIsInstance(names(text), list, text)


if __name__ == '__main__':
    unittest.main()
