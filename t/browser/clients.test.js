// Clients other than browsers, and the examples of docs/clients.md.  Each one waits
// for a shopper at /till, then is admitted.

'use strict';

const assert = require('node:assert/strict');
const { spawn } = require('node:child_process');
const fs = require('node:fs');
const path = require('node:path');
const { afterEach } = require('node:test');

const { closeContexts, freshPage, test } = require('./lib/browser.js');
const { Edge, build, freePort, root, until } = require('./lib/edge.js');

const doc = fs.readFileSync(path.join(root, 'docs/clients.md'), 'utf8');

let edge, dir;

afterEach(async () => {
  await closeContexts();
  await edge.stop();
  if (dir) fs.rmSync(dir, { recursive: true, force: true });
  dir = undefined;
});


function tempDir() {
  dir = dir || fs.mkdtempSync(path.join(build, 'browser-client.'));

  return dir;
}

// The first example of a section.
function example(title) {
  const section = doc.split(/^## /m).find(text => text.startsWith(title));
  const [, code] = /```(?:js|python)\n(.*?)```/s.exec(section);
  const lines = code.split('\n').filter(line => line.trim());

  assert.ok(lines.length <= 15, `${title}: ${lines.length} lines`);

  return code;
}

function start(command, args, options = {}) {
  const child = spawn(command, args, { stdio: ['ignore', 'pipe', 'pipe'], ...options });
  const result = { out: '', error: '' };

  child.stdout.on('data', data => result.out += data);
  child.stderr.on('data', data => result.error += data);
  result.ended = new Promise((done, failed) => {
    child.on('error', failed);
    child.on('close', code => done(code));
  });

  return result;
}

// Runs a program to its end: { out, error, code }.
async function run(command, ...args) {
  const result = start(command, args);

  return Object.assign(result, { code: await result.ended });
}

// Admits a client after its first queued poll; returns its output.
async function admitAfterPoll(client) {
  await until('a queued poll', () => edge.log(/^GET \/checkout\S* 503 1$/).length);
  assert.deepEqual(edge.shop.seen(), [], 'no poll reaches the shop');
  await edge.letGo();

  const code = await client.ended;

  assert.equal(code, 0, client.error);

  return client.out;
}

async function busy(options) {
  edge = await Edge.start(options);
  await edge.occupy();
}


test('the example for a script in the shop', async () => {
  edge = await Edge.start();

  const page = await freshPage();

  await page.goto(edge.url('/lamp'));
  edge.shop.requests = [];
  await edge.occupy();
  await page.addScriptTag({ content: example('A script in the shop') });

  const done = page.evaluate(() => {
    window.places = [];
    return throughTheLine('/checkout', { method: 'POST', body: 'item=lamp' }, ({ position }) => places.push(position))
      .then(async response => [response.status, await response.text()]);
  });

  await until('a place', () => page.evaluate(() => window.places.length));
  assert.deepEqual(edge.shop.seen(), []);
  await edge.letGo();

  const [status, body] = await done;

  assert.equal(status, 200);
  assert.match(body, /POST checkout/);
  assert.deepEqual(edge.shop.seen(), ['POST /checkout']);
});

test('the example for a script in the shop, from another origin', async () => {
  const [, map, headers] = /```nginx\n(map.*?^}).*?(add_header.*?)\n\n {8}proxy_pass/ms.exec(doc);
  const shop = freePort();

  await busy({
    http: map.replace('https://shop.example', `http://127.0.0.1:${shop}`)
          + `server { listen 127.0.0.1:${shop}; location / { return 200 "a shop"; } }`,
    location: headers
  });

  const page = await freshPage();

  await page.goto(`http://127.0.0.1:${shop}/`);
  await page.addScriptTag({ content: example('A script in the shop') });

  const url = edge.url();
  const seen = await page.evaluate(async url => {
    const response = await fetch(url, { headers: { 'Accept': 'application/json', 'Flash-Throttle-Poll': '1' },
                                        credentials: 'include' });

    return { retry: response.headers.get('Retry-After'), json: await response.json() };
  }, url);

  assert.match(seen.retry, /^[1-9]\d*$/, 'Retry-After is exposed');
  assert.equal(seen.json.status, 'queued');

  const done = page.evaluate(url => throughTheLine(url).then(response => response.text()), url);

  await edge.letGo();
  assert.match(await done, /GET checkout/);
  assert.ok(edge.shop.seen().filter(line => /^OPTIONS/.test(line)).length, 'preflights reach the shop');

  // other origins cannot read the response
  const other = await freshPage();

  await other.goto(edge.url('/lamp').replace('127.0.0.1', 'localhost'));
  assert.equal(await other.evaluate(url => fetch(url).then(() => 'read', () => 'refused'), url), 'refused');
});

