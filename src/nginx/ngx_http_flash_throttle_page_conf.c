
/*
 * Copyright (C) flash_throttle contributors
 */


#include "ngx_http_flash_throttle_page.h"
#include "ngx_http_flash_throttle_page_conf.h"
#include "ngx_http_flash_throttle_pages.h"
#include "ngx_http_flash_throttle_template.h"

#include <zlib.h>


#define NGX_HTTP_FLASH_THROTTLE_PAGE_MAX        (1024 * 1024)

/* 16: a gzip header */
#define NGX_HTTP_FLASH_THROTTLE_PAGE_GZIP_BITS  (MAX_WBITS + 16)

#define ngx_http_flash_throttle_page_conf_built_in(cf, html)                  \
    ngx_http_flash_throttle_page_conf_make(cf, html, sizeof(html) - 1)


static ngx_http_flash_throttle_page_t *ngx_http_flash_throttle_page_conf_make(
    ngx_conf_t *cf, u_char *html, size_t len);
static ngx_int_t ngx_http_flash_throttle_page_conf_add_script(ngx_conf_t *cf,
    ngx_str_t *html);
static char *ngx_http_flash_throttle_page_conf_read_all(ngx_conf_t *cf,
    ngx_command_t *cmd, ngx_str_t *name,
    ngx_http_flash_throttle_pages_t *pages);
static ngx_int_t ngx_http_flash_throttle_page_conf_pattern(ngx_conf_t *cf,
    ngx_str_t *name, ngx_str_t *pattern);
static ngx_int_t ngx_http_flash_throttle_page_conf_add(ngx_conf_t *cf,
    ngx_command_t *cmd, ngx_str_t *name,
    ngx_http_flash_throttle_pages_t *pages);
static ngx_http_flash_throttle_page_t *ngx_http_flash_throttle_page_conf_load(
    ngx_conf_t *cf, ngx_command_t *cmd, ngx_str_t *name);
static ngx_int_t ngx_http_flash_throttle_page_conf_read(ngx_conf_t *cf,
    ngx_command_t *cmd, ngx_str_t *name, ngx_str_t *html);
static ngx_int_t ngx_http_flash_throttle_page_conf_gzip(ngx_conf_t *cf,
    ngx_http_flash_throttle_page_t *page);


ngx_int_t
ngx_http_flash_throttle_page_conf_init(ngx_conf_t *cf,
    ngx_http_flash_throttle_main_conf_t *ftmf)
{
    ftmf->page = ngx_http_flash_throttle_page_conf_built_in(cf,
                                       ngx_http_flash_throttle_queue_html);
    if (ftmf->page == NULL) {
        return NGX_ERROR;
    }

    ftmf->rejected = ngx_http_flash_throttle_page_conf_built_in(cf,
                                       ngx_http_flash_throttle_rejected_html);
    if (ftmf->rejected == NULL) {
        return NGX_ERROR;
    }

    ftmf->closed = ngx_http_flash_throttle_page_conf_built_in(cf,
                                       ngx_http_flash_throttle_closed_html);
    if (ftmf->closed == NULL) {
        return NGX_ERROR;
    }

    ftmf->sold_out = ngx_http_flash_throttle_page_conf_built_in(cf,
                                       ngx_http_flash_throttle_sold_out_html);
    if (ftmf->sold_out == NULL) {
        return NGX_ERROR;
    }

    return NGX_OK;
}


static ngx_http_flash_throttle_page_t *
ngx_http_flash_throttle_page_conf_make(ngx_conf_t *cf, u_char *html, size_t len)
{
    ngx_http_flash_throttle_page_t  *page;

    page = ngx_pcalloc(cf->pool, sizeof(ngx_http_flash_throttle_page_t));
    if (page == NULL) {
        return NULL;
    }

    page->html.data = html;
    page->html.len = len;

    if (ngx_http_flash_throttle_template(cf, page) != NGX_OK
        || ngx_http_flash_throttle_page_conf_gzip(cf, page) != NGX_OK)
    {
        return NULL;
    }

    return page;
}


/* Replaces {{script}} by the script of the built-in queue page. */

