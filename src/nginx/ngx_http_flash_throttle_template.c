
/*
 * Copyright (C) flash_throttle contributors
 */


#include "ngx_http_flash_throttle_template.h"

#include <zlib.h>


/* see ngx_http_flash_throttle_template_slots */
#define NGX_HTTP_FLASH_THROTTLE_METHOD       0
#define NGX_HTTP_FLASH_THROTTLE_PLACE        1
#define NGX_HTTP_FLASH_THROTTLE_AHEAD        2
#define NGX_HTTP_FLASH_THROTTLE_WAIT         3
#define NGX_HTTP_FLASH_THROTTLE_SLOTS        4

/* the longest text of a slot, and the length of a default */
#define NGX_HTTP_FLASH_THROTTLE_SLOT_LEN     (2 * NGX_INT32_LEN)
#define NGX_HTTP_FLASH_THROTTLE_DEFAULT_LEN  3

#define NGX_HTTP_FLASH_THROTTLE_GZIP_HEAD                                     \
    "\x1f\x8b\x08\x00\x00\x00\x00\x00\x02\x03"

/* CRC-32 and length (RFC 1952, section 2.3.1) */
#define NGX_HTTP_FLASH_THROTTLE_GZIP_TAIL    8

/* the head of a stored block (RFC 1951, section 3.2.4) */
#define NGX_HTTP_FLASH_THROTTLE_STORED_HEAD  5


/* a body under construction */
typedef struct {
    ngx_chain_t  **last;
    u_char        *p;       /* free space for slots */
    uint32_t       crc;
    uint32_t       size;
} ngx_http_flash_throttle_body_t;


static ngx_uint_t ngx_http_flash_throttle_template_find(u_char *p, u_char *last,
    u_char **slot);
static u_char *ngx_http_flash_throttle_template_default(u_char *p,
    ngx_uint_t slot);
static ngx_int_t ngx_http_flash_throttle_template_deflate(ngx_conf_t *cf,
    ngx_array_t *pieces);
static void ngx_http_flash_throttle_template_add_gzip(ngx_http_request_t *r,
    ngx_http_flash_throttle_ctx_t *ctx, ngx_http_flash_throttle_piece_t *piece,
    ngx_http_flash_throttle_body_t *body);
static u_char *ngx_http_flash_throttle_template_slot(ngx_http_request_t *r,
    ngx_http_flash_throttle_ctx_t *ctx, ngx_uint_t slot, u_char *p);
static u_char *ngx_http_flash_throttle_template_little_endian(u_char *p,
    uint32_t n);
static ngx_int_t ngx_http_flash_throttle_template_add_buf(ngx_http_request_t *r,
    ngx_http_flash_throttle_body_t *body, u_char *pos, u_char *last);


static ngx_str_t  ngx_http_flash_throttle_template_slots[] = {
    ngx_string("{{method}}"),
    ngx_string("{{place}}"),
    ngx_string("{{ahead}}"),
    ngx_string("{{wait}}")
};


/* A wait is shown as a range between two of these. */

static ngx_uint_t  ngx_http_flash_throttle_template_minutes[] = {
    0, 1, 2, 5, 10, 15, 20, 30, 45, 60
};


/* Returns the number of the first slot, and its position in *slot. */

static ngx_uint_t
ngx_http_flash_throttle_template_find(u_char *p, u_char *last, u_char **slot)
{
    ngx_str_t   *s;
    ngx_uint_t   i;

    for ( /* void */ ; p < last; p++) {

        if (*p != '{') {
            continue;
        }

        for (i = 0; i < NGX_HTTP_FLASH_THROTTLE_SLOTS; i++) {
            s = &ngx_http_flash_throttle_template_slots[i];

            if ((size_t) (last - p) >= s->len
                && ngx_memcmp(p, s->data, s->len) == 0)
            {
                *slot = p;
                return i;
            }
        }
    }

    *slot = last;

    return NGX_HTTP_FLASH_THROTTLE_SLOTS;
}


/*
 * "GET" for the method: the defaults are sent to first attempts by GET or HEAD
 * only.
 */

static u_char *
ngx_http_flash_throttle_template_default(u_char *p, ngx_uint_t slot)
{
    return ngx_cpymem(p, slot == NGX_HTTP_FLASH_THROTTLE_METHOD
                         ? "GET" : "\xe2\x80\xa6",
                      NGX_HTTP_FLASH_THROTTLE_DEFAULT_LEN);
}


