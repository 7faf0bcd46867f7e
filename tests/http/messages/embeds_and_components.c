/* embeds_and_components.c - embeds, components and mentions of messages; threads. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/buf.h"
#include "base/mem.h"
#include "channel_events.h"
#include "test_guild.h"

#define MESSAGES "/channels/%s/messages"
#define MESSAGE  "/channels/%s/messages/%s"

static const char *format_text(struct world *w, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

static const char *format_text(struct world *w, const char *fmt, ...)
{
    char *out = NULL;
    va_list args;

    va_start(args, fmt);
    int n = vasprintf(&out, fmt, args);
    va_end(args);
    expect(n >= 0);
    const char *copy = str_dup_cstring(world_arena(w), str_of(out));
    free(out);
    return copy;
}

static const char *repeat_text(struct world *w, const char *part, int count)
{
    struct buf b;

    buf_init(&b, 1000000);
    for (int i = 0; i < count; i++)
        buf_printf(&b, "%s%s", i && strlen(part) > 1 ? "," : "", part);
    const char *out = str_dup_cstring(world_arena(w), buf_as_str(&b));
    buf_clear(&b);
    return out;
}

static struct client *create_bot_in_guild(struct world *w, struct test_guild *v)
{
    struct client *bot = world_bot(w, "helper");

    *v = world_test_guild(w, world_client(w, "ada"));
    test_guild_add(v, bot);
    return bot;
}

/* --- embeds --------------------------------------------------------------------------- */

static void deprecated_embed_field_is_accepted(struct world *w)
{
    struct client *ada = world_client(w, "ada"), *bot = world_bot(w, "helper");
    struct test_guild v = world_test_guild(w, ada);

    test_guild_add(&v, bot);
    struct answer a = client_post(bot, "{'embed': {'title': 'One'}}", MESSAGES, v.channel);
    const char *m = answer_text(a, "id");

    expect_json(a, "{'embeds': [{'title': 'One', 'type': 'rich'}]}");
    expect_json(client_patch(bot, "{'embed': {'title': 'Two'}}", MESSAGE, v.channel, m),
                "{'embeds': [{'title': 'Two'}]}");
    expect_json(client_patch(bot, "{'content': 'x', 'embed': null}", MESSAGE, v.channel, m),
                "{'content': 'x', 'embeds': []}");
    expect_json(client_post(bot, "{'embed': {'title': 'a'}, 'embeds': [{'title': 'b'}]}", MESSAGES,
                            v.channel),
                "{'embeds': [{'title': 'b'}]}");
    expect_json(client_post(bot, "{'embed': {'title': 'a'}, 'embeds': []}", MESSAGES, v.channel),
                "{'embeds': [{'title': 'a'}]}");
    expect_invalid(client_post(bot, "{'embed': {'title': 7}}", MESSAGES, v.channel), "embed.title",
                   "STRING_TYPE_CONVERT");
    expect_error(client_patch(ada, "{'embed': {'title': 'a'}}", MESSAGE, v.channel, m), 403, 50005);
}

/* There are no standard stickers to greet with. */
static void greeting_with_an_unknown_sticker_is_400_50081(struct world *w)
{
    struct client *ada = world_client(w, "ada"), *bot = world_bot(w, "helper");
    struct test_guild v = world_test_guild(w, ada);

    test_guild_add(&v, bot);
    expect_error(client_post(ada, "{'sticker_ids': ['749054660769218631']}", "/channels/%s/greet",
                             v.channel),
                 400, 50081);
    expect_invalid(client_post(ada, "{'sticker_ids': []}", "/channels/%s/greet", v.channel),
                   "sticker_ids", "BASE_TYPE_BAD_LENGTH");
    expect_error(client_post(bot, "{'sticker_ids': ['1']}", "/channels/%s/greet", v.channel), 403,
                 20001);
}

