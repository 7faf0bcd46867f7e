/* names.c - checks the names of commands and options.
 *
 * The rule is Discord's: letters and numbers of every script. Devanagari and Thai are listed as
 * scripts because their vowel signs are marks, not letters; Devanagari Extended-A is listed because
 * older PCRE2 versions do not know it. ASCII names, nearly all, are decided by a table. */
#include "commands/names.h"

#include <assert.h>
#include <pthread.h>
#include <string.h>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>
#include <utf8proc.h>

#include "base/utf8.h"

enum { LONGEST_NAME = 32 };

static const char RULE[] = "^[-_'\\p{L}\\p{N}\\p{sc:Deva}\\x{11b00}-\\x{11b09}\\p{sc:Thai}]{1,32}$";

static pthread_once_t once = PTHREAD_ONCE_INIT;
static pcre2_code *rule;

static void compile_rule(void)
{
    int error;
    PCRE2_SIZE at;

    rule = pcre2_compile((PCRE2_SPTR)RULE, sizeof RULE - 1,
                         PCRE2_UTF | PCRE2_NO_UTF_CHECK | PCRE2_DOLLAR_ENDONLY, &error, &at, NULL);
    assert(rule);
}

static bool characters_hold(struct str name)
{
    pthread_once(&once, compile_rule);
    pcre2_match_data *found = pcre2_match_data_create(1, NULL);
    assert(found);
    int matches = pcre2_match(rule, (PCRE2_SPTR)name.p, name.n, 0, 0, found, NULL);

    pcre2_match_data_free(found);
    return matches > 0;
}

static bool is_lower_case(struct str name)
{
    uint32_t c;

    for (size_t n; (n = utf8_decode(name, &c)); name = str_from(name, n))
        if ((uint32_t)utf8proc_tolower((utf8proc_int32_t)c) != c)
            return false;
    return true;
}

/* Not inlined, to keep name_check small. */
static __attribute__((noinline)) enum name_fault check_any(struct str name)
{
    if (!characters_hold(name))
        return NAME_CHARACTERS;
    return is_lower_case(name) ? NAME_FINE : NAME_CASE;
}

/* Classes of bytes. HIGH: the byte is part of a character outside ASCII. */
enum { OTHER = 1, UPPER = 2, HIGH = 4 };

/* clang-format off */
#define O OTHER
#define U UPPER
static const unsigned char kinds[256] = {
    O, O, O, O, O, O, O, O, O, O, O, O, O, O, O, O,
    O, O, O, O, O, O, O, O, O, O, O, O, O, O, O, O,
    O, O, O, O, O, O, O, 0, O, O, O, O, O, 0, O, O,
    0, 0, 0, 0, 0, 0, 0, 0, 0, 0, O, O, O, O, O, O,
    O, U, U, U, U, U, U, U, U, U, U, U, U, U, U, U,
    U, U, U, U, U, U, U, U, U, U, U, O, O, O, O, 0,
    O, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
    0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, O, O, O, O, O,
    [128 ... 255] = HIGH,
};
#undef O
#undef U
/* clang-format on */

#if defined(__SSE2__)

/* Loads a name of 4 to 16 bytes into sixteen bytes: its first and last eight or four, which may
 * overlap. */
static inline __m128i name_ends(struct str name)
{
    uint64_t a, b;
    uint32_t c, d;

    if (name.n >= 8) {
        memcpy(&a, name.p, sizeof a);
        memcpy(&b, name.p + name.n - sizeof b, sizeof b);
    } else {
        memcpy(&c, name.p, sizeof c);
        memcpy(&d, name.p + name.n - sizeof d, sizeof d);
        a = b = (uint64_t)c << 32 | d;
    }
    return _mm_set_epi64x((int64_t)a, (int64_t)b);
}

/* Returns a mask of the bytes within a range, which is shifted up to end at 127, so that one signed
 * comparison tests both limits. */
static inline __m128i bytes_are_within(__m128i bytes, char least, char most)
{
    return _mm_cmpgt_epi8(_mm_add_epi8(bytes, _mm_set1_epi8((char)(127 - most))),
                          _mm_set1_epi8((char)(126 - (most - least))));
}

/* Fast path for nearly all names: 4 to 16 lower-case letters, digits, '-' and '_'. */
static inline bool name_is_surely_fine(struct str name)
{
    if (name.n < 4 || name.n > 16)
        return false;
    __m128i bytes = name_ends(name);
    __m128i fine =
        _mm_or_si128(bytes_are_within(bytes, 'a', 'z'), bytes_are_within(bytes, '0', '9'));

    fine = _mm_or_si128(fine, _mm_or_si128(_mm_cmpeq_epi8(bytes, _mm_set1_epi8('-')),
                                           _mm_cmpeq_epi8(bytes, _mm_set1_epi8('_'))));
    return _mm_movemask_epi8(fine) == 0xffff;
}

#else

static inline bool name_is_surely_fine(struct str name)
{
    (void)name;
    return false;
}

#endif

enum name_fault name_check(struct str name)
{
    unsigned faults = 0;

    if (name_is_surely_fine(name))
        return NAME_FINE;
    for (size_t i = 0; i < name.n; i++)
        faults |= kinds[(unsigned char)name.p[i]];
    if (faults & HIGH)
        return check_any(name);
    if (faults & OTHER || name.n == 0 || name.n > LONGEST_NAME)
        return NAME_CHARACTERS;
    return faults & UPPER ? NAME_CASE : NAME_FINE;
}

bool menu_name_holds(struct str name)
{
    uint32_t c;

    for (size_t n; (n = utf8_decode(name, &c)); name = str_from(name, n))
        if (utf8proc_category((utf8proc_int32_t)c) == UTF8PROC_CATEGORY_CC)
            return false;
    return true;
}
