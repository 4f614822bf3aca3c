
/*
 * Copyright (C) flash_throttle contributors
 *
 * The queue page: read once at configuration, or built in; with a gzip twin,
 * because nginx's own gzip filter leaves a 503 alone.
 */


#include "ngx_http_flash_throttle.h"
#include "ngx_http_flash_throttle_pages.h"

#include <zlib.h>


#define NGX_HTTP_FLASH_THROTTLE_PAGE_MAX    (1024 * 1024)

/* where the rejection page wants the time */
#define NGX_HTTP_FLASH_THROTTLE_MARK        "{{time}}"

/* zlib's window, and 16 for a gzip head around it */
#define NGX_HTTP_FLASH_THROTTLE_GZIP_BITS   (MAX_WBITS + 16)


static ngx_int_t ngx_http_flash_throttle_read_page(ngx_conf_t *cf,
    ngx_command_t *cmd, ngx_str_t *name, ngx_str_t *html);
static ngx_int_t ngx_http_flash_throttle_gzip(ngx_conf_t *cf,
    ngx_http_flash_throttle_page_t *page);


ngx_int_t
ngx_http_flash_throttle_init_pages(ngx_conf_t *cf,
    ngx_http_flash_throttle_main_conf_t *ftmf)
{
    u_char     *mark;
    ngx_str_t   rejected;

    ftmf->page = ngx_pcalloc(cf->pool, sizeof(ngx_http_flash_throttle_page_t));
    if (ftmf->page == NULL) {
        return NGX_ERROR;
    }

    ftmf->page->html.data = ngx_http_flash_throttle_queue_html;
    ftmf->page->html.len = sizeof(ngx_http_flash_throttle_queue_html) - 1;

    rejected.data = ngx_http_flash_throttle_rejected_html;
    rejected.len = sizeof(ngx_http_flash_throttle_rejected_html) - 1;

    mark = ngx_strnstr(rejected.data, NGX_HTTP_FLASH_THROTTLE_MARK,
                       rejected.len);
    if (mark == NULL) {
        ngx_log_error(NGX_LOG_EMERG, cf->log, 0,
                      "flash_throttle was built with a rejection page that "
                      "lacks \"%s\"", NGX_HTTP_FLASH_THROTTLE_MARK);
        return NGX_ERROR;
    }

    ftmf->rejected.head.data = rejected.data;
    ftmf->rejected.head.len = mark - rejected.data;

    mark += sizeof(NGX_HTTP_FLASH_THROTTLE_MARK) - 1;

    ftmf->rejected.tail.data = mark;
    ftmf->rejected.tail.len = rejected.data + rejected.len - mark;

    return ngx_http_flash_throttle_gzip(cf, ftmf->page);
}


char *
ngx_http_flash_throttle_queue_page(ngx_conf_t *cf, ngx_command_t *cmd,
    void *conf)
{
    ngx_http_flash_throttle_conf_t *ftcf = conf;

    ngx_str_t                       *value, name;
    ngx_http_flash_throttle_page_t  *page;

    if (ftcf->page) {
        return "is duplicate";
    }

    value = cf->args->elts;
    name = value[1];

    if (ngx_conf_full_name(cf->cycle, &name, 1) != NGX_OK) {
        return NGX_CONF_ERROR;
    }

    page = ngx_pcalloc(cf->pool, sizeof(ngx_http_flash_throttle_page_t));
    if (page == NULL) {
        return NGX_CONF_ERROR;
    }

    if (ngx_http_flash_throttle_read_page(cf, cmd, &name, &page->html)
        != NGX_OK
        || ngx_http_flash_throttle_gzip(cf, page) != NGX_OK)
    {
        return NGX_CONF_ERROR;
    }

    ftcf->page = page;

    return NGX_CONF_OK;
}