ngx_int_t
ngx_http_flash_throttle_template(ngx_conf_t *cf,
    ngx_http_flash_throttle_page_t *page)
{
    u_char                           *p, *last, *html, *slot;
    ngx_http_flash_throttle_piece_t  *piece;

    p = page->html.data;
    last = p + page->html.len;

    if (ngx_http_flash_throttle_template_find(p, last, &slot)
        == NGX_HTTP_FLASH_THROTTLE_SLOTS)
    {
        return NGX_OK;
    }

    page->pieces = ngx_array_create(cf->pool, 5,
                                    sizeof(ngx_http_flash_throttle_piece_t));
    if (page->pieces == NULL) {
        return NGX_ERROR;
    }

    /* a default is shorter than its slot */

    html = ngx_pnalloc(cf->pool, page->html.len);
    if (html == NULL) {
        return NGX_ERROR;
    }

    page->html.data = html;

    for ( ;; ) {
        piece = ngx_array_push(page->pieces);
        if (piece == NULL) {
            return NGX_ERROR;
        }

        ngx_memzero(piece, sizeof(ngx_http_flash_throttle_piece_t));

        piece->slot = ngx_http_flash_throttle_template_find(p, last, &slot);
        piece->text.data = p;
        piece->text.len = slot - p;

        html = ngx_cpymem(html, p, slot - p);

        if (piece->slot == NGX_HTTP_FLASH_THROTTLE_SLOTS) {
            break;
        }

        html = ngx_http_flash_throttle_template_default(html, piece->slot);
        p = slot + ngx_http_flash_throttle_template_slots[piece->slot].len;
    }

    page->html.len = html - page->html.data;

    return ngx_http_flash_throttle_template_deflate(cf, page->pieces);
}


/*
 * Compresses the pieces as one deflate stream.  A full flush aligns each to a
 * byte, and later pieces do not refer to it.
 */

static ngx_int_t
ngx_http_flash_throttle_template_deflate(ngx_conf_t *cf, ngx_array_t *pieces)
{
    int                               rc, flush;
    size_t                            size, head;
    u_char                           *out;
    z_stream                          zs;
    ngx_uint_t                        i, last;
    ngx_http_flash_throttle_piece_t  *piece;

    ngx_memzero(&zs, sizeof(z_stream));

    if (deflateInit2(&zs, Z_BEST_COMPRESSION, Z_DEFLATED, -MAX_WBITS,
                     MAX_MEM_LEVEL, Z_DEFAULT_STRATEGY)
        != Z_OK)
    {
        goto failed;
    }

    piece = pieces->elts;
    last = pieces->nelts - 1;
    head = sizeof(NGX_HTTP_FLASH_THROTTLE_GZIP_HEAD) - 1;

    for (i = 0; i <= last; i++) {

        /* deflateBound() does not include the flush */

        size = head + deflateBound(&zs, piece[i].text.len)
               + NGX_HTTP_FLASH_THROTTLE_STORED_HEAD + 1;

        out = ngx_pnalloc(cf->pool, size);
        if (out == NULL) {
            (void) deflateEnd(&zs);
            return NGX_ERROR;
        }

        ngx_memcpy(out, NGX_HTTP_FLASH_THROTTLE_GZIP_HEAD, head);

        zs.next_in = piece[i].text.data;
        zs.avail_in = piece[i].text.len;
        zs.next_out = out + head;
        zs.avail_out = size - head;

        flush = (i == last) ? Z_FINISH : Z_FULL_FLUSH;
        rc = (i == last) ? Z_STREAM_END : Z_OK;

        /* deflate() fails with Z_BUF_ERROR if there is nothing to flush */

        if ((piece[i].text.len || i == last)
            && (deflate(&zs, flush) != rc || zs.avail_in || !zs.avail_out))
        {
            (void) deflateEnd(&zs);
            goto failed;
        }

        piece[i].deflated.data = out;
        piece[i].deflated.len = size - zs.avail_out;
        piece[i].crc = crc32(0, piece[i].text.data, piece[i].text.len);

        head = 0;
    }

    (void) deflateEnd(&zs);

    return NGX_OK;

failed:

    ngx_log_error(NGX_LOG_EMERG, cf->log, 0,
                  "deflate() of a page failed");

    return NGX_ERROR;
}


