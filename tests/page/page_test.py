"""The page of `dmlconform report --html` in a browser: no errors, no network, filters, keyboard, phone width, dark mode, and hostile
texts that stay texts.

usage: page_test.py PROGRAM FOLDER

Results and screenshots go into FOLDER. Exit code 77: there is no Chromium here.
"""

import json
import os
import random
import subprocess
import sys

from browser import Browser, find_chromium

HOSTILE = '</script><img src=x onerror=alert(1)><!--'


def slice_case(name, values, **more):
    return {
        'name': name, 'operator': 'DML_OPERATOR_SLICE1',
        'desc': {'InputTensor': {'DataType': 'FLOAT32', 'Sizes': [1, 1, 40, 50]},
                 'OutputTensor': {'DataType': 'FLOAT32', 'Sizes': [1, 1, 40, 50]},
                 'InputWindowOffsets': [0, 0, 0, 0], 'InputWindowSizes': [1, 1, 40, 50], 'InputWindowStrides': [1, 1, 1, 1]},
        'inputs': {'InputTensor': {'start': 1, 'step': 1}}, 'expected': {'OutputTensor': values}, **more}


def benchmarks(minute, slowdown=1.0):
    """Results of Google Benchmark, from as many processes as a verdict takes; those of the convolution are slower by
    that factor."""
    noise = random.Random(minute)
    entries = []
    for name, nanoseconds, percent in (('cpu/bench/slice1/head/real_time', 3e5, 20.0), ('cpu/bench/conv/3x3/real_time', 3e6, 4.0)):
        for process in range(8):
            factor = slowdown if 'conv' in name else 1.0
            entries.append({'name': name, 'real_time': nanoseconds * factor * noise.gauss(1, 0.005), 'time_unit': 'ns',
                            'percent_of_roofline': percent / factor, 'process': process})
    return {'context': {'date': f'2026-11-21T13:{minute:02}:00+00:00', 'dmlconform.machine': 'A processor',
                        'dmlconform.cpu.adapter': 'reference', 'dmlconform.cpu.driver': HOSTILE}, 'benchmarks': entries}


