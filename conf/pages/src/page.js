// The script of the waiting room's pages.  It uses attributes only, as described
// in docs/pages.md: data-ft="NAME" is filled in, data-ft-when="A B" is shown in
// state A or B, data-t="N" is translated.
(() => {
const root = document.documentElement;
const method = root.dataset.ftMethod;
const select = selector => [...document.querySelectorAll(selector)];
const find = name => select(`[data-ft=${name}]`)[0] || {};
const when = name => select(`[data-ft-when~=${name}]`)[0];
const now = () => performance.now();
const channel = new BroadcastChannel('flash-throttle');

let locale = root.lang, title;
let timestamp, status;        // of the last answer; the timestamp identifies the ticket
let due = 0, polling, timer, worker;
let failures = 0;
let range, announced = -1e5;
let memory = {};              // of this tab, across reloads


// Without a table of texts the page has one language, in its lang attribute.
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

// For screen readers: changes only, not every update.
function announce(text) {
  find('news').textContent = text;
  announced = now();
}

// Without storage, a reload loses the start of the progress bar.
function remember(change) {
  Object.assign(memory, change);
  try { sessionStorage.flashThrottle = JSON.stringify(memory); } catch {}
}


// A range in minutes with hysteresis.  Above an hour an estimate is too uncertain.
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

  if (memory.stamp !== timestamp) memory = { ahead: 1e9, start: answer.position };

  const ahead = Math.min(memory.ahead, answer.position);

  remember({ stamp: timestamp, ahead });

  find('place').textContent = count(ahead + 1);
  find('ahead').textContent = count(ahead);
  find('wait').textContent = waitRange(answer.wait_ms / 6e4);
  find('bar').max = memory.start + 2;
  find('bar').value = memory.start + 1 - ahead;
  document.title = `(${count(ahead + 1)}) ${title}`;

  if (range !== before && now() > announced + 2e4)
    announce(find('figures').innerText?.replace(/\n+/g, ', '));
}

function showLost() {
  select('[data-ft-when~=lost]').forEach(e => {
    e.hidden = false;
    announce(e.textContent);
  });
}


// Requests the page without sending a form again.  If the page returns at once
// (without cookies, or from a cache), waits 5 s.
function reload() {
  setTimeout(() => method === 'GET' ? location.reload() : location.replace(location.href.split('#')[0]),
             Date.now() - memory.left < 1e4 ? 5e3 : 300);
  remember({ left: Date.now() });
  plan(3e4);
}

function admit() {
  show(status, method === 'POST' && 'form');
  announce(document.title = when(status)?.textContent || title);

  if (method === 'POST') due = Infinity;
  else reload();
}

// Handles an answer to a poll of this tab or another, or its absence.
function receive(message, slack) {
  const answer = message.answer;

  if (!answer) {
    showLost();
    return plan(Math.min(1e3 * 2 ** ++failures, 3e4) * (1 - Math.random() / 4) + slack);
  }

  status = answer.status;
  timestamp = answer.first_attempt_ms;

  if (status === 'admitted') return admit();
  if (!when(status)) return reload();

  if (failures) {
    failures = 0;
    range = announced = -1e5;
  }

  show(status);
  find('heard').textContent = new Date().toLocaleTimeString(locale);
  if (status === 'queued') showLine(answer);

  dispatchEvent(new CustomEvent('flash-throttle', { detail: message }));
  plan((answer.retry_ms || 3e4) * (1 + Math.random() / 20) + slack);
}

async function poll() {
  const lostTimer = setTimeout(showLost, 1e4);
  const message = { stamp: timestamp, locale };

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
    // not from the throttle, and not an error: it has been switched off
    else if (response.status < 500 && response.status !== 429) message.answer = { status: 'admitted' };
  } catch {}

  clearTimeout(lostTimer);
  channel.postMessage(message);
  receive(message, 0);
}

// Tabs with the same ticket share their polls.
channel.onmessage = ({ data }) => {
  if (timestamp && [data.stamp, data.answer?.first_attempt_ms].includes(timestamp))
    receive(data, 300 + Math.random() * 1e3);
};

const pollIfDue = async () => now() < due - 1 || await poll();

async function pollAlone() {
  if (polling || now() < due - 1) return arm();
  polling = true;

  if (timestamp && navigator.locks) await navigator.locks.request('flash-throttle ' + timestamp, pollIfDue)
    .catch(pollIfDue);
  else await pollIfDue();

  polling = false;
  arm();
}

function arm() {
  const ms = Math.min(due - now(), 6e5);

  clearTimeout(timer);
  if (polling) return;

  timer = setTimeout(pollAlone, ms);
  worker?.postMessage(ms);
}

function plan(ms) {
  due = now() + ms;
  arm();
}

// Browsers throttle the timers of a hidden page, but not those of a worker.
const resume = document.onvisibilitychange = () => {
  if (document.hidden && !worker) {
    try {
      worker = new Worker('data:text/javascript,onmessage=e=>setTimeout(postMessage,e.data,0)');
      worker.onmessage = pollAlone;
    } catch {}
  }

  pollAlone();
};

ononline = () => plan(0);
find('go').onclick = () => location.reload();

try { memory = JSON.parse(sessionStorage.flashThrottle); } catch {}
translate();

// stop() cancels the Refresh header, which is for browsers without scripts.
onload = () => setTimeout(() => { stop(); resume(); });
})();