test('the example for a mobile app', async () => {
  await busy();

  const file = path.join(tempDir(), 'app.js');

  fs.writeFileSync(file, `${example('A mobile app')}
    (async () => {
      const [url, store] = [process.argv[2], {}];
      const headers = await enter(url, store, ({ position }) => console.error('place', position + 1));
      const page = await fetch(url, { headers });
      console.log(page.status, await page.text());
    })();
  `);

  const client = start(process.execPath, [file, edge.url()]);

  assert.match(await admitAfterPoll(client), /^200 .*GET checkout/s);
  assert.match(client.error, /^place [1-9]/);
});

test('the example for a server', async () => {
  await busy();

  const file = path.join(tempDir(), 'server.py');

  fs.writeFileSync(file, `${example('A server')}
import sys
request = urllib.request.Request(sys.argv[1], headers=enter(sys.argv[1]))
print(urllib.request.urlopen(request).read().decode())
`);

  assert.match(await admitAfterPoll(start('python3', [file, edge.url()])), /GET checkout/);
});

test('Python with its cookie jar', async () => {
  await busy();

  const file = path.join(tempDir(), 'jar.py');

  fs.writeFileSync(file, `
import http.cookiejar, json, sys, time, urllib.error, urllib.request
jar = http.cookiejar.CookieJar()
opener = urllib.request.build_opener(urllib.request.HTTPCookieProcessor(jar))
opener.addheaders = [("Accept", "application/json"), ("Flash-Throttle-Poll", "1")]
while True:
    try:
        answer = json.load(opener.open(sys.argv[1]))
    except urllib.error.HTTPError as error:
        answer = json.load(error)
    if answer["status"] == "admitted":
        break
    time.sleep(answer["retry_ms"] / 1000)
opener.addheaders = []
print(opener.open(sys.argv[1]).read().decode())
`);

  assert.match(await admitAfterPoll(start('python3', [file, edge.url()])), /GET checkout/);
});

test('curl with a cookie jar, HTTP/1.1 and HTTP/2', async () => {
  const port = freePort();

  await busy({ http: edge => `server { listen 127.0.0.1:${port} http2; location / {
    flash_throttle zone=sale; proxy_pass http://127.0.0.1:${edge.shop.port}; } }` });

  for (const [version, url] of [['--http1.1', edge.url()], ['--http2-prior-knowledge', `http://127.0.0.1:${port}/checkout`]]) {
    const jar = path.join(tempDir(), `jar${version}`);
    const curl = (...args) => run('curl', '-s', version, '-b', jar, '-c', jar, ...args, url);
    const json = ['-H', 'Accept: application/json'];

    const first = JSON.parse((await curl(...json)).out);
    const again = JSON.parse((await curl(...json)).out);

    assert.equal(first.status, 'queued');
    assert.equal(again.first_attempt_ms, first.first_attempt_ms, 'the ticket is in the jar');

    const head = (await curl('-I')).out;

    assert.match(head, /^HTTP\/[\d.]+ 503/);
    assert.match(head, /^retry-after: [1-9]/im);
    assert.match((await curl()).out, /<h1[^>]*>You are in line/, 'HTML without an Accept header');
    assert.match((await curl('--compressed')).out, /data-ft=ahead>\d/, 'compressed HTML with a position');
    assert.match((await curl(...json, '-r', '0-3', '-z', '2100-01-01')).out, /^{"status":"queued".*}$/, 'JSON without range and validation');
  }

  const form = await run('curl', '-s', '--http1.1', '-H', 'Accept: application/json', '-F', `file=@${__filename}`, edge.url());

  assert.match(form.out, /"queued"/, `multipart form: ${form.code} ${form.out}`);

  await edge.letGo();

  const jar = path.join(tempDir(), 'jar--http1.1');
  const code = ['-s', '-o', '/dev/null', '-w', '%{http_code}', '-b', jar, '-c', jar, edge.url()];

  await until('admission', async () => (await run('curl', ...code)).out === '200');
  assert.equal((await run('curl', '-X', 'POST', '-d', 'item=lamp', ...code)).out, '200', 'the pass is in the jar');
});

