/* reaction_text.c - reactions of a message as one text column: parses, changes, encodes it. */
#include "model/text/reaction_text.h"

#include "json/number.h"
#include "model/fields/rows.h"

enum {
    ID_DIGITS = 16,
    HEAD = ID_DIGITS + 1, /* length of the first line */
    LEAST_LINE = ID_DIGITS + sizeof "00,0,,\t\n" - 1,
    MOST_NAMED = 4, /* maximum number of stored user ids per emoji */
};

/* --- lines ---------------------------------------------------------------------------- */

/* Fields of a line, as text. */
struct line_parts {
    struct str id, normal, burst, users, key, emoji;
    unsigned own;
};

/* Parses the text before the next mark, checking every `step` bytes; returns false if there is no
 * mark. Faster than memchr, because the text is only a few bytes. */
static inline bool part_cut(const char **at, const char *end, char mark, size_t step,
                            struct str *ret)
{
    const char *p = *at;

    while (p < end && *p != mark)
        p += step;
    if (p >= end)
        return false;
    *ret = str_slice(*at, (size_t)(p - *at));
    *at = p + 1;
    return true;
}

static inline bool line_cut(struct str *text, struct line_parts *ret)
{
    struct str s = *text;
    const char *at = s.p + ID_DIGITS + 1;
    const char *end = s.n < LEAST_LINE ? NULL : memchr(at, '\n', s.n - ID_DIGITS - 1);

    if (!end)
        return false;
    ret->id = str_slice(s.p, ID_DIGITS);
    ret->own = (unsigned)(s.p[ID_DIGITS] - '0') & (OWN_NORMAL | OWN_BURST);
    if (!part_cut(&at, end, ',', 1, &ret->normal) || !part_cut(&at, end, ',', 1, &ret->burst) ||
        !part_cut(&at, end, ',', ID_DIGITS, &ret->users) || !part_cut(&at, end, '\t', 1, &ret->key))
        return false;
    ret->emoji = str_slice(at, (size_t)(end - at));
    *text = str_slice(end + 1, s.n - (size_t)(end + 1 - s.p));
    return true;
}

static void id_write(snowflake id, char ret[ID_DIGITS])
{
    for (int i = ID_DIGITS - 1; i >= 0; i--, id >>= 4)
        ret[i] = "0123456789abcdef"[id & 15];
}

static snowflake id_read(struct str digits)
{
    snowflake id = 0;

    for (size_t i = 0; i < digits.n; i++) {
        char c = digits.p[i];

        id = id << 4 | (snowflake)(c <= '9' ? c - '0' : c - 'a' + 10);
    }
    return id;
}

bool reaction_line_next(struct str *text, struct reaction_line *ret)
{
    struct line_parts parts;
    struct reaction_line line;

    if (!line_cut(text, &parts) || !str_to_i64(parts.normal, &line.normal) ||
        !str_to_i64(parts.burst, &line.burst))
        return false;
    line.id = id_read(parts.id);
    line.own = parts.own;
    line.users = parts.users;
    line.key = parts.key;
    line.emoji = parts.emoji;
    *ret = line;
    return true;
}

void reaction_text_begin(struct buf *out)
{
    buf_add_lit(out, "0000000000000000\n");
}

struct str reaction_text_lines(struct str text)
{
    return str_from(text, HEAD);
}

void reaction_line_add(struct buf *out, const struct reaction_line *line)
{
    char id[ID_DIGITS];

    id_write(line->id, id);
    buf_add(out, id, sizeof id);
    buf_add_char(out, '0');
    buf_add_i64(out, line->normal);
    buf_add_char(out, ',');
    buf_add_i64(out, line->burst);
    buf_add_char(out, ',');
    buf_add_str(out, line->users);
    buf_add_char(out, ',');
    buf_add_str(out, line->key);
    buf_add_char(out, '\t');
    buf_add_str(out, line->emoji);
    buf_add_char(out, '\n');
}

/* --- named users ---------------------------------------------------------------------- */

static inline ptrdiff_t place_named(struct str users, const char id[ID_DIGITS])
{
    for (size_t i = 0; i + ID_DIGITS <= users.n; i += ID_DIGITS)
        if (memcmp(users.p + i, id, ID_DIGITS) == 0)
            return (ptrdiff_t)i;
    return -1;
}

bool reaction_line_names(const struct reaction_line *line, snowflake user_id)
{
    char id[ID_DIGITS];

    id_write(user_id, id);
    return place_named(line->users, id) >= 0;
}

bool reaction_user_next(struct str *users, snowflake *ret)
{
    if (users->n < ID_DIGITS)
        return false;
    *ret = id_read(str_slice(users->p, ID_DIGITS));
    *users = str_from(*users, ID_DIGITS);
    return true;
}

static bool line_names_all(const struct reaction_line *line)
{
    return line->burst == 0 && line->users.n == (uint64_t)line->normal * ID_DIGITS;
}

void reaction_line_count(struct arena *arena, struct reaction_line *line, snowflake user_id)
{
    char id[ID_DIGITS];

    if (line->users.n == (uint64_t)line->normal * ID_DIGITS && line->normal < MOST_NAMED) {
        id_write(user_id, id);
        line->users = STR_CONCAT(arena, line->users, str_slice(id, ID_DIGITS));
    }
    line->normal++;
}

void reaction_line_discount(struct arena *arena, struct reaction_line *line, snowflake user_id)
{
    char id[ID_DIGITS];

    id_write(user_id, id);
    ptrdiff_t at = place_named(line->users, id);
    if (at >= 0)
        line->users = STR_CONCAT(arena, str_slice(line->users.p, (size_t)at),
                                 str_from(line->users, (size_t)at + ID_DIGITS));
    line->normal--;
}

