/* console.c - calls console routes from the command line. */
#include "tools/admin/console.h"

#include <stdio.h>
#include <string.h>

#include "admin/control/control.h"
#include "json/schema.h"
#include "model/fields/types.h"

static bool ask_control_socket(const struct config *config, const char *request,
                               struct arena *arena, const char **ret)
{
    struct buf out;

    buf_init(&out, SIZE_MAX);
    enum err e = control_socket_send_request(config->data, request, &out);
    bool ok = !e && out.n;
    *ret = str_dup_cstring(arena, buf_as_str(&out));
    buf_clear(&out);
    if (!ok)
        print_server_unreachable(config->data, e ? e : ERR_OVERLOADED);
    return ok;
}

int run_command_console_key(const struct command_settings *s, char **arguments)
{
    struct arena *arena = arena_new();
    const char *key;

    (void)arguments;
    bool ok = ask_control_socket(&s->config, "console-key", arena, &key);
    if (ok)
        puts(key);
    arena_free(arena);
    return ok ? 0 : 1;
}

const char *find_server_url_of_data_folder(const struct config *config, struct arena *arena)
{
    const char *url;

    return ask_control_socket(config, "address", arena, &url) ? url : NULL;
}

struct api_client *connect_to_server_console(const struct config *config, struct arena *arena)
{
    const char *url, *key;

    if (!ask_control_socket(config, "address", arena, &url) ||
        !ask_control_socket(config, "console-key", arena, &key))
        return NULL;
    struct api_client *w = api_client_new(url, arena);
    if (w) {
        api_client_trust_only_server_of_folder(w, config->data);
        api_client_set_token(w, str_dup_cstring(arena, str_printf(arena, "Bearer %s", key)));
    }
    return w;
}

struct api_client_response send_console_request(const struct config *config, struct arena *arena,
                                                const char *method, const char *path,
                                                struct str body)
{
    struct api_client *w = connect_to_server_console(config, arena);
    struct api_client_response a = { 0 };

    if (w && !api_client_request(w, method, path, body, NULL, 0, &a))
        a.status = 0;
    api_client_free(w);
    return a;
}

struct console_refusal {
    struct opt_str message;
    struct opt_str errors; /* JSON */
};
static const struct field refusal_fields[] = {
    { FIELD(struct console_refusal, message), .type = &type_text, .flags = OPTIONAL },
    { FIELD(struct console_refusal, errors), .type = &type_raw, .flags = OPTIONAL },
    { 0 },
};
static const struct schema refusal_schema = { .size = sizeof(struct console_refusal),
                                              .fields = refusal_fields };
static const struct type type_refusal = { .kind = KIND_OBJECT, .schema = &refusal_schema };

void print_console_refusal(const struct api_client_response *a, struct arena *arena)
{
    static const char key[] = "\"message\":\"";
    const struct console_refusal *r =
        a->status ? schema_decode_or_null(&type_refusal, a->body, arena) : NULL;
    struct str tree = r && r->errors.given == GIVEN ? r->errors.value : STR("");
    const char *at = tree.n ? memmem(tree.p, tree.n, key, sizeof key - 1) : NULL;
    struct str text = r && r->message.given == GIVEN ? r->message.value : STR("");

    if (at) {
        text = str_skip_bytes(tree, (size_t)(at - tree.p) + sizeof key - 1);
        text = str_cut(&text, '"');
    }
    if (text.n)
        fprintf(stderr, "guildhall: %.*s\n", STR_ARGS(text));
    else if (a->status)
        fprintf(stderr, "guildhall: the server answered with status %d\n", a->status);
}

bool parse_duration(const char *text, int64_t *ret_ms)
{
    static const struct {
        const char *unit;
        int64_t ms;
    } units[] = { { "ms", 1 },          { "s", 1000 },     { "m", 60 * 1000 },
                  { "h", 3600 * 1000 }, { "d", 86400000 }, { "", 1000 } };
    size_t digits = strspn(text, "0123456789");
    uint64_t number;

    if (digits > 9 || !str_to_u64(str_slice(text, digits), &number))
        return false;
    for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
        if (strcmp(text + digits, units[i].unit) == 0) {
            *ret_ms = (int64_t)number * units[i].ms;
            return true;
        }
    }
    return false;
}
