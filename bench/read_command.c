/* read_command.c - parses and checks the body of a command repeatedly, or only finds its end, for
 * counting instructions.
 *
 *   read_command decode|strlen FILE COUNT */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "commands/internal.h"

enum { MAX_PAYLOAD_FORM_BYTES = 1 << 20 };

static char text[MAX_PAYLOAD_FORM_BYTES];

static bool decode(size_t n)
{
    struct arena *a = arena_new();
    struct form form = { .arena = a };
    void *body;
    enum err e = schema_decode(&command_body, str_slice(text, n), &form, &body);

    arena_free(a);
    return e == OK;
}

int main(int argc, char **argv)
{
    FILE *f = argc == 4 ? fopen(argv[2], "rb") : NULL;
    size_t n = f ? fread(text, 1, sizeof text - 1, f) : 0;
    bool decodes = n && strcmp(argv[1], "decode") == 0;
    const char *volatile where = text; /* volatile: each round reads the text again */

    if (!n) {
        fprintf(stderr, "usage: read_command decode|strlen FILE COUNT\n");
        return 2;
    }
    for (long i = atol(argv[3]); i > 0; i--) {
        if (decodes ? !decode(n) : strlen(where) != n) {
            fprintf(stderr, "read_command: the body is not a valid command\n");
            return 1;
        }
    }
    fclose(f);
    return 0;
}
