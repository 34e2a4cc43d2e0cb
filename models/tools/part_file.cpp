// The parameter file: JSON with expressions (core/expression.h) in place of numbers.
#include "models/tools/part_file.hpp"

#include <cmath>

#include "core/expression.h"

namespace make_step {

void Parameters::set(const std::string& name, double value) {
    if (has(name)) return;
    names_.push_back(name);
    values_.push_back(value);
}

bool Parameters::has(const std::string& name) const {
    for (const std::string& n : names_)
        if (n == name) return true;
    return false;
}

double Parameters::evaluate(const std::string& text, const std::string& path) const {
    std::vector<const char*> names;
    for (const std::string& n : names_) names.push_back(n.c_str());
    LashError error = {};
    LashExpression* e =
        lash_expression_compile(text.c_str(), names.data(), (int)names.size(), &error);
    if (e == nullptr) throw Mistake(path + ": " + error.message);
    double x = lash_expression_value(e, values_.data());
    lash_expression_destroy(e);
    return x;
}

Value::Value(const cJSON* json, std::string path, const Parameters* parameters)
    : json_(json), path_(std::move(path)), parameters_(parameters) {}

void Value::fail(const std::string& message) const {
    throw Mistake((path_.empty() ? "file" : path_) + ": " + message);
}

bool Value::has(const char* key) const {
    return cJSON_IsObject(json_) && cJSON_GetObjectItemCaseSensitive(json_, key) != nullptr;
}

Value Value::at(const char* key) const {
    if (!is_object()) fail("an object is expected");
    const cJSON* item = cJSON_GetObjectItemCaseSensitive(json_, key);
    if (item == nullptr) fail(std::string("'") + key + "' is missing");
    return Value(item, path_.empty() ? key : path_ + "." + key, parameters_);
}

std::vector<Value> Value::items() const {
    if (!is_array()) fail("a list is expected");
    std::vector<Value> list;
    int i = 0;
    for (const cJSON* c = json_->child; c != nullptr; c = c->next)
        list.emplace_back(c, path_ + "[" + std::to_string(i++) + "]", parameters_);
    return list;
}

std::vector<std::string> Value::keys() const {
    std::vector<std::string> list;
    for (const cJSON* c = json_->child; is_object() && c != nullptr; c = c->next)
        list.push_back(c->string);
    return list;
}

double Value::number() const {
    double x = 0;
    if (cJSON_IsNumber(json_))
        x = json_->valuedouble;
    else if (cJSON_IsString(json_))
        x = parameters_->evaluate(json_->valuestring, path_);
    else
        fail("a number or an expression is expected");
    if (!std::isfinite(x) || fabs(x) > 1e9) fail("the number is out of range");
    return x;
}

double Value::number(const char* key, double missing) const {
    return has(key) ? at(key).number() : missing;
}

std::vector<double> Value::numbers(size_t count) const {
    std::vector<double> list;
    for (const Value& v : items()) list.push_back(v.number());
    if (list.size() != count) fail(std::to_string(count) + " numbers are expected");
    return list;
}

std::vector<double> Value::numbers(const char* key, std::vector<double> missing) const {
    return has(key) ? at(key).numbers(missing.size()) : missing;
}

std::string Value::text() const {
    if (!cJSON_IsString(json_)) fail("a text is expected");
    return json_->valuestring;
}

std::string Value::text(const char* key, const std::string& missing) const {
    return has(key) ? at(key).text() : missing;
}

bool Value::flag(const char* key, bool missing) const {
    if (!has(key)) return missing;
    Value v = at(key);
    if (!cJSON_IsBool(v.json_)) v.fail("true or false is expected");
    return cJSON_IsTrue(v.json_);
}

void Value::only(const std::set<std::string>& allowed) const {
    if (!is_object()) fail("an object is expected");
    for (const std::string& key : keys())
        if (allowed.count(key) == 0) fail("unknown key '" + key + "'");
}

} // namespace make_step
