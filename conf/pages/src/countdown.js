// Counts down to the opening or the next attempt, on the server's clock.
(() => {
const find = name => document.querySelector(`[data-ft=${name}]`) || {};

let locale, until;

const count = (n, i) => n.toLocaleString(locale, { minimumIntegerDigits: i ? 2 : 1 });

function clock(seconds) {
  const parts = [seconds / 3600, seconds / 60 % 60, seconds % 60].map(Math.floor);

  return (parts[0] ? parts : parts.slice(1)).map(count).join(':');
}

function tick() {
  if (until) find('left').textContent = clock(Math.max(until - Date.now(), 0) / 1e3);
}

addEventListener('flash-throttle', ({ detail }) => {
  const { opens_ms, retry_ms } = detail.answer;
  const skew = Date.parse(detail.date) - Date.now() || 0;

  locale = detail.locale;
  until = opens_ms ? opens_ms - skew : Date.now() + retry_ms;

  find('opens').textContent = new Date(opens_ms || until).toLocaleString(locale,
    { dateStyle: 'full', timeStyle: 'short' });
  tick();
});

setInterval(tick, 1e3);
})();
