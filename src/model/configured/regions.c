/* regions.c - the voice regions that the operator configures. */
#include "model/configured/regions.h"

#include <string.h>

#include "base/utf8.h"
#include "net/address.h"

enum { MAX_REGIONS = 32, MAX_TEXT = 64, MAX_CLIENT_NETWORKS = 256 };

/* A client network and the region that is best for its clients. */
struct client_network {
    struct ip_network network;
    size_t region;
};

static struct {
    struct voice_region list[MAX_REGIONS];
    char text[MAX_REGIONS][2][MAX_TEXT];
    size_t count;
    struct client_network near[MAX_CLIENT_NETWORKS];
    size_t near_count;
    const char *endpoint;
} regions;

static const struct type type_region_id = { .kind = KIND_STRING, .doc = "Region id" };
static const struct field region_fields[] = {
    { FIELD(struct voice_region, id), .type = &type_region_id },
    { FIELD(struct voice_region, name), .type = &type_text },
    { FIELD(struct voice_region, optimal), .type = &type_bool,
      .doc = "Whether the region is closest to the client" },
    { FIELD(struct voice_region, deprecated), .type = &type_bool },
    { FIELD(struct voice_region, custom), .type = &type_bool },
    { 0 },
};
static const struct schema region_schema = {
    .name = "VoiceRegion",
    .size = sizeof(struct voice_region),
    .fields = region_fields,
    .doc = "A region where voice can be hosted.",
};
static const struct type region_object = { .kind = KIND_OBJECT, .schema = &region_schema };
const struct type type_regions = { .kind = KIND_ARRAY, .of = &region_object };

static bool is_region_id(struct str id)
{
    for (size_t i = 0; i < id.n; i++) {
        char c = id.p[i];

        if (!((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-'))
            return false;
    }
    return id.n >= 1 && id.n <= 32;
}

static struct str copy_region_text(char *slot, struct str s)
{
    memcpy(slot, s.p, s.n);
    return str_slice(slot, s.n);
}

/* Parses one region "id:Name"; without a name the id is the name. */
static const char *parse_region(struct str text, bool vip)
{
    struct str name = str_trim(text), id = str_trim(str_cut(&name, ':'));
    struct voice_region *r = &regions.list[regions.count];

    name = str_trim(name);
    if (name.n == 0)
        name = id;
    if (regions.count == MAX_REGIONS)
        return "has more than 32 regions";
    if (!is_region_id(id))
        return "has an id that is not 1-32 characters of a-z, 0-9 and -";
    if (name.n >= MAX_TEXT || !utf8_is_valid(name))
        return "has a name that is too long or not UTF-8";
    if (voice_region_is_usable(id, true))
        return "contains a region twice";
    *r = (struct voice_region){
        .id = copy_region_text(regions.text[regions.count][0], id),
        .name = copy_region_text(regions.text[regions.count][1], name),
        .custom = vip,
    };
    regions.count++;
    return NULL;
}

static bool parse_regions(struct str list, bool vip, const char **ret_problem)
{
    *ret_problem = NULL;
    while (list.n && !*ret_problem)
        *ret_problem = parse_region(str_cut(&list, ','), vip);
    return !*ret_problem;
}

bool voice_regions_configure(struct str list, const char **ret_problem)
{
    regions.count = 0;
    regions.near_count = 0;
    if (parse_regions(list, false, ret_problem) && regions.count == 0)
        *ret_problem = "contains no region";
    return !*ret_problem;
}

bool voice_regions_configure_vip(struct str list, const char **ret_problem)
{
    return parse_regions(list, true, ret_problem);
}

bool voice_region_is_usable(struct str id, bool vip)
{
    for (size_t i = 0; i < regions.count; i++)
        if (str_eq(regions.list[i].id, id))
            return vip || !regions.list[i].custom;
    return false;
}

static const char *parse_client_network(struct str text)
{
    struct str id = str_trim(text), net = str_trim(str_cut(&id, '='));
    struct client_network *n = &regions.near[regions.near_count];

    id = str_trim(id);
    if (regions.near_count == MAX_CLIENT_NETWORKS)
        return "has more than 256 networks";
    if (!memchr(net.p, '/', net.n) || !ip_network_parse(net, &n->network))
        return "contains a network that does not have the form 10.0.0.0/8 or 2001:db8::/32";
    for (n->region = 0; n->region < regions.count; n->region++)
        if (str_eq(regions.list[n->region].id, id))
            break;
    if (n->region == regions.count)
        return "contains a region that is not in voice-regions or voice-vip-regions";
    regions.near_count++;
    return NULL;
}

bool voice_regions_configure_client_networks(struct str list, const char **ret_problem)
{
    regions.near_count = 0;
    *ret_problem = NULL;
    while (list.n && !*ret_problem)
        *ret_problem = parse_client_network(str_cut(&list, ','));
    return !*ret_problem;
}

/* Returns the region of the most specific client network that contains the address. If no network
 * contains it, returns the first region. */
static size_t find_nearest_region(struct str address, bool vip)
{
    struct ip_address a;
    size_t best = 0;
    int width = -1;

    if (!ip_address_parse(address, &a))
        return 0;
    for (size_t i = 0; i < regions.near_count; i++) {
        const struct client_network *n = &regions.near[i];

        if ((int)n->network.bits <= width || !ip_network_contains(&n->network, &a) ||
            (regions.list[n->region].custom && !vip))
            continue;
        width = (int)n->network.bits;
        best = n->region;
    }
    return best;
}

struct list voice_regions_list_for_client(struct arena *arena, struct str address, bool vip)
{
    size_t optimal = find_nearest_region(address, vip);
    struct list list = { 0 };

    for (size_t i = 0; i < regions.count; i++) {
        if (regions.list[i].custom && !vip)
            continue;
        struct voice_region *r = list_append(arena, &list, sizeof *r);

        *r = regions.list[i];
        r->optimal = i == optimal;
    }
    return list;
}

struct str voice_region_find_optimal(struct str address, bool vip)
{
    return regions.list[find_nearest_region(address, vip)].id;
}

void voice_regions_set_endpoint_pattern(const char *pattern)
{
    regions.endpoint = pattern;
}

const char *voice_regions_get_endpoint_pattern(void)
{
    return regions.endpoint;
}

struct str voice_region_fill_endpoint_pattern(struct arena *arena, struct str pattern,
                                              struct str id)
{
    static const char mark[] = "{region}";
    const size_t n = sizeof mark - 1;

    for (size_t at = 0; at + n <= pattern.n; at++)
        if (memcmp(pattern.p + at, mark, n) == 0)
            return str_printf(arena, "%.*s%.*s%.*s", (int)at, pattern.p, STR_ARGS(id),
                              STR_ARGS(str_skip_bytes(pattern, at + n)));
    return pattern;
}

struct str voice_region_get_endpoint(struct arena *arena, struct str id)
{
    return regions.endpoint
               ? voice_region_fill_endpoint_pattern(arena, str_of(regions.endpoint), id)
               : (struct str){ 0 };
}