static void bot_embeds_are_stored_and_can_be_edited(struct world *w)
{
    struct test_guild v;
    struct client *bot = create_bot_in_guild(w, &v);
    struct channel_events room = world_channel_events(w, v.channel);

    struct answer a = client_post(
        bot,
        "{'embeds': [{'title': 'T', 'description': 'D', 'type': 'video', 'url': 'https://x.y', "
        "'color': 255, 'timestamp': '2026-01-02T03:04:05Z', 'footer': {'text': 'F'}, 'image': "
        "{'url': 'attachment://a.png'}, 'author': {'name': 'A', 'url': null}, 'fields': [{'name': "
        "'n', 'value': 'v', 'inline': true}, {'name': 'n', 'value': 'v'}], 'thumbnail': null}]}",
        MESSAGES, v.channel);
    expect_status(a, 200);
    expect_json(a,
                "{'content': '', 'embeds': [{'type': 'rich', 'title': 'T', 'description': 'D', "
                "'color': 255, 'timestamp': '2026-01-02T03:04:05+00:00', 'footer': {'text': 'F'}, "
                "'image': {'url': 'attachment://a.png'}, 'author': {'name': 'A'}, 'fields': "
                "[{'name': 'n', 'value': 'v', 'inline': true}, {'inline': false}]}]}");
    expect_absent(a, "embeds.0.thumbnail");
    expect_channel_event(&room, "MESSAGE_CREATE", "{'embeds': [{'title': 'T'}]}");
    const char *id = answer_text(a, "id");
    expect_json(client_get(bot, MESSAGE, v.channel, id), "{'embeds': [{'title': 'T'}]}");
    expect_error(client_patch(bot, "{'embeds': []}", MESSAGE, v.channel, id), 400, 50006);
    expect_json(client_patch(bot, "{'content': 'x', 'embeds': null}", MESSAGE, v.channel, id),
                "{'embeds': [], 'content': 'x'}");
}

static void embeds_and_components_of_users_are_dropped(struct world *w)
{
    struct client *ada = world_client(w, "ada");
    struct test_guild v = world_test_guild(w, ada);

    expect_json(client_post(ada,
                            "{'content': 'x', 'embeds': [{'title': 'T'}], 'components': [{'type': "
                            "1, 'components': [{'type': 2, 'style': 5, 'label': 'l', 'url': "
                            "'https://x.y'}]}]}",
                            MESSAGES, v.channel),
                "{'content': 'x', 'embeds': [], 'components': []}");
}

static void embed_fields_have_length_limits(struct world *w)
{
    static const struct {
        const char *form; /* format with one %s */
        int most;
        const char *path, *code;
    } cases[] = {
        { "{'title': '%s'}", 256, "embeds.0.title", "BASE_TYPE_MAX_LENGTH" },
        { "{'description': '%s'}", 4096, "embeds.0.description", "BASE_TYPE_MAX_LENGTH" },
        { "{'footer': {'text': '%s'}}", 2048, "embeds.0.footer.text", "BASE_TYPE_MAX_LENGTH" },
        { "{'author': {'name': '%s'}}", 256, "embeds.0.author.name", "BASE_TYPE_MAX_LENGTH" },
        { "{'fields': [{'name': '%s', 'value': 'v'}]}", 256, "embeds.0.fields.0.name",
          "BASE_TYPE_BAD_LENGTH" },
        { "{'fields': [{'name': 'n', 'value': '%s'}]}", 1024, "embeds.0.fields.0.value",
          "BASE_TYPE_BAD_LENGTH" },
    };
    struct test_guild v;
    struct client *bot = create_bot_in_guild(w, &v);

    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        for (int over = 0; over < 2; over++) {
            char *form = NULL;
            const char *filler = repeat_text(w, "x", cases[i].most + over);
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
            expect(asprintf(&form, cases[i].form, filler) > 0);
#pragma GCC diagnostic pop
            struct answer a =
                client_post(bot, format_text(w, "{'embeds': [%s]}", form), MESSAGES, v.channel);
            free(form);
            if (over)
                expect_invalid(a, cases[i].path, cases[i].code);
            else
                expect_status(a, 200);
        }
    }
    expect_invalid(client_post(bot, "{'embeds': [{}]}", MESSAGES, v.channel),
                   "embeds.0.description", "BASE_TYPE_REQUIRED");
    expect_invalid(
        client_post(bot, "{'embeds': [{'title': 'x', 'url': 'ftp://x'}]}", MESSAGES, v.channel),
        "embeds.0.url", "URL_TYPE_INVALID_URL");
    expect_invalid(client_post(bot, "{'embeds': [{'title': 'x', 'image': {'url': 'x'}}]}", MESSAGES,
                               v.channel),
                   "embeds.0.image.url", "URL_TYPE_INVALID_URL");
    expect_invalid(client_post(bot, "{'embeds': [{'fields': [{'name': '', 'value': 'v'}]}]}",
                               MESSAGES, v.channel),
                   "embeds.0.fields.0.name", "BASE_TYPE_BAD_LENGTH");
}

