// The dashboard: what it draws, whom it tells, and that it is live.

'use strict';

const assert = require('node:assert/strict');
const { afterEach, test } = require('node:test');

const { closeContexts, freshPage, screenshot } = require('./lib/browser.js');
const { Edge, until } = require('./lib/edge.js');

const AXE = require.resolve('axe-core/axe.min.js');
const RULES = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'];

let edge;

afterEach(async () => {
  await closeContexts();
  if (edge) await edge.stop();
  edge = null;
});


// A page of the status, and what its console complains of.
async function open(options, hash = '') {
  const page = await freshPage(options);

  page.complaints = [];
  page.on('console', message => message.type() === 'error' && page.complaints.push(message.text()));
  page.on('pageerror', error => page.complaints.push(error.message));
  await page.goto(edge.url('/status') + hash);

  return page;
}

// The figure under a label.
const figure = (page, label) => page.locator('dl > div', { has: page.getByText(label, { exact: true }) }).locator('dd').textContent();

// How many points a plot's first line has.
const points = (page, title) => page.locator('figure', { has: page.getByRole('heading', { name: title }) })
  .locator('polyline').first().getAttribute('points').then(text => text.split(' ').length);

function shows(page, label, value) {
  return until(`${label} to be ${value}`, async () => await figure(page, label).catch(() => '') === value);
}

async function violations(page) {
  // the policy of the page lets no other script in: axe comes from beside it
  await page.evaluate(require('fs').readFileSync(AXE, 'utf8'));

  const { violations: found } = await page.evaluate(rules => axe.run({ runOnly: rules }), RULES);

  return found.map(({ id, nodes }) => `${id}: ${nodes.map(node => node.html).join(' ')}`);
}

const steps = () => edge.get('/status?history=360')
  .then(({ body }) => JSON.parse(body).zones.sale.keys.sale.history);


test('it follows a line as it grows and goes', async () => {
  edge = await Edge.start();

  const page = await open();

  await until('it to say that there are no requests', async () => /No requests yet/.test(await page.textContent('#message')));
  await edge.occupy();

  await shows(page, 'in flight', '1 of 1');
  await shows(page, 'admitted, total', '1');
  await until('the state', async () => {
    await edge.get('/checkout');

    return await page.textContent('#state') === 'queueing';
  });
  assert.match(await page.textContent('#limits'), /^zone sale · at most 1 in flight$/);

  await edge.letGo();
  await shows(page, 'in flight', '0 of 1');
  await until('the end of the line', async () => await page.textContent('#state') === 'open');
  assert.deepEqual(page.complaints, []);
});

test('it says when a sale opens, and tells no wait before', async () => {
  const opens = new Date(Date.now() + 3 * 3600e3);

  edge = await Edge.start({ location: `flash_throttle_opens ${opens.toISOString()};` });
  await edge.get('/checkout');

  const page = await open({ timezoneId: 'UTC' });
  const at = opens.toISOString().slice(11, 19);

  await until('the state', async () => /^opens at /.test(await page.textContent('#state')));
  assert.match(await page.textContent('#state'), new RegExp(`^opens at ${at}( on \\d+ \\w+ \\d{4})?, in (3 h|1[78]\\d min)$`));
  assert.equal(await figure(page, 'wait of a new shopper'), 'none');
  await screenshot(page, 'dashboard-closed');
  assert.deepEqual(await violations(page), []);
  assert.deepEqual(page.complaints, []);
});

test('opened late, it shows the beginning', async () => {
  edge = await Edge.start();
  await edge.occupy();

  // two steps that are over, and the one that is not
  await until('three steps', async () => (await steps()).waiting.length >= 3);

  const { first_attempts: counts } = await steps();
  const page = await open();

  assert.equal(counts.reduce((sum, n) => sum + n, 0), 1, 'somebody came');
  await until('the beginning', async () => await points(page, 'Waiting').catch(() => 0) >= 2);
  assert.ok(await points(page, 'Waiting') >= counts.length - 1, 'as many points as steps were over');

  // whom it was there before: the first attempt stands out of the first plot
  const heights = await page.locator('polyline').first().getAttribute('points')
    .then(text => text.split(' ').map(point => Number(point.split(',')[1])));

  assert.ok(Math.min(...heights) < Math.max(...heights) - 5, 'who came before it was opened');
});

