/* world_file_fields.c - composes the schema of world files from the fields of all domains, and
 * imports and exports entries by this schema. */
#include <pthread.h>

#include "api/route.h"
#include "platform/worlds/import_export.h"

/* A field that a domain adds to an object of world files, and its entry in the object's schema. */
struct object_part {
    const struct world_file_field *part;
    const struct field *field; /* field of the object; NULL if the import function of `part` gets
                                * the whole object */
};
struct world_object {
    const char *name;
    struct schema schema;
    struct type type, list;
    struct list parts; /* struct object_part, in import order */
    struct world_object *next;
};
struct world_file_format {
    const struct domain *const *domains;
    struct arena *arena;
    struct world_object *objects, *file;
    struct world_file_format *next;
};

/* --- composition ---------------------------------------------------------------------- */

static const struct field file_fields[] = {
    WORLD_FILE_FIELD("users"),
    WORLD_FILE_FIELD("applications"),
    WORLD_FILE_FIELD("platform_accounts"),
    WORLD_FILE_FIELD("guilds"),
    WORLD_FILE_FIELD("relationships"),
    WORLD_FILE_FIELD("directs"),
    WORLD_FILE_FIELD("groups"),
    { 0 },
};
static const struct schema file_schema = { .fields = file_fields };

static bool object_names_are_equal(const char *a, const char *b)
{
    return a == b || (a && b && strcmp(a, b) == 0);
}

static struct world_object *find_world_object_of_fields(const struct world_file_format *f,
                                                        const char *name)
{
    struct world_object *o = f->objects;

    while (o && !object_names_are_equal(o->name, name))
        o = o->next;
    return o;
}

static void insert_field_row_in_order(struct world_file_format *f, struct world_object *o,
                                      const struct world_file_field *part)
{
    struct object_part *p = list_append(f->arena, &o->parts, sizeof *p), *first = o->parts.items;

    for (; p > first && p[-1].part->order > part->order; p--)
        *p = p[-1];
    *p = (struct object_part){ .part = part };
}

static struct world_object *compose_object_schema(struct world_file_format *f, const char *name,
                                                  const struct schema *own);

static const struct type *compose_type_of_field_row(struct world_file_format *f,
                                                    const struct world_file_field *part)
{
    if (!part->object)
        return part->type;
    struct world_object *o = compose_object_schema(f, part->object, part->type->of->schema);
    o->list = *part->type;
    o->list.of = &o->type;
    return &o->list;
}

/* Adds a field to the schema of an object. All fields are optional, because an import does not
 * change fields that the file omits. */
static void add_field_to_object_schema(struct world_file_format *f, struct world_object *o,
                                       struct field *field, const struct world_file_field *part)
{
    enum json_type_kind kind = part->type->kind;

    *field = (struct field){
        .name = str_of(part->name),
        .offset = (uint32_t)o->schema.size,
        .member = kind == KIND_ARRAY    ? MEMBER_OPT_LIST
                  : kind == KIND_OBJECT ? MEMBER_OPT_OBJECT
                                        : MEMBER_OPT_STR,
        .type = compose_type_of_field_row(f, part),
        .flags = OPTIONAL | NULLABLE,
    };
    o->schema.size += sizeof(struct opt_list);
}

static const struct world_file_field *find_field_row_by_name(const struct world_object *o,
                                                             struct str name)
{
    const struct object_part *p = o->parts.items;

    for (size_t i = 0; i < o->parts.count; i++)
        if (p[i].part->type && str_is(name, p[i].part->name))
            return p[i].part;
    return NULL;
}

static void compose_object_fields(struct world_file_format *f, struct world_object *o,
                                  const struct schema *own)
{
    size_t count = 0;

    while (own->fields[count].name.p)
        count++;
    struct field *fields = arena_alloc(f->arena, (count + 1) * sizeof *fields), *to = fields;
    o->schema.fields = fields;
    for (const struct field *from = own->fields; from->name.p; from++) {
        const struct world_file_field *part =
            from->type ? NULL : find_field_row_by_name(o, from->name);

        if (from->type)
            *to++ = *from;
        else if (part)
            add_field_to_object_schema(f, o, to++, part);
    }
}

