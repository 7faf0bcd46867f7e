/* why.c - `guildhall why`: explains why a user has a permission or not, and why a message was
 * delivered or not. */
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "json/schema.h"
#include "model/fields/types.h"
#include "tools/admin/console.h"

enum { WHY_NO = 3 }; /* exit status if the permission is missing or nothing was delivered */

const struct option_row why_option_rows[] = {
    { "json", OPTION_SWITCH, .offset = offsetof(struct command_settings, console.json),
      .fallback = "off", .help = "Print the server's response as JSON" },
    { 0 },
};

struct why_step {
    struct str text;
    bool has;
};
struct why_answer {
    struct list steps; /* struct why_step */
    bool allowed, delivered, content;
    struct opt_str cause;
};

static const struct field step_fields[] = {
    { FIELD(struct why_step, text), .type = &type_text },
    { FIELD(struct why_step, has), .type = &type_bool },
    { 0 },
};
static const struct schema step_schema = { .size = sizeof(struct why_step), .fields = step_fields };
static const struct type type_step = { .kind = KIND_OBJECT, .schema = &step_schema };
static const struct type type_steps = { .kind = KIND_ARRAY, .of = &type_step };
static const struct field answer_fields[] = {
    { FIELD(struct why_answer, steps), .type = &type_steps, .flags = OPTIONAL },
    { FIELD(struct why_answer, allowed), .type = &type_bool, .flags = OPTIONAL },
    { FIELD(struct why_answer, delivered), .type = &type_bool, .flags = OPTIONAL },
    { FIELD(struct why_answer, content), .type = &type_bool, .flags = OPTIONAL },
    { FIELD(struct why_answer, cause), .type = &type_text, .flags = OPTIONAL },
    { 0 },
};
static const struct schema answer_schema = { .size = sizeof(struct why_answer),
                                             .fields = answer_fields };
static const struct type type_answer = { .kind = KIND_OBJECT, .schema = &answer_schema };

/* Parses ".../channels/SERVER/CHANNEL/MESSAGE" or "CHANNEL/MESSAGE". */
static bool parse_message_link(const char *word, snowflake *ret_channel, snowflake *ret_message)
{
    struct str rest = str_of(word), channel = { 0 }, message = { 0 };

    while (rest.n) {
        channel = message;
        message = str_cut(&rest, '/');
    }
    return channel.n && snowflake_parse(channel, ret_channel) &&
           snowflake_parse(message, ret_message);
}

/* Returns the path of the console route for the arguments. Returns NULL if the arguments are
 * invalid. */
static const char *format_why_path(char **words, struct arena *arena)
{
    snowflake channel, message;
    bool in = words[0] && words[1] && words[2] && strcmp(words[2], "in") == 0;

    if (!words[0] || !words[1] || (words[2] && (!in || !words[3] || words[4])))
        return NULL;
    struct str user = str_percent_encode(arena, str_of(words[0]));
    if (!words[2] && parse_message_link(words[1], &channel, &message))
        return str_printf(arena, "/console/delivery?user=%.*s&channel_id=%llu&message_id=%llu",
                          STR_ARGS(user), (unsigned long long)channel, (unsigned long long)message)
            .p;
    struct str permission = str_percent_encode(arena, str_of(words[1]));
    struct str channel_name = str_percent_encode(arena, str_of(in ? words[3] : ""));
    return str_printf(arena, "/console/permissions?user=%.*s&permission=%.*s%s%.*s", STR_ARGS(user),
                      STR_ARGS(permission), in ? "&channel=" : "", STR_ARGS(channel_name))
        .p;
}

static int print_why_answer(const struct why_answer *answer)
{
    const struct why_step *s = answer->steps.items;
    bool yes = answer->allowed || (answer->delivered && answer->content);

    for (size_t i = 0; i < answer->steps.count; i++)
        printf("%s %.*s\n", s[i].has ? "+" : "-", STR_ARGS(s[i].text));
    if (yes)
        puts(answer->allowed ? "yes" : "yes: the message is delivered with its content");
    else
        printf("no: %.*s\n", STR_ARGS(answer->cause.value));
    return yes ? 0 : WHY_NO;
}

int run_command_why(const struct command_settings *s, char **arguments)
{
    struct arena *arena = arena_new();
    const char *path = format_why_path(arguments, arena);
    int status;

    if (!path) {
        arena_free(arena);
        return print_usage_forms("why NAME PERMISSION [in CHANNEL], or why NAME MESSAGE-LINK");
    }
    struct api_client_response a =
        send_console_request(&s->config, arena, "GET", path, (struct str){ 0 });
    const struct why_answer *answer =
        a.status ? schema_decode_or_null(&type_answer, a.body, arena) : NULL;
    if (a.status != 200 || !answer) {
        print_console_refusal(&a, arena);
        status = 1;
    } else if (s->console.json) {
        printf("%.*s\n", STR_ARGS(a.body));
        status = answer->allowed || (answer->delivered && answer->content) ? 0 : WHY_NO;
    } else {
        status = print_why_answer(answer);
    }
    arena_free(arena);
    return status;
}
