-- The published design in Lua: a first attempt is stamped in a cookie signed
-- with HMAC-SHA1; whoever's stamp is at or before the threshold goes to a
-- bucket that is refilled every five seconds; all others get a page.  Threshold
-- and bucket are in a shared dictionary.

local _M = {}

local ngx = ngx
local dict = ngx.shared.throttle
local hmac_sha1 = ngx.hmac_sha1
local encode_base64 = ngx.encode_base64
local floor, find, sub, tonumber = math.floor, string.find, string.sub, tonumber

local PERIOD = 5
local SESSION = 600000
local KP = 0.5

local secret, page


function _M.init(s, path)
    local f = assert(io.open(path))

    secret = s
    page = f:read("*a")
    f:close()

    dict:set("early:threshold", 0)
    dict:set("called:threshold", 1e15)
end


local function sign(text)
    return text .. "." .. encode_base64(hmac_sha1(secret, text))
end


-- "kind:stamp.signature": kind and stamp, if it is signed by us
local function verify(cookie)
    local dot = find(cookie, ".", 1, true)

    if not dot or sign(sub(cookie, 1, dot - 1)) ~= cookie then
        return
    end

    return sub(cookie, 1, 1), tonumber(sub(cookie, 3, dot - 1))
end


-- once a period the threshold moves, by how full the last bucket was
local function control(name, period, budget)
    if not dict:add(name .. ":period:" .. period, true, 2 * PERIOD) then
        return
    end

    local passed = dict:get(name .. ":" .. period - 1) or 0
    local err = (budget - passed) / (budget > 0 and budget or 1)

    dict:incr(name .. ":threshold", 1000 * PERIOD * (1 + KP * err))
end


local function set_cookie(text)
    ngx.header["Set-Cookie"] = "throttle=" .. sign(text)
                               .. "; Path=/; HttpOnly; SameSite=Lax"
                               .. "; Max-Age=86400"
end


function _M.check(name, budget)
    local kind, stamp
    local now = floor(ngx.now() * 1000)
    local cookie = ngx.var.cookie_throttle

    if cookie then
        kind, stamp = verify(cookie)
    end

    if kind == "p" and now < stamp then
        return
    end

    if not stamp then
        stamp = now
    end

    local period = floor(now / 1000 / PERIOD)

    if budget > 0 then
        control(name, period, budget)
    end

    if stamp <= dict:get(name .. ":threshold")
       and dict:incr(name .. ":" .. period, 1, 0, 2 * PERIOD) <= budget
    then
        set_cookie("p:" .. now + SESSION)

        if ngx.var.http_flash_throttle_poll == "1" then
            local body = '{"status":"admitted"}'

            ngx.header["Cache-Control"] = "no-store"
            ngx.header["Content-Type"] = "application/json"
            ngx.header["Content-Length"] = #body
            ngx.print(body)
            return ngx.exit(200)
        end

        return
    end

    ngx.status = 503
    set_cookie("t:" .. stamp)
    ngx.header["Cache-Control"] = "no-store"
    ngx.header["Retry-After"] = 5
    ngx.header["Refresh"] = 5
    ngx.header["Content-Type"] = "text/html; charset=utf-8"
    ngx.header["Content-Length"] = #page
    ngx.print(page)

    return ngx.exit(503)
end


-- A waiting room that keeps its line elsewhere: one round trip for each request.
function _M.redis(port)
    local red = require("nginx.redis"):new()

    assert(red:connect("127.0.0.1", port))

    local place = assert(red:incr("throttle:line"))

    red:set_keepalive(60000, 64)

    ngx.status = 503
    set_cookie("t:" .. place)
    ngx.header["Cache-Control"] = "no-store"
    ngx.header["Retry-After"] = 5
    ngx.header["Refresh"] = 5
    ngx.header["Content-Type"] = "text/html; charset=utf-8"
    ngx.header["Content-Length"] = #page
    ngx.print(page)

    return ngx.exit(503)
end


return _M