ngx_chain_t *
ngx_http_flash_throttle_template_fill(ngx_http_request_t *r,
    ngx_http_flash_throttle_ctx_t *ctx, ngx_http_flash_throttle_page_t *page,
    ngx_uint_t gzip)
{
    u_char                           *p;
    ngx_str_t                        *s;
    ngx_uint_t                        i;
    ngx_chain_t                      *out;
    ngx_http_flash_throttle_body_t    body;
    ngx_http_flash_throttle_piece_t  *piece;

    ngx_memzero(&body, sizeof(ngx_http_flash_throttle_body_t));

    body.last = &out;
    body.p = ngx_pnalloc(r->pool, page->pieces->nelts
                                  * (NGX_HTTP_FLASH_THROTTLE_STORED_HEAD
                                     + NGX_HTTP_FLASH_THROTTLE_SLOT_LEN)
                                  + NGX_HTTP_FLASH_THROTTLE_GZIP_TAIL);
    if (body.p == NULL) {
        return NULL;
    }

    piece = page->pieces->elts;

    for (i = 0; i < page->pieces->nelts; i++) {

        s = gzip ? &piece[i].deflated : &piece[i].text;
        p = body.p;

        if (ngx_http_flash_throttle_template_add_buf(r, &body, s->data,
                                                     s->data + s->len)
            != NGX_OK)
        {
            return NULL;
        }

        if (gzip) {
            ngx_http_flash_throttle_template_add_gzip(r, ctx, &piece[i], &body);

        } else {
            body.p = ngx_http_flash_throttle_template_slot(r, ctx,
                                                           piece[i].slot, p);
        }

        if (ngx_http_flash_throttle_template_add_buf(r, &body, p, body.p)
            != NGX_OK)
        {
            return NULL;
        }
    }

    return out;
}


/* Adds what follows a piece: a slot as a stored block, or the trailer. */

static void
ngx_http_flash_throttle_template_add_gzip(ngx_http_request_t *r,
    ngx_http_flash_throttle_ctx_t *ctx, ngx_http_flash_throttle_piece_t *piece,
    ngx_http_flash_throttle_body_t *body)
{
    size_t   len;
    u_char  *p, *text;

    body->crc = crc32_combine(body->crc, piece->crc, piece->text.len);
    body->size += piece->text.len;

    p = body->p;

    if (piece->slot == NGX_HTTP_FLASH_THROTTLE_SLOTS) {
        p = ngx_http_flash_throttle_template_little_endian(p, body->crc);
        body->p = ngx_http_flash_throttle_template_little_endian(p, body->size);
        return;
    }

    text = p + NGX_HTTP_FLASH_THROTTLE_STORED_HEAD;

    body->p = ngx_http_flash_throttle_template_slot(r, ctx, piece->slot, text);

    len = body->p - text;

    *p++ = 0;    /* a stored block, not the last one */
    ngx_http_flash_throttle_template_little_endian(p, len | ~len << 16);

    body->crc = crc32(body->crc, text, len);
    body->size += len;
}


static u_char *
ngx_http_flash_throttle_template_slot(ngx_http_request_t *r,
    ngx_http_flash_throttle_ctx_t *ctx, ngx_uint_t slot, u_char *p)
{
    ngx_uint_t   i, *minutes;

    switch (slot) {

    case NGX_HTTP_FLASH_THROTTLE_SLOTS:
        return p;

    case NGX_HTTP_FLASH_THROTTLE_METHOD:

        /* the script distinguishes only these two */

        return r->method == NGX_HTTP_POST ? ngx_cpymem(p, "POST", 4)
                                          : ngx_cpymem(p, "GET", 3);

    case NGX_HTTP_FLASH_THROTTLE_PLACE:
        return ngx_sprintf(p, "%uL", (uint64_t) ctx->verdict.position + 1);

    case NGX_HTTP_FLASH_THROTTLE_AHEAD:
        return ngx_sprintf(p, "%uD", ctx->verdict.position);

    default: /* NGX_HTTP_FLASH_THROTTLE_WAIT */
        break;
    }

    minutes = ngx_http_flash_throttle_template_minutes;

    for (i = 1; i < sizeof(ngx_http_flash_throttle_template_minutes)
                    / sizeof(ngx_uint_t); i++)
    {
        if (ctx->verdict.wait_ms < minutes[i] * 60000) {
            return ngx_sprintf(p, "%ui-%ui min", minutes[i - 1], minutes[i]);
        }
    }


    return ngx_sprintf(p, "&gt; %ui min", minutes[i - 1]);
}


static u_char *
ngx_http_flash_throttle_template_little_endian(u_char *p, uint32_t n)
{
    *p++ = (u_char) n;
    *p++ = (u_char) (n >> 8);
    *p++ = (u_char) (n >> 16);
    *p++ = (u_char) (n >> 24);

    return p;
}


/* b->memory: filters must not modify the page. */

static ngx_int_t
ngx_http_flash_throttle_template_add_buf(ngx_http_request_t *r,
    ngx_http_flash_throttle_body_t *body, u_char *pos, u_char *last)
{
    ngx_buf_t    *b;
    ngx_chain_t  *cl;

    if (pos == last) {
        return NGX_OK;
    }

    cl = ngx_alloc_chain_link(r->pool);
    if (cl == NULL) {
        return NGX_ERROR;
    }

    b = ngx_calloc_buf(r->pool);
    if (b == NULL) {
        return NGX_ERROR;
    }

    b->pos = pos;
    b->last = last;
    b->memory = 1;

    cl->buf = b;
    cl->next = NULL;

    *body->last = cl;
    body->last = &cl->next;

    return NGX_OK;
}
