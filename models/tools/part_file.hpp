// The parameter file of a part: JSON whose numbers may be expressions of named parameters.
#ifndef LASH_MODELS_PART_FILE_HPP
#define LASH_MODELS_PART_FILE_HPP

#include <cjson/cJSON.h>

#include <set>
#include <stdexcept>
#include <string>
#include <vector>

namespace make_step {

struct Mistake : std::runtime_error { // of the parameter file; the text names the key
    using std::runtime_error::runtime_error;
};

class Parameters {
public:
    void set(const std::string& name, double value); // overrides the file's
    bool has(const std::string& name) const;
    const std::vector<std::string>& names() const {
        return names_;
    }
    double evaluate(const std::string& text, const std::string& path) const;

private:
    std::vector<std::string> names_;
    std::vector<double> values_;
};

// A JSON value with its path, for messages; remembers which keys were asked for.
class Value {
public:
    Value(const cJSON* json, std::string path, const Parameters* parameters);

    bool is_object() const {
        return cJSON_IsObject(json_);
    }
    bool is_array() const {
        return cJSON_IsArray(json_);
    }
    bool has(const char* key) const;
    Value at(const char* key) const;  // must exist
    std::vector<Value> items() const; // of an array
    std::vector<std::string> keys() const;

    double number() const;
    double number(const char* key) const {
        return at(key).number();
    }
    double number(const char* key, double missing) const;
    std::vector<double> numbers(size_t count) const; // an array of so many
    std::vector<double> numbers(const char* key, std::vector<double> missing) const;
    std::string text() const;
    std::string text(const char* key, const std::string& missing) const;
    bool flag(const char* key, bool missing) const;

    void only(const std::set<std::string>& allowed) const; // no other keys
    [[noreturn]] void fail(const std::string& message) const;
    const std::string& path() const {
        return path_;
    }

private:
    const cJSON* json_;
    std::string path_;
    const Parameters* parameters_;
};

} // namespace make_step
#endif
