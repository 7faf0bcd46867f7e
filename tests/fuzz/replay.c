/* replay.c - runs a fuzz driver over a corpus without a fuzzer. Each file of the given folders
 * is tried as it is and with hundreds of small changes, which are the same in every run, so that
 * a failure is reproducible. */
#include <dirent.h>
#include <string.h>

#include "fuzz.h"

enum { FILES_MAX = 1000, FILE_MAX = 1 << 20, MUTATIONS = 300, STEPS_MAX = 4 };

struct input {
    uint8_t *p;
    size_t n;
};

static struct input files[FILES_MAX];
static size_t file_count;
static uint64_t seed;

static size_t random_below(size_t n)
{
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    return n ? (size_t)(seed % n) : 0;
}

/* Runs the driver on an exact copy, so that the address sanitizer detects reads beyond its end. */
static void run(const uint8_t *p, size_t n)
{
    uint8_t *copy = malloc(n ? n : 1);

    FUZZ_CHECK(copy);
    if (n)
        memcpy(copy, p, n);
    LLVMFuzzerTestOneInput(copy, n);
    free(copy);
}

/* Inserts `count` bytes at an offset. */
static size_t insert(uint8_t *p, size_t n, size_t at, const uint8_t *bytes, size_t count)
{
    if (n + count > FILE_MAX)
        return n;
    memmove(p + at + count, p + at, n - at);
    memmove(p + at, bytes, count);
    return n + count;
}

static size_t remove_range(uint8_t *p, size_t n, size_t at, size_t count)
{
    memmove(p + at, p + at + count, n - at - count);
    return n - count;
}

static size_t splice(uint8_t *p, size_t n)
{
    const struct input *other = &files[random_below(file_count)];
    size_t from = random_below(other->n), count = random_below(other->n - from) + 1;

    return other->n ? insert(p, n, random_below(n + 1), other->p + from, count) : n;
}

static size_t repeat(uint8_t *p, size_t n)
{
    static uint8_t piece[64];
    size_t at = random_below(n), count = random_below(sizeof piece) + 1;

    if (count > n - at)
        count = n - at;
    memcpy(piece, p + at, count);
    return insert(p, n, at, piece, count);
}

static size_t mutate(uint8_t *p, size_t n)
{
    static const uint8_t marks[] = "\"\\{}[]:,-+.eE0019ntfu \n\r\t%&=;/\0\x7f\x80\xc3\xed\xf4\xff";
    size_t at = random_below(n);
    uint8_t mark = marks[random_below(sizeof marks)];

    if (n == 0)
        return insert(p, n, 0, &mark, 1);
    switch (random_below(7)) {
    case 0:
        p[at] ^= (uint8_t)(1u << random_below(8));
        return n;
    case 1:
        p[at] = mark;
        return n;
    case 2:
        return insert(p, n, at, &mark, 1);
    case 3:
        return at;
    case 4:
        return remove_range(p, n, at, random_below(n - at) % 16);
    case 5:
        return repeat(p, n);
    default:
        return splice(p, n);
    }
}

static void replay(const struct input *file)
{
    static uint8_t text[FILE_MAX];

    run(file->p, file->n);
    for (int i = 0; i < MUTATIONS; i++) {
        size_t n = file->n, steps = random_below(STEPS_MAX) + 1;

        memcpy(text, file->p, n);
        while (steps--)
            n = mutate(text, n);
        run(text, n);
    }
}

static void load_file(const char *path)
{
    FILE *f = fopen(path, "rb");
    struct input *in = &files[file_count];

    FUZZ_CHECK(f && file_count < FILES_MAX);
    in->p = malloc(FILE_MAX);
    FUZZ_CHECK(in->p);
    in->n = fread(in->p, 1, FILE_MAX, f);
    fclose(f);
    file_count++;
}

static int by_name(const struct dirent **a, const struct dirent **b)
{
    return strcmp((*a)->d_name, (*b)->d_name);
}

static int visible(const struct dirent *entry)
{
    return entry->d_name[0] != '.';
}

static void load_folder(const char *folder)
{
    struct dirent **entries;
    int count = scandir(folder, &entries, visible, by_name);

    if (count < 0) {
        fprintf(stderr, "cannot read %s\n", folder);
        exit(1);
    }
    for (int i = 0; i < count; i++) {
        char path[4096];

        snprintf(path, sizeof path, "%s/%s", folder, entries[i]->d_name);
        load_file(path);
        free(entries[i]);
    }
    free(entries);
}

int main(int argc, char **argv)
{
    for (int i = 1; i < argc; i++)
        load_folder(argv[i]);
    if (file_count == 0) {
        fprintf(stderr, "no files to replay\n");
        return 1;
    }
    for (size_t i = 0; i < file_count; i++) {
        seed = 0x9e3779b97f4a7c15ULL + i;
        replay(&files[i]);
    }
    for (size_t i = 0; i < file_count; i++)
        free(files[i].p);
    printf("%zu files, %d changes of each\n", file_count, MUTATIONS);
    return 0;
}
