/* unistring.c - libunistring, loaded when text beyond ASCII is first seen.
 *
 * It comes with libcurl, which needs it for names. Few servers ever fold text, so it is
 * not linked. */
#include "gifs/unistring.h"

#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>

#include "base/dynlib.h"

/* Its own header would be a package more to build; these two are all we call. */
typedef uint8_t *fold_function(const uint8_t *s, size_t n, const char *language, const void *form,
                               uint8_t *result, size_t *length);
typedef uint8_t *normalize_function(const void *form, const uint8_t *s, size_t n, uint8_t *result,
                                    size_t *length);

static fold_function *fold;
static normalize_function *normalize;
static const void *nfkc, *nfkd;
static bool loaded;

static void load(void)
{
    static const struct dynlib_symbol symbols[] = {
        { "u8_casefold", &fold },
        { "u8_normalize", &normalize },
        { "uninorm_nfkc", &nfkc },
        { "uninorm_nfkd", &nfkd },
        { NULL, NULL },
    };

    loaded = dynlib_load("libunistring.so.2", symbols);
}

static bool is_loaded(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;

    pthread_once(&once, load);
    return loaded;
}

/* Takes what the library made. */
static struct str taken(struct arena *a, struct str text, uint8_t *made, size_t n)
{
    if (!made)
        return text;
    struct str copy = str_dup(a, str_slice((const char *)made, n));
    free(made);
    return copy;
}

struct str unistring_fold(struct arena *a, struct str text, bool composed)
{
    size_t n = 0;

    if (!text.n || !is_loaded())
        return text;
    return taken(a, text,
                 fold((const uint8_t *)text.p, text.n, NULL, composed ? nfkc : nfkd, NULL, &n), n);
}

struct str unistring_compose(struct arena *a, struct str text)
{
    size_t n = 0;

    if (!text.n || !is_loaded())
        return text;
    return taken(a, text, normalize(nfkc, (const uint8_t *)text.p, text.n, NULL, &n), n);
}
