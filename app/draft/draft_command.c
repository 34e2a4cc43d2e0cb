// lash draft: a model from a STEP assembly, to be looked through.
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "app/cli/file_kind.h"
#include "app/cli/output_file.h"
#include "app/cli/progress.h"
#include "app/cli/report.h"
#include "app/cli/suggest.h"
#include "app/commands.h"
#include "app/draft/draft.h"
#include "app/draft/draft_write.h"
#include "app/model/fit.h"

typedef struct CommandOptions {
    AppOperands operands;
    AppList ground;
    const char *output, *material, *fasteners, *fit;
    double density, clearance_max;
    bool assumed; // neither --material nor --density: the file's, else steel
    bool json;
} CommandOptions;

typedef struct Material {
    const char* name;
    double density; // [kg/m^3]
} Material;
static const Material materials[] = {{"steel", 7850},     {"stainless", 7900}, {"cast-iron", 7200},
                                     {"aluminium", 2700}, {"brass", 8500},     {"bronze", 8800},
                                     {"copper", 8960},    {"titanium", 4500},  {"pom", 1410},
                                     {"pa66", 1140},      {"abs", 1050}};
enum { MATERIALS = sizeof materials / sizeof *materials };

static const char* const fastener_choices[] = {"weld", "keep", NULL};
#define OPTION(member) offsetof(CommandOptions, member)
static const AppOption options[] = {
    {"output", 'o', APP_FILE, "FILE", "where the model goes (default ASSEMBLY.draft.json)",
     OPTION(output)},
    {"ground", 0, APP_LIST, "PART",
     "a part that does not move; may be repeated (default: by name, or by joints)", OPTION(ground)},
    {"density", 0, APP_NUMBER, "X", "of all parts, in kg/m^3", OPTION(density)},
    {"material", 0, APP_TEXT, "NAME", "steel, aluminium, brass, ...: its density",
     OPTION(material)},
    {"fit", 0, APP_TEXT, "H7/g6", "for pins drawn without play: the play of this fit", OPTION(fit)},
    {"clearance-max", 0, APP_NUMBER, "MM",
     "largest radial play of a joint (default 0.1 mm or a tenth of the radius)",
     OPTION(clearance_max)},
    {"fasteners", 0, APP_TEXT, "HOW", "screws, nuts, washers", OPTION(fasteners), fastener_choices},
    APP_OPTION_CAD_SECONDS,
    {"json", 0, APP_FLAG, NULL, "print one JSON document", OPTION(json)},
};
const AppCommand app_draft_command = {
    .name = "draft",
    .operands = "ASSEMBLY.step",
    .summary = "draft a model from a STEP assembly: parts, joints, plays",
    .detail =
        "Finds pins in bores, balls in sockets and guides between the parts of an assembly that "
        "stand\n"
        "in their places, decides the types of joints by stops and by the freedom of the whole, "
        "welds\n"
        "fasteners, and writes a model that loads and runs. Every joint carries its reason and how "
        "sure\n"
        "it is: look through them before you believe anything.",
    .minimum = 1,
    .maximum = 1,
    .option = options,
    .options = sizeof options / sizeof *options,
    .json_offset = OPTION(json),
    .operand_offset = OPTION(operands),
    .files = APP_FILE_STEP};

static bool choose_density(CommandOptions* command_options, LashError* error) {
    if (command_options->material != NULL && !isnan(command_options->density))
        return lash_error_set(error, LASH_ERROR_USAGE, "--material",
                              "give it or --density, not both");
    if (!isnan(command_options->density)) {
        return command_options->density > 0 ||
               lash_error_set(error, LASH_ERROR_USAGE, "--density", "expected kg/m^3, got %g",
                              command_options->density);
    }
    const char* wanted = command_options->material != NULL ? command_options->material : "steel";
    AppSuggestion near = app_suggestion(wanted);
    for (int i = 0; i < MATERIALS; ++i) {
        app_suggestion_offer(&near, materials[i].name);
        if (strcmp(materials[i].name, wanted) == 0) command_options->density = materials[i].density;
    }
    if (!isnan(command_options->density)) return true;
    char hint[300];
    return lash_error_set(error, LASH_ERROR_USAGE, "--material",
                          "'%.40s' is not known%s; give --density in kg/m^3", wanted,
                          app_suggestion_names(&near, hint, sizeof hint));
}

