# What mdl checks in Markdown. tests/docs/markdown.py checks links, tables and columns.
all
# tests/docs/markdown.py checks columns: mdl takes code in lists for text.
exclude_rule 'MD013'
# Console transcripts are fenced; commands for the reader are indented.
exclude_rule 'MD046'
# Files of GitHub's templates begin below the first level.
exclude_rule 'MD002'
exclude_rule 'MD041'
# Licences number their paragraphs, each a quotation of its own.
exclude_rule 'MD029'
# Lists within lists are indented as their text is.
rule 'MD007', indent: 2
# Headings of different versions in CHANGELOG.md are called alike.
rule 'MD024', allow_different_nesting: true
# Headings end as sentences do where they are questions.
rule 'MD026', punctuation: '.,;:!'