static struct world_object *compose_object_schema(struct world_file_format *f, const char *name,
                                                  const struct schema *own)
{
    struct world_object *o = find_world_object_of_fields(f, name);

    if (o)
        return o;
    o = arena_alloc(f->arena, sizeof *o);
    *o = (struct world_object){ .name = name, .schema = *own, .next = f->objects };
    o->type = (struct type){ .kind = KIND_OBJECT, .schema = &o->schema };
    f->objects = o;
    for (const struct domain *const *d = f->domains; *d; d++)
        for (const struct world_file_field *p = (*d)->world ? (*d)->world->rows : NULL;
             p && p->order; p++)
            if (object_names_are_equal(p->of, name))
                insert_field_row_in_order(f, o, p);
    compose_object_fields(f, o, own);
    struct object_part *p = o->parts.items;
    for (size_t i = 0; i < o->parts.count; i++)
        for (const struct field *field = o->schema.fields; field->name.p; field++)
            if (p[i].part->name && str_is(field->name, p[i].part->name))
                p[i].field = field;
    return o;
}

/* Formats are never freed: json/plan.h caches compiled schemas by their address, which must not be
 * used again. */
const struct world_file_format *world_file_format_of_domains(const struct domain *const *domains)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    static struct world_file_format *all;

    pthread_mutex_lock(&lock);
    struct world_file_format *f = all;
    while (f && f->domains != domains)
        f = f->next;
    if (!f) {
        struct arena *arena = arena_new();

        f = arena_alloc(arena, sizeof *f);
        *f = (struct world_file_format){ .domains = domains, .arena = arena, .next = all };
        f->file = compose_object_schema(f, NULL, &file_schema);
        all = f;
    }
    pthread_mutex_unlock(&lock);
    return f;
}

const struct type *world_file_schema_type(const struct world_file_format *f)
{
    return &f->file->type;
}

/* --- walk ----------------------------------------------------------------------------- */

enum err world_file_prepare_fields_before_import(const struct world_file_format *f,
                                                 const struct world_file_import_options *options,
                                                 struct arena *arena, void *file)
{
    const struct object_part *p = f->file->parts.items;
    enum err e = OK;

    for (size_t i = 0; i < f->file->parts.count && !e; i++)
        if (p[i].part->prepare && p[i].field)
            e = p[i].part->prepare(
                options, arena, &((struct opt_list *)((char *)file + p[i].field->offset))->value);
    return e;
}

static enum err import_field_of_entry(struct world_file_importer *im, const struct object_part *p,
                                      const void *entry, const struct json_path *at,
                                      snowflake owner)
{
    const void *member = (const char *)entry + p->field->offset;
    struct json_path here = json_path_key(at, p->field->name);

    if (p->field->member == MEMBER_OPT_STR) {
        const struct opt_str *text = member;

        return text->given == GIVEN ? p->part->import(im, &text->value, &here, owner) : OK;
    }
    if (p->field->member == MEMBER_OPT_OBJECT) {
        const struct opt_object *object = member;

        return object->value ? p->part->import(im, object->value, &here, owner) : OK;
    }
    if (p->part->whole)
        return p->part->import(im, member, &here, owner);
    return world_file_import_entries(im, member, schema_list_item_size(p->field->type->of), &here,
                                     p->part->import, owner);
}

static enum err import_fields_of_entry(struct world_file_importer *im, const char *object,
                                       const void *entry, const struct json_path *at,
                                       snowflake owner, bool later)
{
    const struct world_object *o = find_world_object_of_fields(im->format, object);
    const struct object_part *p = o->parts.items;
    enum err e = OK;

    for (size_t i = 0; i < o->parts.count && !e; i++) {
        if (!p[i].part->import || p[i].part->later != later)
            continue;
        e = p[i].field ? import_field_of_entry(im, &p[i], entry, at, owner)
                       : p[i].part->import(im, entry, at, owner);
    }
    return e;
}