static bool check_fit(const char* text, LashError* error) {
    char whole[80];
    LashFit fit;
    LashError inner = {0};
    if (text == NULL) return true;
    snprintf(whole, sizeof whole, "10 %.60s", text);
    if (!lash_fit_parse(whole, &fit, &inner) || !lash_fit_is_pair(&fit)) {
        return lash_error_set(
            error, LASH_ERROR_USAGE, "--fit",
            "expected hole and shaft without the size, such as H7/g6; got '%.40s'", text);
    }
    return true;
}

static const char* base_name(const char* path) {
    const char* slash = strrchr(path, '/');
    return slash == NULL ? path : slash + 1;
}

// As the model must name the STEP file: beside it by name, elsewhere by its full path.
static const char* step_for(const char* output, const char* step, char* path) {
    size_t a = (size_t)(base_name(output) - output), b = (size_t)(base_name(step) - step);
    if (a == b && strncmp(output, step, a) == 0) return base_name(step);
    return realpath(step, path) != NULL ? path : step;
}

static void default_output(const char* step, char* path, size_t size) {
    const char *name = base_name(step), *dot = strrchr(name, '.');
    int length = dot == NULL ? (int)strlen(step) : (int)(dot - step);
    snprintf(path, size, "%.*s.draft.json", length, step);
}

static void print_draft(const Draft* draft, const char* output) {
    printf("%d %s, %d %s, %d %s\n", draft->parts, app_plural(draft->parts, "part", "parts"),
           draft->bodies, app_plural(draft->bodies, "body", "bodies"), draft->joints,
           app_plural(draft->joints, "joint", "joints"));
    for (int i = 0; i < draft->joints; ++i) {
        const DraftJoint* draft_joint = &draft->joint[i];
        printf("  %-7s %-12s %-28s %s\n", draft_confidence_name[draft_joint->confidence],
               draft_type_name[draft_joint->type], draft_joint->name, draft_joint->reason);
    }
    for (int i = 0; i < draft->contacts; ++i) {
        const DraftContact* draft_contact = &draft->contact[i];
        printf("  off     contact      %s-%s: %d and %d faces, %.4g mm apart\n",
               draft->body[draft_contact->body[0]].name, draft->body[draft_contact->body[1]].name,
               draft_contact->faces[0], draft_contact->faces[1], 1e3 * draft_contact->gap);
    }
    for (int i = 0; i < draft->notes; ++i) printf("  note    %s\n", draft->note[i].text);
    printf("freedom: %d degree%s of freedom, %d redundant row%s\n", draft->freedom,
           draft->freedom == 1 ? "" : "s", draft->redundant, draft->redundant == 1 ? "" : "s");
    printf("written: %s; look through it, then lash check and lash run\n", output);
}

