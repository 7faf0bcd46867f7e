/* regions.c - where voice can be hosted, as the operator configured it. */
#include "model/regions.h"

#include "base/mem.h"
#include "base/utf8.h"

enum { MAX_REGIONS = 32, MAX_TEXT = 64 };

static struct {
    struct region list[MAX_REGIONS];
    char text[MAX_REGIONS][2][MAX_TEXT];
    size_t count;
    const char *endpoint;
} regions;

static const struct type type_region_id = { .kind = KIND_STRING, .doc = "Region id" };
static const struct field region_fields[] = {
    { FIELD(struct region, id), .type = &type_region_id },
    { FIELD(struct region, name), .type = &type_text },
    { FIELD(struct region, optimal), .type = &type_bool, .doc = "The closest to the client" },
    { FIELD(struct region, deprecated), .type = &type_bool },
    { FIELD(struct region, custom), .type = &type_bool },
    { 0 },
};
static const struct schema region_schema = {
    .name = "VoiceRegion",
    .size = sizeof(struct region),
    .fields = region_fields,
    .doc = "A place where voice can be hosted.",
};
static const struct type region_object = { .kind = KIND_OBJECT, .schema = &region_schema };
const struct type type_regions = { .kind = KIND_ARRAY, .of = &region_object };

static bool id_holds(struct str id)
{
    for (size_t i = 0; i < id.n; i++) {
        char c = id.p[i];

        if (!((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-'))
            return false;
    }
    return id.n >= 1 && id.n <= 32;
}

static struct str keep(char *place, struct str s)
{
    memcpy(place, s.p, s.n);
    return str_slice(place, s.n);
}

/* One "id:Name"; without a name the id is the name. */
static const char *add_region(struct str text)
{
    struct str name = str_trim(text), id = str_trim(str_cut(&name, ':'));
    struct region *r = &regions.list[regions.count];

    name = str_trim(name);
    if (name.n == 0)
        name = id;
    if (regions.count == MAX_REGIONS)
        return "has more than 32 regions";
    if (!id_holds(id))
        return "has an id that is not 1-32 of a-z, 0-9 and -";
    if (name.n >= MAX_TEXT || !utf8_valid(name))
        return "has a name that is too long or not UTF-8";
    for (size_t i = 0; i < regions.count; i++)
        if (str_eq(regions.list[i].id, id))
            return "names a region twice";
    *r = (struct region){
        .id = keep(regions.text[regions.count][0], id),
        .name = keep(regions.text[regions.count][1], name),
        .optimal = regions.count == 0,
    };
    regions.count++;
    return NULL;
}

bool regions_set(struct str list, const char **ret_problem)
{
    regions.count = 0;
    *ret_problem = NULL;
    while (list.n && !*ret_problem)
        *ret_problem = add_region(str_cut(&list, ','));
    if (!*ret_problem && regions.count == 0)
        *ret_problem = "names no region";
    return !*ret_problem;
}

struct list regions_list(void)
{
    return (struct list){ regions.list, regions.count };
}

bool region_exists(struct str id)
{
    for (size_t i = 0; i < regions.count; i++)
        if (str_eq(regions.list[i].id, id))
            return true;
    return false;
}

void regions_set_endpoint(const char *pattern)
{
    regions.endpoint = pattern;
}

struct str region_endpoint(struct arena *arena, struct str id)
{
    static const char mark[] = "{region}";
    const char *at = regions.endpoint ? strstr(regions.endpoint, mark) : NULL;

    if (!regions.endpoint || !at)
        return str_of(regions.endpoint);
    return str_printf(arena, "%.*s%.*s%s", (int)(at - regions.endpoint), regions.endpoint,
                      STR_FMT(id), at + sizeof mark - 1);
}
