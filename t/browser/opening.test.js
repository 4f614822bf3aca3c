// Browsers at an edge with flash_throttle_opens, and with a stock that sells out.

'use strict';

const assert = require('node:assert/strict');
const { afterEach } = require('node:test');

const { closeContexts, freshPage, inLine, test, text, titled } = require('./lib/browser.js');
const { Edge } = require('./lib/edge.js');

let edge;

afterEach(async () => {
  await closeContexts();
  await edge.stop();
});


// flash_throttle_opens for a time from now, and the time in ms.
function opensIn(seconds) {
  const opens = Date.now() + seconds * 1e3;

  return { opens, location: `flash_throttle_opens ${new Date(opens).toISOString()};` };
}

// Starts an edge that opens in an hour, with a shopper at the till.
async function closed() {
  const { opens, location } = opensIn(3600);

  edge = await Edge.start({ location });
  await edge.occupy();

  return opens;
}

// Moves the opening to two seconds from now.
function openSoon() {
  const { opens, location } = opensIn(2);

  edge.options.location = location;
  edge.configure();
  edge.reload();

  return opens;
}


test('from the countdown through the queue to the purchase', async () => {
  const hour = await closed();
  const page = await freshPage();
  const answers = [];

  page.on('response', async response => {
    const answer = await response.json().catch(() => ({}));

    if (answer.first_attempt_ms) answers.push(answer);
  });

  assert.equal((await page.goto(edge.url('/checkout?a=1&a=2'))).status(), 503);
  await page.locator('[data-ft=left]', { hasText: /^(1:00:00|59:\d\d)$/ }).waitFor();
  assert.equal(await page.title(), 'Not open yet');
  assert.equal(await page.textContent('h1:visible'), 'Not open yet');
  await page.reload();
  await titled(page, /^Not open yet$/);

  const tab = await page.context().newPage();

  await tab.goto(edge.url());
  await titled(tab, /^Not open yet$/);

  // earlier than announced
  const opens = openSoon();

  await inLine(page);
  await inLine(tab);
  assert.ok(Date.now() >= opens, 'not before the opening');
  assert.deepEqual(edge.shop.seen(), []);

  await edge.letGo();
  await titled(page, /^GET checkout$/);
  await titled(tab, /^GET checkout$/);
  await page.click('button');
  await titled(page, /^POST checkout$/);
  assert.ok(edge.shop.seen().includes('GET /checkout?a=1&a=2'));

  const before = answers.filter(({ status }) => status === 'closed');

  assert.ok(before.length, 'some answers are "closed"');
  for (const answer of before) {
    assert.ok([hour, opens].includes(answer.opens_ms));
    assert.ok(!('position' in answer), 'no position before the shuffle');
  }

  assert.equal(new Set(answers.map(({ first_attempt_ms }) => first_attempt_ms)).size, 1, 'one first attempt');
});

test('without JavaScript, before the opening', async () => {
  await closed();

  const page = await freshPage({ javaScriptEnabled: false });

  await page.goto(edge.url());
  assert.equal(await page.textContent('h1:visible'), 'Not open yet');

  openSoon();

  // a reload polls
  await titled(page, /^You are in line$/);
  await edge.letGo();
  await titled(page, /^GET checkout$/);
});

test('sold out while waiting', async () => {
  edge = await Edge.start({ http: 'flash_throttle_feedback on;' });
  await edge.occupy();

  const page = await freshPage();
  const plain = await freshPage({ javaScriptEnabled: false });

  await page.goto(edge.url());
  await plain.goto(edge.url());
  await inLine(page);

  await edge.letGo('sold-out');

  for (const shopper of [page, plain]) {
    await titled(shopper, /^Sold out$/);
    assert.equal(await shopper.textContent('h1:visible'), 'Sold out');
  }

  assert.equal((await edge.get('/checkout')).status, 409);
  assert.deepEqual(edge.shop.seen(), [], 'no request reaches the shop');
});
