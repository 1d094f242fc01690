"""A page in headless Chromium, driven over its DevTools pipe."""

import base64
import json
import os
import shutil
import subprocess
import tempfile
import time

FLAGS = [
    '--headless', '--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking',
    '--disable-component-update', '--disable-sync', '--disable-dev-shm-usage', '--remote-debugging-pipe',
]


def find_chromium():
    """The path of a Chromium, or None."""
    for name in ('chromium', 'chromium-browser', 'google-chrome'):
        path = shutil.which(name)
        if path:
            return path
    return None


class Browser:
    """One tab. What goes wrong in a page is collected in `errors`, what it asks the network for in `requests`."""

    def __init__(self, chromium, timeout=60):
        self.timeout = timeout
        self.errors, self.requests, self.events = [], [], []
        self.profile = tempfile.mkdtemp(prefix='dmlconform-browser-')
        to_read, self.to_write = os.pipe()
        self.from_read, from_write = os.pipe()

        def number_pipes():
            # Chromium reads from file descriptor 3 and writes to 4. Duplicate first, because the pipes themselves may
            # have these numbers.
            first, second = os.dup(to_read), os.dup(from_write)
            os.dup2(first, 3)
            os.dup2(second, 4)

        self.process = subprocess.Popen([chromium, *FLAGS, '--user-data-dir=' + self.profile, 'about:blank'],
                                        close_fds=False, preexec_fn=number_pipes, stderr=subprocess.DEVNULL,
                                        start_new_session=True)
        os.close(to_read)
        os.close(from_write)
        self.buffer, self.last_id, self.session = b'', 0, None
        target = self.call('Target.createTarget', url='about:blank')['targetId']
        self.session = self.call('Target.attachToTarget', targetId=target, flatten=True)['sessionId']
        for domain in ('Runtime', 'Log', 'Page', 'Network'):
            self.call(domain + '.enable')

    def __enter__(self):
        return self

    def __exit__(self, *_):
        try:
            os.killpg(self.process.pid, 9)
        except ProcessLookupError:
            pass
        self.process.wait()
        shutil.rmtree(self.profile, ignore_errors=True)

    def call(self, method, **params):
        self.last_id += 1
        message = {'id': self.last_id, 'method': method, 'params': params}
        if self.session:
            message['sessionId'] = self.session
        os.write(self.to_write, json.dumps(message).encode() + b'\0')
        while True:
            answer = self._next()
            if answer.get('id') == self.last_id:
                if 'error' in answer:
                    raise RuntimeError(f'{method}: {answer["error"]}')
                return answer['result']

    def _next(self):
        while b'\0' not in self.buffer:
            chunk = os.read(self.from_read, 65536)
            if not chunk:
                raise RuntimeError('Chromium has ended')
            self.buffer += chunk
        line, _, self.buffer = self.buffer.partition(b'\0')
        message = json.loads(line)
        method, params = message.get('method'), message.get('params', {})
        if method == 'Runtime.exceptionThrown':
            self.errors.append(params['exceptionDetails'].get('exception', {}).get('description', str(params)))
        elif method == 'Log.entryAdded':
            self.errors.append(params['entry']['text'])
        elif method == 'Runtime.consoleAPICalled':
            self.errors.append(str(params['args']))
        elif method == 'Page.javascriptDialogOpening':
            self.errors.append('a dialog: ' + params['message'])
        elif method == 'Network.requestWillBeSent':
            self.requests.append(params['request']['url'])
        return message

    def open(self, path):
        self.call('Page.navigate', url='file://' + os.path.abspath(path))
        end = time.monotonic() + self.timeout
        while self.evaluate('document.documentElement?.dataset.ready') != 'yes':
            if time.monotonic() > end:
                raise RuntimeError(f'the page never got ready; errors: {self.errors}')
            time.sleep(0.05)

    def evaluate(self, expression):
        result = self.call('Runtime.evaluate', expression=expression, returnByValue=True, awaitPromise=True)
        if 'exceptionDetails' in result:
            raise RuntimeError(f'{expression}: {result["exceptionDetails"]}')
        return result['result'].get('value')

    def press(self, key):
        for kind in ('keyDown', 'keyUp'):
            text = {'text': '\r'} if key == 'Enter' and kind == 'keyDown' else {}
            self.call('Input.dispatchKeyEvent', type=kind, key=key, code=key,
                      windowsVirtualKeyCode={'Tab': 9, 'Enter': 13}[key], **text)

    def look(self, width, scheme):
        self.call('Emulation.setDeviceMetricsOverride', width=width, height=900, deviceScaleFactor=1, mobile=width < 600)
        self.call('Emulation.setEmulatedMedia', features=[{'name': 'prefers-color-scheme', 'value': scheme}])
        self.evaluate('new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))')

    def screenshot(self, path):
        image = self.call('Page.captureScreenshot', captureBeyondViewport=True)['data']
        with open(path, 'wb') as file:
            file.write(base64.b64decode(image))
