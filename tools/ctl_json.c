
#include "ctl_json.h"

#include <stdlib.h>
#include <string.h>


json_t *
ctl_json_string(const char *bytes)
{
    char           *text, *p;
    json_t         *string;
    unsigned char   c;

    text = malloc(2 * strlen(bytes) + 1);
    if (text == NULL) {
        return NULL;
    }

    for (p = text; *bytes; bytes++) {
        c = (unsigned char) *bytes;

        if (c < 0x80) {
            *p++ = (char) c;

        } else {
            *p++ = (char) (0xc0 | c >> 6);
            *p++ = (char) (0x80 | (c & 0x3f));
        }
    }

    *p = '\0';
    string = json_string(text);
    free(text);

    return string;
}


static void
ctl_json_replace(char *text, const char *from, const char *to)
{
    while ((text = strchr(text, '\\')) != NULL) {

        if (strncmp(text, from, 6) == 0) {
            memcpy(text, to, 6);
        }

        text += text[1] ? 2 : 1;
    }
}


/*
 * A key may contain bytes 0 ($binary_remote_addr), which jansson refuses in
 * names.  U+2400 stands for them: no byte is written as that character.
 */
json_t *
ctl_json_load(char *text)
{
    json_t  *json;

    ctl_json_replace(text, "\\u0000", "\\u2400");
    json = json_loads(text, 0, NULL);
    ctl_json_replace(text, "\\u2400", "\\u0000");

    return json;
}


char *
ctl_json_dump(const json_t *json)
{
    char  *text;

    text = json_dumps(json, JSON_INDENT(1)|JSON_ENSURE_ASCII);

    if (text != NULL) {
        ctl_json_replace(text, "\\u2400", "\\u0000");
    }

    return text;
}


int64_t
ctl_json_integer(const json_t *object, const char *name)
{
    json_int_t  n;

    n = json_integer_value(json_object_get(object, name));

    return n < 0 ? 0 : n > CTL_JSON_INTEGER_MAX ? CTL_JSON_INTEGER_MAX : n;
}


bool
ctl_json_flag(const json_t *object, const char *name)
{
    return json_is_true(json_object_get(object, name));
}