static void embeds_have_total_count_and_size_limits(struct world *w)
{
    struct test_guild v;
    struct client *bot = create_bot_in_guild(w, &v);
    const char *field = "{'name': 'n', 'value': 'v'}", *embed = "{'title': 'x'}";
    const char *half = repeat_text(w, "x", 3000);

    expect_status(
        client_post(bot,
                    format_text(w, "{'embeds': [{'fields': [%s]}]}", repeat_text(w, field, 25)),
                    MESSAGES, v.channel),
        200);
    expect_invalid(
        client_post(bot,
                    format_text(w, "{'embeds': [{'fields': [%s]}]}", repeat_text(w, field, 26)),
                    MESSAGES, v.channel),
        "embeds.0.fields", "BASE_TYPE_MAX_LENGTH");
    expect_status(client_post(bot, format_text(w, "{'embeds': [%s]}", repeat_text(w, embed, 10)),
                              MESSAGES, v.channel),
                  200);
    expect_invalid(client_post(bot, format_text(w, "{'embeds': [%s]}", repeat_text(w, embed, 11)),
                               MESSAGES, v.channel),
                   "embeds", "BASE_TYPE_MAX_LENGTH");
    expect_status(
        client_post(bot,
                    format_text(w, "{'embeds': [{'description': '%s'}, {'description': '%s'}]}",
                                half, half),
                    MESSAGES, v.channel),
        200);
    expect_invalid(client_post(bot,
                               format_text(w,
                                           "{'embeds': [{'description': '%s'}, {'title': 'x', "
                                           "'description': '%s'}]}",
                                           half, half),
                               MESSAGES, v.channel),
                   "embeds", "MAX_EMBED_SIZE_EXCEEDED");
}

/* --- components ----------------------------------------------------------------------- */

static struct answer send_components(struct world *w, struct client *bot,
                                     const struct test_guild *v, const char *components)
{
    return client_post(bot, format_text(w, "{'content': 'x', 'components': [%s]}", components),
                       MESSAGES, v->channel);
}

static void message_components_are_stored_with_ids(struct world *w)
{
    struct test_guild v;
    struct client *bot = create_bot_in_guild(w, &v);
    struct answer a = send_components(
        w, bot, &v,
        "{'type': 1, 'components': [{'type': 2, 'style': 1, 'label': 'Yes', 'custom_id': "
        "'yes', 'id': 1}, {'type': 2, 'style': 5, 'emoji': {'name': '\xe2\xad\x90'}, 'url': "
        "'https://x.y'}]}, {'type': 1, 'components': [{'type': 3, 'custom_id': 'pick', "
        "'options': [{'label': 'a', 'value': 'b'}], 'max_values': 1}]}");

    expect_status(a, 200);
    expect_json(
        a, "{'components': [{'type': 1, 'id': 2, 'components': [{'type': 2, 'id': 1, 'style': "
           "1, 'custom_id': 'yes'}, {'id': 3, 'url': 'https://x.y'}]}, {'id': 4, "
           "'components': [{'id': 5, 'type': 3, 'options': [{'label': 'a', 'value': 'b'}]}]}]}");
    expect_json(client_get(bot, MESSAGE, v.channel, answer_text(a, "id")),
                "{'components': [{'components': [{'label': 'Yes'}, {}]}, {}]}");
}

