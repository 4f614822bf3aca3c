// nginx with the throttle in front of a shop, both of this test: a shopper at
// the till keeps the others waiting until the test lets it go.

'use strict';

const { execFileSync, spawn } = require('child_process');
const fs = require('fs');
const http = require('http');
const path = require('path');

const root = path.join(__dirname, '../../..');
const build = path.resolve(root, process.env.BUILD || 'build');
const nginx = path.resolve(process.env.TEST_NGINX_BINARY || path.join(build, 'nginx'));

// Where only root may enter, its workers are to write there, too.
const user = process.getuid() === 0 ? ' user root;' : '';

const PATIENCE = 30e3;        // of whatever must happen; nothing takes as long


const sleep = ms => new Promise(done => setTimeout(done, ms));

// until(what, condition): its value, once it is true.
async function until(what, condition) {
  const end = Date.now() + PATIENCE;

  for (;;) {
    const value = await condition();

    if (value) return value;
    if (Date.now() > end) throw new Error(`still waiting for ${what}`);
    await sleep(20);
  }
}

function freePort(count = 1) {
  return Number(execFileSync(path.join(root, 'scripts/free-port.pl'), [count]));
}


// Whatever ends this process ends its nginx.
const edges = new Set;

process.on('exit', () => edges.forEach(edge => edge.killNow()));
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => process.exit(1));


// A shop that writes down what reaches it.  /till does not answer before
// letGo(); everything else is a page with a form.
class Shop {
  constructor() {
    this.requests = [];
    this.waiting = [];
    this.server = http.createServer((request, response) => this.answer(request, response));
  }

  async start() {
    this.port = freePort();
    await new Promise(done => this.server.listen(this.port, '127.0.0.1', done));
  }

  async answer(request, response) {
    let body = '';

    for await (const chunk of request) body += chunk;

    this.requests.push({ method: request.method, url: request.url, headers: request.headers, body });

    if (request.url === '/till') return this.waiting.push(response);

    response.setHeader('Content-Type', 'text/html');
    response.setHeader('Set-Cookie', 'basket=7; Path=/');
    response.end(`<!DOCTYPE html><html lang=en><title>${request.method} checkout</title>
      <main><h1>${request.method} checkout</h1><form method=post action="/checkout?step=pay">
      <input name=item value=lamp aria-label=item><button>Buy</button></form></main>`);
  }

  // With a word to the edge, if any.
  letGo(word) {
    for (const response of this.waiting.splice(0)) {
      if (word) response.setHeader('Flash-Throttle', word);
      response.end('sold');
    }
  }

  // "METHOD URL" of what went through, but for the one at the till.
  seen() {
    return this.requests.filter(({ url }) => !/till|favicon/.test(url)).map(({ method, url }) => `${method} ${url}`);
  }

  stop() {
    this.letGo();
    this.server.closeAllConnections();
    this.server.close();
  }
}


class Edge {
  // zone, throttle: parameters of flash_throttle_zone and flash_throttle; off:
  // no throttle at all; location, http: more lines for /checkout and for http{},
  // of http also as a function of the edge; files: { name: text } beside nginx.conf
  constructor(options = {}) {
    this.options = { zone: 'inflight=1', throttle: '', off: false, location: '', http: '', files: {}, ...options };
    this.shop = new Shop();
  }

  static async start(options) {
    const edge = new Edge(options);

    fs.mkdirSync(build, { recursive: true });
    edge.dir = fs.mkdtempSync(path.join(build, 'browser-edge.'));
    fs.chmodSync(edge.dir, 0o755);
    edge.port = freePort();

    await edge.shop.start();
    fs.writeFileSync(path.join(edge.dir, 'secret'), 'a secret for tests, and for nothing else\n');
    for (const [name, text] of Object.entries(edge.options.files)) fs.writeFileSync(path.join(edge.dir, name), text);
    edge.configure();
    await edge.run();

    return edge;
  }

