// A draft as a model file: parts by their paths, joints by queries of their faces, every joint with
// the reason for it. One entry per line, so that people can edit it.
#include <ctype.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "app/cli/json_writer.h"
#include "app/draft/draft_write.h"
#include "core/arena.h"
#include "core/math3.h"
#include "geometry/select.h"

static void add(DraftText* text, const char* format, ...) LASH_PRINTF(2, 3);
static void add(DraftText* text, const char* format, ...) {
    va_list arguments, again;
    va_start(arguments, format);
    va_copy(again, arguments);
    int n = vsnprintf(NULL, 0, format, arguments);
    va_end(arguments);
    if (text->used + (size_t)n + 1 > text->capacity) {
        size_t capacity = 2 * (text->used + (size_t)n + 1);
        char* more = lash_alloc(capacity);
        if (text->used > 0) memcpy(more, text->text, text->used);
        lash_free(text->text);
        text->text = more;
        text->capacity = capacity;
    }
    vsnprintf(text->text + text->used, (size_t)n + 1, format, again);
    va_end(again);
    text->used += (size_t)n;
}

// On one line: the writer's line ends and indents are outside texts, which have none.
static void add_line(DraftText* text, const AppJson* json, bool last) {
    add(text, "    ");
    for (const char* c = json->text; *c != '\0'; ++c) {
        if (*c != '\n') {
            add(text, "%c", *c);
            continue;
        }
        while (c[1] == ' ') ++c;
        if (c[1] != '}' && c[1] != ']' && text->text[text->used - 1] == ',') add(text, " ");
    }
    add(text, "%s\n", last ? "" : ",");
}

// 15 digits are what a length in mm has left of one in metres.
static double mm(double metres) {
    char number[40];
    double value;
    snprintf(number, sizeof number, "%.14g", 1e3 * metres);
    sscanf(number, "%lf", &value);
    return fabs(value) < 1e-9 ? 0 : value; // what rounding leaves of a zero
}

static void put_point(AppJson* json, const char* key, Vec3 p) {
    app_json_put_vec3(json, key, vec3(mm(p.x), mm(p.y), mm(p.z)));
}

// A point of the face in the middle of its (u, v) range.
static Vec3 middle_of(const LashFace* face) {
    double u = 0.5 * (face->u0 + face->u1), v = 0.5 * (face->v0 + face->v1);
    Vec3 out = vec3_add(vec3_scale(cos(u), face->x), vec3_scale(sin(u), face->y));
    if (face->type == LASH_SPHERE) {
        out = vec3_add(vec3_scale(cos(v), out), vec3_scale(sin(v), face->z));
        return vec3_add_scaled(face->origin, face->radius, out);
    }
    return vec3_add_scaled(vec3_add_scaled(face->origin, face->radius, out), v, face->z);
}

// A point of the viewing mesh of the face: the middle of its largest triangle.
static Vec3 mesh_middle(const Draft* draft, int face) {
    const LashShape* shape = draft->shape;
    double most = -1;
    Vec3 best = shape->face[face].origin;
    for (int i = draft->first_triangle[face]; i < draft->first_triangle[face + 1]; ++i) {
        Vec3 p[3];
        for (int k = 0; k < 3; ++k) {
            int vertex = shape->triangle[3 * (size_t)draft->triangle[i] + k];
            const float* q = shape->mesh_point + 3 * (size_t)vertex;
            p[k] = vec3(q[0], q[1], q[2]);
        }
        double area = vec3_norm(vec3_cross(vec3_sub(p[1], p[0]), vec3_sub(p[2], p[0])));
        if (area <= most) continue;
        most = area;
        best = vec3_scale(1.0 / 3, vec3_add(p[0], vec3_add(p[1], p[2])));
    }
    return best;
}

static void put_contact_side(AppJson* json, const Draft* draft, const DraftContact* contact,
                             int side) {
    app_json_key(json, side == 0 ? "a" : "b");
    app_json_begin_object(json);
    app_json_put_text(json, "part", draft->body[contact->body[side]].name);
    app_json_key(json, "faces");
    app_json_begin_array(json);
    for (int i = 0; i < contact->faces[side]; ++i) {
        int row = contact->face[side][i];
        const LashFace* face = &draft->shape->face[row];
        app_json_begin_object(json);
        app_json_put_text(json, "type", lash_surface_type_name(face->type));
        if (face->type == LASH_CYLINDER || face->type == LASH_SPHERE)
            app_json_put_number(json, "radius", mm(face->radius));
        put_point(json, "near", mesh_middle(draft, row));
        app_json_end_object(json);
    }
    app_json_end_array(json);
    app_json_end_object(json);
}

