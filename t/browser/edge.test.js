// Browsers at an edge, from the queue to the purchase.  Tests with "report:" (also
// in page.test.js and t/13-clients.t) reproduce faults reported of other waiting
// rooms.

'use strict';

const assert = require('node:assert/strict');
const fs = require('node:fs');
const path = require('node:path');
const { afterEach } = require('node:test');

const { closeContexts, context, freshPage, inLine, persistent, test, text, titled } = require('./lib/browser.js');
const { Edge, build, freePort, until } = require('./lib/edge.js');

let edge;

afterEach(async () => {
  await closeContexts();
  await edge.stop();
});


// Collects the JSON of each poll of a page, except polls aborted by its unload.
function answersOf(page) {
  const answers = [];

  page.on('response', async response => {
    if (response.request().headers()['flash-throttle-poll'] !== '1') return;

    const answer = await response.json().catch(() => undefined);

    if (answer) answers.push(answer);
  });

  return answers;
}

// Opens a page that waits for the shopper at /till.
async function waiting(options = {}, path = '/checkout') {
  edge = await Edge.start(options.edge);
  await edge.occupy();

  const page = await freshPage(options.browser);
  const answers = answersOf(page);

  await page.goto(edge.url(path));
  await inLine(page);
  await until('an answer', () => answers.length);

  return { page, answers };
}


test('from the queue to the purchase', async () => {
  const { page } = await waiting();

  assert.deepEqual(edge.shop.seen(), [], 'no request reaches the shop');
  await edge.letGo();
  await titled(page, /^GET checkout$/);
  await page.click('button');
  await titled(page, /^POST checkout$/);
  assert.deepEqual(edge.shop.seen(), ['GET /checkout', 'POST /checkout?step=pay']);
});

test('report: a later checkout step was queued again', async () => {
  const { page } = await waiting();

  await edge.letGo();
  await titled(page, /^GET checkout$/);
  await edge.occupy();
  assert.equal((await edge.get('/checkout')).status, 503);
  await page.click('button');
  await titled(page, /^POST checkout$/);
  assert.deepEqual(edge.shop.seen(), ['GET /checkout', 'POST /checkout?step=pay']);
  assert.equal(edge.shop.requests.find(({ method }) => method === 'POST').body, 'item=lamp');
});

test('report: the gate overwrote the origin\'s Set-Cookie', async () => {
  const { page } = await waiting();

  await edge.letGo();
  await titled(page, /^GET checkout$/);

  const names = (await page.context().cookies()).map(({ name }) => name);

  assert.deepEqual(names.sort(), ['basket', 'flash_throttle_sale']);
});

test('report: only the first cookie in the header was read', async () => {
  edge = await Edge.start();
  await edge.occupy();

  const browser = await context();
  const cookies = Array.from({ length: 40 }, (_, i) => ({ name: `cookie${i}`, value: 'x'.repeat(40), url: edge.url() }));

  await browser.addCookies(cookies.slice(0, 20));

  const page = await browser.newPage();

  await page.goto(edge.url());
  await browser.addCookies(cookies.slice(20));
  await inLine(page);
  await edge.letGo();
  await titled(page, /^GET checkout$/);
});

test('report: a reload gave a new place', async () => {
  const { page, answers } = await waiting();
  const later = await freshPage();
  const laterAnswers = answersOf(later);

  await later.goto(edge.url());
  await inLine(later);

  for (let i = 0; i < 3; i++) {
    await page.reload();
    await inLine(page);
  }

  const timestamps = new Set(answers.map(({ first_attempt_ms }) => first_attempt_ms));

  assert.equal(timestamps.size, 1, 'one timestamp over all reloads');
  assert.ok(laterAnswers.every(({ first_attempt_ms }) => first_attempt_ms > [...timestamps][0]));
  // a shopper is counted at its first poll
  await until('two waiting shoppers', async () => (await edge.state()).waiting === 2);

  await edge.letGo();
  await titled(page, /^GET checkout$/);
});

test('the back button leaves the queue', async () => {
  edge = await Edge.start();
  await edge.occupy();

  const page = await freshPage();

  await page.goto(edge.url('/lamp'));
  await page.goto(edge.url('/checkout'));
  await inLine(page);
  await edge.letGo();
  await titled(page, /^GET checkout$/);
  await page.goBack();
  assert.equal(page.url(), edge.url('/lamp'), 'the queue page is not in the history');
  await page.goForward();
  await titled(page, /^GET checkout$/);
});