test('a step later it has one point more', async () => {
  edge = await Edge.start();
  await edge.occupy();
  await until('two steps', async () => (await steps()).waiting.length >= 2);

  const page = await open();

  await until('points', () => points(page, 'Waiting').catch(() => 0));

  const before = await points(page, 'Waiting');

  await until('one more', async () => await points(page, 'Waiting') > before);
});

test('with several keys it begins with the busiest, and a link leads to any', async () => {
  edge = await Edge.start({ http: 'flash_throttle_zone $arg_shop zone=many:1m rate=1r/m;',
                            location: '} location /many { flash_throttle zone=many; proxy_pass http://127.0.0.1:1;' });

  await edge.get('/many?shop=caf%C3%A9');
  await edge.get('/many?shop=%22%3Cb%3E');
  await edge.get('/many?shop=%22%3Cb%3E');
  await edge.get('/many?shop=%22%3Cb%3E');

  const page = await open();

  await until('the busiest', async () => await page.textContent('#name') === '%22%3Cb%3E');
  await page.selectOption('#keys', { label: 'many: caf%C3%A9' });
  assert.equal(await page.textContent('#name'), 'caf%C3%A9');

  const again = await open({}, new URL(page.url()).hash);

  await until('the one of the link', async () => await again.textContent('#name') === 'caf%C3%A9');
  await screenshot(page, 'dashboard-keys');
  assert.deepEqual(await violations(page), []);
});

test('a key may be any text', async () => {
  edge = await Edge.start({ http: 'map $arg_n $made { 1 "café"; 2 "\\"><img src=x onerror=alert(1)>"; } flash_throttle_zone $made zone=many:1m rate=1r/m;',
                            location: '} location /many { flash_throttle zone=many; proxy_pass http://127.0.0.1:1;' });
  await edge.get('/many?n=1');
  await edge.get('/many?n=2');

  const page = await open();

  await until('both', async () => (await page.locator('option').count()) === 2);

  const names = await page.locator('option').allTextContents();

  assert.ok(names.includes('many: café'), names.join());
  assert.ok(names.includes('many: "><img src=x onerror=alert(1)>'), names.join());
  assert.equal(await page.locator('img').count(), 0);
});

test('it says when the edge does not answer, and goes on when it does', async () => {
  edge = await Edge.start();
  await edge.occupy();

  const page = await open();

  await shows(page, 'admitted, total', '1');
  await edge.kill();
  await until('the message', async () => /^No response since \d\d:\d\d:\d\d/.test(await page.textContent('#message')));
  await screenshot(page, 'dashboard-no-answer');

  await edge.run();
  await until('no message', async () => !/No response/.test(await page.textContent('#message')));
});

for (const [name, options] of Object.entries({
  light: { viewport: { width: 1200, height: 900 } },
  dark: { viewport: { width: 1200, height: 900 }, colorScheme: 'dark' },
  phone: { viewport: { width: 390, height: 844 } },
  'phone-dark': { viewport: { width: 390, height: 844 }, colorScheme: 'dark' },
  narrow: { viewport: { width: 320, height: 568 } }
})) {
  test(`looked at: ${name}`, async () => {
    edge = await Edge.start();
    await edge.occupy();
    await edge.get('/checkout');

    const page = await open(options);

    await until('plots', async () => await page.locator('polyline').count() > 5);
    await screenshot(page, `dashboard-${name}`);

    assert.equal(await page.evaluate(() => document.documentElement.scrollWidth - innerWidth), 0, 'nothing to scroll sideways');
    assert.deepEqual(await violations(page), []);
    assert.deepEqual(page.complaints, [], 'its policy allows all that it does');

    for (const plot of await page.locator('svg').all())
      assert.match(await plot.getAttribute('aria-label'), /from \d\d:\d\d to \d\d:\d\d, last values: /, 'said in words, too');
  });
}

test('a pointer asks a plot for its numbers', async () => {
  edge = await Edge.start();
  await edge.occupy();
  await until('two steps', async () => (await steps()).waiting.length >= 2);

  const page = await open({ viewport: { width: 1200, height: 900 } });

  await until('plots', async () => await page.locator('polyline').count() > 5);
  await page.locator('svg').first().hover();
  assert.ok(await page.locator('.cross').count() > 0);
  assert.match(await page.locator('.legend').first().textContent(), /at \d\d:\d\d:\d\d/);
});