static void write_contact(DraftText* text, const Draft* draft, int index) {
    const DraftContact* contact = &draft->contact[index];
    AppJson json = {0};
    char name[220], reason[100];
    snprintf(name, sizeof name, "%s-%s contact", draft->body[contact->body[0]].name,
             draft->body[contact->body[1]].name);
    snprintf(reason, sizeof reason, "these faces are %.4g mm apart and no joint",
             1e3 * contact->gap);
    app_json_begin_object(&json);
    app_json_put_text(&json, "name", name);
    app_json_put_bool(&json, "off", true);
    put_contact_side(&json, draft, contact, 0);
    put_contact_side(&json, draft, contact, 1);
    app_json_key(&json, "draft");
    app_json_begin_object(&json);
    app_json_put_text(&json, "confidence", draft_confidence_name[DRAFT_GUESS]);
    app_json_put_text(&json, "reason", reason);
    app_json_end_object(&json);
    app_json_end_object(&json);
    add_line(text, &json, index + 1 == draft->contacts);
    app_json_free(&json);
}

static void put_faces(AppJson* json, const char* key, const Draft* draft, int round) {
    const DraftRound* draft_round = &draft->round[round];
    app_json_key(json, key);
    app_json_begin_array(json);
    for (int i = 0; i < draft_round->faces; ++i) {
        const LashFace* face = &draft->shape->face[draft_round->face[i]];
        app_json_begin_object(json);
        app_json_put_text(json, "type", draft_round->sphere ? "sphere" : "cylinder");
        app_json_put_text(json, "side", draft_round->hollow ? "concave" : "convex");
        app_json_put_number(json, "radius", mm(face->radius));
        put_point(json, "near", middle_of(face));
        app_json_end_object(json);
    }
    app_json_end_array(json);
}

static bool is_same_but_signs(const char* a, const char* b) {
    while (*a != '\0' && *b != '\0') {
        bool word = isalnum((unsigned char)*a) || isalnum((unsigned char)*b);
        if (*a != *b && word) return false;
        ++a;
        ++b;
    }
    return *a == *b;
}

// "play_table_arm" of the joint "table-arm"; joints whose names differ in signs only are numbered.
static const char* parameter_of(const Draft* draft, const DraftJoint* joint, char* name,
                                size_t size) {
    int same = 1;
    for (const DraftJoint* draft_joint = draft->joint; draft_joint <= joint; ++draft_joint) {
        char other[220];
        snprintf(other, sizeof other, "play_%s", draft_joint->name);
        for (char* c = other; *c != '\0'; ++c)
            if (!isalnum((unsigned char)*c)) *c = '_';
        if (draft_joint == joint)
            snprintf(name, size, "%s", other);
        else
            same += is_same_but_signs(draft_joint->name, joint->name);
    }
    size_t used = strlen(name);
    if (same > 1) snprintf(name + used, size - used, "_%d", same);
    return name;
}

// Has the joint of the model a play? Parallel axes and plates between planes are ideal.
static bool takes_play(const DraftJoint* joint) {
    if (joint->bore < 0) return joint->type == DRAFT_PRISMATIC && joint->width > 0;
    return joint->type != DRAFT_FIXED && joint->type != DRAFT_PRISMATIC;
}

static void write_parameters(DraftText* text, const Draft* draft, const char* fit) {
    int count = 0;
    add(text, "  \"parameters\": {");
    for (int i = 0; i < draft->joints; ++i) {
        const DraftJoint* draft_joint = &draft->joint[i];
        char name[220];
        if (!takes_play(draft_joint)) continue;
        double size =
            draft_joint->bore >= 0 ? 2 * draft->round[draft_joint->pin].radius : draft_joint->width;
        add(text, "%s\n    \"%s\": ", count++ > 0 ? "," : "",
            parameter_of(draft, draft_joint, name, sizeof name));
        if (draft_joint->fit[0] != '\0')
            add(text, "{\"fit\": \"%s\"}", draft_joint->fit);
        else if (draft_joint->no_play && fit != NULL)
            add(text, "{\"fit\": \"%.10g %s\"}", mm(size), fit);
        else
            add(text, "%.10g", draft_joint->no_play ? 0 : mm(draft_joint->play));
    }
    add(text, "%s},\n", count > 0 ? "\n  " : "");
}

// The mean over its parts' volumes; those of which the file has no density are of the model's.
static double body_density(const Draft* draft, const DraftModel* model, int body) {
    double mass = 0, volume = 0;
    for (int i = 0; i < draft->parts; ++i) {
        const LashShapePart* row = &draft->shape->part[draft->part[i].row];
        if (draft->part[i].body != body || !(row->volume > 0)) continue;
        bool known = model->file_densities && row->density > 0;
        mass += row->volume * (known ? row->density : model->density);
        volume += row->volume;
    }
    return volume > 0 ? mass / volume : model->density;
}

static void write_body(DraftText* text, const Draft* draft, const DraftModel* model, int body) {
    AppJson json = {0};
    app_json_begin_object(&json);
    app_json_put_text(&json, "name", draft->body[body].name);
    app_json_put_text(&json, "step", model->step);
    app_json_key(&json, "part");
    app_json_begin_array(&json);
    for (int i = 0; i < draft->parts; ++i)
        if (draft->part[i].body == body) app_json_text(&json, draft->part[i].path);
    app_json_end_array(&json);
    if (draft->body[body].ground)
        app_json_put_bool(&json, "fixed", true);
    else
        app_json_put_number(&json, "density", 1e-6 * body_density(draft, model, body)); // g/mm^3
    app_json_end_object(&json);
    add_line(text, &json, body + 1 == draft->bodies);
    app_json_free(&json);
}

