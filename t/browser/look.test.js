// Accessibility (axe-core), layout, languages and the Content-Security-Policy of
// the pages.  Screenshots are written for review.

'use strict';

const assert = require('node:assert/strict');
const { execFileSync } = require('node:child_process');
const fs = require('node:fs');
const path = require('node:path');
const { afterEach } = require('node:test');

const { closeContexts, freshPage, inLine, screenshot, test, text } = require('./lib/browser.js');
const { build, root } = require('./lib/edge.js');
const { Stub, queued } = require('./lib/stub.js');

const AXE = require.resolve('axe-core/axe.min.js');
const RULES = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'];

const hour = 3600e3;

// A shopper that moves from place 4,001 to place 1,234.
function movingUp() {
  const first = queued({ position: 4000, wait_ms: 400e3, retry_ms: 100 });
  let polls = 0;

  return (request, poll) => poll && polls++ ? { ...first, position: 1233, retry_ms: 60e3 } : first;
}

const STATES = {
  queued: movingUp,
  closed: () => ({ status: 'closed', position: 0, wait_ms: 0, retry_ms: 60e3, first_attempt_ms: 1,
                   opens_ms: Date.now() + 1.5 * hour }),
  sold_out: () => ({ status: 'sold_out', position: 0, wait_ms: 0, retry_ms: 60e3, first_attempt_ms: 1 }),
  rejected: () => ({ status: 'rejected', position: 0, wait_ms: 9e4, retry_ms: 9e4, first_attempt_ms: 1 })
};

const LOOKS = {
  light: { viewport: { width: 800, height: 600 } },
  dark: { viewport: { width: 800, height: 600 }, colorScheme: 'dark' },
  rtl: { viewport: { width: 800, height: 600 }, locale: 'ar-EG' },
  '320': { viewport: { width: 320, height: 568 }, locale: 'de-DE' }
};

let stub;

afterEach(async () => {
  await closeContexts();
  await stub.stop();
});


// Opens a page and waits for its first poll.
async function open(answer, options) {
  stub = await Stub.start(answer);

  const page = await freshPage(options);
  const heard = page.waitForResponse(response => response.request().headers()['flash-throttle-poll'] === '1');

  await page.goto(stub.url());
  await (await heard).finished();
  await page.waitForFunction(() => document.querySelector('h1:not([hidden])'));
  if (typeof answer === 'function') await page.waitForFunction(() => document.querySelector('progress').position > .5);

  return page;
}

