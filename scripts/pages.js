#!/usr/bin/env node
//
// Writes the self-contained pages conf/pages/*.html from conf/pages/src/.
//
// usage: scripts/pages.js [DIR]        DIR instead of conf/pages
//
// Replaces {{head}}, {{style}}, {{script}}, {{countdown}} and {{texts}}; nginx
// replaces the other slots.  The text of data-t="KEY" comes from languages.txt.
// Requires terser, which "make pages" installs.

'use strict';

const fs = require('fs');
const path = require('path');
const zlib = require('zlib');
const { minify } = require('terser');

const source = path.join(__dirname, '../conf/pages/src');
const target = process.argv[2] || path.join(__dirname, '../conf/pages');

// Bytes.  t/12-pages.t requires 5,000 with nginx's zlib, which compresses slightly
// better than Node's.
const MOST = 12000;
const MOST_GZIPPED = 5120;


function read(name) {
  return fs.readFileSync(path.join(source, name), 'utf8');
}

function fail(message) {
  console.error(`${path.basename(__filename)}: ${message}`);
  process.exit(1);
}


// [{ tag, texts: { key: text } }], English first.
function readLanguages() {
  const languages = [];

  read('languages.txt').split('\n').forEach((line, i) => {
    const section = /^\[([A-Za-z-]+)\]$/.exec(line);
    const text = /^(\w+) = ([^|<&]+)$/.exec(line);

    if (section) languages.push({ tag: section[1], texts: {} });
    else if (text && languages.length) languages[languages.length - 1].texts[text[1]] = text[2];
    else if (line && line[0] !== '#') fail(`languages.txt:${i + 1}: expected "[tag]" or "key = text" without |, <, &`);
  });

  const keys = Object.keys(languages[0].texts);

  for (const { tag, texts } of languages) {
    const missing = keys.filter(key => !(key in texts));
    const unknown = Object.keys(texts).filter(key => !keys.includes(key));

    if (missing.length) fail(`languages.txt: missing in [${tag}]: ${missing.join(', ')}`);
    if (unknown.length) fail(`languages.txt: unknown in [${tag}]: ${unknown.join(', ')}`);
  }

  return languages;
}

async function script(name) {
  const { code } = await minify(read(name), { ecma: 2020, toplevel: true, compress: { ecma: 2020, passes: 3 } });

  return `<script>${code}</script>`;
}

function style() {
  const css = read('page.css')
    .replace(/\/\*.*?\*\//gs, '')
    .replace(/\s+/g, ' ')
    .replace(/ ?([{}:;,>]) ?/g, '$1')
    .replace(/;}/g, '}')
    .trim();

  return `<style>${css}</style>`;
}


// The English page; data-t becomes the column of the key in the table of texts.
function render(name, languages, parts) {
  const [english, ...others] = languages;
  const keys = [];

  let html = read(name).replace('{{head}}\n', read('head.html')).replace(/ data-t="(\w+)"([^>]*)>/g, (_, key, rest) => {
    if (!english.texts[key]) fail(`${name}: data-t="${key}" is not in languages.txt`);
    if (!keys.includes(key)) keys.push(key);

    return ` data-t="${keys.indexOf(key) + 1}"${rest}>${english.texts[key]}`;
  });

  const rows = others.map(({ tag, texts }) => [tag, ...keys.map(key => texts[key])].join('|'));

  // remove quotes, line ends and end tags that HTML does not require
  html = html.replace(/="([\w-]+)"/g, '=$1').replace(/\n/g, '').replace(/<\/(dt|dd|html)>/g, '');

  return html
    .replace('{{texts}}', () => `<script type=text data-ft=texts>${rows.join('\n')}</script>`)
    .replace(/{{(style|script|countdown)}}/g, (_, part) => parts[part]) + '\n';
}

async function main() {
  const languages = readLanguages();
  const parts = { style: style(), script: await script('page.js'), countdown: await script('countdown.js') };

  for (const name of fs.readdirSync(source).filter(name => /\.html$/.test(name) && name !== 'head.html')) {
    const page = Buffer.from(render(name, languages, parts));
    const gzipped = zlib.gzipSync(page, { level: 9 }).length;

    console.log(`${name}: ${page.length} bytes, ${gzipped} gzipped, ${languages.length} languages`);

    if (page.length > MOST || gzipped > MOST_GZIPPED)
      fail(`${name} is too large, the limits are ${MOST} bytes and ${MOST_GZIPPED} gzipped`);

    fs.writeFileSync(path.join(target, name), page);
  }
}

main();
