// The published design in njs, as far as Debian's njs goes: 0.7.9 has no shared
// dictionary, so that cookie, signature and page are all there is; threshold and
// bucket are constants of a location.

import crypto from 'crypto';

const secret = 'a secret for the benchmark alone';
const session = 600000;

function sign(text) {
    return text + '.' + crypto.createHmac('sha1', secret).update(text)
                              .digest('base64');
}

// "kind:stamp.signature": kind and stamp, if it is signed by us
function verify(cookie) {
    let dot = cookie.indexOf('.');

    if (dot < 0 || sign(cookie.substring(0, dot)) !== cookie) {
        return {};
    }

    return { kind: cookie[0], stamp: Number(cookie.substring(2, dot)) };
}

function setCookie(r, text) {
    r.headersOut['Set-Cookie'] = ['throttle=' + sign(text)
        + '; Path=/; HttpOnly; SameSite=Lax; Max-Age=86400'];
}

function check(r) {
    let now = Date.now();
    let cookie = r.variables.cookie_throttle;
    let ticket = cookie ? verify(cookie) : {};

    if (ticket.kind === 'p' && now < ticket.stamp) {
        r.internalRedirect('@upstream');
        return;
    }

    let stamp = ticket.stamp || now;

    if (stamp <= Number(r.variables.threshold)) {
        setCookie(r, 'p:' + (now + session));
        r.headersOut['Cache-Control'] = 'no-store';
        r.headersOut['Content-Type'] = 'application/json';
        r.return(200, '{"status":"admitted"}');
        return;
    }

    setCookie(r, 't:' + stamp);
    r.headersOut['Cache-Control'] = 'no-store';
    r.headersOut['Retry-After'] = '5';
    r.headersOut['Refresh'] = '5';
    r.headersOut['Content-Type'] = 'text/html; charset=utf-8';
    r.return(503, page.html);
}

export default { check };
