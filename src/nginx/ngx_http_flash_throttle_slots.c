
/*
 * Copyright (C) flash_throttle contributors
 *
 * The slots of a page: {{name}} in its text, filled in for a client that comes
 * back without a script.  What stands around them is sent from memory, and
 * compressed but once: the gzip stream is spliced from pieces deflated at
 * configuration and from slots as stored blocks.
 */


#include "ngx_http_flash_throttle.h"

#include <zlib.h>


#define NGX_HTTP_FLASH_THROTTLE_METHOD       0
#define NGX_HTTP_FLASH_THROTTLE_PLACE        1
#define NGX_HTTP_FLASH_THROTTLE_AHEAD        2
#define NGX_HTTP_FLASH_THROTTLE_WAIT         3
#define NGX_HTTP_FLASH_THROTTLE_SLOTS        4

/* the longest text of a slot, and of one for whoever has no place yet */
#define NGX_HTTP_FLASH_THROTTLE_SLOT_LEN     (2 * NGX_INT32_LEN)
#define NGX_HTTP_FLASH_THROTTLE_BLANK_LEN    3

#define NGX_HTTP_FLASH_THROTTLE_GZIP_HEAD                                     \
    "\x1f\x8b\x08\x00\x00\x00\x00\x00\x02\x03"

/* CRC-32 and length (RFC 1952, section 2.3.1) */
#define NGX_HTTP_FLASH_THROTTLE_GZIP_TAIL    8

/* the head of a stored block (RFC 1951, section 3.2.4) */
#define NGX_HTTP_FLASH_THROTTLE_STORED_HEAD  5


/* a page that is being put together */
typedef struct {
    ngx_chain_t  **link;    /* where the next buffer goes */
    u_char        *p;       /* where the next slot goes */
    uint32_t       crc;
    uint32_t       size;
} ngx_http_flash_throttle_splice_t;


static ngx_uint_t ngx_http_flash_throttle_find_slot(u_char *p, u_char *last,
    u_char **slot);
static u_char *ngx_http_flash_throttle_blank(u_char *p, ngx_uint_t slot);
static ngx_int_t ngx_http_flash_throttle_deflate(ngx_conf_t *cf,
    ngx_array_t *pieces);
static void ngx_http_flash_throttle_add_gzip(ngx_http_request_t *r,
    ngx_http_flash_throttle_ctx_t *ctx, ngx_http_flash_throttle_piece_t *piece,
    ngx_http_flash_throttle_splice_t *splice);
static u_char *ngx_http_flash_throttle_slot(ngx_http_request_t *r,
    ngx_http_flash_throttle_ctx_t *ctx, ngx_uint_t slot, u_char *p);
static u_char *ngx_http_flash_throttle_little_endian(u_char *p, uint32_t n);
static ngx_int_t ngx_http_flash_throttle_add_buf(ngx_http_request_t *r,
    ngx_http_flash_throttle_splice_t *splice, u_char *pos, u_char *last);


static ngx_str_t  ngx_http_flash_throttle_slots[] = {
    ngx_string("{{method}}"),
    ngx_string("{{place}}"),
    ngx_string("{{ahead}}"),
    ngx_string("{{wait}}")
};


/* What a wait is told as: from one of these minutes to the next. */

static ngx_uint_t  ngx_http_flash_throttle_minutes[] = {
    0, 1, 2, 5, 10, 15, 20, 30, 45, 60
};


/* The first slot in a text, and which it is. */