  configure() {
    const { zone, throttle, off, location, http } = this.options;

    fs.writeFileSync(path.join(this.dir, 'nginx.conf'), `
worker_processes 1;
pid nginx.pid;
error_log error.log info;
events { worker_connections 512; }
http {
    log_format  requests '$request_method $request_uri $status $http_flash_throttle_poll';
    access_log  access.log requests;
    client_body_temp_path body; proxy_temp_path proxy; fastcgi_temp_path fastcgi;
    uwsgi_temp_path uwsgi; scgi_temp_path scgi;
    flash_throttle_zone sale zone=sale:1m ${zone};
    flash_throttle_secret_file secret;
    ${typeof http === 'function' ? http(this) : http}
    server {
        listen 127.0.0.1:${this.port};
        proxy_read_timeout 90s;
        location / { proxy_pass http://127.0.0.1:${this.shop.port}; }
        flash_throttle_poll min=100ms max=500ms;
        location /checkout {
            flash_throttle ${off ? 'off' : `zone=sale ${throttle}`};
            proxy_pass http://127.0.0.1:${this.shop.port};
            ${location}
        }
        location /till {
            flash_throttle ${off ? 'off' : `zone=sale ${throttle}`};
            proxy_pass http://127.0.0.1:${this.shop.port};
        }
        location = /status { access_log off; flash_throttle_status; }
    }
}
`);
  }

  url(path = '/checkout') {
    return `http://127.0.0.1:${this.port}${path}`;
  }

  async run() {
    const words = fs.openSync(path.join(this.dir, 'words'), 'a');

    this.process = spawn(nginx, ['-p', this.dir + '/', '-c', 'nginx.conf', '-e', 'error.log', '-g', `daemon off;${user}`],
                         { stdio: ['ignore', words, words], detached: true });
    this.ended = new Promise(done => this.process.on('exit', done)).then(() => edges.delete(this));
    edges.add(this);
    fs.closeSync(words);

    await until('nginx to answer', async () => {
      if (this.process.exitCode !== null) throw new Error(`nginx ended: ${this.read('words')}${this.read('error.log')}`);
      return (await this.get('/status').catch(() => ({}))).status === 200;
    });
  }

  read(name) {
    try {
      return fs.readFileSync(path.join(this.dir, name), 'utf8');
    } catch {
      return '';
    }
  }

  // As a program would: { status, headers, body }.
  get(path, { method = 'GET', headers = {}, body } = {}) {
    return new Promise((done, failed) => {
      const request = http.request(this.url(path), { method, headers, agent: false }, async response => {
        let text = '';

        try {
          for await (const chunk of response) text += chunk;
          done({ status: response.statusCode, headers: response.headers, body: text });
        } catch (error) {
          failed(error);
        }
      });

      request.on('error', failed);
      request.end(body);
    });
  }

  async state() {
    return JSON.parse((await this.get('/status')).body).zones.sale.keys.sale;
  }

  // Somebody pays, and everybody else waits.
  async occupy() {
    const done = this.get('/till').catch(() => {});

    await until('a shopper at the till', () => this.shop.waiting.length);
    this.till = done;
  }

  // Somebody has paid.
  async letGo(word) {
    this.shop.letGo(word);
    await this.till;
  }

  // Lines of the access log: "METHOD URI STATUS POLL".
  log(pattern = /^/) {
    return this.read('access.log').split('\n').filter(line => line && pattern.test(line));
  }

  polls() {
    return this.log(/ 1$/);
  }

  reload() {
    process.kill(this.process.pid, 'SIGHUP');
  }

  // The master, which takes its workers along.
  async end() {
    if (this.process.exitCode === null && this.process.signalCode === null) this.process.kill('SIGTERM');
    await this.ended;
  }

  killNow() {
    process.kill(-this.process.pid, 'SIGKILL');
  }

  // All of it at once, as when the machine fails.
  async kill() {
    this.killNow();
    await this.ended;
    await until('its port to be free', () => this.get('/status').then(() => false, () => true));
  }

  async stop() {
    this.shop.stop();
    await this.end();

    const alerts = this.read('error.log').split('\n').filter(line => /\[(alert|emerg)\]|header already sent/.test(line));

    fs.rmSync(this.dir, { recursive: true, force: true });
    if (alerts.length) throw new Error(alerts.join('\n'));
  }
}

module.exports = { Edge, build, freePort, nginx, root, sleep, until };