static void invalid_buttons_are_refused(struct world *w)
{
    static const struct {
        const char *button, *path, *code;
    } cases[] = {
        { "{'type': 2, 'label': 'x', 'custom_id': 'a'}", "style", "BASE_TYPE_REQUIRED" },
        { "{'type': 2, 'style': 7, 'label': 'x', 'custom_id': 'a'}", "style", "NUMBER_TYPE_MAX" },
        { "{'type': 2, 'style': 1, 'label': 'x'}", "custom_id", "BASE_TYPE_REQUIRED" },
        { "{'type': 2, 'style': 1, 'custom_id': 'a'}", "label", "BASE_TYPE_REQUIRED" },
        { "{'type': 2, 'style': 5, 'label': 'x'}", "url", "BASE_TYPE_REQUIRED" },
        { "{'type': 2, 'style': 1, 'label': 'x', 'custom_id': 'a', 'url': 'https://x.y'}", "url",
          "BUTTON_COMPONENT_INVALID_URL" },
        { "{'type': 2, 'style': 6}", "sku_id", "BASE_TYPE_REQUIRED" },
        { "{'type': 3, 'custom_id': 'a'}", "options", "BASE_TYPE_REQUIRED" },
        { "{'type': 5}", "custom_id", "BASE_TYPE_REQUIRED" },
        { "{'type': 1, 'components': [{'type': 5, 'custom_id': 'a'}]}", "type",
          "BASE_TYPE_CHOICES" },
    };
    struct test_guild v;
    struct client *bot = create_bot_in_guild(w, &v);

    for (size_t i = 0; i < COUNT_OF(cases); i++)
        expect_invalid(
            send_components(w, bot, &v,
                            format_text(w, "{'type': 1, 'components': [%s]}", cases[i].button)),
            format_text(w, "components.0.components.0.%s", cases[i].path), cases[i].code);
}

static void message_components_have_count_limits(struct world *w)
{
    struct test_guild v;
    struct client *bot = create_bot_in_guild(w, &v);
    const char *link = "{'type': 2, 'style': 5, 'label': 'x', 'url': 'https://x.y'}";
    const char *row = format_text(w, "{'type': 1, 'components': [%s]}", link);
    const char *option = "{'label': 'a', 'value': 'b'}";

    expect_status(
        send_components(w, bot, &v,
                        format_text(w, "{'type': 1, 'components': [%s]}", repeat_text(w, link, 5))),
        200);
    expect_invalid(
        send_components(w, bot, &v,
                        format_text(w, "{'type': 1, 'components': [%s]}", repeat_text(w, link, 6))),
        "components.0.components", "COMPONENT_LAYOUT_WIDTH_EXCEEDED");
    expect_invalid(
        send_components(
            w, bot, &v,
            format_text(w, "{'type': 1, 'components': [%s, {'type': 5, 'custom_id': 'a'}]}", link)),
        "components.0.components", "COMPONENT_LAYOUT_WIDTH_EXCEEDED");
    expect_invalid(send_components(w, bot, &v, "{'type': 1, 'components': []}"),
                   "components.0.components", "BASE_TYPE_REQUIRED");
    expect_status(send_components(w, bot, &v, repeat_text(w, row, 5)), 200);
    expect_invalid(send_components(w, bot, &v, repeat_text(w, row, 6)), "components",
                   "BASE_TYPE_BAD_LENGTH");
    expect_invalid(send_components(w, bot, &v, link), "components.0.type", "BASE_TYPE_CHOICES");
    for (int over = 0; over < 2; over++) {
        struct answer a = send_components(
            w, bot, &v,
            format_text(
                w, "{'type': 1, 'components': [{'type': 3, 'custom_id': 'a', 'options': [%s]}]}",
                repeat_text(w, option, 25 + over)));
        if (over)
            expect_invalid(a, "components.0.components.0.options", "BASE_TYPE_BAD_LENGTH");
        else
            expect_status(a, 200);
        a = send_components(
            w, bot, &v,
            format_text(w,
                        "{'type': 1, 'components': [{'type': 2, 'style': 1, 'label': '%s', "
                        "'custom_id': '%s'}]}",
                        repeat_text(w, "x", 80 + over), repeat_text(w, "x", 100 + over)));
        if (over) {
            expect_invalid(a, "components.0.components.0.label", "BASE_TYPE_MAX_LENGTH");
            expect_invalid(a, "components.0.components.0.custom_id", "BASE_TYPE_BAD_LENGTH");
        } else {
            expect_status(a, 200);
        }
    }
    expect_invalid(
        send_components(w, bot, &v,
                        "{'type': 1, 'components': [{'type': 2, 'style': 1, 'label': 'x', "
                        "'custom_id': 'a'}]}, {'type': 1, 'components': [{'type': 2, 'style': 1, "
                        "'label': 'x', 'custom_id': 'a'}]}"),
        "components.1.components.0.custom_id", "COMPONENT_CUSTOM_ID_DUPLICATED");
}