// axe-core's violations as text.
async function violations(page) {
  await page.addScriptTag({ path: AXE });

  const found = await page.evaluate(rules => axe.run(document, { runOnly: rules }), RULES);

  assert.ok(found.passes.length > 10, 'axe-core ran');

  return found.violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(' ')}`);
}

function overflow(page) {
  return page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
}

function readLanguages() {
  const languages = {};
  let tag;

  for (const line of fs.readFileSync(path.join(root, 'conf/pages/src/languages.txt'), 'utf8').split('\n')) {
    const section = /^\[(.*)\]$/.exec(line);
    const pair = /^(\w+) = (.*)$/.exec(line);

    if (section) languages[tag = section[1]] = {};
    if (pair) languages[tag][pair[1]] = pair[2];
  }

  return languages;
}


for (const state of Object.keys(STATES)) {
  for (const look of Object.keys(LOOKS)) {
    test(`${state}, ${look}: no violation, no overflow`, async () => {
      const page = await open(STATES[state](), LOOKS[look]);

      await screenshot(page, `${state}-${look}`);
      assert.deepEqual(await violations(page), []);
      assert.equal(await overflow(page), 0);
      if (look === 'rtl') assert.equal(await page.evaluate(() => document.dir), 'rtl');
    });
  }
}

test('admitted with a form, and without an answer: no violation', async () => {
  const answer = queued();
  const page = await open(answer);

  stub.answer = 502;
  await page.locator('[data-ft-when=lost]').waitFor({ state: 'visible' });
  assert.deepEqual(await violations(page), []);

  await page.evaluate(() => document.documentElement.dataset.ftMethod = 'POST');
  stub.answer = answer;
  await page.setContent(`<form method=post action="${stub.url()}"><button>x</button></form>`);
  await page.click('button');
  await inLine(page);
  stub.answer = { ...answer, status: 'admitted' };

  const send = page.locator('button');

  await send.waitFor({ state: 'visible' });
  await screenshot(page, 'admitted-form');
  assert.equal((await page.innerText('main')).trim().replace(/\s+/g, ' '), 'It is your turn Send It is your turn');
  assert.deepEqual(await violations(page), []);

  // keyboard focus and target size
  await page.keyboard.press('Tab');
  assert.ok(await send.evaluate(button => document.activeElement === button && button.matches(':focus-visible')));

  const { width, height } = await send.boundingBox();

  assert.ok(width >= 44 && height >= 44, `${width} x ${height}`);
});

test('zoomed to 200 %', async () => {
  const page = await open(STATES.queued(), { viewport: { width: 640, height: 360 }, deviceScaleFactor: 2 });

  assert.equal(await overflow(page), 0);
});

test('text at 200 %, in a narrow window', async () => {
  const page = await open(STATES.queued(), { viewport: { width: 320, height: 568 }, locale: 'de-DE' });

  await page.addStyleTag({ content: 'html { font-size: 200% }' });
  assert.equal(await overflow(page), 0);
});

test('forced colours', async () => {
  const page = await open(STATES.queued(), { forcedColors: 'active', colorScheme: 'dark' });

  await screenshot(page, 'queued-forced-colors');
  assert.deepEqual(await violations(page), []);
});

test('reduced motion', async () => {
  const page = await open(STATES.queued(), { reducedMotion: 'reduce' });

  assert.equal(await page.evaluate(() => document.getAnimations().length), 0);
  assert.ok(await page.locator('progress').evaluate(bar => bar.position >= 0), 'the progress bar has a value');
});


// Formats a number with the browser's locale data, which may differ from Node's.
const written = (page, number, tag) => page.evaluate(([n, language]) => n.toLocaleString(language), [number, tag]);

test('at least sixteen languages, some right-to-left', async () => {
  const languages = readLanguages();
  const tags = Object.keys(languages);
  const directions = new Set;

  assert.ok(tags.length >= 16, `${tags.length} languages`);

  for (const tag of tags) {
    const page = await open(queued({ position: 1233, wait_ms: 400e3 }), { locale: tag });
    const texts = languages[tag];

    await inLine(page);
    assert.equal(await page.getAttribute('html', 'lang'), tag);
    directions.add(await page.evaluate(() => document.dir || 'ltr'));
    assert.equal(await page.textContent('h1:visible'), texts.line);
    assert.equal(await page.locator('dt').allTextContents().then(all => all.join('|')),
                 [texts.place, texts.ahead, texts.wait].join('|'));
    assert.equal(await text(page, 'place'), await written(page, 1234, tag));
    assert.ok((await page.title()).endsWith(texts.line));

    await closeContexts();
    await stub.stop();
  }

  assert.deepEqual([...directions].sort(), ['ltr', 'rtl']);
  stub = await Stub.start(queued());
});

test('more than an hour, in every language', async () => {
  stub = await Stub.start(queued({ wait_ms: 50475 * 60e3 }));

  for (const [tag, texts] of Object.entries(readLanguages())) {
    const page = await freshPage({ locale: tag });

    await page.goto(stub.url());
    await inLine(page);
    assert.equal(await text(page, 'wait'), texts.more);
    await closeContexts();
  }
});

test('the language is the first available of navigator.languages', async () => {
  stub = await Stub.start(queued());

  for (const [wanted, lang] of [
    [['de-AT'], 'de'], [['pt-PT', 'en'], 'pt'], [['cy', 'fr-CH', 'de'], 'fr'], [['en-GB', 'de'], 'en'], [['cy', 'eu'], 'en'],
    [['zh-Hant-TW'], 'zh'], [['ar'], 'ar'], [['he-IL'], 'he']
  ]) {
    const page = await freshPage();

    await page.addInitScript(languages => Object.defineProperty(navigator, 'languages', { get: () => languages }), wanted);
    await page.goto(stub.url());
    await inLine(page);
    assert.equal(await page.getAttribute('html', 'lang'), lang, `${wanted}`);
  }
});

test('numbers and times in the shopper\'s locale', async () => {
  const page = await open(queued({ position: 1233, wait_ms: 400e3 }), { locale: 'de-CH', timezoneId: 'Europe/Zurich' });

  await inLine(page);
  assert.equal(await text(page, 'ahead'), await written(page, 1233, 'de-CH'));
  assert.equal(await text(page, 'wait'), '5–10 Minuten');
  assert.match(await text(page, 'heard'), /^\d\d:\d\d:\d\d$/);
});

test('Arabic: digits and direction', async () => {
  const page = await open(queued({ position: 1233, wait_ms: 400e3 }), { locale: 'ar-EG' });

  await inLine(page);
  assert.match(await text(page, 'ahead'), /^[٠-٩٬]+$/);
  assert.match(await text(page, 'wait'), /دقائق/);

  const [first, last] = await page.locator('dl > div').evaluateAll(all =>
    [all[1], all[2]].map(e => e.getBoundingClientRect().left));

  assert.ok(first > last, 'the first item is on the right');
});


test('conf/pages/*.html match conf/pages/src', async () => {
  const dir = fs.mkdtempSync(path.join(build, 'browser-pages.'));

  stub = await Stub.start(queued());

  try {
    execFileSync(process.execPath, [path.join(root, 'scripts/pages.js'), dir]);

    for (const name of fs.readdirSync(dir)) {
      assert.ok(fs.readFileSync(path.join(dir, name)).equals(fs.readFileSync(path.join(root, 'conf/pages', name))),
                `${name} is not what "make pages" writes`);
    }
  } finally {
    fs.rmSync(dir, { recursive: true, force: true });
  }
});

test('the pages run under the printed Content-Security-Policy', async () => {
  const pages = ['queue', 'closed', 'sold_out', 'rejected'].map(name => path.join(root, 'conf/pages', `${name}.html`));
  const policy = execFileSync(path.join(root, 'scripts/csp.sh'), pages, { encoding: 'utf8' }).trim().split('\n').pop();

  for (const state of Object.keys(STATES)) {
    stub = await Stub.start(STATES[state]());
    stub.headers = { 'Content-Security-Policy': policy };

    const page = await freshPage();
    const errors = [];

    page.on('console', message => /Content Security Policy/.test(message.text()) && errors.push(message.text()));
    await page.addInitScript(() => Object.defineProperty(document, 'hidden', { get: () => true }));
    await page.goto(stub.url());
    await page.waitForFunction(() => document.querySelector('h1:not([hidden])') && performance.getEntriesByType('resource').length);
    if (state === 'queued') await inLine(page);
    assert.equal(await page.evaluate(() => getComputedStyle(document.body).display), 'grid', 'styled');
    assert.deepEqual(errors, []);

    await closeContexts();
    await stub.stop();
  }
});

test('the pages run under a policy without workers', async () => {
  const page = path.join(root, 'conf/pages/queue.html');
  const policy = execFileSync(path.join(root, 'scripts/csp.sh'), [page], { encoding: 'utf8' }).trim().split('\n').pop();

  stub = await Stub.start(queued());
  stub.headers = { 'Content-Security-Policy': policy.replace('worker-src data:', "worker-src 'none'") };

  const tab = await freshPage();

  await tab.addInitScript(() => Object.defineProperty(document, 'hidden', { get: () => true }));
  await tab.goto(stub.url());
  await inLine(tab);

  const seen = stub.polls().length;

  await tab.waitForResponse(() => stub.polls().length > seen + 2);
});
