// Reading a study: the same key tables and messages as a model's.
//
// The file is read twice: first for the name of its model, then, once the model is known, with the
// model's units and parameters, so that numbers of the study may be expressions of the nominal
// parameters ("low": "0.8*play").
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "app/cli/suggest.h"
#include "app/model/json_scan.h"
#include "app/study/study_internal.h"
#include "core/arena.h"

const char* const lash_study_run_quantity[LASH_STUDY_RUN_QUANTITIES] = {
    "run.impacts",       "run.dissipated",  "run.friction_work", "run.impact_work",
    "run.external_work", "run.penetration", "run.time",          "run.steps"};

void study_path(const LashStudy* study, const char* name, char* path, size_t size) {
    const char* slash = strrchr(study->file, '/');
    int folder = slash == NULL || name[0] == '/' ? 0 : (int)(slash - study->file) + 1;
    snprintf(path, size, "%.*s%s", folder, study->file, name);
}

int lash_study_names(const LashStudy* study, int count, const char** names, int capacity) {
    int n = 0;
    for (int i = 0; i < study->parameters && n < capacity; ++i)
        names[n++] = study->parameter[i].name;
    if (study->model != NULL) {
        for (int i = 0; i < study->model->outputs && n < capacity; ++i)
            names[n++] = study->model->output[i].name;
        for (int i = 0; i < LASH_STUDY_RUN_QUANTITIES && n < capacity; ++i)
            names[n++] = lash_study_run_quantity[i];
    }
    for (int i = 0; i < count && n < capacity; ++i) names[n++] = study->output[i].measured.name;
    return n;
}

// ---- outputs ------------------------------------------------------------------------------------

static int find_model_output(const LashModel* model, const char* name) {
    for (int i = 0; i < model->outputs; ++i) {
        if (strcmp(model->output[i].name, name) == 0) return i;
    }
    return -1;
}

static bool check_output_name(ModelContext* context, const LashStudy* study, int index) {
    char path[48];
    const char* name = study->output[index].measured.name;
    snprintf(path, sizeof path, "outputs[%d].name", index);
    if (name[0] == '\0') return model_fail(context, path, "an output needs a name");
    for (int i = 0; i < index; ++i) {
        if (strcmp(study->output[i].measured.name, name) == 0) {
            return model_fail(context, path,
                              "the name '%.60s' is taken by outputs[%d]; names are unique", name,
                              i);
        }
    }
    for (int i = 0; i < study->parameters; ++i) {
        if (strcmp(study->parameter[i].name, name) == 0) {
            return model_fail(context, path, "the name '%.60s' is taken by a parameter", name);
        }
    }
    return true;
}

// An output measured by the study joins the nominal model's; samples add it to theirs.
static bool add_measured(ModelContext* context, LashStudy* study, LashStudyOutput* output,
                         const char* path) {
    if (study->model == NULL) {
        return model_fail(context, path,
                          "without a model there is nothing to measure; give an 'expression'");
    }
    if (find_model_output(study->model, output->measured.name) >= 0) {
        return model_fail(context, path,
                          "the model has an output '%.60s' of its own; leave 'quantity' away to "
                          "use it, or choose another name",
                          output->measured.name);
    }
    ModelContext inner = *context;
    inner.model = study->model;
    output->model_index = study->model->outputs;
    return model_add_output(&inner, &output->measured, path);
}

static bool find_output(ModelContext* context, LashStudy* study, LashStudyOutput* output,
                        const char* path) {
    char hint[300], key[64];
    const char* name = output->output != NULL ? output->output : output->measured.name;
    snprintf(key, sizeof key, "%s.%s", path, output->output != NULL ? "output" : "name");
    if (study->model == NULL) {
        return model_fail(context, path, "without a model an output needs an 'expression'");
    }
    output->model_index = find_model_output(study->model, name);
    if (output->model_index >= 0) return true;
    AppSuggestion near = app_suggestion(name);
    for (int i = 0; i < study->model->outputs; ++i)
        app_suggestion_offer(&near, study->model->output[i].name);
    return model_fail(context, key,
                      "the model has no output '%.60s'%s; give an 'expression' or a 'quantity'",
                      name, app_suggestion_names(&near, hint, sizeof hint));
}

static bool compile_output(ModelContext* context, LashStudy* study, int index) {
    LashStudyOutput* output = &study->output[index];
    int capacity = study->parameters + STUDY_MAX_OUTPUTS + LASH_STUDY_RUN_QUANTITIES + 1 +
                   (study->model != NULL ? study->model->outputs : 0);
    const char** names = lash_alloc((size_t)capacity * sizeof *names);
    int count = lash_study_names(study, index, names, capacity);
    LashError inner = {0};
    LashTables tables = {0};
    if (study->model != NULL) tables = model_tables(study->model);
    output->compiled =
        lash_expression_compile_with(output->expression, names, count, &tables, &inner);
    lash_free(names);
    if (output->compiled != NULL) return true;
    char path[48];
    snprintf(path, sizeof path, "outputs[%d].expression", index);
    return model_fail(context, path, "%s", inner.message);
}