static void components_v2_flag_excludes_content_and_embeds(struct world *w)
{
    struct test_guild v;
    struct client *bot = create_bot_in_guild(w, &v);
    const char *display = "{'type': 10, 'content': 'hello'}";

    expect_invalid(send_components(w, bot, &v, display), "components.0.type", "BASE_TYPE_CHOICES");
    struct answer a = client_post(
        bot,
        format_text(w, "{'flags': 32768, 'components': [{'type': 17, 'components': [%s]}]}",
                    display),
        MESSAGES, v.channel);
    expect_json(a, "{'flags': 32768, 'components': [{'type': 17, 'id': 1, 'components': [{'id': 2, "
                   "'content': 'hello'}]}]}");
    a = client_post(bot,
                    format_text(w,
                                "{'flags': 32768, 'content': 'x', 'embeds': [{'title': 'x'}], "
                                "'components': [%s]}",
                                display),
                    MESSAGES, v.channel);
    expect_invalid(a, "content", "MESSAGE_CANNOT_USE_LEGACY_FIELDS_WITH_COMPONENTS_V2");
    expect_invalid(a, "embeds", "MESSAGE_CANNOT_USE_LEGACY_FIELDS_WITH_COMPONENTS_V2");
    expect_status(client_post(bot,
                              format_text(w, "{'flags': 32768, 'components': [%s]}",
                                          repeat_text(w, display, 40)),
                              MESSAGES, v.channel),
                  200);
    expect_invalid(client_post(bot,
                               format_text(w, "{'flags': 32768, 'components': [%s]}",
                                           repeat_text(w, display, 41)),
                               MESSAGES, v.channel),
                   "components", "BASE_TYPE_MAX_LENGTH");
}

static void components_v2_flag_cannot_be_removed_by_an_edit(struct world *w)
{
    struct test_guild v;
    struct client *bot = create_bot_in_guild(w, &v);
    const char *display = "{'components': [{'type': 10, 'content': 'new'}]}";
    struct answer a =
        client_post(bot, "{'flags': 32768, 'components': [{'type': 10, 'content': 'old'}]}",
                    MESSAGES, v.channel);
    const char *id = answer_text(a, "id");

    /* Libraries do not repeat the flag in edits. */
    expect_json(client_patch(bot, display, MESSAGE, v.channel, id),
                "{'flags': 32768, 'components': [{'type': 10, 'content': 'new'}]}");
    expect_json(client_patch(bot, "{'flags': 0}", MESSAGE, v.channel, id), "{'flags': 32768}");
    expect_invalid(client_patch(bot, "{'content': 'x'}", MESSAGE, v.channel, id), "content",
                   "MESSAGE_CANNOT_USE_LEGACY_FIELDS_WITH_COMPONENTS_V2");
    expect_invalid(client_patch(bot, "{'embeds': [{'title': 'x'}]}", MESSAGE, v.channel, id),
                   "embeds", "MESSAGE_CANNOT_USE_LEGACY_FIELDS_WITH_COMPONENTS_V2");

    /* Another message can be converted only without its content. */
    a = client_post(bot, "{'content': 'x'}", MESSAGES, v.channel);
    id = answer_text(a, "id");
    expect_invalid(client_patch(bot, display, MESSAGE, v.channel, id), "components.0.type",
                   "BASE_TYPE_CHOICES");
    expect_invalid(client_patch(bot,
                                "{'flags': 32768, 'components': [{'type': 10, 'content': 'n'}]}",
                                MESSAGE, v.channel, id),
                   "content", "MESSAGE_CANNOT_USE_LEGACY_FIELDS_WITH_COMPONENTS_V2");
    expect_json(client_patch(bot,
                             "{'flags': 32768, 'content': null, "
                             "'components': [{'type': 10, 'content': 'n'}]}",
                             MESSAGE, v.channel, id),
                "{'flags': 32768, 'content': '', 'components': [{'content': 'n'}]}");
}

