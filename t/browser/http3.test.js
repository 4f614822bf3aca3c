// The same over HTTP/3, where nginx has it: Chromium, made to use QUIC.

'use strict';

const assert = require('node:assert/strict');
const { execFileSync } = require('node:child_process');
const crypto = require('node:crypto');
const fs = require('node:fs');
const path = require('node:path');
const { afterEach, test } = require('node:test');
const { chromium } = require('playwright-core');

const { inLine, launch, titled } = require('./lib/browser.js');
const { Edge, build, freePort, nginx } = require('./lib/edge.js');

const hasHttp3 = /http_v3_module/.test(execFileSync('sh', ['-c', '"$0" -V 2>&1', nginx]));

let edge, browser, dir;

afterEach(async () => {
  if (browser) await browser.close();
  if (edge) await edge.stop();
  if (dir) fs.rmSync(dir, { recursive: true, force: true });
});


// A certificate, and the hash of its key for Chromium to trust.
function certificate() {
  dir = fs.mkdtempSync(path.join(build, 'browser-tls.'));

  const [key, cert] = ['key.pem', 'cert.pem'].map(name => path.join(dir, name));

  execFileSync('openssl', ['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '2',
                           '-subj', '/CN=localhost', '-addext', 'subjectAltName=DNS:localhost', '-keyout', key, '-out', cert],
               { stdio: 'ignore' });

  const spki = new crypto.X509Certificate(fs.readFileSync(cert)).publicKey.export({ type: 'spki', format: 'der' });

  return { key, cert, hash: crypto.createHash('sha256').update(spki).digest('base64') };
}


test('HTTP/3', { skip: !hasHttp3 && 'this nginx has no HTTP/3' }, async () => {
  const { key, cert, hash } = certificate();
  const port = freePort();

  edge = await Edge.start({ http: edge => `
    server {
        listen 127.0.0.1:${port} quic;
        listen 127.0.0.1:${port} ssl;
        ssl_certificate ${cert};
        ssl_certificate_key ${key};
        location / {
            flash_throttle zone=sale;
            flash_throttle_poll min=100ms max=500ms;
            proxy_pass http://127.0.0.1:${edge.shop.port};
        }
    }` });
  await edge.occupy();

  browser = await chromium.launch({ ...launch, args: [
    `--origin-to-force-quic-on=localhost:${port}`,
    `--ignore-certificate-errors-spki-list=${hash}`,
    '--host-resolver-rules=MAP localhost 127.0.0.1'
  ] });

  const page = await (await browser.newContext({ locale: 'en-US' })).newPage();
  const protocols = type => page.evaluate(type => performance.getEntriesByType(type).map(e => e.nextHopProtocol), type);
  const url = `https://localhost:${port}/checkout?a=1&a=2`;

  // crumbs, as HTTP/2 and HTTP/3 have them
  await page.context().addCookies(Array.from({ length: 10 }, (_, i) => ({ name: `c${i}`, value: '1', url })));

  const response = await page.goto(url);

  assert.equal(response.status(), 503);
  assert.match(response.headers()['set-cookie'], /; Secure/);
  await inLine(page);
  assert.deepEqual(await protocols('navigation'), ['h3']);
  assert.ok((await protocols('resource')).every(protocol => protocol === 'h3'));

  const cookies = await page.context().cookies();

  assert.ok(cookies.find(({ name }) => name === 'flash_throttle_sale').secure);

  await edge.letGo();
  await titled(page, /^GET checkout$/);
  assert.deepEqual(await protocols('navigation'), ['h3']);
  await page.click('button');
  await titled(page, /^POST checkout$/);
  assert.deepEqual(edge.shop.seen(), ['GET /checkout?a=1&a=2', 'POST /checkout?step=pay']);
});
