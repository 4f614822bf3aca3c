// What a page of the waiting room does.  It knows the page by attributes only,
// which docs/pages.md explains: data-ft="NAME" is filled in, data-ft-when="A B"
// is shown while A or B holds, data-t="N" is translated.
(() => {
const root = document.documentElement;
const method = root.dataset.ftMethod;
const select = selector => [...document.querySelectorAll(selector)];
const find = name => select(`[data-ft=${name}]`)[0] || {};
const when = name => select(`[data-ft-when~=${name}]`)[0];
const now = () => performance.now();
const channel = new BroadcastChannel('flash-throttle');

let locale = root.lang, title;
let stamp, status;            // whose place it is, and how it stands
let due = 0, asking, timer, worker;
let failures = 0;
let range, said = -1e5;
let memory = {};              // of this tab, over reloads


// A page without a table of texts has one language, and says which.
function translate() {
  const rows = (find('texts').textContent || '').split('\n').map(row => row.split('|'));

  for (const tag of navigator.languages) {
    const base = tag.split('-')[0];
    const row = rows.find(([name]) => name === tag || name === base);

    if (row) {
      root.lang = row[0];
      if (/[\u0590-\u08ff]/.test(row)) root.dir = 'rtl';
      select('[data-t]').forEach(e => e.textContent = row[e.dataset.t]);
    }

    if (row || base === root.lang) {
      locale = tag;
      break;
    }
  }

  title = document.title;
}

function show(...names) {
  select('[data-ft-when]').forEach(e =>
    e.hidden = !names.some(name => e.matches(`[data-ft-when~=${name}]`)));
}

// For a screen reader: what has changed, never every tick.
function say(words) {
  find('news').textContent = words;
  said = now();
}

// Storage may be forbidden; then a reload forgets how the line began.
function remember(change) {
  Object.assign(memory, change);
  try { sessionStorage.flashThrottle = JSON.stringify(memory); } catch {}
}


// A range, left only when the estimate is well out of it; and none beyond an
// hour, which nobody can stand behind.
const steps = [0, 1, 2, 5, 10, 15, 20, 30, 45, 60];

function waitRange(minutes) {
  if (!(minutes >= steps[range] * .8) || minutes > steps[range + 1] * 1.25) {
    range = 9;
    while (steps[range] > minutes) range--;
  }

  const [from, to] = steps.slice(range);
  const format = new Intl.NumberFormat(locale,
    { style: 'unit', unit: 'minute', unitDisplay: 'long' });

  return !to ? find('more').textContent || '> ' + format.format(from)
    : format.formatRange?.(from, to) || '< ' + format.format(to);
}

function showLine(answer) {
  const count = n => n.toLocaleString(locale);
  const before = range;

  if (memory.stamp !== stamp) memory = { ahead: 1e9, start: answer.position };

  const ahead = Math.min(memory.ahead, answer.position);

  remember({ stamp, ahead });

  find('place').textContent = count(ahead + 1);
  find('ahead').textContent = count(ahead);
  find('wait').textContent = waitRange(answer.wait_ms / 6e4);
  find('bar').max = memory.start + 2;
  find('bar').value = memory.start + 1 - ahead;
  document.title = `(${count(ahead + 1)}) ${title}`;

  if (range !== before && now() > said + 2e4)
    say(find('figures').innerText?.replace(/\n+/g, ', '));
}

function showLost() {
  select('[data-ft-when~=lost]').forEach(e => {
    e.hidden = false;
    say(e.textContent);
  });
}


// A plain request for the page, never a form sent once more.  If the page comes
// back at once (without cookies, out of a cache) it is not asked for in a hurry.
function leave() {
  setTimeout(() => method === 'GET' ? location.reload() : location.replace(location.href.split('#')[0]),
             Date.now() - memory.left < 1e4 ? 5e3 : 300);
  remember({ left: Date.now() });
  plan(3e4);
}

function enter() {
  show(status, method === 'POST' && 'form');
  say(document.title = when(status)?.textContent || title);

  if (method === 'POST') due = Infinity;
  else leave();
}

// An answer, or none, that this tab or another one got.
function hear(message, slack) {
  const answer = message.answer;

  if (!answer) {
    showLost();
    return plan(Math.min(1e3 * 2 ** ++failures, 3e4) * (1 - Math.random() / 4) + slack);
  }

  status = answer.status;
  stamp = answer.first_attempt_ms;

  if (status === 'admitted') return enter();
  if (!when(status)) return leave();

  if (failures) {
    failures = 0;
    range = said = -1e5;
  }

  show(status);
  find('heard').textContent = new Date().toLocaleTimeString(locale);
  if (status === 'queued') showLine(answer);

  dispatchEvent(new CustomEvent('flash-throttle', { detail: message }));
  plan((answer.retry_ms || 3e4) * (1 + Math.random() / 20) + slack);
}

async function poll() {
  const silence = setTimeout(showLost, 1e4);
  const message = { stamp, locale };

  try {
    const response = await fetch(location.href, {
      headers: { 'Flash-Throttle-Poll': '1' },
      cache: 'no-store',
      redirect: 'manual',
      signal: AbortSignal.timeout?.(65e3)
    });
    const answer = await response.json().catch(() => 0);

    message.date = response.headers.get('Date');

    if (answer.first_attempt_ms >= 0) message.answer = answer;
    // not ours, and no failure: there is no waiting room any more
    else if (response.status < 500 && response.status !== 429) message.answer = { status: 'admitted' };
  } catch {}

  clearTimeout(silence);
  channel.postMessage(message);
  hear(message, 0);
}

// Tabs with one place poll once: whoever is due first asks, the others listen.
channel.onmessage = ({ data }) => {
  if (stamp && [data.stamp, data.answer?.first_attempt_ms].includes(stamp))
    hear(data, 300 + Math.random() * 1e3);
};

const ask = async () => now() < due - 1 || await poll();

async function turn() {
  if (asking || now() < due - 1) return arm();
  asking = true;

  if (stamp && navigator.locks) await navigator.locks.request('flash-throttle ' + stamp, ask).catch(ask);
  else await ask();

  asking = false;
  arm();
}

function arm() {
  const ms = Math.min(due - now(), 6e5);

  clearTimeout(timer);
  if (asking) return;

  timer = setTimeout(turn, ms);
  worker?.postMessage(ms);
}

function plan(ms) {
  due = now() + ms;
  arm();
}

// Browsers slow the timers of a hidden page, but not those of a worker.
const look = document.onvisibilitychange = () => {
  if (document.hidden && !worker) {
    try {
      worker = new Worker('data:text/javascript,onmessage=e=>setTimeout(postMessage,e.data,0)');
      worker.onmessage = turn;
    } catch {}
  }

  turn();
};

ononline = () => plan(0);
find('go').onclick = () => location.reload();

try { memory = JSON.parse(sessionStorage.flashThrottle); } catch {}
translate();

// The Refresh header is for browsers without scripts: stop() ends its timer.
onload = () => setTimeout(() => { stop(); look(); });
})();