static void invalid_media_and_select_components_are_refused(struct world *w)
{
    struct test_guild v;
    struct client *bot = create_bot_in_guild(w, &v);
    const char *item = "{'media': {'url': 'https://x.example/a.png'}, 'description': null}";

    struct answer a = client_post(
        bot,
        format_text(w,
                    "{'flags': 32768, 'components': [{'type': 12, 'items': [%s]}, "
                    "{'type': 13, 'file': {'url': 'attachment://a.txt'}, 'spoiler': true}]}",
                    repeat_text(w, item, 10)),
        MESSAGES, v.channel);
    expect_json(a, "{'components': [{'type': 12, 'id': 1}, "
                   "{'type': 13, 'file': {'url': 'attachment://a.txt'}, 'spoiler': true}]}");
    expect_absent(a, "components.0.items.0.description");
    a = client_post(bot,
                    format_text(w,
                                "{'flags': 32768, 'components': [{'type': 12, 'items': [%s]}, "
                                "{'type': 13, 'file': []}, {'type': 12, 'items': 7}, "
                                "{'type': 13, 'file': {'url': 'javascript:x'}}]}",
                                repeat_text(w, item, 11)),
                    MESSAGES, v.channel);
    expect_invalid(a, "components.0.items", "BASE_TYPE_BAD_LENGTH");
    expect_invalid(a, "components.1.file", "MODEL_TYPE_CONVERT");
    expect_invalid(a, "components.2.items", "LIST_TYPE_CONVERT");
    expect_invalid(a, "components.3.file.url", "URL_TYPE_INVALID_URL");
    a = send_components(
        w, bot, &v,
        "{'type': 1, 'components': [{'type': 5, 'custom_id': 'a', 'placeholder': null, "
        "'default_values': [{'id': '1', 'type': 'user'}]}]}");
    expect_json(a, "{'components': [{'components': [{'default_values': [{'id': '1', "
                   "'type': 'user'}]}]}]}");
    expect_absent(a, "components.0.components.0.placeholder");
    expect_invalid(send_components(w, bot, &v,
                                   "{'type': 1, 'components': [{'type': 5, 'custom_id': 'a', "
                                   "'default_values': [{'id': '1', 'type': 'tree'}]}]}"),
                   "components.0.components.0.default_values.0.type", "BASE_TYPE_CHOICES");
}

static void null_fields_of_embeds_and_components_are_omitted(struct world *w)
{
    struct test_guild v;
    struct client *bot = create_bot_in_guild(w, &v);
    struct answer a = client_post(
        bot,
        "{'embeds': [{'title': 'x', 'url': null, 'footer': {'text': 'x', 'icon_url': null}, "
        "'author': {'name': 'x', 'url': null}}], 'components': [{'type': 1, 'components': ["
        "{'type': 2, 'style': 1, 'label': 'x', 'custom_id': 'a', 'emoji': null, 'url': null}]}, "
        "{'type': 1, 'components': [{'type': 3, 'custom_id': 'b', 'options': ["
        "{'label': 'x', 'value': 'x', 'emoji': null, 'description': null}]}]}]}",
        MESSAGES, v.channel);

    expect_status(a, 200);
    expect_absent(a, "embeds.0.url");
    expect_absent(a, "embeds.0.footer.icon_url");
    expect_absent(a, "embeds.0.author.url");
    expect_absent(a, "components.0.components.0.emoji");
    expect_absent(a, "components.0.components.0.url");
    expect_absent(a, "components.1.components.0.options.0.emoji");
    expect_absent(a, "components.1.components.0.options.0.description");
}

/* --- flags ---------------------------------------------------------------------------- */

static void senders_can_set_only_some_message_flags(struct world *w)
{
    struct client *ada = world_client(w, "ada");
    struct test_guild v = world_test_guild(w, ada);

    expect_json(client_post(ada, "{'content': 'x', 'flags': 4100}", MESSAGES, v.channel),
                "{'flags': 4100}");
    /* The flags EPHEMERAL and LOADING cannot be set by senders. */
    expect_json(client_post(ada, "{'content': 'x', 'flags': 192}", MESSAGES, v.channel),
                "{'flags': 0}");
    expect_invalid(client_post(ada, "{'content': 'x', 'flags': 'no'}", MESSAGES, v.channel),
                   "flags", "NUMBER_TYPE_COERCE");
}

/* --- mentions ------------------------------------------------------------------------- */

