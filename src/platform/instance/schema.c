/* schema.c - JSON schemas of the discovery routes. */
#include "platform/instance/internal.h"

#include "model/fields/types.h"

#define OBJECT_TYPE(name_, struct_, fields_, doc_)                                \
    static const struct schema name_##_schema = { .size = sizeof(struct struct_), \
                                                  .fields = fields_,              \
                                                  .doc = doc_ };                  \
    const struct type name_##_type = { .kind = KIND_OBJECT, .schema = &name_##_schema }

static const struct field address_fields[] = {
    { FIELD(struct instance_endpoint_urls, api), .type = &type_text },
    { 0 },
};
OBJECT_TYPE(instance_address, instance_endpoint_urls, address_fields, "URL of the API.");

static const struct field api_fields[] = {
    { FIELD_AS(struct instance_api, base_url, "baseUrl"), .type = &type_text },
    { FIELD_AS(struct instance_api, versions, "apiVersions"), .type = &type_raw },
    { 0 },
};
static const struct schema api_schema = { .size = sizeof(struct instance_api),
                                          .fields = api_fields };
static const struct type type_api = { .kind = KIND_OBJECT, .schema = &api_schema };
static const struct field gateway_fields[] = {
    { FIELD_AS(struct instance_gateway, base_url, "baseUrl"), .type = &type_text },
    { FIELD(struct instance_gateway, encoding), .type = &type_raw },
    { FIELD(struct instance_gateway, compression), .type = &type_raw },
    { 0 },
};
static const struct schema gateway_schema = { .size = sizeof(struct instance_gateway),
                                              .fields = gateway_fields };
static const struct type type_gateway = { .kind = KIND_OBJECT, .schema = &gateway_schema };
static const struct field cdn_fields[] = {
    { FIELD_AS(struct instance_cdn, base_url, "baseUrl"), .type = &type_text },
    { 0 },
};
static const struct schema cdn_schema = { .size = sizeof(struct instance_cdn),
                                          .fields = cdn_fields };
static const struct type type_cdn = { .kind = KIND_OBJECT, .schema = &cdn_schema };
static const struct field client_fields[] = {
    { FIELD(struct instance_client, api), .type = &type_api },
    { FIELD(struct instance_client, gateway), .type = &type_gateway },
    { FIELD(struct instance_client, cdn), .type = &type_cdn },
    { 0 },
};
OBJECT_TYPE(instance_client, instance_client, client_fields, "URLs of the server's endpoints.");

static const struct field domains_fields[] = {
    { FIELD(struct instance_domains, cdn), .type = &type_text },
    { FIELD(struct instance_domains, gateway), .type = &type_text },
    { FIELD(struct instance_domains, api), .type = &type_text },
    { FIELD_AS(struct instance_domains, api_endpoint, "apiEndpoint"), .type = &type_text },
    { FIELD_AS(struct instance_domains, default_api_version, "defaultApiVersion"),
      .type = &type_text },
    { 0 },
};
OBJECT_TYPE(instance_domains, instance_domains, domains_fields, "URLs of the server's endpoints.");

static const struct field about_fields[] = {
    { FIELD(struct instance_about, id), .type = &type_text, .flags = NULLABLE },
    { FIELD(struct instance_about, name), .type = &type_text },
    { FIELD(struct instance_about, description), .type = &type_text, .flags = NULLABLE },
    { FIELD(struct instance_about, image), .type = &type_text, .flags = NULLABLE },
    { FIELD_AS(struct instance_about, email, "correspondenceEmail"), .type = &type_text,
      .flags = NULLABLE },
    { FIELD_AS(struct instance_about, user_id, "correspondenceUserID"), .type = &type_text,
      .flags = NULLABLE },
    { FIELD_AS(struct instance_about, front_page, "frontPage"), .type = &type_text,
      .flags = NULLABLE },
    { FIELD_AS(struct instance_about, tos_page, "tosPage"), .type = &type_text, .flags = NULLABLE },
    { 0 },
};
OBJECT_TYPE(instance_about, instance_about, about_fields, "Description of the server.");

static const struct field ping_fields[] = {
    { FIELD(struct instance_ping, ping), .type = &type_text },
    { FIELD(struct instance_ping, instance), .type = &instance_about_type },
    { 0 },
};
OBJECT_TYPE(instance_ping, instance_ping, ping_fields, "Check that the server is up.");
