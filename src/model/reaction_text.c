/* reaction_text.c - reactions as a message's row keeps them: read, written, shown. */
#include "model/reaction_text.h"

#include "json/number.h"
#include "model/rows.h"

enum { ID_DIGITS = 16, LEAST_LINE = ID_DIGITS + sizeof "00,0,\t\n" - 1 };

/* --- lines ---------------------------------------------------------------------------- */

/* A line as it stands there. */
struct line_parts {
    struct str id, normal, burst, key, emoji;
    unsigned own;
};

/* Takes what stands before a mark off the front of a text; false when there is no mark. */
static bool part_cut(struct str *s, char mark, struct str *ret)
{
    const char *end = memchr(s->p, mark, s->n);

    if (!end)
        return false;
    *ret = str_slice(s->p, (size_t)(end - s->p));
    *s = str_slice(end + 1, s->n - ret->n - 1);
    return true;
}

static bool line_cut(struct str *text, struct line_parts *ret)
{
    struct str s = *text;

    if (s.n < LEAST_LINE)
        return false;
    ret->id = str_slice(s.p, ID_DIGITS);
    ret->own = (unsigned)(s.p[ID_DIGITS] - '0') & (OWN_NORMAL | OWN_BURST);
    s = str_slice(s.p + ID_DIGITS + 1, s.n - ID_DIGITS - 1);
    if (!part_cut(&s, ',', &ret->normal) || !part_cut(&s, ',', &ret->burst) ||
        !part_cut(&s, '\t', &ret->key) || !part_cut(&s, '\n', &ret->emoji))
        return false;
    *text = s;
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
    line.key = parts.key;
    line.emoji = parts.emoji;
    *ret = line;
    return true;
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
    buf_add_str(out, line->key);
    buf_add_char(out, '\t');
    buf_add_str(out, line->emoji);
    buf_add_char(out, '\n');
}

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

/* --- for readers ---------------------------------------------------------------------- */

void reaction_text_mark(struct str text, snowflake id, enum reaction_own own)
{
    struct line_parts parts;
    char wanted[ID_DIGITS];

    id_write(id, wanted);
    while (line_cut(&text, &parts))
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

/* What follows the counts, by what is the reader's own. */
#define TAIL(me, burst) STR_INIT("},\"me\":" me ",\"me_burst\":" burst ",\"burst_colors\":[]}")
static const struct str tails[] = {
    TAIL("false", "false"),
    TAIL("true", "false"),
    TAIL("false", "true"),
    TAIL("true", "true"),
};

/* Bursts are rare: without them the count is the number of the others, as it stands there. */
static struct str count_of(const struct line_parts *parts, char digits[20])
{
    int64_t normal, burst;

    if (parts->burst.n == 1 && parts->burst.p[0] == '0')
        return parts->normal;
    if (!str_to_i64(parts->normal, &normal) || !str_to_i64(parts->burst, &burst))
        return STR("0");
    return str_slice(digits, number_digits((uint64_t)(normal + burst), digits));
}

static void line_show(struct buf *out, const struct line_parts *parts)
{
    enum { LITERALS = 128 }; /* more than what stands around the parts of a line */
    char digits[20];
    struct str count = count_of(parts, digits);
    char *begin =
        buf_room(out, LITERALS + parts->emoji.n + count.n + parts->normal.n + parts->burst.n);
    char *at = begin;

    if (!at)
        return;
    at = literal_put(at, STR("{\"emoji\":"));
    at = literal_put(at, parts->emoji);
    at = literal_put(at, STR(",\"count\":"));
    at = literal_put(at, count);
    at = literal_put(at, STR(",\"count_details\":{\"normal\":"));
    at = literal_put(at, parts->normal);
    at = literal_put(at, STR(",\"burst\":"));
    at = literal_put(at, parts->burst);
    at = literal_put(at, tails[parts->own]);
    out->n += (size_t)(at - begin);
}

void reaction_text_show(struct json *j, struct str text)
{
    struct line_parts parts;

    json_array(j);
    for (bool first = true; line_cut(&text, &parts); first = false) {
        if (!first)
            buf_add_char(j->out, ',');
        line_show(j->out, &parts);
    }
    json_array_end(j);
}
