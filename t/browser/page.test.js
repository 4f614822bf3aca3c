// The pages with a stub in place of the edge.

'use strict';

const assert = require('node:assert/strict');
const { afterEach } = require('node:test');

const { closeContexts, context, freshPage, inLine, test, text, titled } = require('./lib/browser.js');
const { sleep, until } = require('./lib/edge.js');
const { Stub, queued } = require('./lib/stub.js');

let stub;

afterEach(async () => {
  await closeContexts();
  await stub.stop();
});


async function open(answer, options, path) {
  stub = await Stub.start(answer);

  const page = await freshPage(options);

  await page.goto(stub.url(path));

  return page;
}

// Waits for more polls.
async function polled(more = 1) {
  const before = stub.polls().length;

  await until(`${more} polls`, () => stub.polls().length >= before + more);
}


test('place, wait and progress', async () => {
  const answer = queued({ position: 1233, wait_ms: 400e3 });
  const page = await open(answer);

  await inLine(page);
  assert.equal(await text(page, 'place'), '1,234');
  assert.equal(await text(page, 'ahead'), '1,233');
  assert.equal(await text(page, 'wait'), '5–10 minutes');
  assert.match(await text(page, 'heard'), /^\d+:\d\d:\d\d [AP]M$/);
  assert.equal(await page.title(), '(1,234) You are in line');

  const progress = () => page.locator('progress').evaluate(bar => bar.position);

  assert.ok(await progress() < .01);

  stub.answer = { ...answer, position: 616 };
  await page.waitForFunction(() => document.title.startsWith('(617)'));
  assert.ok(Math.abs(await progress() - .5) < .01);
});

test('the place never grows, also over a reload', async () => {
  const answer = queued({ position: 10 });
  const page = await open(answer);

  await inLine(page);
  stub.answer = { ...answer, position: 12 };
  await polled(2);
  assert.equal(await text(page, 'ahead'), '10');

  await page.reload();
  await inLine(page);
  assert.equal(await text(page, 'ahead'), '10');

  stub.answer = { ...answer, position: 9 };
  await page.waitForFunction(() => document.title.startsWith('(10)'));
  assert.equal(await text(page, 'ahead'), '9');
});

test('the wait has hysteresis', async () => {
  const answer = queued({ wait_ms: 310e3 });
  const page = await open(answer);

  await inLine(page);
  assert.equal(await text(page, 'wait'), '5–10 minutes');

  for (const wait_ms of [290e3, 320e3, 620e3, 260e3, 700e3, 590e3]) {
    stub.answer = { ...answer, wait_ms };
    await polled(2);
    assert.equal(await text(page, 'wait'), '5–10 minutes', `${wait_ms} ms`);
  }

  stub.answer = { ...answer, wait_ms: 130e3 };
  await polled(2);
  assert.equal(await text(page, 'wait'), '2–5 minutes');
});

test('a wait above an hour is shown without a value', async () => {
  const answer = queued({ wait_ms: 50475 * 60e3 });
  const page = await open(answer);

  await inLine(page);
  assert.equal(await text(page, 'wait'), 'more than an hour');

  stub.answer = { ...answer, wait_ms: 9e15 };
  await polled(2);
  assert.equal(await text(page, 'wait'), 'more than an hour');

  stub.answer = { ...answer, wait_ms: 0 };
  await polled(2);
  assert.equal(await text(page, 'wait'), '0–1 minutes');
});

test('report: the wait shown depended on the time zone', async () => {
  const waits = [];

  for (const timezoneId of ['Pacific/Kiritimati', 'America/Los_Angeles', 'Asia/Kolkata']) {
    const page = await open(queued({ wait_ms: 400e3 }), { timezoneId });

    await inLine(page);
    waits.push(await text(page, 'wait'));
    await stub.stop();
  }

  assert.deepEqual(waits, Array(3).fill('5–10 minutes'));
});

test('polls at the advised time or slightly later', async () => {
  const page = await open(queued({ retry_ms: 1000 }));

  await inLine(page);
  await polled(5);

  const times = stub.polls().map(({ time }) => time);
  const gaps = times.slice(1).map((time, i) => time - times[i]);

  for (const gap of gaps) assert.ok(gap >= 990, `${gaps}`);
  assert.ok(Math.min(...gaps) < 1500, `${gaps}`);
  assert.ok(new Set(gaps.slice(1)).size > 1, 'with jitter');
});

test('the Refresh header does not reload a page with a script', async () => {
  stub = await Stub.start(queued());
  stub.headers = { Refresh: '1' };

  const page = await freshPage();

  await page.goto(stub.url());
  await inLine(page);

  const start = Date.now();

  await until('ten polls over two Refreshes', () => stub.polls().length >= 10 && Date.now() > start + 2100);
  assert.equal(stub.pages().length, 1);
});