class Test:
    def __init__(self, program, folder):
        self.program, self.folder = program, folder
        self.failures = 0

    def check(self, condition, what):
        print(('ok      ' if condition else 'FAILED  ') + what)
        self.failures += not condition

    def at(self, name):
        return os.path.join(self.folder, name)

    def write(self, name, document):
        with open(self.at(name), 'w', encoding='utf-8') as file:
            json.dump(document, file)
        return self.at(name)

    def dmlconform(self, *words, codes=(0,)):
        done = subprocess.run([self.program, *words], capture_output=True, text=True, check=False)
        self.check(done.returncode in codes, f'dmlconform {words[0]}: exit code {done.returncode}')
        if done.returncode not in codes:
            print(done.stdout, done.stderr)

    def make_pages(self):
        cases = self.write('cases.json', {'cases': [
            slice_case('good', {'start': 1, 'step': 1}),
            slice_case('bad', {'start': 1, 'step': 1.001}, tolerance={'OutputTensor': {'abs': 0.5}}),
            slice_case('other', {'value': 3}),
        ]})
        self.dmlconform('run', cases, '--engine', 'cpu', '--quiet', '--json', self.at('run.json'), codes=(1,))
        self.make_hostile(self.at('run.json'))
        history = self.at('history.sqlite')
        if os.path.exists(history):
            os.remove(history)
        results = [self.write(f'h{i}.json', benchmarks(20 + i, 1.0 if i < 5 else 1.1)) for i in range(8)]
        self.dmlconform('history', 'add', '--history', history, '--commit', 'c0ffee<b>', self.at('run.json'), *results)
        base = self.write('base.json', benchmarks(1))
        slower = self.write('slower.json', benchmarks(2, 1.1))
        same = self.write('same.json', benchmarks(3))
        self.dmlconform('report', self.at('run.json'), slower, '--base', base, '--history', history, '--title', HOSTILE,
                        '--html', self.at('page.html'), '--markdown', self.at('page.md'))
        self.dmlconform('report', same, '--base', base, '--html', self.at('same.html'))
        self.dmlconform('report', '--paired', *[slower] * 12, '--base', *[base] * 12, '--html', self.at('pairs.html'))

    def make_graph_page(self):
        """A graph with two nodes; the second one fails, as a result says that comes from anywhere."""
        relu = {'InputTensor': {'DataType': 'FLOAT32', 'Sizes': [64]}, 'OutputTensor': {'DataType': 'FLOAT32', 'Sizes': [64]}}
        nodes = [{'name': name, 'operator': 'ACTIVATION_' + operator, 'desc': relu, 'inputs': {'InputTensor': read},
                  'outputs': {'OutputTensor': written}}
                 for name, operator, read, written in (('clip', 'RELU', 'x', 'y'), ('last', 'TANH', 'y', 'z'))]
        cases = self.write('graph.json', {'cases': [
            {'name': 'net', 'graph': {'nodes': nodes, 'outputs': ['z']}, 'inputs': {'x': {'start': -1, 'step': 0.1}}}]})
        self.dmlconform('run', cases, '--engine', f'exec:{self.program} worker --engine cpu', '--quiet', '--json', self.at('graph_run.json'))
        with open(self.at('graph_run.json'), encoding='utf-8') as file:
            document = json.load(file)
        self.check([result.get('nodeOf') for result in document['results']] == ['graph/net', 'graph/net', None], 'nodes say whose they are')
        for result in document['results']:
            if result['id'] == 'graph/net/last':
                result['status'] = 'fail'
            if 'graph' in result:
                result.update({'status': 'fail', 'hint': HOSTILE})
                result['graph']['cuts'] = ['end (NonMaxSuppression): ' + HOSTILE]
        self.dmlconform('report', self.write('graph_run.json', document), '--html', self.at('graph.html'))
        for engine in document['engines']:
            engine['name'] = 'other'
        for result in document['results']:
            result['engine'] = 'other'
        self.dmlconform('report', self.at('graph_run.json'), self.write('graph_other.json', document), '--html', self.at('graphs.html'))

    def graphs(self, browser):
        """Of several files, each graph names its own."""
        texts = browser.evaluate('[...document.querySelectorAll("#graphs-list summary")].map(s => s.innerText).join("\\n")')
        names = [line.rpartition('/')[2] for line in texts.splitlines()]
        self.check(names == ['graph_run.json', 'graph_other.json'], f'graphs of the same name have that of their file: {texts}')

    def graph(self, browser):
        self.check('graph_run.json' not in browser.evaluate('document.querySelector("#graphs-list summary").innerText'), 'the only file need not be named')
        text = browser.evaluate('document.querySelector("#graphs-list").innerText')
        self.check('first wrong node: last' in text, f'the first wrong node of a graph is named: {text}')
        self.check('end (NonMaxSuppression)' in text, 'and what was not judged')
        parts = browser.evaluate('[...document.querySelectorAll("#graphs-list .strip span")].map(s => s.className).join()')
        self.check(parts.endswith(',fail') and parts.count(',') == 1, f'both nodes are in the diagram: {parts}')
        widths = browser.evaluate('[...document.querySelectorAll("#graphs-list .strip span")].every(s => s.offsetWidth > 0)')
        self.check(widths, 'and can be seen')
        self.check(browser.evaluate('document.querySelectorAll("#graphs-list tbody tr").length') == 2, 'with a row for each')
        browser.evaluate('(e => { e.value = "clip"; e.dispatchEvent(new Event("input")); })(document.getElementById("filter-text"))')
        self.check(browser.evaluate('document.querySelectorAll("#graphs-list tbody tr").length') == 1, 'a search leaves what matches')
        browser.evaluate('document.getElementById("filter-clear").click()')

    def make_hostile(self, path):
        """Names of cases are plain, but a result may come from anywhere."""
        with open(path, encoding='utf-8') as file:
            document = json.load(file)
        document['engines'][0]['adapter'] = HOSTILE
        for result in document['results']:
            if result['id'].endswith('bad'):
                result.update({'id': 'bad-' + HOSTILE, 'reason': HOSTILE, 'tags': [HOSTILE]})
                result['descriptor'].append(HOSTILE)
                result['outputs'][0].update({'name': HOSTILE, 'tolerance': HOSTILE})
                result['outputs'][0]['worst']['actual'] = HOSTILE
        self.write(os.path.basename(path), document)

    def content(self, browser):
        count = lambda selector: browser.evaluate(f'document.querySelectorAll({json.dumps(selector)}).length')
        text = lambda selector: browser.evaluate(f'document.querySelector({json.dumps(selector)}).innerText')
        self.check(browser.evaluate('document.title') == HOSTILE, 'the title is the text that it is')
        self.check(count('img') == 0, 'nothing in the results became an element')
        self.check('2 failures, 1 passed' in text('#verdict'), 'the verdict counts')
        self.check('1 of 2 benchmarks slower' in text('#verdict'), 'and has the benchmarks')
        self.check(count('#failures-list details') == 2, 'both failures are listed')
        order = browser.evaluate('[...document.querySelectorAll("main > section")].filter(s => !s.hidden).map(s => s.id).join()')
        self.check(order.startswith('regressions,failures,matrix,'), f'what is wrong comes first, then the matrix: {order}')
        self.check('conv' in text('#regressions-list'), 'the slower benchmark is among the regressions')
        self.check(text('#matrix-table tbody').split() == 'SLICE1 2 of 3 failed'.split(), 'the matrix has a row for the operator')
        self.check('SLOWER' in text('#times-table').upper(), 'the slowdown is shown')
        self.check('c0ffee' in text('#trends-list'), 'the trend shows its change')
        browser.evaluate('document.querySelector("#failures-list details").open = true')
        browser.evaluate('new Promise(done => setTimeout(done, 100))')
        opened = text('#failures-list details')
        self.check('expected ' in opened and ' ULP' in opened, 'an opened failure has its worst element')
        self.check('beyond tolerance (' in opened or 'expected,' in opened, 'and the difference in numbers')
        self.check("dmlconform run " in opened and "--filter 'bad-" in opened, 'and the command to run it again')
        self.check('--engine cpu' in opened and '--adapter' not in opened, 'in which the reference has no adapter')
        self.check(count('#failures-list details .again button') == 1, 'with a button that copies it')
        self.check(count('#failures-list details canvas') == 2, 'and its error map and histogram')
        drawn = 'Array.from(document.querySelectorAll("canvas")).filter(c => c.offsetParent && Chart.getChart(c)).length'
        self.check(browser.evaluate(drawn) == count('#content canvas'), 'every canvas has a chart')

    def filters(self, browser):
        rows = lambda: browser.evaluate('document.querySelectorAll("#failures-list details").length')
        def search(text):
            browser.evaluate(f'(e => {{ e.value = {json.dumps(text)}; e.dispatchEvent(new Event("input")); }})'
                             '(document.getElementById("filter-text"))')
        search('other')
        self.check(rows() == 1, 'a search leaves what matches')
        search('onerror=alert')
        self.check(rows() == 1, 'also of odd texts')
        search('conv')
        self.check(rows() == 0, 'or nothing')
        self.check(browser.evaluate('document.querySelectorAll("#times-table tbody tr").length') == 1, 'benchmarks are searched too')
        self.check('text=conv' in browser.evaluate('location.hash'), 'the filter is a part of the address')
        browser.evaluate('location.hash = "#?text=other"')
        browser.evaluate('new Promise(done => setTimeout(done, 100))')
        self.check(rows() == 1, 'and an address filters')
        browser.evaluate('document.getElementById("filter-clear").click()')
        self.check(rows() == 2, 'and all is back')
        browser.evaluate('document.querySelector("#matrix-table td.cell-fail").click()')
        self.check(browser.evaluate('document.getElementById("filter-operator").value') == 'SLICE1', 'a cell of the matrix filters')
        browser.evaluate('document.getElementById("filter-clear").click()')
        top = browser.evaluate('scrollTo(0, 0); document.querySelector("#verdict a").click(); scrollY')
        self.check(top > 0, 'the verdict leads to what it counts')
        self.check(browser.evaluate('document.getElementById("contents").getBoundingClientRect().top') == 0, 'the navigation stays')

    def keyboard(self, browser):
        browser.evaluate('document.activeElement.blur(); scrollTo(0, 0)')
        reached = []
        for _ in range(60):
            browser.press('Tab')
            reached.append(browser.evaluate('(e => e.id || e.tagName + (e.dataset.column ? "column" : ""))(document.activeElement)'))
        for what in ('filter-text', 'filter-engine', 'BUTTONcolumn', 'SUMMARY'):
            self.check(what in reached, f'the tab key reaches {what}')
        browser.evaluate('document.querySelector("#times-table th button").focus()')
        before = browser.evaluate('document.querySelector("#times-table th").ariaSort')
        browser.press('Enter')
        self.check(browser.evaluate('document.querySelector("#times-table th").ariaSort') != before, 'enter sorts')
        self.check(browser.evaluate('document.activeElement.dataset.column') == '0', 'and the focus stays')

    def looks(self, browser, name):
        backs = set()
        for width, scheme in ((1400, 'light'), (1400, 'dark'), (500, 'light'), (390, 'light'), (390, 'dark')):
            browser.look(width, scheme)
            browser.screenshot(self.at(f'{name}-{width}-{scheme}.png'))
            wide = browser.evaluate('document.documentElement.scrollWidth')
            self.check(wide <= width, f'{name}: {width} pixels are enough ({wide})')
            backs.add(browser.evaluate('getComputedStyle(document.body).backgroundColor'))
        self.check(len(backs) == 2, f'{name}: dark mode is dark')

    def run(self, chromium):
        self.make_pages()
        with Browser(chromium) as browser:
            browser.look(1200, 'light')
            browser.open(self.at('page.html'))
            self.content(browser)
            self.filters(browser)
            self.keyboard(browser)
            self.looks(browser, 'page')
            browser.open(self.at('same.html'))
            self.check('0 of 2 benchmarks slower' in browser.evaluate('document.getElementById("verdict").innerText'),
                       'a comparison of the same with the same is clean')
            self.looks(browser, 'same')
            self.make_graph_page()
            browser.open(self.at('graph.html'))
            self.graph(browser)
            self.looks(browser, 'graph')
            browser.open(self.at('graphs.html'))
            self.graphs(browser)
            browser.open(self.at('pairs.html'))
            self.check('1 of 2 benchmarks slower' in browser.evaluate('document.getElementById("verdict").innerText'),
                       'pairs are compared')
            self.check(browser.evaluate('document.querySelector("#runs details").innerText') == 'from 24 files',
                       'many files do not hide the page')
            self.looks(browser, 'pairs')
            self.check(not browser.errors, f'no errors: {browser.errors}')
            others = [url for url in browser.requests if not url.startswith(('file://' + os.path.abspath(self.folder), 'data:', 'about:'))]
            self.check(not others, f'no network: {others}')
        return 1 if self.failures else 0


def main():
    chromium = find_chromium()
    if not chromium:
        print('skipped: there is no Chromium (Debian: chromium)')
        return 77
    program, folder = sys.argv[1:]
    os.makedirs(folder, exist_ok=True)
    return Test(program, folder).run(chromium)


if __name__ == '__main__':
    sys.exit(main())
