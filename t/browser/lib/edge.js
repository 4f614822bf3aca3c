// nginx with the throttle in front of a shop in this process.  A request to /till
// keeps the zone busy until the test releases it.

'use strict';

const { execFileSync, spawn } = require('child_process');
const fs = require('fs');
const http = require('http');
const path = require('path');

const root = path.join(__dirname, '../../..');
const build = path.resolve(root, process.env.BUILD || 'build');
const nginx = path.resolve(process.env.TEST_NGINX_BINARY || path.join(build, 'nginx'));

// As root, so that workers can write to a directory of root's.
const user = process.getuid() === 0 ? ' user root;' : '';

const TIMEOUT = 30e3;


const sleep = ms => new Promise(done => setTimeout(done, ms));

// until(name, condition): the first true value of the condition.
async function until(name, condition) {
  const end = Date.now() + TIMEOUT;

  for (;;) {
    const value = await condition();

    if (value) return value;
    if (Date.now() > end) throw new Error(`timed out waiting for ${name}`);
    await sleep(20);
  }
}

function freePort(count = 1) {
  return Number(execFileSync(path.join(root, 'scripts/free-port.pl'), [count]));
}


// The end of this process ends its nginx processes.
const edges = new Set;

process.on('exit', () => edges.forEach(edge => edge.killNow()));
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => process.exit(1));


// A shop that records its requests.  /till does not answer before letGo(); any
// other path is a page with a form.
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

  // Answers the requests to /till, with feedback to the edge if given.
  letGo(feedback) {
    for (const response of this.waiting.splice(0)) {
      if (feedback) response.setHeader('Flash-Throttle', feedback);
      response.end('sold');
    }
  }

  // "METHOD URL" of the requests, except /till.
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
  // zone, throttle: parameters of flash_throttle_zone and flash_throttle
  // off: without the throttle
  // location, http: directives of /checkout and http{}; http can be a function
  // files: { name: text } in the directory of nginx.conf
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
    await edge.run().catch(error => {
      edge.shop.server.close();
      throw error;
    });

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
    flash_throttle_poll min=100ms max=500ms;
    ${typeof http === 'function' ? http(this) : http}
    server {
        listen 127.0.0.1:${this.port};
        proxy_read_timeout 90s;
        location / { proxy_pass http://127.0.0.1:${this.shop.port}; }
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
    const output = fs.openSync(path.join(this.dir, 'output'), 'a');

    this.process = spawn(nginx, ['-p', this.dir + '/', '-c', 'nginx.conf', '-e', 'error.log', '-g', `daemon off;${user}`],
                         { stdio: ['ignore', output, output], detached: true });
    this.ended = new Promise(done => this.process.on('exit', done)).then(() => edges.delete(this));
    edges.add(this);
    fs.closeSync(output);

    await until('nginx to answer', async () => {
      if (this.process.exitCode !== null) throw new Error(`nginx ended: ${this.read('output')}${this.read('error.log')}`);
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

  // Sends a request without a browser: { status, headers, body }.
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

  // Starts a request to /till.
  async occupy() {
    const done = this.get('/till').catch(() => {});

    await until('a shopper at the till', () => this.shop.waiting.length);
    this.till = done;
  }

  // Ends the request to /till.
  async letGo(feedback) {
    this.shop.letGo(feedback);
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

  // Stops the master and its workers.
  async end() {
    if (this.process.exitCode === null && this.process.signalCode === null) this.process.kill('SIGTERM');
    await this.ended;
  }

  killNow() {
    process.kill(-this.process.pid, 'SIGKILL');
  }

  // Kills all processes at once.
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
