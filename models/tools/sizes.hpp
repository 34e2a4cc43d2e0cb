// Toleranced sizes of a part's faces, as AP242 has them.
#ifndef LASH_MODELS_SIZES_HPP
#define LASH_MODELS_SIZES_HPP

#include <TDF_Label.hxx>
#include <TDocStd_Document.hxx>

#include "models/tools/solid.hpp"

namespace make_step {

struct Size { // a diameter [mm]
    std::string face;
    double value = 0, upper = 0, lower = 0;
    std::string grade; // "H7" in place of upper and lower
    bool bounds = false;
};

// [{"face": "bore", "diameter": 10, "upper": 0.015, "lower": 0}], or "class": "H7" in place of the
// deviations; "limits": true writes the two limits themselves.
std::vector<Size> read_sizes(const Value& list, const Solid& solid);
// unit: millimetres per number of the STEP file (OpenCASCADE does not convert these values).
void add_sizes(const std::vector<Size>& sizes, const Solid& solid, const TDF_Label& label,
               double unit, const Handle(TDocStd_Document) & document);

} // namespace make_step
#endif