test('admission is announced, then the page is requested', async () => {
  const answer = queued();
  const page = await open(answer, {}, '/checkout?a=1&b=x%20y&a=2#pay');

  await inLine(page);
  await page.evaluate(() => {
    new MutationObserver(() => console.log(`${document.title}|${document.querySelector('[role=status]').textContent}`))
      .observe(document, { subtree: true, childList: true, characterData: true });
  });

  const announced = page.waitForEvent('console', message => /turn/.test(message.text()));

  stub.answer = { ...answer, status: 'admitted' };
  assert.equal((await announced).text(), 'It is your turn|It is your turn');

  await titled(page, /The shop/);
  assert.equal(await page.textContent('h1'), 'GET /checkout?a=1&b=x%20y&a=2');
  assert.equal(page.url(), stub.url('/checkout?a=1&b=x%20y&a=2#pay'));
});

test('no answer and error answers are shown, then the page recovers', async () => {
  const answer = queued({ position: 7 });
  const page = await open(answer);
  const lost = page.locator('[data-ft-when=lost]');

  await inLine(page);

  for (const trouble of [null, 502, 500, 429]) {
    assert.ok(await lost.isHidden());
    stub.answer = trouble;
    await lost.waitFor({ state: 'visible' });
    assert.equal(await text(page, 'news'), await lost.textContent());
    assert.equal(await text(page, 'place'), '8');
    stub.answer = answer;
    await lost.waitFor({ state: 'hidden' });
  }

  await stub.close();
  await lost.waitFor({ state: 'visible' });
  await stub.listen();
  await lost.waitFor({ state: 'hidden' });
  assert.equal(await text(page, 'place'), '8');
  assert.equal(stub.pages().length, 1, 'the page was loaded once');
});

test('no answer to the first poll is shown, the position remains', async () => {
  const answer = queued();
  const page = await open((request, poll) => poll ? null : answer);

  await page.locator('[data-ft-when=lost]').waitFor({ state: 'visible' });
  assert.equal(await page.textContent('h1:visible'), 'You are in line');
  assert.ok(await page.locator('[data-ft=figures]').isVisible());
});

test('backs off up to 30 s', async () => {
  stub = await Stub.start((request, poll) => poll ? null : queued());

  const page = await freshPage();

  // intervals on the page's clock
  await page.clock.install();
  await page.addInitScript(() => {
    const send = window.fetch;
    let ended;

    window.gaps = [];
    window.fetch = (...args) => {
      if (ended !== undefined) window.gaps.push(performance.now() - ended);

      const answer = send(...args);

      answer.catch(() => ended = performance.now());
      return answer;
    };

    Object.defineProperty(navigator, 'locks', { value: undefined });
  });
  await page.goto(stub.url());

  const gaps = await until('eight polls', async () => {
    await page.clock.runFor(2e3);

    const seen = await page.evaluate(() => window.gaps);

    return seen.length >= 8 && seen;
  });

  gaps.forEach((gap, i) => {
    const most = Math.min(2 ** (i + 1), 30) * 1e3;

    assert.ok(gap >= most * .75 && gap <= most + 250, `${gaps}`);
  });
});

test('an answer without the throttle loads the page', async () => {
  const page = await open(queued());

  await inLine(page);
  stub.answer = 404;
  await titled(page, /An error/);
});

test('a page that returns at once is requested after a delay', async () => {
  // polls are admitted, pages are queued: without cookies, or with a cache
  const answer = queued();
  const page = await open((request, poll) => poll ? { ...answer, status: 'admitted' } : answer);
  const start = Date.now();

  await until('a third page', () => stub.pages().length >= 3);
  assert.ok(Date.now() - start > 4500);
  assert.ok(!page.isClosed());
});

test('sold out while waiting', async () => {
  const answer = queued();
  const page = await open(answer);

  await inLine(page);
  stub.answer = { ...answer, status: 'sold_out' };
  await titled(page, /^Sold out$/);
  assert.equal(await page.textContent('h1:visible'), 'Sold out');

  stub.answer = { ...answer };
  await page.evaluate(() => window.dispatchEvent(new Event('online')));
  await inLine(page);
});

test('rejected, later admitted', async () => {
  const page = await open({ status: 'rejected', position: 0, wait_ms: 9e4, retry_ms: 9e4, first_attempt_ms: 1 });

  await page.locator('[data-ft=left]', { hasText: /^1:[23]\d$/ }).waitFor();
  assert.equal(await page.title(), 'Please come back later');

  stub.answer = queued();
  await page.evaluate(() => window.dispatchEvent(new Event('online')));
  await inLine(page);
});