static bool resolve_output(ModelContext* context, LashStudy* study, int index) {
    LashStudyOutput* output = &study->output[index];
    char path[48];
    snprintf(path, sizeof path, "outputs[%d]", index);
    int ways = (output->output != NULL) + (output->expression != NULL) +
               (output->measured.quantity != NULL);
    if (ways > 1) {
        return model_fail(context, path,
                          "give one of 'output', 'expression' and 'quantity', not %d of them",
                          ways);
    }
    if (output->measured.quantity != NULL) return add_measured(context, study, output, path);
    if (output->expression == NULL) return find_output(context, study, output, path);
    if (study->model != NULL && find_model_output(study->model, output->measured.name) >= 0) {
        return model_fail(context, path,
                          "the model has an output '%.60s' of its own; choose another name",
                          output->measured.name);
    }
    return true;
}

bool study_check_outputs(ModelContext* context, const LashStudy* study) {
    if (study->outputs < 1 || study->outputs > STUDY_MAX_OUTPUTS) {
        return model_fail(context, "outputs", "expected 1 to %d outputs, found %d",
                          STUDY_MAX_OUTPUTS, study->outputs);
    }
    for (int i = 0; i < study->outputs; ++i) {
        const LashStudyOutput* output = &study->output[i];
        char path[48];
        snprintf(path, sizeof path, "outputs[%d]", i);
        if (!check_output_name(context, study, i)) return false;
        if (output->lsl >= output->usl) {
            return model_fail(context, path, "lsl %.15g must lie below usl %.15g", output->lsl,
                              output->usl);
        }
    }
    return true;
}

bool study_resolve_outputs(ModelContext* context, LashStudy* study) {
    for (int i = 0; i < study->outputs; ++i) {
        if (!resolve_output(context, study, i)) return false;
    }
    // Expressions last: they may use every output of the model, measured ones included.
    for (int i = 0; i < study->outputs; ++i) {
        if (study->output[i].expression != NULL && !compile_output(context, study, i)) return false;
    }
    return true;
}

// ---- the file -----------------------------------------------------------------------------------

static bool load_model(LashStudy* study, const LashStudySource* source, LashError* error) {
    char path[1024];
    if (study->model_file == NULL) return true;
    study_path(study, study->model_file, path, sizeof path);
    study->model_path = model_strdup(study->memory, path);
    if (source->plan_only) {
        if (source->model_text == NULL)
            return lash_error_set(error, LASH_ERROR_IO, "", "the text of the model is missing");
        ModelContext context = {.model = study->memory,
                                .text = source->model_text,
                                .bytes = strlen(source->model_text),
                                .error = error};
        return model_read_base(&context);
    }
    if (source->model_text != NULL) {
        study->model =
            lash_model_parse(path, source->model_text, strlen(source->model_text), NULL, 0, error);
    } else {
        study->model = lash_model_load(path, NULL, 0, error);
    }
    return study->model != NULL && lash_model_share(study->model, error);
}

static bool read_study(LashStudy* study, const LashStudySource* source,
                       const LashStudyOverride* change, LashError* error) {
    ModelContext context = {
        .model = study->memory, .text = study->text, .bytes = study->text_bytes, .error = error};
    LashStudy first = {0};
    if (!model_read_document(&context, &study_root_table, &first)) return false;
    study->model_file = first.model_file;
    if (!load_model(study, source, error)) return false;
    if (study->model != NULL) {
        study->memory->units = study->model->units;
        study->memory->parameter = study->model->parameter;
        study->memory->parameters = study->model->parameters;
    }
    if (!model_read_document(&context, &study_root_table, study)) return false;
    if (change != NULL && change->samples > 0) study->design.samples = change->samples;
    study->seed = change != NULL && change->has_seed ? change->seed : (uint64_t)study->design.seed;
    return study_resolve_parameters(&context, study) &&
           study_resolve_design(&context, study, source->list_text) &&
           study_check_outputs(&context, study) &&
           (source->plan_only || study_resolve_outputs(&context, study));
}

LashStudy* lash_study_parse(const LashStudySource* source, const LashStudyOverride* change,
                            LashError* error) {
    LashError local = {0};
    if (error == NULL) error = &local;
    LashStudy* study = lash_alloc(sizeof *study);
    study->memory = lash_alloc(sizeof *study->memory);
    model_root_table.defaults(study->memory);
    study->file = model_strdup(study->memory, source->file);
    study->text = model_strdup(study->memory, source->text);
    study->text_bytes = strlen(source->text);
    if (read_study(study, source, change, error)) return study;
    lash_error_file(error, source->file);
    lash_study_destroy(study);
    return NULL;
}

LashStudy* lash_study_load(const char* file, const LashStudyOverride* change, LashError* error) {
    size_t bytes = 0;
    char* text = app_read_file(file, APP_JSON_MAX_BYTES, &bytes, error);
    if (text == NULL) return NULL;
    if (strlen(text) != bytes) { // a NUL character: the scanner tells where
        app_json_check(text, bytes, error);
        lash_error_file(error, file);
        lash_free(text);
        return NULL;
    }
    LashStudySource source = {.file = file, .text = text};
    LashStudy* study = lash_study_parse(&source, change, error);
    lash_free(text);
    return study;
}

void lash_study_destroy(LashStudy* study) {
    if (study == NULL) return;
    for (int i = 0; i < study->outputs; ++i) lash_expression_destroy(study->output[i].compiled);
    lash_free(study->sobol);
    lash_free(study->cholesky);
    lash_free(study->list);
    lash_model_destroy(study->model);
    lash_model_destroy(study->memory);
    lash_free(study);
}
