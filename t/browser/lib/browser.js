// Debian's Chromium, one for each file of tests.

'use strict';

const fs = require('fs');
const path = require('path');
const { after } = require('node:test');
const { chromium } = require('playwright-core');

const { build, until } = require('./edge.js');

const launch = { executablePath: process.env.CHROMIUM || '/usr/bin/chromium' };

let browser;
const contexts = [];


async function context(options) {
  browser = browser || await chromium.launch(launch);

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
  return chromium.launchPersistentContext(dir, { ...launch, locale: 'en-US' });
}

// Of each test, so that no page of it goes on polling.
async function closeContexts() {
  for (const open of contexts.splice(0)) await open.close();
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
  const dir = path.join(build, 'screenshots');

  fs.mkdirSync(dir, { recursive: true });
  await page.screenshot({ path: path.join(dir, `${name}.png`) });
}

module.exports = { closeContexts, context, freshPage, inLine, launch, persistent, screenshot, text, titled };