test('back and forward again keep the place', async () => {
  edge = await Edge.start();
  await edge.occupy();

  const page = await freshPage();
  const answers = answersOf(page);

  await page.goto(edge.url('/lamp'));
  await page.goto(edge.url('/checkout'));
  await inLine(page);
  await page.goBack();
  await page.goForward();
  await inLine(page);
  assert.equal(new Set(answers.map(({ first_attempt_ms }) => first_attempt_ms)).size, 1);
});

test('ten tabs, one place', async () => {
  edge = await Edge.start();
  await edge.occupy();

  const browser = await context();
  const tabs = await Promise.all(Array.from({ length: 10 }, () => browser.newPage()));

  await Promise.all(tabs.map(tab => tab.goto(edge.url())));
  for (const tab of tabs) await inLine(tab);

  // the tabs share one ticket after their first polls
  await until('one shopper', async () => (await edge.state()).waiting === 1);
  await until('one place', async () => new Set(await Promise.all(tabs.map(tab => text(tab, 'place')))).size === 1);

  await edge.letGo();
  for (const tab of tabs) await titled(tab, /^GET checkout$/);
  assert.equal((await edge.state()).admitted, 2, 'one at the till, one for all tabs');
});

test('report: the place was lost when the browser was restarted', async () => {
  edge = await Edge.start();
  await edge.occupy();

  const profile = fs.mkdtempSync(path.join(build, 'browser-profile.'));
  const timestamps = [];

  try {
    for (let i = 0; i < 2; i++) {
      const browser = await persistent(profile);
      const page = browser.pages()[0] || await browser.newPage();
      const answers = answersOf(page);

      await page.goto(edge.url());
      await inLine(page);
      await until('an answer', () => answers.length);
      timestamps.push(answers[0].first_attempt_ms);

      if (i === 1) {
        await edge.letGo();
        await titled(page, /^GET checkout$/);
      }

      await browser.close();
    }
  } finally {
    // Chromium still writes to it for a moment
    fs.rmSync(profile, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 });
  }

  assert.equal(timestamps[1], timestamps[0]);
});

test('a queued form is sent once, after a click', async () => {
  edge = await Edge.start();

  const page = await freshPage();

  await page.goto(edge.url());
  await page.context().clearCookies();
  await edge.occupy();
  await page.fill('input', 'two lamps');
  await page.click('button');
  await inLine(page);
  await edge.letGo();

  const send = page.locator('button');

  await send.waitFor({ state: 'visible' });
  assert.equal(await page.title(), 'It is your turn');
  assert.equal(await text(page, 'news'), 'It is your turn');
  assert.ok(edge.shop.seen().every(line => !/^POST/.test(line)), 'not sent without a click');

  await send.click();
  await titled(page, /^POST checkout$/);

  const posts = edge.shop.requests.filter(({ method }) => method === 'POST');

  assert.deepEqual(posts.map(({ url, body }) => [url, body]), [['/checkout?step=pay', 'item=two+lamps']]);
});

test('without JavaScript', async () => {
  const { page: ahead } = await waiting();
  const page = await freshPage({ javaScriptEnabled: false });

  await page.goto(edge.url('/checkout?a=1'));
  assert.equal(await page.textContent('h1:visible'), 'You are in line');

  // a reload polls; the edge fills in place and wait
  await until('the figures', async () => /^\d+$/.test(await text(page, 'ahead').catch(() => '')));
  assert.match(await text(page, 'wait'), /^(\d+-|> )\d+ min$/);
  assert.equal(Number(await text(page, 'place')), Number(await text(page, 'ahead')) + 1);

  await edge.letGo();
  await titled(ahead, /^GET checkout$/);
  await titled(page, /^GET checkout$/);
  assert.equal(page.url(), edge.url('/checkout?a=1'));
});

test('the edge is killed and restarted during a wait', async () => {
  const { page, answers } = await waiting();
  const timestamp = answers[0].first_attempt_ms;

  await edge.kill();
  await page.locator('[data-ft-when=lost]').waitFor({ state: 'visible' });
  await edge.run();
  await edge.letGo();
  await titled(page, /^GET checkout$/);

  for (const { first_attempt_ms } of answers) assert.equal(first_attempt_ms, timestamp);
  assert.equal(edge.log(/^GET \/checkout 503 -$/).length, 1, 'the page was loaded once');
});

test('the throttle is switched off during a wait', async () => {
  const { page } = await waiting();

  edge.options.off = true;
  edge.configure();
  edge.reload();
  await titled(page, /^GET checkout$/);
});