static void message_content_determines_the_mentions(struct world *w)
{
    struct client *ada = world_client(w, "ada"), *bob = world_client(w, "bob");
    struct test_guild v = world_test_guild(w, ada);
    test_guild_add(&v, bob);
    struct channel_events room = world_channel_events(w, v.channel);

    struct answer a =
        client_post(ada,
                    format_text(w, "{'content': '<@%s> <@!%s> <@77> <@x> <@ @ <@%s> </run:5>'}",
                                bob->id, ada->id, bob->id),
                    MESSAGES, v.channel);
    expect_json(a, "{'mentions': [{'id': '%s', 'username': 'bob'}, {'id': '%s'}]}", bob->id,
                ada->id);
    expect_absent(a, "mentions.0.member");
    expect_channel_event(&room, "MESSAGE_CREATE",
                         "{'mentions': [{'id': '%s', 'member': {'roles': []}}, {'member': {}}]}",
                         bob->id);
}

static void mentioning_roles_and_everyone_requires_permission(struct world *w)
{
    struct client *ada = world_client(w, "ada"), *bob = world_client(w, "bob");
    struct test_guild v = world_test_guild(w, ada);
    test_guild_add(&v, bob);
    const char *closed = test_guild_role(&v, 1, 0), *open = test_guild_role(&v, 2, 0);
    const char *body =
        format_text(w, "{'content': '@everyone <@&%s> <@&%s> <@&77>'}", closed, open);

    world_sql(w, "update roles set mentionable = 1 where id = %s", open);
    world_sql(w, "update roles set permissions = %llu where id = %s",
              (unsigned long long)(PERMISSIONS_DEFAULT & ~PERMISSION(MENTION_EVERYONE)), v.id);
    expect_json(client_post(bob, body, MESSAGES, v.channel),
                "{'mention_everyone': false, 'mention_roles': ['%s']}", open);
    expect_json(client_post(ada, body, MESSAGES, v.channel),
                "{'mention_everyone': true, 'mention_roles': ['%s', '%s']}", closed, open);
    expect_json(client_post(ada, "{'content': 'hey @here'}", MESSAGES, v.channel),
                "{'mention_everyone': true}");
}

static void allowed_mentions_restricts_the_mentions(struct world *w)
{
    struct client *ada = world_client(w, "ada"), *bob = world_client(w, "bob"),
                  *eve = world_client(w, "eve");
    struct test_guild v = world_test_guild(w, ada);
    const char *role = test_guild_role(&v, 1, 0), *other = test_guild_role(&v, 2, 0);
    const char *say =
        format_text(w, "@everyone <@%s> <@%s> <@&%s> <@&%s>", bob->id, eve->id, role, other);

    expect_json(client_post(ada, format_text(w, "{'content': '%s', 'allowed_mentions': {}}", say),
                            MESSAGES, v.channel),
                "{'mention_everyone': false, 'mentions': [], 'mention_roles': []}");
    expect_json(
        client_post(
            ada, format_text(w, "{'content': '%s', 'allowed_mentions': {'parse': ['users']}}", say),
            MESSAGES, v.channel),
        "{'mention_everyone': false, 'mentions': [{}, {}], 'mention_roles': []}");
    expect_json(
        client_post(ada,
                    format_text(w,
                                "{'content': '%s', 'allowed_mentions': {'parse': ['everyone'], "
                                "'users': ['%s', '77'], 'roles': ['%s']}}",
                                say, eve->id, other),
                    MESSAGES, v.channel),
        "{'mention_everyone': true, 'mentions': [{'id': '%s'}], 'mention_roles': ['%s']}", eve->id,
        other);
    expect_invalid(
        client_post(ada,
                    format_text(w,
                                "{'content': 'x', 'allowed_mentions': {'parse': ['users'], "
                                "'users': ['%s']}}",
                                bob->id),
                    MESSAGES, v.channel),
        "allowed_mentions", "MESSAGE_ALLOWED_MENTIONS_PARSE_EXCLUSIVE");
    expect_status(client_post(ada,
                              "{'content': 'x', 'allowed_mentions': {'parse': ['roles'], 'roles': "
                              "[]}}",
                              MESSAGES, v.channel),
                  200);
    expect_invalid(client_post(ada, "{'content': 'x', 'allowed_mentions': {'parse': ['cats']}}",
                               MESSAGES, v.channel),
                   "allowed_mentions.parse.0", "BASE_TYPE_CHOICES");
    for (int over = 0; over < 2; over++) {
        struct answer a =
            client_post(ada,
                        format_text(w, "{'content': 'x', 'allowed_mentions': {'users': [%s]}}",
                                    repeat_text(w, "'77'", 100 + over)),
                        MESSAGES, v.channel);
        if (over)
            expect_invalid(a, "allowed_mentions.users", "BASE_TYPE_MAX_LENGTH");
        else
            expect_status(a, 200);
    }
}

