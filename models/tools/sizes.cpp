// Toleranced sizes through XCAFDoc_DimTolTool. OpenCASCADE writes them with the schema AP242 only.
#include "models/tools/sizes.hpp"

#include <BRepAdaptor_Surface.hxx>
#include <TDF_LabelSequence.hxx>
#include <TopoDS.hxx>
#include <XCAFDimTolObjects_DimensionObject.hxx>
#include <XCAFDoc_DimTolTool.hxx>
#include <XCAFDoc_Dimension.hxx>
#include <XCAFDoc_DocumentTool.hxx>
#include <XCAFDoc_ShapeTool.hxx>
#include <cctype>
#include <cstdlib>
#include <cstring>

namespace make_step {

// In the order of XCAFDimTolObjects_DimensionFormVariance.
static const char* const letters[] = {"",  "A", "B",  "C", "CD", "D", "E",  "EF", "F", "FG",
                                      "G", "H", "JS", "J", "K",  "M", "N",  "P",  "R", "S",
                                      "T", "U", "V",  "X", "Y",  "Z", "ZA", "ZB", "ZC"};

static bool parse_class(const std::string& text, bool* hole, int* variance, int* grade) {
    size_t n = 0;
    std::string upper;
    while (n < text.size() && isalpha((unsigned char)text[n]))
        upper += (char)toupper((unsigned char)text[n++]);
    *hole = n > 0 && isupper((unsigned char)text[0]);
    *grade = atoi(text.c_str() + n);
    for (size_t i = 1; i < sizeof letters / sizeof *letters; ++i)
        if (upper == letters[i]) {
            *variance = (int)i;
            return n < text.size() && *grade >= 1 && *grade <= 18;
        }
    return false;
}

std::vector<Size> read_sizes(const Value& list, const Solid& solid) {
    std::vector<Size> sizes;
    for (const Value& v : list.items()) {
        v.only({"face", "diameter", "upper", "lower", "class", "limits"});
        Size size;
        size.face = v.text("face", "");
        size.value = v.number("diameter");
        size.upper = v.number("upper", 0);
        size.lower = v.number("lower", 0);
        size.grade = v.text("class", "");
        size.bounds = v.flag("limits", false);
        bool hole;
        int variance, grade;
        if (!size.grade.empty() && !parse_class(size.grade, &hole, &variance, &grade))
            v.fail("'class' must be one of ISO 286 such as H7 or g6");
        if (size.upper < size.lower) v.fail("'upper' must not be below 'lower'");
        bool found = false;
        for (const NamedFace& n : solid.names) found = found || n.name == size.face;
        if (!found) v.fail("no face is named '" + size.face + "'");
        sizes.push_back(size);
    }
    return sizes;
}

void add_sizes(const std::vector<Size>& sizes, const Solid& solid, const TDF_Label& label,
               double unit, const Handle(TDocStd_Document) & document) {
    Handle(XCAFDoc_ShapeTool) shapes = XCAFDoc_DocumentTool::ShapeTool(document->Main());
    Handle(XCAFDoc_DimTolTool) tool = XCAFDoc_DocumentTool::DimTolTool(document->Main());
    for (const Size& size : sizes) {
        TDF_LabelSequence first, none;
        for (const NamedFace& n : solid.names) {
            TDF_Label sub;
            bool round = BRepAdaptor_Surface(TopoDS::Face(n.face)).GetType() != GeomAbs_Plane;
            if (n.name == size.face && round && shapes->FindSubShape(label, n.face, sub))
                first.Append(sub);
        }
        TDF_Label row = tool->AddDimension();
        tool->SetDimension(first, none, row);
        Handle(XCAFDoc_Dimension) dimension;
        if (!row.FindAttribute(XCAFDoc_Dimension::GetID(), dimension)) continue;
        Handle(XCAFDimTolObjects_DimensionObject) object = new XCAFDimTolObjects_DimensionObject();
        object->SetType(XCAFDimTolObjects_DimensionType_Size_Diameter);
        object->SetValue(size.value / unit);
        bool hole;
        int variance = 0, grade = 0;
        if (size.bounds) {
            object->SetUpperBound((size.value + size.upper) / unit);
            object->SetLowerBound((size.value + size.lower) / unit);
        } else if (!size.grade.empty()) {
            parse_class(size.grade, &hole, &variance, &grade);
            // OpenCASCADE 7.6 writes the number of its enumeration, which begins with IT01, plus 1.
            object->SetClassOfTolerance(hole, (XCAFDimTolObjects_DimensionFormVariance)variance,
                                        (XCAFDimTolObjects_DimensionGrade)(grade - 1));
        } else if (size.upper != 0 || size.lower != 0) {
            object->SetUpperTolValue(size.upper / unit);
            object->SetLowerTolValue(-size.lower / unit); // OpenCASCADE writes its opposite
        }
        dimension->SetObject(object);
    }
}

} // namespace make_step