test('report: the admission was reported one poll late', async () => {
  for (const throttle of ['', 'hold=0']) {
    const { page } = await waiting({ edge: { throttle } });

    await edge.letGo();
    await titled(page, /^GET checkout$/);

    const lines = edge.log();
    const after = lines.slice(lines.findIndex(line => /\/till/.test(line)) + 1);

    assert.match(after[0], / 200 1$/, `${throttle}: ${after}`);

    if (throttle === '') {
      await closeContexts();
      await edge.stop();
    }
  }
});

test('report: the return URL lost its repeated query keys', async () => {
  const query = '/checkout?size=4&size=6&q=a%20b%26c&empty=&flag&size=4';
  const { page } = await waiting({}, `${query}#/step/2`);

  await edge.letGo();
  await titled(page, /^GET checkout$/);
  assert.equal(page.url(), edge.url(`${query}#/step/2`));
  assert.deepEqual(edge.shop.seen(), [`GET ${query}`]);
});

test('report: the poll renewed the session', async () => {
  const { page } = await waiting({ edge: { http: 'flash_throttle_session 1m;' } });

  await edge.letGo();
  await titled(page, /^GET checkout$/);

  const [{ expires }] = (await page.context().cookies()).filter(({ name }) => /throttle/.test(name));
  const poll = () => page.evaluate(() => fetch(location.href, {
    headers: { 'Accept': 'application/json', 'Flash-Throttle-Poll': '1' }
  }).then(response => response.json()));

  assert.equal((await poll()).status, 'admitted');
  assert.deepEqual((await page.context().cookies()).filter(({ name }) => /throttle/.test(name)).map(c => c.expires),
                   [expires]);
});

test('report: XHR got an HTML page and failed silently', async () => {
  edge = await Edge.start({ location: 'flash_throttle_queue_status 200;' });

  const page = await freshPage();

  await page.goto(edge.url('/lamp'));
  await edge.occupy();

  const answer = await page.evaluate(() => new Promise((done, failed) => {
    const request = new XMLHttpRequest;

    request.open('GET', '/checkout');
    request.setRequestHeader('Accept', 'application/json');
    request.onload = () => done({ status: request.status, body: JSON.parse(request.responseText),
                                  retry: request.getResponseHeader('Retry-After') });
    request.onerror = failed;
    request.send();
  }));

  assert.equal(answer.status, 200, 'flash_throttle_queue_status is used');
  assert.equal(answer.body.status, 'queued');
  assert.match(answer.retry, /^[1-9]\d*$/);
});

test('report: a CDN served an old queue page', async () => {
  const port = freePort();

  edge = await Edge.start({
    location: 'flash_throttle_queue_status 200;',
    http: ({ port: origin }) => `
      proxy_cache_path cache keys_zone=cache:1m;
      server {
          listen 127.0.0.1:${port};
          location / {
              proxy_cache cache;
              proxy_cache_valid any 10m;
              add_header X-Cache $upstream_cache_status;
              proxy_pass http://127.0.0.1:${origin};
          }
      }`
  });
  await edge.occupy();

  const url = `http://127.0.0.1:${port}/checkout`;
  const pages = [await freshPage(), await freshPage()];
  const answers = pages.map(answersOf);

  for (const page of pages) {
    const response = await page.goto(url);

    assert.equal(response.headers()['x-cache'], 'MISS');
    await inLine(page);
  }

  await until('answers', () => answers.every(all => all.length));
  assert.notEqual(answers[0][0].first_attempt_ms, answers[1][0].first_attempt_ms, 'two shoppers');
  await edge.letGo();
  await titled(pages[0], /^GET checkout$/);
});

test('a custom page of five lines, from docs/pages.md', async () => {
  const doc = fs.readFileSync(path.join(__dirname, '../../docs/pages.md'), 'utf8');
  const [, html] = /```html\n(.*?)```/s.exec(doc);

  assert.equal(html.trim().split('\n').length, 5);

  const { page } = await waiting({ edge: { files: { 'own.html': html },
                                           location: 'flash_throttle_queue_page own.html;' } });

  assert.equal(await text(page, 'ahead'), '0');
  assert.equal(await text(page, 'wait'), '0–1 minutes');

  await edge.kill();
  await page.locator('[data-ft-when=lost]').waitFor({ state: 'visible' });
  await edge.run();
  await edge.letGo();
  await titled(page, /^GET checkout$/);
});