// With nghttp: curl 7.88 fails with 92 if nginx answers before curl has sent the
// body over HTTP/2.
test('a big form over HTTP/2', async () => {
  const port = freePort();
  const file = path.join(tempDir(), 'form');

  fs.writeFileSync(file, 'item=lamp&'.repeat(50e3));
  await busy({ http: edge => `server { listen 127.0.0.1:${port} http2; location / {
    flash_throttle zone=sale; proxy_pass http://127.0.0.1:${edge.shop.port}; } }` });

  const post = accept => run('nghttp', '-H', `accept: ${accept}`, '-d', file, `http://127.0.0.1:${port}/checkout`);

  assert.match((await post('application/json')).out, /^{"status":"queued".*}$/);
  assert.match((await post('text/html')).out, /data-ft-method=["']?POST/);
  assert.deepEqual(edge.shop.seen(), []);
});

test('curl --retry follows Retry-After', async () => {
  await busy();

  const jar = path.join(tempDir(), 'jar');
  const client = start('curl', ['-sf', '--retry', '30', '-b', jar, '-c', jar, edge.url()]);

  await until('two tries', () => edge.log(/^GET \/checkout 503/).length >= 2);
  await edge.letGo();
  assert.equal(await client.ended, 0);
  assert.match(client.out, /GET checkout/);
});

test('wget with a cookie jar', async () => {
  await busy();

  const jar = path.join(tempDir(), 'jar');
  const wget = () => run('wget', '-q', '-O', '-', '--tries=1', '--keep-session-cookies', '--load-cookies', jar,
                         '--save-cookies', jar, '--content-on-error', edge.url());

  fs.writeFileSync(jar, '');

  const first = await wget();

  assert.notEqual(first.code, 0, 'wget reports an error');
  assert.match(first.out, /You are in line/);
  await wget();
  await until('one shopper', async () => (await edge.state()).waiting === 1);
  await edge.letGo();
  await until('admission', async () => (await wget()).code === 0);
});

test('h2load: hundreds of streams on one connection', async () => {
  const port = freePort();

  await busy({ http: edge => `server { listen 127.0.0.1:${port} http2; location / {
    flash_throttle zone=sale; proxy_pass http://127.0.0.1:${edge.shop.port}; } }` });

  for (const header of ['accept: text/html', 'accept: application/json', 'flash-throttle-poll: 1']) {
    const { out } = await run('h2load', '-n', '400', '-c', '2', '-m', '100', '-H', header, `http://127.0.0.1:${port}/checkout`);

    assert.match(out, /400 done, 0 succeeded, 400 failed, 0 errored/, out);
    assert.match(out, /status codes: 0 2xx, 0 3xx, 0 4xx, 400 5xx/);
  }

  assert.deepEqual(edge.shop.seen(), []);
});

test('Node\'s http with a keepalive connection', async () => {
  await busy();

  const http = require('node:http');
  const agent = new http.Agent({ keepAlive: true, maxSockets: 1 });
  const sockets = new Set;
  let ticket = '';

  const poll = () => new Promise((done, failed) => {
    const request = http.get(edge.url(), {
      agent, headers: { 'Accept': 'application/json', 'Flash-Throttle-Poll': '1', 'Flash-Throttle-Ticket': ticket }
    }, async response => {
      let body = '';

      sockets.add(response.socket);
      for await (const chunk of response) body += chunk;
      done(JSON.parse(body));
    });

    request.on('error', failed);
  });

  const timestamps = new Set;

  for (let i = 0; i < 3; i++) {
    const answer = await poll();

    assert.equal(answer.status, 'queued');
    ticket = answer.ticket;
    timestamps.add(answer.first_attempt_ms);
  }

  assert.equal(timestamps.size, 1);
  assert.equal(sockets.size, 1);

  await edge.letGo();
  await until('admission', async () => {
    const answer = await poll();

    ticket = answer.ticket;
    return answer.status === 'admitted';
  });
  agent.destroy();
});