test('the countdown uses the clock of the server', async () => {
  const opens_ms = Date.parse('2026-05-01T12:00:00Z');

  stub = await Stub.start({ status: 'closed', position: 0, wait_ms: 0, retry_ms: 300, first_attempt_ms: 5, opens_ms });
  stub.headers = { Date: 'Fri, 01 May 2026 11:58:30 GMT' };

  const page = await freshPage({ timezoneId: 'Europe/Amsterdam', locale: 'en-GB' });

  await page.goto(stub.url());
  await page.locator('[data-ft=left]', { hasText: /^1:(30|29|28)$/ }).waitFor();
  assert.match(await text(page, 'opens'), /^Friday,? 1 May 2026 at 14:00$/);
  assert.equal(await page.title(), 'Not open yet');

  stub.answer = queued();
  await inLine(page);
});

test('a form is not sent without a click', async () => {
  const answer = queued();

  stub = await Stub.start({ ...answer, status: 'admitted' });

  const page = await freshPage();

  await page.goto(stub.url('/cart'));
  await page.setContent(`<form method=post action="${stub.url('/checkout?a=1')}"><button>Buy</button></form>`);
  stub.answer = answer;
  await page.click('button');
  await inLine(page);

  stub.answer = { ...answer, status: 'admitted' };

  const send = page.locator('button');

  await send.waitFor({ state: 'visible' });
  assert.equal(await page.title(), 'It is your turn');

  const before = stub.requests.length;

  // a GET page would have reloaded by now
  await sleep(1500);
  assert.equal(stub.requests.length, before, 'no request without a click');

  await send.click();
  await titled(page, /The shop/);
  assert.equal(await page.textContent('h1'), 'POST /checkout?a=1');
});

test('tabs share their polls', async () => {
  const answer = queued({ retry_ms: 1500 });

  stub = await Stub.start(answer);

  const browser = await context();
  const tabs = [];

  for (let i = 0; i < 10; i++) {
    tabs.push(await browser.newPage());
    await tabs[i].goto(stub.url(`/checkout?tab=${i}`));
    await inLine(tabs[i]);
  }

  const begin = stub.polls().length;

  await until('six polls', () => stub.polls().length >= begin + 6);

  const [first, ...rest] = stub.polls().slice(begin + 1).map(({ time }) => time);

  // the rate of one tab, not of ten
  assert.ok(rest[rest.length - 1] - first > 4 * 1400, 'the interval of one tab');

  stub.answer = { ...answer, position: 5 };
  for (const tab of tabs) await tab.waitForFunction(() => document.title.startsWith('(6)'));

  // the others continue when the polling tab is closed
  await tabs.shift().close();
  await tabs.shift().close();
  stub.answer = { ...answer, position: 3 };
  for (const tab of tabs) await tab.waitForFunction(() => document.title.startsWith('(4)'));

  stub.answer = { ...answer, status: 'admitted' };
  for (const tab of tabs) await titled(tab, /The shop/);
});

test('tabs of different sales are independent', async () => {
  const [lamp, chair] = [queued({ position: 5 }), queued({ position: 50 })];

  stub = await Stub.start(({ url }) => url === '/lamp' ? lamp : chair);

  const browser = await context();
  const [one, two] = [await browser.newPage(), await browser.newPage()];

  await one.goto(stub.url('/lamp'));
  await two.goto(stub.url('/chair'));
  await inLine(one);
  await inLine(two);
  await polled(8);
  assert.equal(await text(one, 'place'), '6');
  assert.equal(await text(two, 'place'), '51');
});

test('polls on time in a hidden tab', async () => {
  stub = await Stub.start(queued({ retry_ms: 500 }));

  const page = await freshPage();

  // as Chromium throttles timers of a tab hidden for five minutes
  await page.addInitScript(() => {
    const set = window.setTimeout;
    let hidden = false;

    Object.defineProperty(document, 'hidden', { get: () => hidden });
    window.setTimeout = (code, ms, ...more) => set(code, hidden ? 60e3 : ms, ...more);
    window.hide = value => {
      hidden = value;
      document.dispatchEvent(new Event('visibilitychange'));
    };
  });

  await page.goto(stub.url());
  await inLine(page);
  await page.evaluate(() => window.hide(true));

  await polled(6);

  stub.answer = { ...stub.answer, position: 2 };
  await page.evaluate(() => window.hide(false));
  await page.waitForFunction(() => document.title.startsWith('(3)'));
});

test('a screen reader gets changes, not every update', async () => {
  const answer = queued({ position: 40, wait_ms: 400e3, retry_ms: 100 });
  const page = await open(answer);

  await inLine(page);
  assert.match(await text(page, 'news'), /Ahead of you, 40, .*5–10 minutes/);

  await page.evaluate(() => {
    window.announced = 0;
    new MutationObserver(() => window.announced++)
      .observe(document.querySelector('[role=status]'), { childList: true, characterData: true, subtree: true });
  });

  stub.answer = { ...answer, position: 38 };
  await polled(8);
  assert.equal(await text(page, 'ahead'), '38');
  assert.equal(await page.evaluate(() => window.announced), 0);
});