static ngx_int_t
ngx_http_flash_throttle_page_conf_add_script(ngx_conf_t *cf, ngx_str_t *html)
{
    u_char     *p, *start, *slot, *last;
    ngx_str_t   script;

    slot = ngx_strnstr(html->data, "{{script}}", html->len);

    if (slot == NULL) {
        return NGX_OK;
    }

    script.data = (u_char *) ngx_strstr(ngx_http_flash_throttle_queue_html,
                                        "<script>");
    script.len = (u_char *) ngx_strstr(script.data, "</script>")
                 + sizeof("</script>") - 1 - script.data;

    p = ngx_pnalloc(cf->pool, html->len + script.len);
    if (p == NULL) {
        return NGX_ERROR;
    }

    start = p;
    last = html->data + html->len;

    p = ngx_cpymem(p, html->data, slot - html->data);
    p = ngx_cpymem(p, script.data, script.len);

    slot += sizeof("{{script}}") - 1;
    p = ngx_cpymem(p, slot, last - slot);

    html->data = start;
    html->len = p - start;

    return NGX_OK;
}


char *
ngx_http_flash_throttle_page_conf(ngx_conf_t *cf, ngx_command_t *cmd,
    void *conf)
{
    ngx_http_flash_throttle_conf_t *ftcf = conf;

    ngx_str_t                        *value, name;
    ngx_http_flash_throttle_pages_t  *pages;

    if (ftcf->page || ftcf->pages) {
        return "is duplicate";
    }

    value = cf->args->elts;
    name = value[1];

    if (ngx_conf_full_name(cf->cycle, &name, 1) != NGX_OK) {
        return NGX_CONF_ERROR;
    }

    if (ngx_http_script_variables_count(&name) == 0) {
        ftcf->page = ngx_http_flash_throttle_page_conf_load(cf, cmd, &name);

        return ftcf->page ? NGX_CONF_OK : NGX_CONF_ERROR;
    }

    pages = ngx_pcalloc(cf->pool, sizeof(ngx_http_flash_throttle_pages_t));
    if (pages == NULL) {
        return NGX_CONF_ERROR;
    }

    ftcf->pages = pages;

    return ngx_http_flash_throttle_page_conf_read_all(cf, cmd, &name, pages);
}


/*
 * Reads all files that a name with variables can refer to.  No file is read at
 * run time, so the value of a variable cannot name another one.
 */

static char *
ngx_http_flash_throttle_page_conf_read_all(ngx_conf_t *cf, ngx_command_t *cmd,
    ngx_str_t *name, ngx_http_flash_throttle_pages_t *pages)
{
    ngx_int_t                          rc;
    ngx_str_t                          pattern, file;
    ngx_glob_t                         gl;
    ngx_http_compile_complex_value_t   ccv;

    if (name->len < 5
        || ngx_strncmp(name->data + name->len - 5, ".html", 5) != 0)
    {
        ngx_conf_log_error(NGX_LOG_EMERG, cf, 0,
                           "invalid page \"%V\" in \"%V\" directive, "
                           "with variables it must end with \".html\"",
                           name, &cmd->name);
        return NGX_CONF_ERROR;
    }

    if (ngx_http_flash_throttle_page_conf_pattern(cf, name, &pattern)
        != NGX_OK)
    {
        return NGX_CONF_ERROR;
    }

    ngx_memzero(&ccv, sizeof(ngx_http_compile_complex_value_t));

    ccv.cf = cf;
    ccv.value = name;
    ccv.complex_value = &pages->name;

    if (ngx_http_compile_complex_value(&ccv) != NGX_OK) {
        return NGX_CONF_ERROR;
    }

    ngx_rbtree_init(&pages->tree, &pages->sentinel,
                    ngx_str_rbtree_insert_value);

    ngx_memzero(&gl, sizeof(ngx_glob_t));

    gl.pattern = pattern.data;
    gl.log = cf->log;
    gl.test = 1;

    if (ngx_open_glob(&gl) != NGX_OK) {
        ngx_conf_log_error(NGX_LOG_EMERG, cf, ngx_errno,
                           ngx_open_glob_n " \"%V\" failed", &pattern);
        return NGX_CONF_ERROR;
    }

    do {
        rc = ngx_read_glob(&gl, &file);

        if (rc == NGX_OK) {
            rc = ngx_http_flash_throttle_page_conf_add(cf, cmd, &file, pages);
        }

    } while (rc == NGX_OK);

    ngx_close_glob(&gl);

    if (rc == NGX_ERROR) {
        return NGX_CONF_ERROR;
    }

    if (pages->tree.root == &pages->sentinel) {
        ngx_conf_log_error(NGX_LOG_EMERG, cf, 0,
                           "invalid page \"%V\" in \"%V\" directive, "
                           "no file matches \"%V\"",
                           name, &cmd->name, &pattern);
        return NGX_CONF_ERROR;
    }

    return NGX_CONF_OK;
}


