// A study of the sizes that a model takes from fits: those that `lash draft` found in the CAD file,
// and those written by hand.
#include <string.h>

#include "app/cli/json_writer.h"
#include "app/cli/output_file.h"
#include "app/model/fit.h"
#include "app/model/model.h"
#include "app/study/study_command.h"

static const char* base_name(const char* path) {
    const char* slash = strrchr(path, '/');
    return slash == NULL ? path : slash + 1;
}

static void put_parameters(AppJson* json, const LashModel* model) {
    app_json_key(json, "parameters");
    app_json_begin_array(json);
    for (int i = 0; i < model->parameters; ++i) {
        if (model->parameter[i].fit == NULL) continue;
        app_json_begin_object(json);
        app_json_put_text(json, "name", model->parameter[i].name);
        app_json_put_text(json, "fit", model->parameter[i].fit);
        app_json_put_text(json, "distribution", "normal");
        app_json_put_number(json, "cpk", 1.33);
        app_json_end_object(json);
    }
    app_json_end_array(json);
}

static void put_outputs(AppJson* json, const LashModel* model) {
    app_json_key(json, "outputs");
    app_json_begin_array(json);
    for (int i = 0; i < model->outputs; ++i) {
        app_json_begin_object(json);
        char unit[40];
        app_json_put_text(json, "name", model->output[i].name);
        lash_model_result_unit(model, &model->output[i], unit, sizeof unit);
        if (strcmp(unit, "1") != 0) app_json_put_text(json, "unit", unit);
        app_json_end_object(json);
    }
    app_json_end_array(json);
}

static void put_study(AppJson* json, const LashModel* model, const char* model_path) {
    app_json_begin_object(json);
    app_json_put_text(json, "format", "lash-study/1");
    app_json_put_text(json, "name", model->name);
    app_json_put_text(json, "description",
                      "Sizes with tolerances of the model; Cpk 1.33 is assumed. Add lsl and usl.");
    app_json_put_text(json, "model", model_path);
    put_parameters(json, model);
    app_json_key(json, "design");
    app_json_begin_object(json);
    app_json_put_text(json, "type", "latin-hypercube");
    app_json_put_integer(json, "samples", 100);
    app_json_put_integer(json, "seed", 1);
    app_json_end_object(json);
    put_outputs(json, model);
    app_json_end_object(json);
}

static bool check_model(const LashModel* model, int* parameters, LashError* error) {
    *parameters = 0;
    for (int i = 0; i < model->parameters; ++i) *parameters += model->parameter[i].fit != NULL;
    if (*parameters == 0)
        return lash_error_set(error, LASH_ERROR_MODEL, "parameters",
                              "no parameter is given by a fit: the STEP file carries no toleranced "
                              "diameters for both sides of a joint (lash info --pmi shows them); "
                              "write {\"fit\": \"10 H7/g6\"} or draft with --fit");
    if (model->outputs == 0)
        return lash_error_set(error, LASH_ERROR_MODEL, "outputs",
                              "a study needs something to measure: add outputs to the model first, "
                              "such as {\"name\": \"load\", \"quantity\": \"force\", \"of\": "
                              "\"%.60s\", \"when\": \"mean\"}",
                              model->joints > 0 ? model->joint[0].name : "a joint");
    return true;
}

bool study_from_pmi(const char* model_file, const char* output, int* parameters, LashError* error) {
    if (!app_output_check(output, error)) return false;
    LashModel* model = lash_model_load(model_file, NULL, 0, error);
    if (model == NULL) return false;
    bool good = check_model(model, parameters, error);
    if (!good) lash_error_file(error, model_file);
    bool beside = base_name(output) - output == base_name(model_file) - model_file &&
                  strncmp(output, model_file, (size_t)(base_name(output) - output)) == 0;
    AppOutput* file = good ? app_output_create(output, error) : NULL;
    if (file != NULL) {
        AppJson json = {0};
        put_study(&json, model, beside ? base_name(model_file) : model_file);
        fprintf(app_output_stream(file), "%s\n", json.text);
        app_json_free(&json);
        good = app_output_finish(file, error);
    }
    lash_model_destroy(model);
    return good && file != NULL;
}