// Every play is a parameter, so that a study can vary it.
static void put_clearance(AppJson* json, const Draft* draft, const DraftJoint* joint) {
    char name[220];
    app_json_put_text(json, "clearance", parameter_of(draft, joint, name, sizeof name));
}

static void put_play(AppJson* json, const Draft* draft, const DraftJoint* joint) {
    if (joint->bore < 0 || joint->type == DRAFT_FIXED || joint->type == DRAFT_PRISMATIC) {
        put_point(json, "point", joint->point);
        app_json_put_vec3(json, "axis", joint->axis);
        if (vec3_norm(joint->x_axis) > 0) app_json_put_vec3(json, "x_axis", joint->x_axis);
        if (takes_play(joint)) {
            put_clearance(json, draft, joint);
            app_json_put_number(json, "width", mm(joint->width));
            app_json_put_number(json, "height", mm(joint->height));
            app_json_put_number(json, "length", mm(joint->length));
        }
        return;
    }
    put_faces(json, "bore", draft, joint->bore);
    put_faces(json, "pin", draft, joint->pin);
    put_clearance(json, draft, joint);
    if (joint->type == DRAFT_REVOLUTE)
        app_json_put_number(json, "axial_clearance", isnan(joint->axial) ? 0 : mm(joint->axial));
}

static void write_joint(DraftText* text, const Draft* draft, int index) {
    const DraftJoint* draft_joint = &draft->joint[index];
    AppJson json = {0};
    app_json_begin_object(&json);
    app_json_put_text(&json, "name", draft_joint->name);
    app_json_put_text(&json, "type", draft_type_name[draft_joint->type]);
    bool turned =
        draft->body[draft_joint->inner].ground; // the ground is side a: b moves against it
    app_json_put_text(&json, "a",
                      draft->body[turned ? draft_joint->inner : draft_joint->outer].name);
    app_json_put_text(&json, "b",
                      draft->body[turned ? draft_joint->outer : draft_joint->inner].name);
    bool play = draft_joint->bore >= 0 || draft_joint->width > 0;
    if (turned && play && draft_joint->type != DRAFT_FIXED)
        app_json_put_text(&json, "bore_in", "b");
    put_play(&json, draft, draft_joint);
    app_json_key(&json, "draft");
    app_json_begin_object(&json);
    app_json_put_text(&json, "confidence", draft_confidence_name[draft_joint->confidence]);
    app_json_put_text(&json, "reason", draft_joint->reason);
    app_json_end_object(&json);
    app_json_end_object(&json);
    add_line(text, &json, index + 1 == draft->joints);
    app_json_free(&json);
}

// What is drawn at nominal size may stand beside its axis by more than the play of the fit, or, as
// an ideal joint, by more than a start may be off.
static bool must_assemble(const Draft* draft, const DraftModel* model) {
    for (int i = 0; i < draft->joints; ++i) {
        const DraftJoint* joint = &draft->joint[i];
        if ((joint->no_play && joint->apart > 1e-11) || joint->fit[0] != '\0') return true;
    }
    return model->fit != NULL;
}

DraftText draft_write(const Draft* draft, const DraftModel* model) {
    DraftText text = {0};
    AppJson name = {0};
    app_json_text(&name, model->step);
    add(&text, "{\n  \"format\": \"lash-model/1\",\n  \"name\": %s,\n", name.text);
    app_json_free(&name);
    add(&text,
        "  \"description\": \"Drafted by lash draft: look through every joint's reason, then add "
        "drivers, forces and outputs.\",\n");
    add(&text, "  \"units\": {\"length\": \"mm\", \"mass\": \"g\", \"angle\": \"deg\"},\n");
    write_parameters(&text, draft, model->fit);
    add(&text, "  \"gravity\": [0, 0, 0],\n  \"parts\": [\n");
    for (int b = 0; b < draft->bodies; ++b) write_body(&text, draft, model, b);
    add(&text, "  ],\n  \"joints\": [\n");
    for (int i = 0; i < draft->joints; ++i) write_joint(&text, draft, i);
    if (draft->contacts > 0) {
        add(&text, "  ],\n  \"contacts\": [\n");
        for (int i = 0; i < draft->contacts; ++i) write_contact(&text, draft, i);
    }
    add(&text, "  ],\n  \"simulation\": {\"step\": 1e-4, \"duration\": 0.1%s}\n}\n",
        must_assemble(draft, model) ? ", \"assemble\": true" : "");
    return text;
}

void draft_text_free(DraftText* text) {
    lash_free(text->text);
    *text = (DraftText){0};
}