static ngx_int_t
ngx_http_flash_throttle_read_page(ngx_conf_t *cf, ngx_command_t *cmd,
    ngx_str_t *name, ngx_str_t *html)
{
    off_t             size;
    ssize_t           n;
    ngx_int_t         rc;
    ngx_file_t        file;
    ngx_file_info_t   fi;

    ngx_memzero(&file, sizeof(ngx_file_t));

    rc = NGX_ERROR;

    file.name = *name;
    file.log = cf->log;
    file.fd = ngx_open_file(name->data, NGX_FILE_RDONLY, NGX_FILE_OPEN, 0);

    if (file.fd == NGX_INVALID_FILE) {
        ngx_conf_log_error(NGX_LOG_EMERG, cf, ngx_errno,
                           "\"%V\" could not open the page \"%V\", "
                           "it must be a file that nginx can read",
                           &cmd->name, name);
        return NGX_ERROR;
    }

    if (ngx_fd_info(file.fd, &fi) == NGX_FILE_ERROR) {
        ngx_conf_log_error(NGX_LOG_EMERG, cf, ngx_errno,
                           ngx_fd_info_n " \"%V\" failed", name);
        goto done;
    }

    size = ngx_file_size(&fi);

    if (!ngx_is_file(&fi) || size == 0
        || size > NGX_HTTP_FLASH_THROTTLE_PAGE_MAX)
    {
        ngx_conf_log_error(NGX_LOG_EMERG, cf, 0,
                           "invalid page \"%V\" in \"%V\" directive, "
                           "it must be a file of 1 byte to 1m",
                           name, &cmd->name);
        goto done;
    }

    html->data = ngx_pnalloc(cf->pool, size);
    if (html->data == NULL) {
        goto done;
    }

    n = ngx_read_file(&file, html->data, size, 0);

    if (n == NGX_ERROR || n != size) {
        ngx_conf_log_error(NGX_LOG_EMERG, cf, ngx_errno,
                           ngx_read_file_n " \"%V\" failed", name);
        goto done;
    }

    html->len = size;
    rc = NGX_OK;

done:

    if (ngx_close_file(file.fd) == NGX_FILE_ERROR) {
        ngx_log_error(NGX_LOG_ALERT, cf->log, ngx_errno,
                      ngx_close_file_n " \"%V\" failed", name);
    }

    return rc;
}


static ngx_int_t
ngx_http_flash_throttle_gzip(ngx_conf_t *cf,
    ngx_http_flash_throttle_page_t *page)
{
    int         rc;
    size_t      size;
    z_stream    zs;

    ngx_memzero(&zs, sizeof(z_stream));

    if (deflateInit2(&zs, Z_BEST_COMPRESSION, Z_DEFLATED,
                     NGX_HTTP_FLASH_THROTTLE_GZIP_BITS, MAX_MEM_LEVEL,
                     Z_DEFAULT_STRATEGY)
        != Z_OK)
    {
        ngx_log_error(NGX_LOG_EMERG, cf->log, 0,
                      "flash_throttle could not compress the queue page, "
                      "deflateInit2() failed");
        return NGX_ERROR;
    }

    size = deflateBound(&zs, page->html.len);

    page->gzip.data = ngx_pnalloc(cf->pool, size);
    if (page->gzip.data == NULL) {
        (void) deflateEnd(&zs);
        return NGX_ERROR;
    }

    zs.next_in = page->html.data;
    zs.avail_in = page->html.len;
    zs.next_out = page->gzip.data;
    zs.avail_out = size;

    rc = deflate(&zs, Z_FINISH);

    page->gzip.len = size - zs.avail_out;

    (void) deflateEnd(&zs);

    if (rc != Z_STREAM_END) {
        ngx_log_error(NGX_LOG_EMERG, cf->log, 0,
                      "flash_throttle could not compress the queue page, "
                      "deflate() failed: %d", rc);
        return NGX_ERROR;
    }

    if (page->gzip.len >= page->html.len) {
        page->gzip.len = 0;
    }

    return NGX_OK;
}