/* "/pages/$host.html" becomes "/pages/" "*.html". */

static ngx_int_t
ngx_http_flash_throttle_page_conf_pattern(ngx_conf_t *cf, ngx_str_t *name,
    ngx_str_t *pattern)
{
    u_char  c, *p, *s, *last;

    p = ngx_pnalloc(cf->pool, 2 * name->len + 1);
    if (p == NULL) {
        return NGX_ERROR;
    }

    pattern->data = p;

    s = name->data;
    last = s + name->len;

    while (s < last) {
        c = *s++;

        if (c != '$') {

            if (c == '*' || c == '?' || c == '[' || c == '\\') {
                *p++ = '\\';
            }

            *p++ = c;
            continue;
        }

        *p++ = '*';

        if (s < last && *s == '{') {
            while (s < last && *s++ != '}') { /* void */ }
            continue;
        }

        while (s < last
               && (*s == '_' || (*s >= '0' && *s <= '9')
                   || (*s >= 'a' && *s <= 'z') || (*s >= 'A' && *s <= 'Z')))
        {
            s++;
        }
    }

    pattern->len = p - pattern->data;
    *p = '\0';

    return NGX_OK;
}


static ngx_int_t
ngx_http_flash_throttle_page_conf_add(ngx_conf_t *cf, ngx_command_t *cmd,
    ngx_str_t *name, ngx_http_flash_throttle_pages_t *pages)
{
    ngx_str_t                             copy;
    ngx_http_flash_throttle_page_node_t  *node;

    copy.len = name->len;
    copy.data = ngx_pnalloc(cf->pool, name->len + 1);
    if (copy.data == NULL) {
        return NGX_ERROR;
    }

    (void) ngx_cpystrn(copy.data, name->data, name->len + 1);

    node = ngx_pcalloc(cf->pool, sizeof(ngx_http_flash_throttle_page_node_t));
    if (node == NULL) {
        return NGX_ERROR;
    }

    node->page = ngx_http_flash_throttle_page_conf_load(cf, cmd, &copy);
    if (node->page == NULL) {
        return NGX_ERROR;
    }

    node->sn.str = copy;
    node->sn.node.key = ngx_crc32_long(copy.data, copy.len);

    ngx_rbtree_insert(&pages->tree, &node->sn.node);

    return NGX_OK;
}


static ngx_http_flash_throttle_page_t *
ngx_http_flash_throttle_page_conf_load(ngx_conf_t *cf, ngx_command_t *cmd,
    ngx_str_t *name)
{
    ngx_str_t  html;

    if (ngx_http_flash_throttle_page_conf_read(cf, cmd, name, &html) != NGX_OK
        || ngx_http_flash_throttle_page_conf_add_script(cf, &html) != NGX_OK)
    {
        return NULL;
    }

    return ngx_http_flash_throttle_page_conf_make(cf, html.data, html.len);
}


static ngx_int_t
ngx_http_flash_throttle_page_conf_read(ngx_conf_t *cf, ngx_command_t *cmd,
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
                           ngx_open_file_n " \"%V\" failed", name);
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

    if (n == NGX_ERROR) {
        ngx_conf_log_error(NGX_LOG_EMERG, cf, ngx_errno,
                           ngx_read_file_n " \"%V\" failed", name);
        goto done;
    }

    if (n != size) {
        ngx_conf_log_error(NGX_LOG_EMERG, cf, 0,
                           ngx_read_file_n " \"%V\" returned only "
                           "%z bytes instead of %O", name, n, size);
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
ngx_http_flash_throttle_page_conf_gzip(ngx_conf_t *cf,
    ngx_http_flash_throttle_page_t *page)
{
    int         rc;
    size_t      size;
    z_stream    zs;

    ngx_memzero(&zs, sizeof(z_stream));

    if (deflateInit2(&zs, Z_BEST_COMPRESSION, Z_DEFLATED,
                     NGX_HTTP_FLASH_THROTTLE_PAGE_GZIP_BITS, MAX_MEM_LEVEL,
                     Z_DEFAULT_STRATEGY)
        != Z_OK)
    {
        ngx_log_error(NGX_LOG_EMERG, cf->log, 0,
                      "deflateInit2() of a page failed");
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
                      "deflate() of a page failed: %d", rc);
        return NGX_ERROR;
    }

    if (page->gzip.len >= page->html.len) {
        page->gzip.len = 0;
    }

    return NGX_OK;
}
