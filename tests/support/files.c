/* files.c - counts the files that a test world stores. */
#include "files.h"

#include <stdio.h>
#include <unistd.h>
#include <zlib.h>

static int count_files(const char *folder, const char *conditions)
{
    char command[400];
    int n = -1;

    snprintf(command, sizeof command, "find '%s' -type f %s 2>/dev/null | wc -l", folder,
             conditions);
    FILE *f = popen(command, "r");
    expect(f && fscanf(f, "%d", &n) == 1);
    pclose(f);
    return n;
}

int files_in(struct world *w, const char *area)
{
    char folder[300];

    snprintf(folder, sizeof folder, "%s/blobs/%s", world_folder(w), area);
    return count_files(folder, "-not -path '*/.*'");
}

int file_notes(struct world *w)
{
    char folder[300];

    snprintf(folder, sizeof folder, "%s/blobs/.new", world_folder(w));
    return count_files(folder, "");
}

void expect_files_at(const char *file, int line, struct world *w, const char *area, int count)
{
    int found = 0, notes = 0;

    for (int i = 0; i < 2400; i++) { /* two minutes */
        found = files_in(w, area);
        notes = file_notes(w);
        if (found == count && notes == 0)
            return;
        usleep(50 * 1000);
    }
    fail_test(file, line,
              "%d files in '%s' and %d recorded files without a row, expected %d and none", found,
              area, notes, count);
}

struct str unzip(struct world *w, struct str bytes)
{
    size_t max = 4 * 1024 * 1024;
    char *out = arena_alloc(world_arena(w), max);
    z_stream z = { .next_in = (Bytef *)(uintptr_t)bytes.p,
                   .avail_in = (uInt)bytes.n,
                   .next_out = (Bytef *)out,
                   .avail_out = (uInt)max };

    expect(inflateInit2(&z, 15 + 16) == Z_OK);
    int e = inflate(&z, Z_FINISH);
    inflateEnd(&z);
    expect(e == Z_STREAM_END && z.avail_in == 0);
    return str_slice(out, z.total_out);
}
