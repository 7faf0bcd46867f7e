/* sessions.c - `guildhall sessions`: lists and closes sessions of the running server. */
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "admin/control/control.h"
#include "admin/operator_commands/operator_commands.h"
#include "json/read.h"
#include "json/schema.h"
#include "tools/admin/console.h"

const struct option_row sessions_option_rows[] = {
    { "json", OPTION_SWITCH, .offset = offsetof(struct command_settings, json), .fallback = "off",
      .help = "Print one line of JSON per session instead of a table" },
    { "code", OPTION_INT, .offset = offsetof(struct command_settings, console.code),
      .fallback = "4000", .min = 1000, .max = 4999,
      .help = "Close code that drop uses; clients resume after 4000" },
    { 0 },
};

/* A row of the printed list, which is a gateway session or a voice connection. */
struct session_entry {
    snowflake user_id, channel_id;
    struct str name, address, transport, client, mode;
    bool bot, connected;
    struct list shard;
    int64_t intents, guilds, events, waiting, version, dave, speaking, packets, missing, jitter_us;
};

#define SESSION_TEXT(member)                                                                       \
    {                                                                                              \
        FIELD(struct session_entry, member), .type = &text, .flags = OPTIONAL, .fallback_text = "" \
    }
#define SESSION_NUMBER(member)                                                  \
    {                                                                           \
        FIELD(struct session_entry, member), .type = &number, .flags = OPTIONAL \
    }

static const struct type id = { .kind = KIND_ID }, text = { .kind = KIND_STRING },
                         flag = { .kind = KIND_BOOL }, number = { .kind = KIND_INT },
                         numbers = { .kind = KIND_ARRAY, .of = &number };
static const struct field fields[] = {
    { FIELD(struct session_entry, user_id), .type = &id },
    { FIELD(struct session_entry, channel_id), .type = &id, .flags = OPTIONAL },
    { FIELD(struct session_entry, bot), .type = &flag, .flags = OPTIONAL },
    { FIELD(struct session_entry, connected), .type = &flag },
    { FIELD(struct session_entry, shard), .type = &numbers, .flags = OPTIONAL },
    SESSION_TEXT(name),
    SESSION_TEXT(address),
    SESSION_TEXT(transport),
    SESSION_TEXT(client),
    SESSION_TEXT(mode),
    SESSION_NUMBER(intents),
    SESSION_NUMBER(guilds),
    SESSION_NUMBER(events),
    SESSION_NUMBER(waiting),
    SESSION_NUMBER(version),
    SESSION_NUMBER(dave),
    SESSION_NUMBER(speaking),
    SESSION_NUMBER(packets),
    SESSION_NUMBER(missing),
    SESSION_NUMBER(jitter_us),
    { 0 },
};
static const struct schema schema = { .size = sizeof(struct session_entry), .fields = fields };
static const struct type type_session_entry = { .kind = KIND_OBJECT, .schema = &schema };

static void print_session_row(const struct session_entry *s)
{
    const int64_t *shard = s->shard.items;
    char part[32];
    snprintf(part, sizeof part, "%lld/%lld", s->shard.count == 2 ? (long long)shard[0] : 0,
             s->shard.count == 2 ? (long long)shard[1] : 1);
    printf("%-20llu %-20.*s %-5s %-9s %-40.*s %-11.*s %7lld %6lld %8lld %8lld  %.*s\n",
           (unsigned long long)s->user_id, STR_ARGS(s->name), s->bot ? "bot" : "user",
           s->bot ? part : "-", STR_ARGS(s->connected ? s->address : STR("away")),
           STR_ARGS(s->transport), (long long)s->intents, (long long)s->guilds,
           (long long)s->events, (long long)s->waiting, STR_ARGS(s->client));
}

static void print_voice_session_row(const struct session_entry *s)
{
    printf(
        "%-20llu %-20.*s %-20llu %-40.*s %-9.*s %-31.*s %7lld %4lld %-8s %10lld %8lld %6.1f ms\n",
        (unsigned long long)s->user_id, STR_ARGS(s->name), (unsigned long long)s->channel_id,
        STR_ARGS(s->connected ? s->address : STR("away")), STR_ARGS(s->transport),
        STR_ARGS(s->mode), (long long)s->version, (long long)s->dave, s->speaking ? "speaks" : "-",
        (long long)s->packets, (long long)s->missing, (double)s->jitter_us / 1000);
}

