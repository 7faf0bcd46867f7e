/* migrations_later.c - migrations of a future version, for tests of an upgrade. */
#include <dirent.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/mem.h"
#include "store/migrations.h"

enum { MOST_STEPS = 1024, MOST_TEXT = 64 * 1024 };

static pthread_once_t once = PTHREAD_ONCE_INIT;
static struct migration known[MOST_STEPS];

static char *later_text(const char *folder, const char *name)
{
    char path[PATH_MAX], *text = mem_new(MOST_TEXT);

    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "r");
    if (!file || fread(text, 1, MOST_TEXT - 1, file) == 0) {
        log_error("store: cannot read '%s'", path);
        abort();
    }
    fclose(file);
    return text;
}

static int is_step(const struct dirent *entry)
{
    size_t n = strlen(entry->d_name);

    return n > 4 && strcmp(entry->d_name + n - 4, ".sql") == 0;
}

static void later_read(void)
{
    const char *folder = getenv("GUILDHALL_TEST_MIGRATIONS");
    struct dirent **entries;
    size_t count = 0;

    for (; migrations[count].number; count++)
        known[count] = migrations[count];
    int found = folder ? scandir(folder, &entries, is_step, alphasort) : 0;
    for (int i = 0; i < found && count < MOST_STEPS - 1; i++) {
        char *name = entries[i]->d_name;

        known[count].number = atoi(name);
        known[count].sql = later_text(folder, name);
        name[strlen(name) - 4] = '\0';
        known[count++].name = mem_dup_cstring(name);
        free(entries[i]);
    }
    if (found > 0)
        free(entries);
}

const struct migration *get_known_migrations(void)
{
    pthread_once(&once, later_read);
    return known;
}
