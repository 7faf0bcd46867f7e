/* sessions.c - `guildhall sessions`: lists and closes sessions of the running server. */
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "admin/control/control.h"
#include "admin/orders/orders.h"
#include "json/read.h"
#include "json/schema.h"
#include "tools/admin/console.h"

const struct option_row sessions_rows[] = {
    { "json", OPTION_SWITCH, .offset = offsetof(struct settings, json), .fallback = "off",
      .help = "Print one line of JSON per session instead of a table" },
    { "code", OPTION_INT, .offset = offsetof(struct settings, console.code), .fallback = "4000",
      .min = 1000, .max = 4999, .help = "Close code that drop uses; clients resume after 4000" },
    { 0 },
};

/* One gateway session or voice connection. */
struct listed {
    snowflake user_id, channel_id;
    struct str name, address, transport, client, mode;
    bool bot, connected;
    struct list shard;
    int64_t intents, guilds, events, waiting, version, speaking, packets, missing, jitter_us;
};

#define TEXT_OF(member)                                                                     \
    {                                                                                       \
        FIELD(struct listed, member), .type = &text, .flags = OPTIONAL, .fallback_text = "" \
    }
#define NUMBER_OF(member)                                                \
    {                                                                    \
        FIELD(struct listed, member), .type = &number, .flags = OPTIONAL \
    }

static const struct type id = { .kind = KIND_ID }, text = { .kind = KIND_STRING },
                         flag = { .kind = KIND_BOOL }, number = { .kind = KIND_INT },
                         numbers = { .kind = KIND_ARRAY, .of = &number };
static const struct field fields[] = {
    { FIELD(struct listed, user_id), .type = &id },
    { FIELD(struct listed, channel_id), .type = &id, .flags = OPTIONAL },
    { FIELD(struct listed, bot), .type = &flag, .flags = OPTIONAL },
    { FIELD(struct listed, connected), .type = &flag },
    { FIELD(struct listed, shard), .type = &numbers, .flags = OPTIONAL },
    TEXT_OF(name),
    TEXT_OF(address),
    TEXT_OF(transport),
    TEXT_OF(client),
    TEXT_OF(mode),
    NUMBER_OF(intents),
    NUMBER_OF(guilds),
    NUMBER_OF(events),
    NUMBER_OF(waiting),
    NUMBER_OF(version),
    NUMBER_OF(speaking),
    NUMBER_OF(packets),
    NUMBER_OF(missing),
    NUMBER_OF(jitter_us),
    { 0 },
};
static const struct schema schema = { .size = sizeof(struct listed), .fields = fields };
static const struct type listed = { .kind = KIND_OBJECT, .schema = &schema };

static void print_session(const struct listed *s)
{
    const int64_t *shard = s->shard.items;
    char part[32];
    snprintf(part, sizeof part, "%lld/%lld", s->shard.count == 2 ? (long long)shard[0] : 0,
             s->shard.count == 2 ? (long long)shard[1] : 1);
    printf("%-20llu %-20.*s %-5s %-9s %-40.*s %-11.*s %7lld %6lld %8lld %8lld  %.*s\n",
           (unsigned long long)s->user_id, STR_FMT(s->name), s->bot ? "bot" : "user",
           s->bot ? part : "-", STR_FMT(s->connected ? s->address : STR("away")),
           STR_FMT(s->transport), (long long)s->intents, (long long)s->guilds, (long long)s->events,
           (long long)s->waiting, STR_FMT(s->client));
}

static void print_voice(const struct listed *s)
{
    printf("%-20llu %-20.*s %-20llu %-40.*s %-31.*s %7lld %-8s %10lld %8lld %6.1f ms\n",
           (unsigned long long)s->user_id, STR_FMT(s->name), (unsigned long long)s->channel_id,
           STR_FMT(s->connected ? s->address : STR("away")), STR_FMT(s->mode),
           (long long)s->version, s->speaking ? "speaks" : "-", (long long)s->packets,
           (long long)s->missing, (double)s->jitter_us / 1000);
}

static size_t print_lines(struct str all, void (*print)(const struct listed *s))
{
    struct arena *arena = arena_new();
    size_t count = 0;

    for (; all.n; count++) {
        struct form form = { .arena = arena };
        void *read;

        if (!schema_decode(&listed, str_cut(&all, '\n'), &form, &read))
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
    size_t count = print_lines(all, print_session);
    printf("%zu session%s\n", count, count == 1 ? "" : "s");
}

static void print_voice_table(struct str all)
{
    printf("%-20s %-20s %-20s %-40s %-31s %7s %-8s %10s %8s %9s\n", "account", "name", "channel",
           "address", "encryption", "version", "", "packets", "missing", "jitter");
    printf("%zu in voice\n", print_lines(all, print_voice));
}

static int push_sessions(const struct settings *s, const char *verb, const char *who)
{
    struct arena *arena = arena_new();
    struct str answer,
        order = str_printf(arena, "sessions\t%s\t%s\t%lld", verb, who, (long long)s->console.code);
    int status = order_ask(s, &(struct order_question){ str_dupz(arena, order), ORDER_ANSWER_S },
                           arena, &answer);

    arena_free(arena);
    if (status < 0)
        return no_server(s->config.data, ERR_UNAVAILABLE);
    return status == 404 ? 2 : status > 1 ? 3 : status;
}

/* Retains the JSON lines. Each server's reply begins with "ok", or "error" and a sentence. */
static void keep_objects(struct buf *out)
{
    struct str all = buf_str(out);

    out->n = 0;
    while (all.n) {
        struct str line = str_cut(&all, '\n');

        if (str_starts(line, STR("error ")))
            fprintf(stderr, "guildhall: %.*s\n", STR_FMT(str_from(line, 10)));
        if (!str_starts(line, STR("{")))
            continue;
        memmove(out->p + out->n, line.p, line.n);
        out->n += line.n;
        out->p[out->n++] = '\n';
    }
}

int tool_sessions(const struct settings *s, char **arguments)
{
    struct buf out;
    bool voice = arguments[0] && !arguments[1] && strcmp(arguments[0], "voice") == 0;
    const struct order_row *row =
        arguments[0] ? order_row_find(STR("sessions"), str_of(arguments[0])) : NULL;

    if (row && row->help && row->least && arguments[1] && !arguments[2] && *arguments[1] &&
        !strpbrk(arguments[1], "\t\r\n"))
        return push_sessions(s, arguments[0], arguments[1]);
    if (*arguments && !voice)
        return usage("sessions, sessions voice, or "
                     "sessions drop|reconnect|invalidate|resumable NAME|ID");
    buf_init(&out, SIZE_MAX);
    enum err e = control_ask_all(s->config.data,
                                 voice ? "operate sessions\tvoice" : "operate sessions", &out);
    keep_objects(&out);
    if (e)
        no_server(s->config.data, e);
    else if (s->json)
        fwrite(out.p, 1, out.n, stdout);
    else if (voice)
        print_voice_table(buf_str(&out));
    else
        print_sessions_table(buf_str(&out));
    buf_clear(&out);
    return e ? 1 : 0;
}