static ngx_uint_t
ngx_http_flash_throttle_find_slot(u_char *p, u_char *last, u_char **slot)
{
    ngx_str_t   *s;
    ngx_uint_t   i;

    for ( /* void */ ; p < last; p++) {

        if (*p != '{') {
            continue;
        }

        for (i = 0; i < NGX_HTTP_FLASH_THROTTLE_SLOTS; i++) {
            s = &ngx_http_flash_throttle_slots[i];

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


/* An ellipsis, but for the method: who is given the blank page asks for it. */

static u_char *
ngx_http_flash_throttle_blank(u_char *p, ngx_uint_t slot)
{
    return ngx_cpymem(p, slot == NGX_HTTP_FLASH_THROTTLE_METHOD
                         ? "GET" : "\xe2\x80\xa6",
                      NGX_HTTP_FLASH_THROTTLE_BLANK_LEN);
}


ngx_int_t
ngx_http_flash_throttle_cut(ngx_conf_t *cf,
    ngx_http_flash_throttle_page_t *page)
{
    u_char                           *p, *last, *blank, *slot;
    ngx_http_flash_throttle_piece_t  *piece;

    p = page->html.data;
    last = p + page->html.len;

    if (ngx_http_flash_throttle_find_slot(p, last, &slot)
        == NGX_HTTP_FLASH_THROTTLE_SLOTS)
    {
        return NGX_OK;
    }

    page->pieces = ngx_array_create(cf->pool, 5,
                                    sizeof(ngx_http_flash_throttle_piece_t));
    if (page->pieces == NULL) {
        return NGX_ERROR;
    }

    /* a blank is shorter than its slot */

    blank = ngx_pnalloc(cf->pool, page->html.len);
    if (blank == NULL) {
        return NGX_ERROR;
    }

    page->html.data = blank;

    for ( ;; ) {
        piece = ngx_array_push(page->pieces);
        if (piece == NULL) {
            return NGX_ERROR;
        }

        ngx_memzero(piece, sizeof(ngx_http_flash_throttle_piece_t));

        piece->slot = ngx_http_flash_throttle_find_slot(p, last, &slot);
        piece->text.data = p;
        piece->text.len = slot - p;

        blank = ngx_cpymem(blank, p, slot - p);

        if (piece->slot == NGX_HTTP_FLASH_THROTTLE_SLOTS) {
            break;
        }

        blank = ngx_http_flash_throttle_blank(blank, piece->slot);
        p = slot + ngx_http_flash_throttle_slots[piece->slot].len;
    }

    page->html.len = blank - page->html.data;

    return ngx_http_flash_throttle_deflate(cf, page->pieces);
}


/*
 * Each piece on its own, to the end of a byte and referring to no piece before
 * it, as one stream.
 */

static ngx_int_t
ngx_http_flash_throttle_deflate(ngx_conf_t *cf, ngx_array_t *pieces)
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

        /* deflateBound() is for a stream that ends, this one may flush */

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

        /* between two slots in a row there is nothing to flush */

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
                  "flash_throttle could not compress a page, zlib failed");

    return NGX_ERROR;
}


ngx_chain_t *
ngx_http_flash_throttle_fill(ngx_http_request_t *r,
    ngx_http_flash_throttle_ctx_t *ctx, ngx_http_flash_throttle_page_t *page,
    ngx_uint_t gzip)
{
    u_char                            *p;
    ngx_str_t                         *s;
    ngx_uint_t                         i;
    ngx_chain_t                       *out;
    ngx_http_flash_throttle_piece_t   *piece;
    ngx_http_flash_throttle_splice_t   splice;

    ngx_memzero(&splice, sizeof(ngx_http_flash_throttle_splice_t));

    splice.link = &out;
    splice.p = ngx_pnalloc(r->pool, page->pieces->nelts
                                    * (NGX_HTTP_FLASH_THROTTLE_STORED_HEAD
                                       + NGX_HTTP_FLASH_THROTTLE_SLOT_LEN)
                                    + NGX_HTTP_FLASH_THROTTLE_GZIP_TAIL);
    if (splice.p == NULL) {
        return NULL;
    }

    piece = page->pieces->elts;

    for (i = 0; i < page->pieces->nelts; i++) {

        s = gzip ? &piece[i].deflated : &piece[i].text;
        p = splice.p;

        if (ngx_http_flash_throttle_add_buf(r, &splice, s->data,
                                            s->data + s->len)
            != NGX_OK)
        {
            return NULL;
        }

        if (gzip) {
            ngx_http_flash_throttle_add_gzip(r, ctx, &piece[i], &splice);

        } else {
            splice.p = ngx_http_flash_throttle_slot(r, ctx, piece[i].slot, p);
        }

        if (ngx_http_flash_throttle_add_buf(r, &splice, p, splice.p)
            != NGX_OK)
        {
            return NULL;
        }
    }

    return out;
}


/* What follows a piece in a gzip stream: a slot, or the end. */

static void
ngx_http_flash_throttle_add_gzip(ngx_http_request_t *r,
    ngx_http_flash_throttle_ctx_t *ctx, ngx_http_flash_throttle_piece_t *piece,
    ngx_http_flash_throttle_splice_t *splice)
{
    size_t   len;
    u_char  *p, *text;

    splice->crc = crc32_combine(splice->crc, piece->crc, piece->text.len);
    splice->size += piece->text.len;

    p = splice->p;

    if (piece->slot == NGX_HTTP_FLASH_THROTTLE_SLOTS) {
        p = ngx_http_flash_throttle_little_endian(p, splice->crc);
        splice->p = ngx_http_flash_throttle_little_endian(p, splice->size);
        return;
    }

    text = p + NGX_HTTP_FLASH_THROTTLE_STORED_HEAD;

    splice->p = ngx_http_flash_throttle_slot(r, ctx, piece->slot, text);

    len = splice->p - text;

    *p++ = 0;    /* not compressed, and not the last block */
    ngx_http_flash_throttle_little_endian(p, len | ~len << 16);

    splice->crc = crc32(splice->crc, text, len);
    splice->size += len;
}


static u_char *
ngx_http_flash_throttle_slot(ngx_http_request_t *r,
    ngx_http_flash_throttle_ctx_t *ctx, ngx_uint_t slot, u_char *p)
{
    ngx_uint_t   i, *minutes;

    switch (slot) {

    case NGX_HTTP_FLASH_THROTTLE_SLOTS:
        return p;

    case NGX_HTTP_FLASH_THROTTLE_METHOD:

        /* the page only asks whether it was a form */

        return r->method == NGX_HTTP_POST ? ngx_cpymem(p, "POST", 4)
                                          : ngx_cpymem(p, "GET", 3);

    case NGX_HTTP_FLASH_THROTTLE_PLACE:
        return ngx_sprintf(p, "%uL", (uint64_t) ctx->verdict.position + 1);

    case NGX_HTTP_FLASH_THROTTLE_AHEAD:
        return ngx_sprintf(p, "%uD", ctx->verdict.position);

    default: /* NGX_HTTP_FLASH_THROTTLE_WAIT */
        break;
    }

    minutes = ngx_http_flash_throttle_minutes;

    for (i = 1; i < sizeof(ngx_http_flash_throttle_minutes)
                    / sizeof(ngx_uint_t); i++)
    {
        if (ctx->verdict.wait_ms < minutes[i] * 60000) {
            return ngx_sprintf(p, "%ui-%ui min", minutes[i - 1], minutes[i]);
        }
    }

    /* nobody can stand behind more */

    return ngx_sprintf(p, "&gt; %ui min", minutes[i - 1]);
}


static u_char *
ngx_http_flash_throttle_little_endian(u_char *p, uint32_t n)
{
    *p++ = (u_char) n;
    *p++ = (u_char) (n >> 8);
    *p++ = (u_char) (n >> 16);
    *p++ = (u_char) (n >> 24);

    return p;
}


/* Marked as memory: no filter may write into a page. */

static ngx_int_t
ngx_http_flash_throttle_add_buf(ngx_http_request_t *r,
    ngx_http_flash_throttle_splice_t *splice, u_char *pos, u_char *last)
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

    *splice->link = cl;
    splice->link = &cl->next;

    return NGX_OK;
}