/* --- threads -------------------------------------------------------------------------- */

static void sending_in_threads_requires_send_messages_in_threads(struct world *w)
{
    struct client *ada = world_client(w, "ada"), *bob = world_client(w, "bob");
    struct test_guild v = world_test_guild(w, ada);
    test_guild_add(&v, bob);

    world_sql(w,
              "insert into channels (id, guild_id, type, name, parent_id, owner_id) "
              "values (90001, %s, 11, 't', %s, %s)",
              v.id, v.channel, ada->id);
    world_sql(w, "update roles set permissions = %llu where id = %s",
              (unsigned long long)(PERMISSIONS_DEFAULT & ~PERMISSION(SEND_MESSAGES)), v.id);
    expect_error(client_post(bob, "{'content': 'x'}", MESSAGES, v.channel), 403, 50013);
    expect_status(client_post(bob, "{'content': 'x'}", MESSAGES, "90001"), 200);
    world_sql(w, "update roles set permissions = %llu where id = %s",
              (unsigned long long)(PERMISSIONS_DEFAULT & ~PERMISSION(SEND_MESSAGES_IN_THREADS)),
              v.id);
    expect_error(client_post(bob, "{'content': 'x'}", MESSAGES, "90001"), 403, 50013);
    expect_status(client_post(bob, "{'content': 'x'}", MESSAGES, v.channel), 200);
}

static void message_unarchives_a_thread(struct world *w)
{
    struct client *ada = world_client(w, "ada"), *bob = world_client(w, "bob");
    struct test_guild v = world_test_guild(w, ada);
    test_guild_add(&v, bob);

    world_sql(w,
              "insert into channels (id, guild_id, type, name, parent_id, owner_id, "
              "thread_archived) values (90001, %s, 11, 't', %s, %s, 1)",
              v.id, v.channel, ada->id);
    struct channel_events room = world_channel_events(w, "90001");
    expect_status(client_post(bob, "{'content': 'x'}", MESSAGES, "90001"), 200);
    expect_channel_event(&room, "THREAD_UPDATE", "{'thread_metadata': {'archived': false}}");
    expect_channel_event(&room, "THREAD_MEMBERS_UPDATE", "{'added_members': [{'user_id': '%s'}]}",
                         bob->id);
    expect_channel_event(&room, "MESSAGE_CREATE", "{'channel_type': 11}");
    expect_json(client_get(bob, "/channels/90001"), "{'message_count': 1}");
    world_sql(w, "update channels set thread_archived = 1, thread_locked = 1 where id = 90001");
    expect_error(client_post(bob, "{'content': 'x'}", MESSAGES, "90001"), 400, 160005);
    expect_status(client_post(ada, "{'content': 'x'}", MESSAGES, "90001"), 200);
}

const struct test embeds_and_components_tests[] = {
    TEST(bot_embeds_are_stored_and_can_be_edited),
    TEST(embeds_and_components_of_users_are_dropped),
    TEST(embed_fields_have_length_limits),
    TEST(embeds_have_total_count_and_size_limits),
    TEST(deprecated_embed_field_is_accepted),
    TEST(greeting_with_an_unknown_sticker_is_400_50081),
    TEST(message_components_are_stored_with_ids),
    TEST(invalid_buttons_are_refused),
    TEST(message_components_have_count_limits),
    TEST(components_v2_flag_excludes_content_and_embeds),
    TEST(components_v2_flag_cannot_be_removed_by_an_edit),
    TEST(invalid_media_and_select_components_are_refused),
    TEST(null_fields_of_embeds_and_components_are_omitted),
    TEST(senders_can_set_only_some_message_flags),
    TEST(message_content_determines_the_mentions),
    TEST(mentioning_roles_and_everyone_requires_permission),
    TEST(allowed_mentions_restricts_the_mentions),
    TEST(sending_in_threads_requires_send_messages_in_threads),
    TEST(message_unarchives_a_thread),
    { 0 },
};
