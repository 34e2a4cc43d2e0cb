// lash view part.step, lash view assembly.step.
#include "app/viewer/step_model.h"

#include <stdio.h>
#include <string.h>

#include "app/cli/json_writer.h"
#include "app/cli/progress.h"
#include "app/draft/draft.h"
#include "app/draft/draft_write.h"
#include "core/arena.h"

// Steel: nothing is computed from it, but a part that moves has a mass.
static const double density = 7850; // [kg/m^3]

static char* part_text(const char* file) {
    char name[128];
    snprintf(name, sizeof name, "%.100s", file);
    char* dot = strrchr(name, '.');
    if (dot != NULL && dot != name) *dot = '\0';
    AppJson json = {0};
    app_json_begin_object(&json);
    app_json_put_text(&json, "format", "lash-model/1");
    app_json_put_text(&json, "name", file);
    app_json_key(&json, "parts");
    app_json_begin_array(&json);
    app_json_begin_object(&json);
    app_json_put_text(&json, "name", strcmp(name, "ground") == 0 ? "part" : name);
    app_json_put_text(&json, "step", file);
    app_json_put_number(&json, "mass", 1);
    app_json_key(&json, "inertia");
    app_json_begin_array(&json);
    for (int i = 0; i < 3; ++i) app_json_number(&json, 1);
    app_json_end_array(&json);
    app_json_end_object(&json);
    app_json_end_array(&json);
    app_json_end_object(&json);
    char* text = lash_alloc(json.used + 1);
    memcpy(text, json.text, json.used);
    app_json_free(&json);
    return text;
}

char* view_step_model(const char* step, LashError* error) {
    const char* slash = strrchr(step, '/');
    const char* file = slash == NULL ? step : slash + 1;
    LashImport import = {.progress = app_progress_cad};
    LashShape* shape = lash_shape_load(step, &import, error);
    if (shape == NULL) return NULL;
    LashError none = {0}; // what is no assembly is a part
    DraftOptions how = {.clearance_max = 1e-3};
    Draft* draft = draft_create(shape, &how, &none);
    char* text = NULL;
    if (draft != NULL) {
        DraftModel model = {.step = file, .density = density, .file_densities = true};
        DraftText written = draft_write(draft, &model);
        text = lash_strdup(written.text);
        draft_text_free(&written);
        draft_destroy(draft);
    } else {
        text = part_text(file);
    }
    lash_shape_destroy(shape);
    return text;
}
