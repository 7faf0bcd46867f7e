/* command_names.c - checks the names of commands and options. The rule is Discord's: letters and
 * numbers of every script. Devanagari and Thai are listed as scripts because their vowel signs are
 * marks, not letters; Devanagari Extended-A is listed because older PCRE2 versions do not know it.
 * Nearly all names are ASCII and are checked with a table. */
#include "commands/command_names.h"

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

static const char NAME_PATTERN[] =
    "^[-_'\\p{L}\\p{N}\\p{sc:Deva}\\x{11b00}-\\x{11b09}\\p{sc:Thai}]{1,32}$";

static pthread_once_t name_pattern_once = PTHREAD_ONCE_INIT;
static pcre2_code *name_pattern;

static void compile_name_pattern(void)
{
    int error;
    PCRE2_SIZE at;

    name_pattern =
        pcre2_compile((PCRE2_SPTR)NAME_PATTERN, sizeof NAME_PATTERN - 1,
                      PCRE2_UTF | PCRE2_NO_UTF_CHECK | PCRE2_DOLLAR_ENDONLY, &error, &at, NULL);
    assert(name_pattern);
}

static bool name_matches_pattern(struct str name)
{
    pthread_once(&name_pattern_once, compile_name_pattern);
    pcre2_match_data *found = pcre2_match_data_create(1, NULL);
    assert(found);
    int matches = pcre2_match(name_pattern, (PCRE2_SPTR)name.p, name.n, 0, 0, found, NULL);

    pcre2_match_data_free(found);
    return matches > 0;
}

static bool is_lower_case(struct str name)
{
    uint32_t c;

    for (size_t n; (n = utf8_decode(name, &c)); name = str_skip_bytes(name, n))
        if ((uint32_t)utf8proc_tolower((utf8proc_int32_t)c) != c)
            return false;
    return true;
}

/* Checks a name with characters outside ASCII. Not inlined, so that check_command_name stays small.
 */
static __attribute__((noinline)) enum command_name_error check_unicode_name(struct str name)
{
    if (!name_matches_pattern(name))
        return NAME_CHARACTERS;
    return is_lower_case(name) ? NAME_FINE : NAME_CASE;
}

/* Classes of bytes in a name; HIGH is part of a character outside ASCII. */
enum { OTHER = 1, UPPER = 2, HIGH = 4 };

/* clang-format off */
#define O OTHER
#define U UPPER
static const unsigned char byte_classes[256] = {
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

/* Loads a name of 4 to 16 bytes into a vector of 16 bytes: its first and last 8 (or 4) bytes, which
 * may overlap. */
static inline __m128i load_name_bytes(struct str name)
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

/* Returns a mask of the bytes within a range. The bytes are shifted so that the range ends at 127,
 * because one signed comparison then tests both limits. */
static inline __m128i mask_of_bytes_in_range(__m128i bytes, char least, char most)
{
    return _mm_cmpgt_epi8(_mm_add_epi8(bytes, _mm_set1_epi8((char)(127 - most))),
                          _mm_set1_epi8((char)(126 - (most - least))));
}

/* Fast check that accepts nearly all names: 4 to 16 lower-case letters, digits, '-' and '_'. */
static inline bool is_plain_ascii_name(struct str name)
{
    if (name.n < 4 || name.n > 16)
        return false;
    __m128i bytes = load_name_bytes(name);
    __m128i fine = _mm_or_si128(mask_of_bytes_in_range(bytes, 'a', 'z'),
                                mask_of_bytes_in_range(bytes, '0', '9'));

    fine = _mm_or_si128(fine, _mm_or_si128(_mm_cmpeq_epi8(bytes, _mm_set1_epi8('-')),
                                           _mm_cmpeq_epi8(bytes, _mm_set1_epi8('_'))));
    return _mm_movemask_epi8(fine) == 0xffff;
}

#else

static inline bool is_plain_ascii_name(struct str name)
{
    (void)name;
    return false;
}

#endif

enum command_name_error check_command_name(struct str name)
{
    unsigned faults = 0;

    if (is_plain_ascii_name(name))
        return NAME_FINE;
    for (size_t i = 0; i < name.n; i++)
        faults |= byte_classes[(unsigned char)name.p[i]];
    if (faults & HIGH)
        return check_unicode_name(name);
    if (faults & OTHER || name.n == 0 || name.n > LONGEST_NAME)
        return NAME_CHARACTERS;
    return faults & UPPER ? NAME_CASE : NAME_FINE;
}

bool is_valid_menu_command_name(struct str name)
{
    uint32_t c;

    for (size_t n; (n = utf8_decode(name, &c)); name = str_skip_bytes(name, n))
        if (utf8proc_category((utf8proc_int32_t)c) == UTF8PROC_CATEGORY_CC)
            return false;
    return true;
}
