/* dave_room.c - a DAVE room that is driven by lines of text, for tests with real client libraries.
 *
 * Input, one event per line: NOW EVENT USER [ARGUMENT]
 *
 *   join VERSION, described VERSION, leave, package HEX, commit HEX, ready ID, invalid, tick
 *
 * Output: "send USER OPCODE JSON-or-HEX" for each message, then "done RESULT DUE". RESULT is the
 * version (join) or the verdict (package, commit). */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "relay/dave/group.h"

enum { LINE_MAX_BYTES = 4 * DAVE_COMMIT_BYTES };

static void print_message(void *context, snowflake user, const struct dave_message *m)
{
    (void)context;
    printf("send %" PRIu64 " %d ", user, m->op);
    if (dave_message_is_json(m)) {
        struct buf json;

        buf_init(&json, 256);
        dave_message_write_json(m, &json);
        printf("%.*s\n", STR_ARGS(buf_as_str(&json)));
        buf_clear(&json);
        return;
    }
    for (size_t i = 0; i < m->payload.n; i++)
        printf("%02x", (unsigned char)m->payload.p[i]);
    printf("\n");
}

static struct str hex_decode(char *text)
{
    size_t n = 0;
    unsigned byte;

    for (; sscanf(text + 2 * n, "%2x", &byte) == 1; n++)
        text[n] = (char)byte;
    return str_slice(text, n);
}

static int event_run(struct dave_room *room, int64_t now, const char *event, snowflake user,
                     char *argument)
{
    unsigned number = (unsigned)strtoul(argument, NULL, 10);

    if (strcmp(event, "join") == 0)
        return (int)dave_room_join(room, user, number, now);
    if (strcmp(event, "package") == 0)
        return (int)dave_room_handle_key_package(room, user, hex_decode(argument), now);
    if (strcmp(event, "commit") == 0)
        return (int)dave_room_handle_commit(room, user, hex_decode(argument), now);
    if (strcmp(event, "described") == 0)
        dave_room_on_session_description_sent(room, user, number, now);
    else if (strcmp(event, "leave") == 0)
        dave_room_leave(room, user, now);
    else if (strcmp(event, "ready") == 0)
        dave_room_handle_transition_ready(room, user, number, now);
    else if (strcmp(event, "invalid") == 0)
        dave_room_handle_invalid_commit(room, user, now);
    else
        dave_room_handle_timeouts(room, now);
    return 0;
}

int main(int argc, char **argv)
{
    struct dave_counters counters = { 0 };
    struct mls_key *key = mls_key_new();
    struct dave_room *room = dave_room_new(&(struct dave_config){
        .group = argc > 1 ? strtoull(argv[1], NULL, 10) : 1,
        .version = DAVE_VERSION,
        .key = key,
        .send = print_message,
        .counters = &counters,
    });
    char *line = mem_new(LINE_MAX_BYTES), *argument = mem_new(LINE_MAX_BYTES), event[16];
    int64_t now;
    snowflake user;

    while (fgets(line, LINE_MAX_BYTES, stdin)) {
        argument[0] = '\0';
        if (sscanf(line, "%" SCNd64 " %15s %" SCNu64 " %s", &now, event, &user, argument) < 3)
            break;
        int result = event_run(room, now, event, user, argument);
        printf("done %d %" PRId64 "\n", result, dave_room_next_timeout(room));
        fflush(stdout);
    }
    fprintf(stderr, "epochs %" PRIu64 " transitions %" PRIu64 " refused %" PRIu64 " %" PRIu64 "\n",
            counters.epochs, counters.transitions, counters.refused_commits,
            counters.refused_key_packages);
    dave_room_free(room);
    mls_key_free(key);
    mem_free(line);
    mem_free(argument);
    return 0;
}
