// Chromium over TLS: HTTP/2, and HTTP/3 if nginx supports it.

'use strict';

const assert = require('node:assert/strict');
const { execFileSync } = require('node:child_process');
const crypto = require('node:crypto');
const fs = require('node:fs');
const path = require('node:path');
const { afterEach } = require('node:test');

const { inLine, launch, test, titled } = require('./lib/browser.js');
const { Edge, build, freePort, nginx } = require('./lib/edge.js');

const hasHttp3 = /http_v3_module/.test(execFileSync('sh', ['-c', '"$0" -V 2>&1', nginx]));

let edge, browser, dir;

afterEach(async () => {
  if (browser) await browser.close();
  if (edge) await edge.stop();
  if (dir) fs.rmSync(dir, { recursive: true, force: true });
  browser = edge = dir = undefined;
});


// Makes a certificate; returns the key's hash, which Chromium trusts.
function certificate() {
  dir = fs.mkdtempSync(path.join(build, 'browser-tls.'));

  const [key, cert] = ['key.pem', 'cert.pem'].map(name => path.join(dir, name));

  execFileSync('openssl', ['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '2',
                           '-subj', '/CN=localhost', '-addext', 'subjectAltName=DNS:localhost', '-keyout', key, '-out', cert],
               { stdio: 'ignore' });

  const spki = new crypto.X509Certificate(fs.readFileSync(cert)).publicKey.export({ type: 'spki', format: 'der' });

  return { key, cert, hash: crypto.createHash('sha256').update(spki).digest('base64') };
}


// Starts an edge with a shopper at the till: { page, url }.
async function busy(quic) {
  const { key, cert, hash } = certificate();
  const port = freePort();

  edge = await Edge.start({ http: edge => `
    server {
        ${quic ? `listen 127.0.0.1:${port} quic;` : ''}
        listen 127.0.0.1:${port} ssl http2;
        ssl_certificate ${cert};
        ssl_certificate_key ${key};
        location / {
            flash_throttle zone=sale;
            proxy_pass http://127.0.0.1:${edge.shop.port};
        }
    }` });
  await edge.occupy();

  browser = await launch({ quic, args: [
    ...quic ? [`--origin-to-force-quic-on=localhost:${port}`] : [],
    `--ignore-certificate-errors-spki-list=${hash}`,
    '--host-resolver-rules=MAP localhost 127.0.0.1'
  ] });

  return { page: await (await browser.newContext({ locale: 'en-US' })).newPage(), url: `https://localhost:${port}/checkout` };
}


for (const [name, protocol] of [['HTTP/2', 'h2'], ['HTTP/3', 'h3']]) {
  const quic = protocol === 'h3';
  const options = { skip: quic && !hasHttp3 && 'this nginx has no HTTP/3' };

  test(`${name}: from the queue to the purchase`, options, async () => {
    const { page, url } = await busy(quic);
    const protocols = type => page.evaluate(type => performance.getEntriesByType(type).map(e => e.nextHopProtocol), type);
    const query = '?a=1&a=2';

    // the cookies are split into several headers
    await page.context().addCookies(Array.from({ length: 10 }, (_, i) => ({ name: `c${i}`, value: '1', url })));

    const response = await page.goto(url + query);

    assert.equal(response.status(), 503);
    await inLine(page);
    assert.deepEqual(await protocols('navigation'), [protocol]);
    assert.ok((await protocols('resource')).every(used => used === protocol));

    const cookies = await page.context().cookies();

    assert.ok(cookies.find(({ name }) => name === 'flash_throttle_sale').secure);

    await edge.letGo();
    await titled(page, /^GET checkout$/);
    assert.deepEqual(await protocols('navigation'), [protocol]);
    await page.click('button');
    await titled(page, /^POST checkout$/);
    assert.deepEqual(edge.shop.seen(), [`GET /checkout${query}`, 'POST /checkout?step=pay']);
  });

  test(`${name}: a${quic ? '' : ' big'} form is queued, and the client reads the answer`, options, async () => {
    const { page, url } = await busy(quic);
    // over HTTP/3 Chromium hangs if nginx answers before it has sent the body, so
    // the body must fit into the first packets
    const size = quic ? 1e3 : 500e3;

    await page.goto(url);
    await inLine(page);

    for (let i = 0; i < 2; i++) {
      const [status, answer] = await page.evaluate(size => fetch(location.href, {
        method: 'POST', body: 'x'.repeat(size), headers: { 'Accept': 'application/json' }
      }).then(async response => [response.status, (await response.json()).status]), size);

      assert.deepEqual([status, answer], [503, 'queued']);
    }

    assert.deepEqual(edge.shop.seen(), []);
  });
}