static size_t decode_and_print_session_lines(struct str all,
                                             void (*print)(const struct session_entry *s))
{
    struct arena *arena = arena_new();
    size_t count = 0;

    for (; all.n; count++) {
        struct form form = { .arena = arena };
        void *read;

        if (!schema_decode(&type_session_entry, str_cut(&all, '\n'), &form, &read))
            print(read);
        arena_reset(arena);
    }
    arena_free(arena);
    return count;
}

static void print_sessions_table(struct str all)
{
    printf("%-20s %-20s %-5s %-9s %-40s %-11s %7s %6s %8s %8s  %s\n", "account", "name", "kind",
           "shard", "address", "transport", "intents", "guilds", "events", "waiting", "client");
    size_t count = decode_and_print_session_lines(all, print_session_row);
    printf("%zu session%s\n", count, count == 1 ? "" : "s");
}

static void print_voice_sessions_table(struct str all)
{
    printf("%-20s %-20s %-20s %-40s %-9s %-31s %7s %4s %-8s %10s %8s %9s\n", "account", "name",
           "channel", "address", "transport", "encryption", "version", "DAVE", "", "packets",
           "missing", "jitter");
    printf("%zu in voice\n", decode_and_print_session_lines(all, print_voice_session_row));
}

static int send_session_command(const struct command_settings *s, const char *verb,
                                const char *account)
{
    struct arena *arena = arena_new();
    struct str reply, command = str_printf(arena, "sessions\t%s\t%s\t%lld", verb, account,
                                           (long long)s->console.code);
    int status = send_operator_command(
        s, &(struct operator_request){ str_dup_cstring(arena, command), OPERATOR_REPLY_TIMEOUT_S },
        arena, &reply);

    arena_free(arena);
    if (status < 0)
        return print_server_unreachable(s->config.data, ERR_UNAVAILABLE);
    return status == 404 ? 2 : status > 1 ? 3 : status;
}

/* Removes all lines that are not JSON. The reply of each server begins with a line that is not
 * JSON: "ok", or "error" and a sentence. */
static void remove_lines_that_are_not_json(struct buf *out)
{
    struct str all = buf_as_str(out);

    out->n = 0;
    while (all.n) {
        struct str line = str_cut(&all, '\n');

        if (str_starts_with(line, STR("error ")))
            fprintf(stderr, "guildhall: %.*s\n", STR_ARGS(str_skip_bytes(line, 10)));
        if (!str_starts_with(line, STR("{")))
            continue;
        memmove(out->p + out->n, line.p, line.n);
        out->n += line.n;
        out->p[out->n++] = '\n';
    }
}

int run_command_sessions(const struct command_settings *s, char **arguments)
{
    struct buf out;
    bool voice = arguments[0] && !arguments[1] && strcmp(arguments[0], "voice") == 0;
    const struct operator_command_row *row =
        arguments[0] ? operator_command_row_find(STR("sessions"), str_of(arguments[0])) : NULL;

    if (row && row->help && row->least && arguments[1] && !arguments[2] && *arguments[1] &&
        !strpbrk(arguments[1], "\t\r\n"))
        return send_session_command(s, arguments[0], arguments[1]);
    if (*arguments && !voice)
        return print_usage_forms("sessions, sessions voice, or "
                                 "sessions drop|reconnect|invalidate|resumable NAME|ID");
    buf_init(&out, SIZE_MAX);
    enum err e = control_socket_send_request_to_all_servers(
        s->config.data, voice ? "operate sessions\tvoice" : "operate sessions", &out);
    remove_lines_that_are_not_json(&out);
    if (e)
        print_server_unreachable(s->config.data, e);
    else if (s->json)
        fwrite(out.p, 1, out.n, stdout);
    else if (voice)
        print_voice_sessions_table(buf_as_str(&out));
    else
        print_sessions_table(buf_as_str(&out));
    buf_clear(&out);
    return e ? 1 : 0;
}
