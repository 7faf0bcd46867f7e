/* internal.h - declarations shared by the files of instance/. */
#ifndef PLATFORM_INSTANCE_INTERNAL_H
#define PLATFORM_INSTANCE_INTERNAL_H

#include "platform/instance/instance.h"

/* Endpoint URLs. */
struct instance_endpoint_urls {
    struct str api;
};
struct instance_api {
    struct str base_url;
    struct str versions; /* JSON */
};
struct instance_gateway {
    struct str base_url;
    struct str encoding, compression; /* JSON */
};
struct instance_cdn {
    struct str base_url;
};
struct instance_client {
    const struct instance_api *api;
    const struct instance_gateway *gateway;
    const struct instance_cdn *cdn;
};
struct instance_domains {
    struct str cdn, gateway, api, api_endpoint, default_api_version;
};

/* Description of the server. Unknown fields are null. */
struct instance_about {
    struct opt_str id, description, image, email, user_id, front_page, tos_page;
    struct str name;
};
struct instance_ping {
    struct str ping;
    const struct instance_about *instance;
};

struct instance_limit {
    const char *group, *name,
        *flat; /* flat: key in the reply without groups; NULL if that reply omits the limit */
    int64_t value;
};

extern const struct type instance_address_type, instance_client_type, instance_domains_type,
    instance_about_type, instance_ping_type, current_announcement_type;

/* Route handler in announcements.c. */
enum err get_announcement(struct call *call);

#endif