static void put_draft(AppJson* json, const Draft* draft, const char* output) {
    app_json_put_text(json, "output", output);
    app_json_put_integer(json, "parts", draft->parts);
    app_json_put_integer(json, "bodies", draft->bodies);
    app_json_put_integer(json, "freedom", draft->freedom);
    app_json_put_integer(json, "redundant", draft->redundant);
    app_json_key(json, "joints");
    app_json_begin_array(json);
    for (int i = 0; i < draft->joints; ++i) {
        const DraftJoint* draft_joint = &draft->joint[i];
        app_json_begin_object(json);
        app_json_put_text(json, "name", draft_joint->name);
        app_json_put_text(json, "type", draft_type_name[draft_joint->type]);
        app_json_put_text(json, "outer", draft->body[draft_joint->outer].name);
        app_json_put_text(json, "inner", draft->body[draft_joint->inner].name);
        app_json_put_vec3(json, "point", draft_joint->point);
        app_json_put_vec3(json, "axis", draft_joint->axis);
        app_json_put_number(json, "radial_clearance", draft_joint->play);
        app_json_put_bool(json, "no_play", draft_joint->no_play);
        app_json_put_text(json, "fit", draft_joint->fit[0] != '\0' ? draft_joint->fit : NULL);
        app_json_put_text(json, "confidence", draft_confidence_name[draft_joint->confidence]);
        app_json_put_text(json, "reason", draft_joint->reason);
        app_json_end_object(json);
    }
    app_json_end_array(json);
    app_json_put_integer(json, "overlaps", draft->overlaps);
    app_json_key(json, "contacts");
    app_json_begin_array(json);
    for (int i = 0; i < draft->contacts; ++i) {
        const DraftContact* draft_contact = &draft->contact[i];
        app_json_begin_object(json);
        app_json_put_text(json, "a", draft->body[draft_contact->body[0]].name);
        app_json_put_text(json, "b", draft->body[draft_contact->body[1]].name);
        app_json_put_integer(json, "a_faces", draft_contact->faces[0]);
        app_json_put_integer(json, "b_faces", draft_contact->faces[1]);
        app_json_put_number(json, "gap", draft_contact->gap);
        app_json_end_object(json);
    }
    app_json_end_array(json);
    app_json_key(json, "notes");
    app_json_begin_array(json);
    for (int i = 0; i < draft->notes; ++i) app_json_text(json, draft->note[i].text);
    app_json_end_array(json);
}

static bool save(const Draft* draft, const CommandOptions* command_options, const char* output,
                 LashError* error) {
    char path[PATH_MAX];
    DraftModel model = {.step = step_for(output, command_options->operands.item[0], path),
                        .density = command_options->density,
                        .file_densities = command_options->assumed,
                        .fit = command_options->fit};
    AppOutput* file = app_output_create(output, error);
    if (file == NULL) return false;
    DraftText text = draft_write(draft, &model);
    fwrite(text.text, 1, text.used, app_output_stream(file));
    draft_text_free(&text);
    return app_output_finish(file, error);
}

static void note_masses(Draft* draft) {
    int known = 0;
    for (int i = 0; i < draft->parts; ++i)
        known += draft->shape->part[draft->part[i].row].density > 0;
    if (known == draft->parts) {
        draft_add_note(draft, "masses: densities of the materials in the file");
        return;
    }
    draft_add_note(draft,
                   "masses: steel is assumed for %s (7850 kg/m^3); say --material or --density",
                   known == 0 ? "every part" : "parts without a density in the file");
}

int app_draft(int argc, char** argv) {
    CommandOptions o = {.density = NAN, .clearance_max = NAN, .fasteners = "weld"};
    int code = app_options_parse(&app_draft_command, argc, argv, &o);
    if (code >= 0) return code;
    AppReport report = app_report("draft", o.json);
    LashError error = {0};
    char name[PATH_MAX];
    const char *step = o.operands.item[0], *output = o.output;
    if (output == NULL) {
        default_output(step, name, sizeof name);
        output = name;
    }
    o.assumed = o.material == NULL && isnan(o.density);
    LashShape* shape = NULL;
    Draft* draft = NULL;
    if (choose_density(&o, &error) && check_fit(o.fit, &error) &&
        app_file_ending("--output", o.output, ".json", &error) &&
        app_output_check(output, &error)) {
        LashImport import = {.progress = app_progress_cad, .pmi = true};
        shape = lash_shape_load(step, &import, &error);
    }
    if (shape != NULL) {
        DraftOptions how = {.ground = o.ground.item,
                            .grounds = o.ground.count,
                            .clearance_max = 1e-3 * o.clearance_max,
                            .keep_fasteners = strcmp(o.fasteners, "keep") == 0};
        draft = draft_create(shape, &how, &error);
        if (draft == NULL) lash_error_file(&error, step);
    }
    if (draft != NULL && o.assumed) note_masses(draft);
    if (draft != NULL && save(draft, &o, output, &error)) {
        if (o.json)
            put_draft(app_report_document(&report, NULL), draft, output);
        else
            print_draft(draft, output);
    }
    draft_destroy(draft);
    lash_shape_destroy(shape);
    return app_report_finish(&report, &error);
}
