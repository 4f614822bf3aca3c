// Debian's Chromium, one for each file of tests.

'use strict';

const fs = require('fs');
const path = require('path');
const { after, test: nodeTest } = require('node:test');
const { chromium } = require('playwright-core');

const { build, until } = require('./edge.js');

const CHROMIUM = process.env.CHROMIUM || '/usr/bin/chromium';

// Playwright's own list, besides, turns off all that a fresh profile does first.
const ARGS = ['--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking',
              '--disable-component-update', '--disable-sync'];

const PATIENCE = 120e3;       // with a test; none takes as long
const CLOSING = 30e3;         // with a browser that closes something

let browser;
const contexts = [];


// Chromium with a fresh profile; quic: with HTTP/3.
function launch({ args = [], quic = false } = {}) {
  return chromium.launch({
    executablePath: CHROMIUM,
    chromiumSandbox: false,
    args: [...ARGS.filter(arg => !quic || arg !== '--disable-quic'), ...args]
  });
}

// A test that fails rather than waits for ever.
function test(name, ...rest) {
  const run = rest.pop();

  nodeTest(name, { timeout: PATIENCE, ...rest[0] }, run);
}


async function context(options) {
  browser = browser || await launch();

  const made = await browser.newContext({ locale: 'en-US', ...options });

  contexts.push(made);
  made.setDefaultTimeout(30e3);

  return made;
}

// A page of a browser that nobody has used before.
async function freshPage(options) {
  return (await context(options)).newPage();
}

// A browser whose profile outlives it.
function persistent(dir) {
  return chromium.launchPersistentContext(dir, { executablePath: CHROMIUM, chromiumSandbox: false, args: ARGS, locale: 'en-US' });
}

// Chromium forgets to close a page that it meets while that asks for itself
// again, and then never says that its context is closed; without a network it
// asks for nothing.
async function closeContext(open) {
  await open.setOffline(true);
  await open.close();
}

// Of each test, so that no page of it goes on polling.
async function closeContexts() {
  let timer;
  const late = new Promise((_, failed) =>
    timer = setTimeout(failed, CLOSING, new Error('Chromium does not close a page')));

  for (const open of contexts.splice(0)) await Promise.race([closeContext(open), late]);
  clearTimeout(timer);
}

after(async () => browser && browser.close());


// The text of an element by its data-ft.
function text(page, name) {
  return page.locator(`[data-ft=${name}]`).textContent();
}

// A page that has been told its place.
function inLine(page) {
  return page.waitForFunction(() => document.title.startsWith('('));
}

// A title, whatever page it belongs to by then.
function titled(page, pattern) {
  return until(`a page titled ${pattern}`, async () => pattern.test(await page.title().catch(() => '')));
}

async function screenshot(page, name) {
  const dir = path.join(build, 'browser/screenshots');

  fs.mkdirSync(dir, { recursive: true });
  await page.screenshot({ path: path.join(dir, `${name}.png`) });
}

module.exports = { closeContexts, context, freshPage, inLine, launch, persistent, screenshot, test, text, titled };