int64_t reaction_text_kind(struct str text)
{
    struct str lines = reaction_text_lines(text);
    struct reaction_line line;

    while (reaction_line_next(&lines, &line))
        if (!line_names_all(&line))
            return REACTED;
    return REACTED_BY_FEW;
}

/* --- emoji ---------------------------------------------------------------------------- */

struct str reaction_emoji_text(struct arena *arena, const struct reaction_emoji *emoji)
{
    return column_encode(arena, &type_reaction_emoji, emoji);
}

const struct reaction_emoji *reaction_emoji_of(struct arena *arena,
                                               const struct reaction_line *line)
{
    static const struct reaction_emoji unreadable = { .id = { .given = GIVEN_NULL } };
    const struct reaction_emoji *emoji = column_decode(arena, &type_reaction_emoji, line->emoji);

    return emoji ? emoji : &unreadable;
}

/* --- encoding for a reader ------------------------------------------------------------ */

void reaction_text_for(struct str text, snowflake reader)
{
    if (text.n >= HEAD)
        id_write(reader, (char *)(uintptr_t)text.p);
}

void reaction_text_mark(struct str text, snowflake id, enum reaction_own own)
{
    struct str lines = reaction_text_lines(text);
    struct line_parts parts;
    char wanted[ID_DIGITS];

    id_write(id, wanted);
    while (line_cut(&lines, &parts))
        if (memcmp(parts.id.p, wanted, ID_DIGITS) == 0) {
            char *mark = (char *)(uintptr_t)(parts.id.p + ID_DIGITS);

            *mark = (char)('0' + (parts.own | own));
            return;
        }
}

static char *literal_put(char *at, struct str s)
{
    memcpy(at, s.p, s.n);
    return at + s.n;
}

/* Copies a count; most counts have one digit. */
static char *number_put(char *at, struct str s)
{
    if (s.n != 1)
        return literal_put(at, s);
    *at = s.p[0];
    return at + 1;
}

/* JSON after the counts, by which reactions the reader has used. The size is constant, so that the
 * copy is inlined. */
enum { TAIL = 48 };
#define TAIL_OF(me, burst)                                                           \
    {                                                                                \
        "},\"me\":" me ",\"me_burst\":" burst ",\"burst_colors\":[]}",               \
            sizeof "},\"me\":" me ",\"me_burst\":" burst ",\"burst_colors\":[]}" - 1 \
    }
static const struct {
    char text[TAIL];
    size_t n;
} tails[] = {
    TAIL_OF("false", "false"),
    TAIL_OF("true", "false"),
    TAIL_OF("false", "true"),
    TAIL_OF("true", "true"),
};

static char *tail_put(char *at, unsigned own)
{
    memcpy(at, tails[own].text, TAIL);
    return at + tails[own].n;
}

/* Returns the total count. Burst reactions are rare; without them it is the text of `normal`. */
static struct str count_of(const struct line_parts *parts, char digits[20])
{
    int64_t normal, burst;

    if (parts->burst.n == 1 && parts->burst.p[0] == '0')
        return parts->normal;
    if (!str_to_i64(parts->normal, &normal) || !str_to_i64(parts->burst, &burst))
        return STR("0");
    return str_slice(digits, number_digits((uint64_t)(normal + burst), digits));
}

static void line_show(struct buf *out, bool first, const char reader[ID_DIGITS],
                      const struct line_parts *parts)
{
    enum { LITERALS = 128 }; /* more than the length of the JSON around the fields */
    char digits[20];
    struct str count = count_of(parts, digits);
    char *begin =
        buf_room(out, LITERALS + parts->emoji.n + count.n + parts->normal.n + parts->burst.n);
    char *at = begin;

    if (!at)
        return;
    if (!first)
        *at++ = ',';
    at = literal_put(at, STR("{\"emoji\":"));
    at = literal_put(at, parts->emoji);
    at = literal_put(at, STR(",\"count\":"));
    at = number_put(at, count);
    at = literal_put(at, STR(",\"count_details\":{\"normal\":"));
    at = number_put(at, parts->normal);
    at = literal_put(at, STR(",\"burst\":"));
    at = number_put(at, parts->burst);
    at = tail_put(at, parts->own | (place_named(parts->users, reader) >= 0 ? OWN_NORMAL : 0));
    out->n += (size_t)(at - begin);
}

bool reaction_show_plain(struct json *j, struct str *lines, struct reaction_spot *ret)
{
    static const char nobody[ID_DIGITS] = "0000000000000000";
    static const char from_me[] = "false,\"me_burst\":false,\"burst_colors\":[]}";
    static const char from_burst[] = "false,\"burst_colors\":[]}";
    struct line_parts parts;

    if (!line_cut(lines, &parts))
        return false;
    line_show(j->out, !j->comma, nobody, &parts);
    j->comma = true;
    *ret = (struct reaction_spot){
        .id = id_read(parts.id),
        .users = parts.users,
        .me = j->out->n - (sizeof from_me - 1),
        .me_burst = j->out->n - (sizeof from_burst - 1),
    };
    return true;
}

void reaction_text_show(struct json *j, struct str text)
{
    struct str lines = reaction_text_lines(text);
    struct line_parts parts;

    json_array(j);
    for (bool first = true; line_cut(&lines, &parts); first = false)
        line_show(j->out, first, text.p, &parts);
    json_array_end(j);
}
