// The published design in njs.  Debian's njs 0.7.9 has no shared dictionary, so
// threshold and bucket are constants of a location.

import crypto from 'crypto';

const secret = 'a secret for the benchmark alone';
const session = 600000;

function sign(text) {
    return text + '.' + crypto.createHmac('sha1', secret).update(text)
                              .digest('base64');
}

// "kind:timestamp.signature"
function verify(cookie) {
    let dot = cookie.indexOf('.');

    if (dot < 0 || sign(cookie.substring(0, dot)) !== cookie) {
        return {};
    }

    return { kind: cookie[0], timestamp: Number(cookie.substring(2, dot)) };
}

function setCookie(r, text) {
    r.headersOut['Set-Cookie'] = ['throttle=' + sign(text)
        + '; Path=/; HttpOnly; SameSite=Lax; Max-Age=86400'];
}

function check(r) {
    let now = Date.now();
    let cookie = r.variables.cookie_throttle;
    let ticket = cookie ? verify(cookie) : {};

    if (ticket.kind === 'p' && now < ticket.timestamp) {
        r.internalRedirect('@upstream');
        return;
    }

    let timestamp = ticket.timestamp || now;

    if (timestamp <= Number(r.variables.threshold)) {
        setCookie(r, 'p:' + (now + session));
        r.headersOut['Cache-Control'] = 'no-store';
        r.headersOut['Content-Type'] = 'application/json';
        r.return(200, '{"status":"admitted"}');
        return;
    }

    setCookie(r, 't:' + timestamp);
    r.headersOut['Cache-Control'] = 'no-store';
    r.headersOut['Retry-After'] = '5';
    r.headersOut['Refresh'] = '5';
    r.headersOut['Content-Type'] = 'text/html; charset=utf-8';
    r.return(503, page.html);
}

export default { check };
