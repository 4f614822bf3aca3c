-- The published design in Lua.  A cookie signed with HMAC-SHA1 holds the
-- timestamp of the first attempt.  Timestamps up to the threshold take from a
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


-- "kind:timestamp.signature"
local function verify(cookie)
    local dot = find(cookie, ".", 1, true)

    if not dot or sign(sub(cookie, 1, dot - 1)) ~= cookie then
        return
    end

    return sub(cookie, 1, 1), tonumber(sub(cookie, 3, dot - 1))
end


-- moves the threshold once per period, by the fill of the last bucket
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


local function wait_page(ticket)
    ngx.status = 503
    set_cookie("t:" .. ticket)
    ngx.header["Cache-Control"] = "no-store"
    ngx.header["Retry-After"] = 5
    ngx.header["Refresh"] = 5
    ngx.header["Content-Type"] = "text/html; charset=utf-8"
    ngx.header["Content-Length"] = #page
    ngx.print(page)

    return ngx.exit(503)
end


function _M.check(name, budget)
    local kind, timestamp
    local now = floor(ngx.now() * 1000)
    local cookie = ngx.var.cookie_throttle

    if cookie then
        kind, timestamp = verify(cookie)
    end

    if kind == "p" and now < timestamp then
        return
    end

    if not timestamp then
        timestamp = now
    end

    local period = floor(now / 1000 / PERIOD)

    if budget > 0 then
        control(name, period, budget)
    end

    if timestamp <= dict:get(name .. ":threshold")
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

    return wait_page(timestamp)
end


-- A waiting room with its queue in Redis: one round trip per request.
function _M.redis(port)
    local red = require("nginx.redis"):new()

    assert(red:connect("127.0.0.1", port))

    local place = assert(red:incr("throttle:line"))

    red:set_keepalive(60000, 64)

    return wait_page(place)
end


return _M
