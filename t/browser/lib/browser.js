// Debian's Chromium, one process per test file.

'use strict';

const fs = require('fs');
const path = require('path');
const { after, test: nodeTest } = require('node:test');
const { chromium } = require('playwright-core');

const { build, until } = require('./edge.js');

const CHROMIUM = process.env.CHROMIUM || '/usr/bin/chromium';

// In addition to Playwright's own switches.
const ARGS = ['--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking',
              '--disable-component-update', '--disable-sync'];

const TEST_TIMEOUT = 120e3;
const CLOSE_TIMEOUT = 30e3;

let browser;
const contexts = [];


// Starts Chromium with a new profile; quic enables HTTP/3.
function launch({ args = [], quic = false } = {}) {
  return chromium.launch({
    executablePath: CHROMIUM,
    chromiumSandbox: false,
    args: [...ARGS.filter(arg => !quic || arg !== '--disable-quic'), ...args]
  });
}

// A test with a timeout.
function test(name, ...rest) {
  const run = rest.pop();

  nodeTest(name, { timeout: TEST_TIMEOUT, ...rest[0] }, run);
}


async function context(options) {
  browser = browser || await launch();

  const made = await browser.newContext({ locale: 'en-US', ...options });

  contexts.push(made);
  made.setDefaultTimeout(30e3);

  return made;
}

async function freshPage(options) {
  return (await context(options)).newPage();
}

function persistent(dir) {
  return chromium.launchPersistentContext(dir, { executablePath: CHROMIUM, chromiumSandbox: false, args: ARGS, locale: 'en-US' });
}

// Chromium does not close a page that is reloading, and then never reports that
// the context is closed.  Offline, a page cannot reload.
async function closeContext(open) {
  await open.setOffline(true);
  await open.close();
}

// Called after each test, so that its pages stop polling.
async function closeContexts() {
  let timer;
  const late = new Promise((_, failed) =>
    timer = setTimeout(failed, CLOSE_TIMEOUT, new Error('Chromium did not close a page in time')));

  for (const open of contexts.splice(0)) await Promise.race([closeContext(open), late]);
  clearTimeout(timer);
}

after(async () => browser && browser.close());


// The text of the element with data-ft=name.
function text(page, name) {
  return page.locator(`[data-ft=${name}]`).textContent();
}

// Waits until the page shows its place.
function inLine(page) {
  return page.waitForFunction(() => document.title.startsWith('('));
}

// Waits for a title, across navigations.
function titled(page, pattern) {
  return until(`a page titled ${pattern}`, async () => pattern.test(await page.title().catch(() => '')));
}

async function screenshot(page, name) {
  const dir = path.join(build, 'browser/screenshots');

  fs.mkdirSync(dir, { recursive: true });
  await page.screenshot({ path: path.join(dir, `${name}.png`) });
}

module.exports = { closeContexts, context, freshPage, inLine, launch, persistent, screenshot, test, text, titled };