enum err world_file_import_fields(struct world_file_importer *im, const char *object,
                                  const void *entry, const struct json_path *at, snowflake owner)
{
    return import_fields_of_entry(im, object, entry, at, owner, false);
}

enum err world_file_import_deferred_fields(struct world_file_importer *im, const char *object,
                                           const void *entry, const struct json_path *at,
                                           snowflake owner)
{
    return import_fields_of_entry(im, object, entry, at, owner, true);
}

size_t world_file_entry_size(const struct world_file_format *f, const char *object)
{
    return find_world_object_of_fields(f, object)->schema.size;
}

enum err world_file_estimate_entries(const struct world_file_format *f, struct tx *tx, int64_t *ret)
{
    enum err e = OK;

    *ret = 0;
    for (const struct world_object *o = f->objects; o; o = o->next) {
        const struct object_part *p = o->parts.items;

        for (size_t i = 0; i < o->parts.count && !e; i++) {
            int64_t count = 0;

            if (p[i].part->count.text)
                e = tx_read_int_sql(tx, p[i].part->count, NO_BIND, &count);
            *ret += count;
        }
    }
    return e;
}

void *world_file_entry_add(struct world_file_exporter *ex, const char *object,
                           struct opt_list *list)
{
    world_file_count_exported_entry(ex);
    return export_add_list_item(ex->tx, list, world_file_entry_size(ex->format, object));
}

void *world_file_entry_find_field(struct world_file_entries *e, snowflake id)
{
    while (e->next < e->end && ((const struct opt_id *)(const void *)e->next)->value < id)
        e->next += e->size;
    if (e->next == e->end || ((const struct opt_id *)(const void *)e->next)->value != id)
        return NULL;
    return e->next + e->member;
}

static enum err export_entries_of_field_row(struct world_file_exporter *ex,
                                            const struct object_part *p, snowflake owner,
                                            struct opt_list *ret)
{
    const struct value values[] = { v_id(owner) };
    struct rows r;
    enum err e = tx_query(ex->tx, p->part->select, values, p->part->of ? 1 : 0, &r);

    if (e)
        return e;
    while (!world_file_export_is_too_large(ex) && rows_next(&r)) {
        void *entry = export_add_list_item(ex->tx, ret, schema_list_item_size(p->field->type->of));

        world_file_count_exported_entry(ex);
        if (!p->part->read(ex, &r, entry))
            ret->value.count--;
    }
    if (!ret->value.count)
        ret->given = ABSENT;
    return rows_end(&r);
}

enum err world_file_export_fields(struct world_file_exporter *ex, const char *object,
                                  snowflake owner, void *entries, size_t count)
{
    const struct world_object *o = find_world_object_of_fields(ex->format, object);
    const struct object_part *p = o->parts.items;
    enum err e = OK;

    for (size_t i = 0; i < o->parts.count && count && !e; i++) {
        const struct world_file_field *part = p[i].part;
        void *member = (char *)entries + (p[i].field ? p[i].field->offset : 0);
        struct world_file_entries all = { entries, (char *)entries + count * o->schema.size,
                                          o->schema.size, p[i].field ? p[i].field->offset : 0 };

        if (world_file_export_is_too_large(ex))
            return ERR_ANSWER_TOO_LARGE;
        e = part->read             ? export_entries_of_field_row(ex, &p[i], owner, member)
            : part->export         ? part->export(ex, member)
            : part->export_object  ? part->export_object(ex, member)
            : part->export_text    ? part->export_text(ex, member)
            : part->export_members ? part->export_members(ex, &all)
                                   : OK;
    }
    return e;
}
