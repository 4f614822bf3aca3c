// A stub of the edge: serves the pages and the JSON that the test sets.

'use strict';

const fs = require('fs');
const http = require('http');
const path = require('path');

const { freePort, root } = require('./edge.js');

const PAGES = { queued: 'queue', closed: 'closed', sold_out: 'sold_out', rejected: 'rejected' };


function page(status, method) {
  const name = path.join(root, 'conf/pages', `${PAGES[status]}.html`);

  return fs.readFileSync(name, 'utf8')
    .replace('{{method}}', method === 'POST' ? 'POST' : 'GET')
    .replace(/{{\w+}}/g, '…');
}


class Stub {
  // answer: the JSON, or a function of the request that returns it; null: closes
  // the connection; a number: a status without JSON
  constructor(answer) {
    this.answer = answer;
    this.requests = [];
    this.html = null;         // in place of conf/pages
    this.headers = {};
    this.server = http.createServer((request, response) => this.handle(request, response));
  }

  static async start(answer) {
    const stub = new Stub(answer);

    stub.port = freePort();
    await stub.listen();

    return stub;
  }

  listen() {
    return new Promise(done => this.server.listen(this.port, '127.0.0.1', done));
  }

  url(path = '/checkout') {
    return `http://127.0.0.1:${this.port}${path}`;
  }

  handle(request, response) {
    const poll = request.headers['flash-throttle-poll'] === '1';
    const answer = typeof this.answer === 'function' ? this.answer(request, poll) : this.answer;

    this.requests.push({ method: request.method, url: request.url, headers: request.headers, poll, time: Date.now() });
    request.resume();

    for (const [name, value] of Object.entries(this.headers)) response.setHeader(name, value);
    response.setHeader('Cache-Control', 'no-store');

    if (answer === null) return request.socket.destroy();

    if (typeof answer === 'number') {
      response.writeHead(answer, { 'Content-Type': 'text/html' });
      return response.end('<title>An error</title>');
    }

    const admitted = answer.status === 'admitted';
    const status = admitted ? 200 : answer.status === 'sold_out' ? 409 : 503;

    if (poll) {
      response.writeHead(status, { 'Content-Type': 'application/json' });
      return response.end(JSON.stringify(answer));
    }

    response.writeHead(status, { 'Content-Type': 'text/html; charset=utf-8' });
    response.end(admitted ? `<!DOCTYPE html><title>The shop</title><h1>${request.method} ${request.url}</h1>`
                          : this.html || page(answer.status, request.method));
  }

  polls() {
    return this.requests.filter(({ poll }) => poll);
  }

  pages() {
    return this.requests.filter(({ poll, url }) => !poll && url !== '/favicon.ico');
  }

  // Refuses connections.
  async close() {
    this.server.closeAllConnections();
    await new Promise(done => this.server.close(done));
  }

  stop() {
    return this.server.listening ? this.close() : undefined;
  }
}


let timestamp = Date.parse('2026-05-01T12:00:00Z');

// The JSON of a waiting shopper; each has its own timestamp by default.
function queued(fields) {
  return { status: 'queued', position: 40, wait_ms: 200e3, retry_ms: 200, first_attempt_ms: ++timestamp, ...fields };
}

module.exports = { Stub, page, queued };
